//! A campaign as JUnit: a suite for each scenario, a case for each block of seeds; and a suite for the pinned runs.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use seedbed_model::record::{Block, CampaignRecord, PinRecord, ScenarioRecord};

use crate::failure;

/// The XML text.
///
/// # Errors
/// If the writer does; it writes to memory.
pub fn text(record: &CampaignRecord) -> Result<String, String> {
    let mut report = Report::new("seedbed");
    report.add_test_suites(record.scenarios.iter().map(suite));
    report.add_test_suites((!record.pins.is_empty()).then(|| pinned(&record.pins)));
    report.to_string().map_err(|error| error.to_string())
}

fn suite(scenario: &ScenarioRecord) -> TestSuite {
    let mut suite = TestSuite::new(scenario.name.as_str());
    suite.set_time(Duration::from_secs_f64(scenario.seconds));
    suite.add_property(("scenario-hash", scenario.subject.hash.as_str()));
    suite.add_property(("digest", scenario.digest.as_str()));
    suite.add_test_cases(scenario.blocks.iter().map(|block| seeds(scenario, block)));
    suite.add_test_case(whole(scenario));
    suite
}

/// A case for each pinned run.
fn pinned(pins: &[PinRecord]) -> TestSuite {
    let mut suite = TestSuite::new("pinned");
    suite.add_test_cases(pins.iter().map(|pin| {
        let status = match pin.code {
            0 => TestCaseStatus::success(),
            code => failed(&format!("not as before (exit {code})"), &pin.words),
        };
        let mut case = TestCase::new(pin.name.as_str(), status);
        case.set_classname("pinned");
        case
    }));
    suite
}

fn seeds(scenario: &ScenarioRecord, block: &Block) -> TestCase {
    let status = match block.failed.as_slice() {
        [] => TestCaseStatus::success(),
        [(seed, property), ..] => {
            let count = block.failed.iter().filter(|(_, other)| other == property).count();
            let more = match block.failed.len() - count {
                0 => String::new(),
                others => format!("; others fell in {others}"),
            };
            let message = format!("{property} fell in {count} of {} runs, first at seed {seed}{more}", block.runs);
            failed(&message, &detail(scenario, property))
        }
    };
    case(scenario, format!("seeds {}", block.seeds), status)
}

/// What no block of seeds shows by itself: goals missed, an expectation unmet, a divergence, a gap.
fn whole(scenario: &ScenarioRecord) -> TestCase {
    let fell = scenario.blocks.iter().any(|block| !block.failed.is_empty());
    let is_whole = scenario.demanded.is_none_or(|demanded| scenario.runs >= demanded) && scenario.limited == 0;
    let is_one = scenario.divergence.is_none() && scenario.disagreed.is_empty();
    let status = match scenario.code {
        0 => TestCaseStatus::success(),
        _ if fell && scenario.missed.is_empty() && is_whole && is_one => TestCaseStatus::success(),
        code => failed(&format!("not as expected (exit {code})"), &scenario.remarks.join("\n")),
    };
    case(scenario, "campaign as expected".into(), status)
}

fn case(scenario: &ScenarioRecord, name: String, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(scenario.name.replace('/', "."));
    case
}

fn failed(message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message);
    status.set_description(description);
    status
}

fn detail(scenario: &ScenarioRecord, property: &str) -> String {
    let fall = scenario.falls.iter().find(|fall| fall.property == *property);
    fall.map(|fall| failure::block(&fall.first)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{Failure, Fall, Header};

    #[test]
    fn a_block_with_a_fall_is_a_failed_case_with_the_line_to_paste() {
        let first = Failure {
            property: "agreement".into(),
            paste: "seedbed replay paxos/a --seed 3".into(),
            ..Failure::default()
        };
        let scenario = ScenarioRecord {
            name: "paxos/a".into(),
            falls: vec![Fall { property: "agreement".into(), count: 1, expected: false, first, groups: Vec::new() }],
            blocks: vec![
                Block { seeds: "0..100".into(), runs: 100, failed: vec![("3".into(), "agreement".into())] },
                Block { seeds: "100..200".into(), runs: 100, failed: Vec::new() },
            ],
            code: 10,
            ..ScenarioRecord::default()
        };
        let record = CampaignRecord {
            header: Header::new("campaign", "unknown"),
            pins: vec![PinRecord { name: "paxos/p".into(), words: "drifted".into(), code: 18, ..PinRecord::default() }],
            scenarios: vec![scenario],
            code: 10,
        };
        let xml = text(&record).expect("memory takes it");
        assert!(xml.contains(r#"tests="4" skipped="0" failures="2""#), "{xml}");
        assert!(xml.contains("agreement fell in 1 of 100 runs, first at seed 3"), "{xml}");
        assert!(xml.contains("seedbed replay paxos/a --seed 3"), "{xml}");
        assert!(xml.contains(r#"<testsuite name="pinned" tests="1" skipped="0" errors="0" failures="1""#), "{xml}");
    }

    #[test]
    fn a_block_tells_one_property_and_counts_the_others() {
        let fell = |seed: &str, property: &str| (seed.to_owned(), property.to_owned());
        let failed = vec![fell("3", "agreement"), fell("5", "validity"), fell("7", "agreement")];
        let block = Block { seeds: "0..100".into(), runs: 100, failed };
        let case = seeds(&ScenarioRecord::default(), &block);
        let TestCaseStatus::NonSuccess { message, .. } = case.status else { panic!("it failed") };
        let message = message.expect("it says why").to_string();
        assert_eq!(message, "agreement fell in 2 of 100 runs, first at seed 3; others fell in 1");
    }

    #[test]
    fn falls_do_not_hide_a_gap() {
        let fell = Block { seeds: "0..100".into(), runs: 100, failed: vec![("3".into(), "agreement".into())] };
        let failures = |demanded| {
            let scenario = ScenarioRecord {
                name: "paxos/a".into(),
                demanded: Some(demanded),
                runs: 100,
                blocks: vec![fell.clone()],
                code: 10,
                ..ScenarioRecord::default()
            };
            suite(&scenario)
                .test_cases
                .iter()
                .filter(|case| !matches!(case.status, TestCaseStatus::Success { .. }))
                .count()
        };
        assert_eq!((failures(100), failures(200)), (1, 2));
    }
}
