//! What a campaign says of the seeds that it did not run, and what it exercised.

#![expect(clippy::float_arithmetic, reason = "shares of a whole, for a reader; nothing is decided by them")]

use std::collections::BTreeSet;

use seedbed_model::record::{Chance, Exercise, ScenarioRecord};

use crate::number;
use crate::table::{Side, Table};

/// Marks and goals in the table of faults, at most: the rarest.
const COLUMN_COUNT_MAX: usize = 6;

/// In a few lines: how likely a seed fails, and how much of what can be reached was.
pub fn text(record: &ScenarioRecord) -> String {
    let lines = record.chances.iter().map(chance).chain(clean(record)).chain(saturation(record));
    lines.map(|line| format!("{}: {line}\n", record.name)).collect()
}

/// What a summary of several scenarios says of each: how likely a seed fails, where one did.
pub fn brief(record: &ScenarioRecord) -> String {
    record.chances.iter().map(|known| format!("{}: {}\n", record.name, chance(known))).collect()
}

fn chance(chance: &Chance) -> String {
    let detect = match chance.seeds_to_detect {
        Some(count) => format!("; {} for a detection at 95 %", number::counted(count, "seed")),
        None => String::new(),
    };
    let (low, high) = (percent(chance.low), percent(chance.high));
    format!("{} falls in {} of the seeds ({low} to {high} at 95 %){detect}", chance.property, percent(chance.share))
}

pub(crate) fn clean(record: &ScenarioRecord) -> Option<String> {
    let bound = percent(record.clean_bound?);
    Some(format!("nothing fell: fewer than {bound} of all seeds do (95 %, rule of three)"))
}

/// When marks and goals were first reached: the sooner, the less is to be expected of more seeds.
pub(crate) fn saturation(record: &ScenarioRecord) -> Option<String> {
    let mut firsts: Vec<u64> = record.coverage.values().map(|reach| reach.first).collect();
    firsts.sort_unstable();
    let last = firsts.last()?;
    let before = |seed: u64| percent(runs_until(record, seed) as f64 / record.runs.max(1) as f64);
    let most = firsts[(firsts.len() * 9).div_ceil(10) - 1];
    let count = number::counted(firsts.len() as u64, "mark and goal").replace("mark and", "marks and");
    (!record.done.is_empty())
        .then(|| format!("{count} reached, 90 % of them within {} of the seeds, the last at seed {last}", before(most)))
}

/// How many of the runs have a seed up to this one.
pub(crate) fn runs_until(record: &ScenarioRecord, seed: u64) -> u64 {
    record.done.iter().map(|span| span.to.min(seed.saturating_add(1)).saturating_sub(span.from)).sum()
}

/// For each kind of fault, in how many runs it was in force, and in how many of these each of the rarest marks and
/// goals was reached. Empty where no kind of fault was ever in force.
pub fn exercised(record: &ScenarioRecord) -> String {
    let Some(columns) = columns(record) else { return String::new() };
    let mut headings = vec![("fault", Side::Left), ("runs", Side::Right)];
    headings.extend(columns.iter().map(|name| (*name, Side::Right)));
    let mut table = Table::new(&headings);
    for (kind, exercise) in &record.exercised {
        let cell = |name: &&str| number::grouped(exercise.reached.get(*name).copied().unwrap_or(0));
        let cells = [kind.clone(), number::grouped(exercise.runs)].into_iter().chain(columns.iter().map(cell));
        table.row(cells);
    }
    format!("{}: runs by fault in force and what was reached in them\n{}", record.name, table.text())
}

/// The marks and goals that the fewest runs reached, in order of name.
fn columns(record: &ScenarioRecord) -> Option<Vec<&str>> {
    let is_calm = record.exercised.keys().all(|kind| kind == "none");
    let reached = |exercise: &Exercise| exercise.reached.keys().cloned().collect::<Vec<_>>();
    let names: BTreeSet<String> = record.exercised.values().flat_map(reached).collect();
    let mut by_rarity: Vec<(u64, &str)> = record
        .coverage
        .iter()
        .filter(|(name, _)| names.contains(*name))
        .map(|(name, reach)| (reach.runs, &**name))
        .collect();
    by_rarity.sort_unstable();
    let mut columns: Vec<&str> = by_rarity.into_iter().take(COLUMN_COUNT_MAX).map(|(_, name)| name).collect();
    columns.sort_unstable();
    (!is_calm && !columns.is_empty()).then_some(columns)
}

/// A part of a whole with the digits that tell something.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        // Nearly all is not all.
        _ if percent > 99.0 && percent < 100.0 => "over 99 %".into(),
        _ if percent >= 10.0 || percent == 0.0 => format!("{percent:.0} %"),
        _ if percent >= 1.0 => format!("{percent:.1} %"),
        _ if percent >= 0.01 => format!("{percent:.2} %"),
        _ => format!("{percent:.1e} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{Reach, SeedSpan};

    fn record() -> ScenarioRecord {
        let mut record = ScenarioRecord {
            name: "lease/crash".into(),
            runs: 200,
            done: vec![SeedSpan { from: 0, to: 200 }],
            ..ScenarioRecord::default()
        };
        for (name, runs, first) in [("grant", 200, 0), ("recall", 12, 9), ("stale answer", 1, 149)] {
            record.coverage.insert(name.into(), Reach { times: runs * 2, runs, first });
        }
        record
    }

    #[test]
    fn a_clean_campaign_is_bounded_and_tells_how_far_it_reached() {
        let clean = ScenarioRecord { clean_bound: Some(0.015), ..record() };
        let expected = "\
lease/crash: nothing fell: fewer than 1.5 % of all seeds do (95 %, rule of three)
lease/crash: 3 marks and goals reached, 90 % of them within 75 % of the seeds, the last at seed 149
";
        assert_eq!(text(&clean), expected);
    }

    #[test]
    fn a_fall_has_its_chance() {
        let property = "safe".into();
        let chance = Chance { property, share: 0.02, low: 0.0078, high: 0.0503, seeds_to_detect: Some(149) };
        let fell = ScenarioRecord { chances: vec![chance], coverage: [].into(), ..record() };
        let expected = "lease/crash: safe falls in 2.0 % of the seeds (0.78 % to 5.0 % at 95 %); 149 seeds for a detection at 95 %\n";
        assert_eq!(text(&fell), expected);
    }

    #[test]
    fn a_row_for_each_kind_of_fault_that_was_in_force() {
        let mut record = record();
        assert_eq!(exercised(&record), "");
        let row = |runs, recalls| Exercise { runs, reached: [("recall".to_owned(), recalls)].into() };
        record.exercised = [("crash".to_owned(), row(90, 12)), ("loss".to_owned(), row(1_100, 3))].into();
        let expected = "\
lease/crash: runs by fault in force and what was reached in them
fault   runs  recall
crash     90      12
loss   1,100       3
";
        assert_eq!(exercised(&record), expected);
    }

    #[test]
    fn nearly_all_is_not_all() {
        let texts = [0.0, 0.000_004, 0.001, 0.05, 0.5, 299.0 / 300.0, 1.0].map(percent);
        assert_eq!(texts, ["0 %", "4.0e-4 %", "0.10 %", "5.0 %", "50 %", "over 99 %", "100 %"]);
    }
}
