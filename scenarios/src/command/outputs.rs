//! Where the results of a campaign go, beside the stream: flags of `run` and `merge`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use seedbed_model::record::CampaignRecord;
use seedbed_reports::page::campaign::Example;
use seedbed_reports::{campaign, github, json, junit, page};

use crate::console::{Console, probe, write_file};
use crate::exit::BadInput;

/// Files, and what GitHub is told.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct Outputs {
    /// Writes the results as JSON, which `merge` reads
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a JUnit file: a case for each hundred seeds, and for each pinned run
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Writes a page, `index.html`; `run` draws the falls on it, made small
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Prints annotations for GitHub: the ten smallest distinct failures, each at its scenario's file
    #[arg(long)]
    github: bool,
    /// Adds a summary in Markdown to this file; in a workflow of GitHub "$GITHUB_STEP_SUMMARY"
    #[arg(long, value_name = "FILE")]
    step_summary: Option<PathBuf>,
}

impl Outputs {
    /// Makes sure that all can be written, and `others` of the same command, before the work that they are the result of, and
    /// over none of the `inputs`.
    ///
    /// # Errors
    /// At the first that cannot.
    pub(crate) fn probe<'i>(
        &self,
        inputs: impl IntoIterator<Item = &'i Path>,
        others: &[&Option<PathBuf>],
    ) -> Result<(), BadInput> {
        probe(inputs, [&self.json, &self.junit, &self.step_summary].into_iter().chain(others.iter().copied()))?;
        match &self.html {
            Some(folder) => std::fs::create_dir_all(folder)
                .map_err(|error| BadInput::file(folder.display().to_string(), format!("make the folder: {error}"))),
            None => Ok(()),
        }
    }

    /// Whether a page is asked for.
    pub(crate) fn has_page(&self) -> bool {
        self.html.is_some()
    }

    /// Says how the campaign went and writes everything but the page. Whichever fails, the rest is there: a full disk
    /// does not silence a finding, and a closed stream loses no file.
    ///
    /// # Errors
    /// The first.
    pub(crate) fn put(&self, record: &CampaignRecord, console: &mut Console<'_>) -> Result<(), BadInput> {
        let annotations = if self.github { github::annotations(record) } else { String::new() };
        let said = console.say(&format!("{}{annotations}", campaign::summary(record)));
        let json = self.json.as_ref().map_or(Ok(()), |path| write_file(path, &json::text(record)));
        let junit = self.junit.as_ref().map_or(Ok(()), |path| write_file(path, &junit_text(path, record)?));
        let summary = self.step_summary.as_ref().map_or(Ok(()), |path| add(path, &github::summary(record)));
        said.and(json).and(junit).and(summary)
    }

    /// Writes the page, if one is asked for.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn put_page(&self, record: &CampaignRecord, examples: &[Example]) -> Result<(), BadInput> {
        match &self.html {
            Some(folder) => write_file(&folder.join("index.html"), &page::campaign::html(record, examples)),
            None => Ok(()),
        }
    }
}

fn junit_text(path: &Path, record: &CampaignRecord) -> Result<String, BadInput> {
    junit::text(record).map_err(|why| BadInput::file(path.display().to_string(), why))
}

/// Adds to a file, which may hold the summaries of other commands of the step.
fn add(path: &Path, text: &str) -> Result<(), BadInput> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| BadInput::file(path.display().to_string(), format!("write the file: {error}")))
}
