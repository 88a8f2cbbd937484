//! What a campaign says at its end: a row for each scenario, then what is to be said of it.

use seedbed_model::record::{CampaignRecord, FailureGroup, Fall, PinRecord, ScenarioRecord};

use crate::number;
use crate::statistics;
use crate::table::{Side, Table};

/// Kinds of failure that are shown of a property.
const KIND_COUNT_MAX: usize = 5;

/// The summary table, and below it the statistics and the remarks. What faults exercised is shown of a scenario that ran
/// alone.
pub fn summary(record: &CampaignRecord) -> String {
    let mut table = Table::new(&[
        ("scenario", Side::Left),
        ("seeds", Side::Left),
        ("runs", Side::Right),
        ("steps", Side::Right),
        ("messages", Side::Right),
        ("virtual", Side::Right),
        ("time", Side::Right),
        ("digest", Side::Left),
        ("result", Side::Left),
    ]);
    for scenario in &record.scenarios {
        table.row([
            title(scenario),
            scenario.seeds.clone(),
            number::grouped(scenario.runs),
            number::grouped(scenario.steps),
            number::grouped(scenario.messages),
            format!("{} s", number::grouped(scenario.virtual_seconds)),
            number::elapsed(scenario.seconds),
            scenario.digest.clone(),
            result(scenario),
        ]);
    }
    let remarks: String = record.scenarios.iter().flat_map(remarks).collect();
    let kinds: String = record
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.falls.iter().flat_map(|fall| kinds(scenario, fall)))
        .collect();
    let (figures, exercised) = match record.scenarios.as_slice() {
        [alone] => (statistics::text(alone), statistics::exercised(alone)),
        several => (several.iter().map(statistics::brief).collect(), String::new()),
    };
    format!(
        "{}{kinds}{exercised}{figures}{remarks}{}{}{}\n",
        table.text(),
        to_see(record),
        pins(record),
        verdict(record)
    )
}

/// The falls of a property by what they have in common, where they are not all of one kind.
fn kinds(scenario: &ScenarioRecord, fall: &Fall) -> Vec<String> {
    if fall.groups.len() < 2 {
        return Vec::new();
    }
    let line = |group: &FailureGroup| {
        format!(
            "  {}: {}; first at seed {}, smallest at seed {} with {}\n",
            number::counted(group.count, "run"),
            group.signature,
            group.first,
            group.smallest,
            number::counted(group.steps, "step")
        )
    };
    let shown = fall.groups.iter().take(KIND_COUNT_MAX).map(line);
    let more = fall.groups.len().saturating_sub(KIND_COUNT_MAX);
    let rest = (more > 0).then(|| format!("  and {more} kinds more\n"));
    let head = format!("{}: {} fell in {} kinds:\n", scenario.name, fall.property, fall.groups.len());
    std::iter::once(head).chain(shown).chain(rest).collect()
}

/// How the pinned runs went: a line for each that is not as it was, and one for all.
fn pins(record: &CampaignRecord) -> String {
    if record.pins.is_empty() {
        return String::new();
    }
    let bad: Vec<&PinRecord> = record.pins.iter().filter(|pin| pin.code != 0).collect();
    let lines: String = bad.iter().map(|pin| format!("pinned {}: {}\n", pin.name, pin.words)).collect();
    let all = number::counted(record.pins.len() as u64, "pinned run");
    match bad.len() {
        0 => format!("{all}: as before\n"),
        bad => format!("{lines}{all}: {bad} not as before\n"),
    }
}

/// The lines that replay the first fall of each kind that was expected: those not expected have their own blocks.
fn to_see(record: &CampaignRecord) -> String {
    let expected = record.scenarios.iter().flat_map(|scenario| &scenario.falls).filter(|fall| fall.expected);
    expected.map(|fall| format!("to see {} fall: {}\n", fall.property, fall.first.paste)).collect()
}

fn title(scenario: &ScenarioRecord) -> String {
    match scenario.subject.mutants.as_slice() {
        [] => scenario.name.clone(),
        mutants => format!("{} with {}", scenario.name, mutants.join(", ")),
    }
}

/// In a few words: the properties that fell, with how often and the first seed.
pub fn result(scenario: &ScenarioRecord) -> String {
    let falls: Vec<String> = scenario.falls.iter().map(fall).collect();
    match (falls.is_empty(), scenario.code) {
        (true, 0) => "holds".into(),
        (true, code) => format!("not as expected (exit {code})"),
        (false, _) => falls.join(", "),
    }
}

fn fall(fall: &Fall) -> String {
    let expected = if fall.expected { " as expected" } else { "" };
    let seed = fall.first.seed.as_deref().unwrap_or("none");
    format!("{} fell{expected} in {}, first at seed {seed}", fall.property, number::counted(fall.count, "run"))
}

