//! What GitHub shows of a campaign: annotations at the scenarios' files, and the summary of a step in Markdown.
//!
//! An annotation is a line `::error file=…,line=…,title=…::message` on the output of a step; of one kind a step shows ten.

use std::fmt::Write;

use seedbed_model::record::{CampaignRecord, FailureGroup, Fall, ScenarioRecord};

use crate::campaign::{result, verdict};
use crate::{number, statistics};

/// Annotations of one kind that GitHub shows of a step.
const ANNOTATION_COUNT_MAX: usize = 10;
/// Rows in a table of the summary, which may be of a mebibyte.
const ROW_COUNT_MAX: usize = 100;

/// A failure that was not expected: all runs that have a signature in common.
struct Distinct<'a> {
    scenario: &'a ScenarioRecord,
    fall: &'a Fall,
    /// `None` where nothing is known of what the runs have in common.
    group: Option<&'a FailureGroup>,
}

impl Distinct<'_> {
    /// Steps of its smallest run.
    fn steps(&self) -> u64 {
        self.group.map_or(self.fall.first.step, |group| group.steps)
    }

    fn count(&self) -> u64 {
        self.group.map_or(self.fall.count, |group| group.count)
    }

    /// The seed of its smallest run.
    fn seed(&self) -> &str {
        self.group.map_or(self.fall.first.seed.as_deref().unwrap_or_default(), |group| &group.smallest)
    }

    /// The line that replays its smallest run: that of the first fall, with the other seed.
    fn paste(&self) -> String {
        let first = self.fall.first.seed.as_deref().unwrap_or_default();
        self.fall.first.paste.replacen(&format!("--seed {first}"), &format!("--seed {}", self.seed()), 1)
    }

    fn kind(&self) -> String {
        self.group.map_or("unknown".into(), |group| group.signature.to_string())
    }
}

/// The failures that were not expected, the smallest first; those as small in the order of their scenarios.
fn distinct(record: &CampaignRecord) -> Vec<Distinct<'_>> {
    let mut all = Vec::new();
    for scenario in &record.scenarios {
        for fall in scenario.falls.iter().filter(|fall| !fall.expected) {
            let signed: u64 = fall.groups.iter().map(|group| group.count).sum();
            all.extend(fall.groups.iter().map(|group| Distinct { scenario, fall, group: Some(group) }));
            all.extend((signed < fall.count.max(1)).then_some(Distinct { scenario, fall, group: None }));
        }
    }
    all.sort_by_key(Distinct::steps);
    all
}

/// A line for each of the smallest distinct failures, then for what else is not as expected; a notice says how many are
/// left out. Empty if all is as expected.
pub fn annotations(record: &CampaignRecord) -> String {
    let found = distinct(record);
    let all: Vec<String> = found.iter().map(of_failure).chain(of_others(record)).collect();
    let mut text: String = all.iter().take(ANNOTATION_COUNT_MAX).map(String::as_str).collect();
    if let more @ 1.. = all.len().saturating_sub(ANNOTATION_COUNT_MAX) {
        let _ = writeln!(text, "::notice title=seedbed::{more} more are not annotated: see the summary");
    }
    text
}

fn of_failure(found: &Distinct<'_>) -> String {
    let property = &found.fall.property;
    let message = format!(
        "{}\n{}: {}; the smallest is seed {} with {}\nreplay: {}",
        found.fall.first.words,
        number::counted(found.count(), "run"),
        found.kind(),
        found.seed(),
        number::counted(found.steps(), "step"),
        found.paste()
    );
    error(found.scenario, &format!("{property} fell in {}", found.scenario.name), &message)
}

