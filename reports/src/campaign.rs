//! What a campaign says at its end: a row for each scenario, then what is to be said of it.

use seedbed_model::record::{CampaignRecord, Fall, ScenarioRecord};

use crate::number;
use crate::table::{Side, Table};

/// The summary table, and below it the remarks.
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
    format!("{}{remarks}{}{}\n", table.text(), to_see(record), verdict(record))
}

/// The lines that replay the first fall of each kind that was expected: those not expected have their own blocks.
fn to_see(record: &CampaignRecord) -> String {
    let expected = record.scenarios.iter().flat_map(|scenario| &scenario.falls).filter(|fall| fall.expected);
    expected.map(|fall| format!("to see {} fall: {}\n", fall.property, fall.first.paste)).collect()
}

fn title(scenario: &ScenarioRecord) -> String {
    match scenario.subject.mutants.as_slice() {
        [] => scenario.name.clone(),
        mutants => format!("{} without {}", scenario.name, mutants.join(", ")),
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

fn verdict(record: &CampaignRecord) -> String {
    let runs: u64 = record.scenarios.iter().map(|scenario| scenario.runs).sum();
    let scenarios = record.scenarios.len() as u64;
    let bad = record.scenarios.iter().filter(|scenario| scenario.code != 0).count();
    let what = format!("{} of {}", number::counted(runs, "run"), number::counted(scenarios, "scenario"));
    match bad {
        0 => format!("{what}: all as expected"),
        bad => format!("{what}: {bad} not as expected (exit {})", record.code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn a_summary_names_what_fell_how_often_and_the_first_seed() {
        let first = Failure { seed: Some("3".into()), ..Failure::default() };
        let fall = Fall { property: "single-copy".into(), count: 4, expected: false, first };
        let scenarios = vec![
            scenario("leasing/crash", 0, Vec::new(), &[]),
            scenario("leasing/race", 10, vec![fall], &["no-nonce"]),
        ];
        let record = CampaignRecord { header: Header::new("campaign", "unknown"), scenarios, code: 10 };
        let expected = "\
scenario                       seeds  runs  steps  messages  virtual    time  digest            result
leasing/crash                  0..10    10  1,234       567  9,000 s  0.25 s  00000000000000aa  holds
leasing/race without no-nonce  0..10    10  1,234       567  9,000 s  0.25 s  00000000000000aa  single-copy fell in 4 runs, first at seed 3
leasing/crash: never reached: renewal
leasing/race: never reached: renewal
20 runs of 2 scenarios: 1 not as expected (exit 10)
";
        assert_eq!(summary(&record), expected);
    }
}
