//! Checkpoints of a campaign: a file for each scenario and range, written every so often, taken up by the next campaign
//! of the same. What is kept is a result like any other: the runs are gone on with, and merged.

use std::path::{Path, PathBuf};

use seedbed_model::Span;
use seedbed_model::record::{CampaignRecord, Header, ScenarioRecord, merged};
use seedbed_reports::json;

use crate::checkpoint::is_kept;
use crate::console::write_file;
use crate::exit::BadInput;
use crate::folder::Folder;
use crate::results;
use crate::stopwatch::Deadline;

/// Where campaigns are kept, and how often.
pub(crate) struct Keep {
    folder: Folder,
    every: Span,
    revision: String,
}

/// The file of one scenario.
pub(crate) struct Kept {
    path: PathBuf,
    every: Span,
    next: Deadline,
    revision: String,
    /// The record before the first run.
    blank: ScenarioRecord,
}

impl Keep {
    /// In `folder`, which is made if there is none.
    ///
    /// # Errors
    /// If the folder cannot be made, or another campaign is kept there.
    pub(crate) fn new(folder: &Path, every: Span, revision: &str) -> Result<Self, BadInput> {
        Ok(Keep { folder: Folder::claim(folder, "--checkpoint")?, every, revision: revision.to_owned() })
    }

    /// The file of a scenario over the seeds that `blank` demands.
    pub(crate) fn of(&self, blank: &ScenarioRecord) -> Result<Kept, BadInput> {
        Ok(Kept {
            path: self.path(blank),
            every: self.every,
            next: Deadline::after(Some(self.every)),
            revision: self.revision.clone(),
            blank: blank.clone(),
        })
    }

    fn path(&self, record: &ScenarioRecord) -> PathBuf {
        // A dot is in no protocol's name: no two scenarios share a file.
        let name = record.name.replace('/', ".");
        let seeds = record.seeds.replace("..", "-");
        self.folder.path().join(format!("{name}-{seeds}.checkpoint"))
    }

    /// Forgets it: the campaign has ended.
    pub(crate) fn remove(&self, record: &ScenarioRecord) {
        // One that stays is taken up by the next campaign of the same, which then ends at once.
        let _ = std::fs::remove_file(self.path(record));
    }
}

impl Kept {
    /// Itself when it is time to write again.
    pub(crate) fn when_due(&mut self) -> Option<&Self> {
        if !self.next.is_over() {
            return None;
        }
        self.next = Deadline::after(Some(self.every));
        Some(self)
    }

    /// Replaces what was kept, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, record: &ScenarioRecord) -> Result<(), BadInput> {
        write_file(&self.path, &json::text(&self.campaign(record.clone())))
    }

    /// What was kept before, if anything was.
    ///
    /// # Errors
    /// If it is there and cannot be read, is no file, or is of another revision or scenario.
    pub(crate) fn read(&mut self) -> Result<Option<ScenarioRecord>, BadInput> {
        if !is_kept(&self.path)? {
            return Ok(None);
        }
        let refused = |why: &str| BadInput::flag(format!("--checkpoint: {why}; remove the file to begin anew"));
        let kept = results::read(&self.path).map_err(|error| refused(&error.to_string()))?;
        let mut blank = self.blank.clone();
        let name = self.path.display().to_string();
        // Without a demand, the whole is what was done.
        blank.whole = blank.whole.or_else(|| kept.scenarios.first().and_then(|scenario| scenario.whole));
        let both = vec![("this command".to_owned(), self.campaign(blank.clone())), (name.clone(), kept)];
        let found = merged(both).map_err(|why| refused(&why))?.scenarios;
        match <[ScenarioRecord; 1]>::try_from(found) {
            Ok([found]) if found.whole == blank.whole => Ok(Some(found)),
            _ => Err(refused(&format!("{name}: of other scenarios or seeds"))),
        }
    }

    fn campaign(&self, scenario: ScenarioRecord) -> CampaignRecord {
        let header = Header::new("campaign", &self.revision);
        CampaignRecord { header, pins: Vec::new(), scenarios: vec![scenario], code: 0 }
    }
}