/// Scenarios that are not as expected though nothing fell that was not, and pins that are not as they were.
fn of_others(record: &CampaignRecord) -> impl Iterator<Item = String> {
    let has_fallen = |scenario: &&ScenarioRecord| scenario.falls.iter().any(|fall| !fall.expected);
    let bad = record.scenarios.iter().filter(|scenario| scenario.code != 0);
    let scenarios = bad.filter(move |scenario| !has_fallen(scenario)).map(|scenario| {
        let title = format!("{}: not as expected (exit {})", scenario.name, scenario.code);
        error(scenario, &title, &scenario.remarks.join("\n"))
    });
    let pins = record.pins.iter().filter(|pin| pin.code != 0);
    let pins =
        pins.map(|pin| format!("::error title={}::{}\n", property(&format!("pinned {}", pin.name)), data(&pin.words)));
    scenarios.chain(pins)
}

fn error(scenario: &ScenarioRecord, title: &str, message: &str) -> String {
    let place = scenario.source.as_ref().map(|source| format!("file={},line={},", property(&source.file), source.line));
    format!("::error {}title={}::{}\n", place.unwrap_or_default(), property(title), data(message))
}

/// A message as the runner reads it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property as the runner reads it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The summary of a step: the verdict, what fell, the scenarios, the statistics.
pub fn summary(record: &CampaignRecord) -> String {
    let mut text = format!("## {}\n\nRevision `{}`.\n", cell(&verdict(record)), cell(&record.header.revision));
    failures(record, &mut text);
    let bad = record.pins.iter().filter(|pin| pin.code != 0);
    for pin in bad {
        let _ = writeln!(text, "\n- pinned {}: {}", cell(&pin.name), cell(&pin.words));
    }
    text.push_str("\n| scenario | seeds | runs | result |\n|---|---|--:|---|\n");
    rows(&record.scenarios, &mut text, |scenario| {
        let (name, runs) = (cell(&scenario.name), number::grouped(scenario.runs));
        format!("| {name} | {} | {runs} | {} |", cell(&scenario.seeds), cell(&result(scenario)))
    });
    let remarks = record.scenarios.iter().flat_map(|scenario| scenario.remarks.iter().map(move |it| (scenario, it)));
    let remarks: Vec<String> =
        remarks.map(|(scenario, remark)| format!("- {}: {}", cell(&scenario.name), cell(remark))).collect();
    if !remarks.is_empty() {
        text.push('\n');
        rows(&remarks, &mut text, String::clone);
    }
    let figures: String = record.scenarios.iter().take(ROW_COUNT_MAX).map(statistics::text).collect();
    if !figures.is_empty() {
        let _ = write!(text, "\n<details><summary>Statistics</summary>\n\n```text\n{figures}```\n\n</details>\n");
    }
    text
}

fn failures(record: &CampaignRecord, text: &mut String) {
    let found = distinct(record);
    if found.is_empty() {
        return;
    }
    text.push_str("\n| fell | in | kind | runs | smallest seed | steps | replay |\n|---|---|---|--:|--:|--:|---|\n");
    rows(&found, text, |found| {
        format!(
            "| {} | {} | {} | {} | {} | {} | `{}` |",
            cell(&found.fall.property),
            cell(&found.scenario.name),
            cell(&found.kind()),
            number::grouped(found.count()),
            cell(found.seed()),
            number::grouped(found.steps()),
            code(&found.paste())
        )
    });
}

/// A line for each, at most [`ROW_COUNT_MAX`], and how many are left out.
fn rows<T>(all: &[T], text: &mut String, row: impl Fn(&T) -> String) {
    for one in all.iter().take(ROW_COUNT_MAX) {
        let _ = writeln!(text, "{}", row(one));
    }
    if let more @ 1.. = all.len().saturating_sub(ROW_COUNT_MAX) {
        let _ = writeln!(text, "\nand {more} more");
    }
}

/// Text within backticks: nothing but a bar and a backtick has a meaning there.
fn code(text: &str) -> String {
    text.replace('|', "\\|").replace('`', "'").replace(['\n', '\r'], " ")
}