fn remarks(scenario: &ScenarioRecord) -> Vec<String> {
    scenario.remarks.iter().map(|remark| format!("{}: {remark}\n", scenario.name)).collect()
}

/// The campaign in a line. Pins are told apart: a campaign whose scenarios all are as expected may still have one that
/// drifted.
pub fn verdict(record: &CampaignRecord) -> String {
    let runs: u64 = record.scenarios.iter().map(|scenario| scenario.runs).sum();
    let scenarios = record.scenarios.len() as u64;
    let what = format!("{} of {}", number::counted(runs, "run"), number::counted(scenarios, "scenario"));
    format!("{what}: {}", outcome(record))
}

/// Whether all is as expected, and what is not.
pub fn outcome(record: &CampaignRecord) -> String {
    let bad = record.scenarios.iter().filter(|scenario| scenario.code != 0).count();
    let drifted = record.pins.iter().filter(|pin| pin.code != 0).count() as u64;
    let exit = format!("(exit {})", record.code);
    let pins = format!("{} not as before", number::counted(drifted, "pinned run"));
    match (bad, drifted) {
        (0, 0) => "all as expected".into(),
        (0, _) => format!("each as expected, but {pins} {exit}"),
        (bad, 0) => format!("{bad} not as expected {exit}"),
        (bad, _) => format!("{bad} not as expected, and {pins} {exit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::Signature;
    use seedbed_model::record::{Failure, Header, Subject};

    fn scenario(name: &str, code: u8, falls: Vec<Fall>, mutants: &[&str]) -> ScenarioRecord {
        ScenarioRecord {
            name: name.into(),
            seeds: "0..10".into(),
            runs: 10,
            steps: 1_234,
            messages: 567,
            virtual_seconds: 9_000,
            seconds: 0.25,
            digest: "00000000000000aa".into(),
            subject: Subject { mutants: mutants.iter().map(|name| (*name).into()).collect(), ..Subject::default() },
            falls,
            code,
            remarks: vec!["never reached: renewal".into()],
            ..ScenarioRecord::default()
        }
    }

    fn group(step: &str, count: u64) -> FailureGroup {
        let signature = Signature { property: "single-copy".into(), roles: Vec::new(), steps: vec![step.to_owned()] };
        FailureGroup { signature, count, first: "3".into(), smallest: "5".into(), steps: 9 }
    }

    fn pin(code: u8) -> PinRecord {
        PinRecord { name: "leasing/crisscross".into(), words: "drifted at step 3".into(), code, ..PinRecord::default() }
    }

    #[test]
    fn a_summary_names_what_fell_how_often_and_the_first_seed() {
        let first = Failure { seed: Some("3".into()), ..Failure::default() };
        let fall = Fall {
            property: "single-copy".into(),
            count: 4,
            expected: false,
            first,
            groups: vec![group("a", 3), group("b", 1)],
        };
        let scenarios = vec![
            scenario("leasing/crash", 0, Vec::new(), &[]),
            scenario("leasing/race", 10, vec![fall], &["no-nonce"]),
        ];
        let record = CampaignRecord {
            header: Header::new("campaign", "unknown"),
            pins: vec![pin(0), pin(18)],
            scenarios,
            code: 10,
        };
        let expected = "\
scenario                    seeds  runs  steps  messages  virtual    time  digest            result
leasing/crash               0..10    10  1,234       567  9,000 s  0.25 s  00000000000000aa  holds
leasing/race with no-nonce  0..10    10  1,234       567  9,000 s  0.25 s  00000000000000aa  single-copy fell in 4 runs, first at seed 3
leasing/race: single-copy fell in 2 kinds:
  3 runs: single-copy after a; first at seed 3, smallest at seed 5 with 9 steps
  1 run: single-copy after b; first at seed 3, smallest at seed 5 with 9 steps
leasing/crash: never reached: renewal
leasing/race: never reached: renewal
pinned leasing/crisscross: drifted at step 3
2 pinned runs: 1 not as before
20 runs of 2 scenarios: 1 not as expected, and 1 pinned run not as before (exit 10)
";
        assert_eq!(summary(&record), expected);
    }

    #[test]
    fn a_pin_that_drifted_is_never_as_expected() {
        let scenarios = vec![scenario("leasing/crash", 0, Vec::new(), &[])];
        let mut record =
            CampaignRecord { header: Header::new("campaign", "unknown"), pins: vec![pin(18)], scenarios, code: 18 };
        let words = "10 runs of 1 scenario: each as expected, but 1 pinned run not as before (exit 18)";
        assert_eq!(verdict(&record), words);
        (record.pins, record.code) = (vec![pin(0)], 0);
        assert_eq!(verdict(&record), "10 runs of 1 scenario: all as expected");
    }
}