/// Text that ends no cell, begins no tag and breaks no line.
fn cell(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|").replace('`', "'").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::Signature;
    use seedbed_model::record::{Failure, Header, PinRecord, SourceLine};

    fn group(step: &str, smallest: u64, steps: u64) -> FailureGroup {
        let signature = Signature { property: "safe".into(), roles: Vec::new(), steps: vec![step.to_owned()] };
        FailureGroup { signature, count: 3, first: "2".into(), smallest: smallest.to_string(), steps }
    }

    fn scenario(name: &str, groups: Vec<FailureGroup>) -> ScenarioRecord {
        let first = Failure {
            property: "safe".into(),
            words: "100% of, the: leases".into(),
            seed: Some("2".into()),
            paste: format!("seedbed replay {name} --seed 2 --mutant m"),
            ..Failure::default()
        };
        let count = groups.iter().map(|group| group.count).sum();
        ScenarioRecord {
            name: name.into(),
            runs: 100,
            source: Some(SourceLine { file: format!("scenarios/{name},x.toml"), line: 4 }),
            falls: vec![Fall { property: "safe".into(), count, expected: false, first, groups }],
            code: 10,
            ..ScenarioRecord::default()
        }
    }

    fn campaign(scenarios: Vec<ScenarioRecord>, code: u8) -> CampaignRecord {
        CampaignRecord { header: Header::new("campaign", "r1"), pins: Vec::new(), scenarios, code }
    }

    #[test]
    fn the_smallest_come_first_in_the_form_that_the_runner_reads() {
        let record = campaign(vec![scenario("a/b", vec![group("x", 20, 9), group("y", 7, 5)])], 10);
        let expected = "\
::error file=scenarios/a/b%2Cx.toml,line=4,title=safe fell in a/b::100%25 of, the: leases%0A3 runs: safe after y; the \
smallest is seed 7 with 5 steps%0Areplay: seedbed replay a/b --seed 7 --mutant m
::error file=scenarios/a/b%2Cx.toml,line=4,title=safe fell in a/b::100%25 of, the: leases%0A3 runs: safe after x; the \
smallest is seed 20 with 9 steps%0Areplay: seedbed replay a/b --seed 20 --mutant m
";
        assert_eq!(annotations(&record), expected);
    }

    #[test]
    fn no_more_than_github_shows() {
        let groups = (0..14).map(|step| group(&format!("x{step}"), step, step)).collect();
        let text = annotations(&campaign(vec![scenario("a/b", groups)], 10));
        assert_eq!(text.matches("::error").count(), 10);
        assert!(text.ends_with("::notice title=seedbed::4 more are not annotated: see the summary\n"), "{text}");
    }

    #[test]
    fn what_is_missed_or_drifted_is_told_too_and_what_is_expected_is_not() {
        let mut missed = scenario("a/b", Vec::new());
        (missed.falls, missed.code, missed.source) = (Vec::new(), 11, None);
        missed.remarks = vec!["never reached: renewal".into()];
        let mut expected = scenario("a/c", vec![group("x", 1, 1)]);
        (expected.falls[0].expected, expected.code) = (true, 0);
        let mut record = campaign(vec![missed, expected], 11);
        record.pins =
            vec![PinRecord { name: "a/p".into(), words: "drifted at step 3".into(), code: 18, ..PinRecord::default() }];
        let lines = "\
::error title=a/b%3A not as expected (exit 11)::never reached: renewal
::error title=pinned a/p::drifted at step 3
";
        assert_eq!(annotations(&record), lines);
    }

    #[test]
    fn a_summary_has_a_row_for_each_and_no_text_breaks_its_table() {
        let mut record = campaign(vec![scenario("a/b", vec![group("x|<y>", 20, 9)])], 10);
        record.scenarios[0].remarks = vec!["incomplete".into()];
        let text = summary(&record);
        assert!(
            text.contains(
                "| safe | a/b | safe after x\\|&lt;y> | 3 | 20 | 9 | `seedbed replay a/b --seed 20 --mutant m` |"
            ),
            "{text}"
        );
        assert!(
            text.contains("| a/b |  | 100 | safe fell in 3 runs, first at seed 2 |")
                && text.contains("- a/b: incomplete"),
            "{text}"
        );
    }
}
