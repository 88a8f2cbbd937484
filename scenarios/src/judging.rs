//! The verdict on a campaign: a function of its record alone, so that merged results are judged like any.

use seedbed_model::record::ScenarioRecord;

use crate::exit::{self, nearest};

/// Seeds or ranges that a remark names, at most.
const NAMED_COUNT_MAX: usize = 5;

/// Fills in what was missed, the remarks, and the code.
pub(crate) fn judge(record: &mut ScenarioRecord) {
    record.remarks.clear();
    let demand = record.demand.seeds;
    let is_whole = record.whole.is_some() && demand.is_some_and(|seeds| seeds.without(&record.done).is_empty());
    let unexpected = record.falls.iter().filter(|fall| !fall.expected);
    let mut codes: Vec<u8> = unexpected.map(|fall| of_fall(record, &fall.property)).collect();
    codes.extend(judge_expectation(record, is_whole));
    codes.extend(judge_goals(record, is_whole));
    if record.divergence.is_some() || !record.disagreed.is_empty() {
        codes.push(exit::NONDETERMINISM);
    }
    if record.limited > 0 {
        codes.push(exit::UNKNOWN);
    }
    if record.demanded.is_some_and(|demanded| record.runs < demanded) || gaps(record).is_some() {
        codes.push(exit::INCOMPLETE);
    }
    record.remarks.extend(remarks(record));
    record.code = exit::lowest(codes);
}

fn of_fall(record: &ScenarioRecord, property: &str) -> u8 {
    record.demand.codes.get(property).copied().unwrap_or(exit::PANIC)
}

/// The seeds that goals and expectation are judged over, in words.
fn judged_over(record: &ScenarioRecord) -> String {
    record.demand.seeds.map(|seeds| seeds.to_string()).unwrap_or_default()
}

fn judge_expectation(record: &mut ScenarioRecord, is_whole: bool) -> Option<u8> {
    let property = record.expect.strip_prefix("violated: ")?;
    if record.falls.iter().any(|fall| fall.expected) {
        return None;
    }
    if !is_whole {
        let seeds = judged_over(record);
        record.remarks.push(format!("{property} did not fall; the scenario expects it somewhere in seeds {seeds}"));
        return None;
    }
    record.remarks.push(format!("{property} must fall and never did: what the scenario expects was not reached"));
    Some(exit::PROGRESS)
}

/// A run that fell early reaches little: where one did against expectation, goals are not judged beside it.
fn judge_goals(record: &mut ScenarioRecord, is_whole: bool) -> Option<u8> {
    record.missed = Vec::new();
    if record.falls.iter().any(|fall| !fall.expected) {
        return None;
    }
    let missed = record.demand.goals.iter().filter(|goal| !record.reached.contains_key(*goal));
    let missed: Vec<String> = missed.cloned().collect();
    if missed.is_empty() {
        return None;
    }
    if !is_whole {
        let seeds = judged_over(record);
        record.remarks.push(format!("never reached: {}; judged over seeds {seeds} alone", missed.join(", ")));
        return None;
    }
    let reached: Vec<&str> = record.reached.keys().map(String::as_str).collect();
    let told = missed.iter().map(|goal| match nearest(goal, &reached) {
        Some(near) => format!("{goal} (did you mean `{near}`, which was?)"),
        None => goal.clone(),
    });
    let told: Vec<String> = told.collect();
    record.remarks.push(format!("never reached, though it must be: {}", told.join(", ")));
    record.missed = missed;
    Some(exit::PROGRESS)
}

/// What is said of a scenario whatever it expects.
fn remarks(record: &ScenarioRecord) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(divergence) = &record.divergence {
        remarks.push(format!("two runs of one seed differ: {divergence}"));
    }
    if !record.disagreed.is_empty() {
        remarks.push(format!(
            "results disagree: different runs of seed {}; nothing is counted of the pieces that these are in",
            named(&record.disagreed)
        ));
    }
    if record.limited > 0 {
        remarks.push(format!(
            "{} runs reached settings.step-count-max: raise it, or shorten settings.duration",
            record.limited
        ));
    }
    if let (Some(demanded), Some(gaps)) = (record.demanded, gaps(record)) {
        remarks.push(format!("incomplete: {} of {demanded} runs; seeds {gaps} are missing", record.runs));
    }
    if record.unasserted > 0 {
        remarks.push(format!("{} runs ended at a property that the scenario does not assert", record.unasserted));
    }
    remarks
}

/// The demanded seeds that were not done, in words; `None` if none is missing.
fn gaps(record: &ScenarioRecord) -> Option<String> {
    let demanded = record.seeds.parse::<seedbed_model::record::SeedSpan>().ok()?;
    let gaps = demanded.without(&record.done);
    (!gaps.is_empty()).then(|| named(&gaps))
}

/// The first few, and how many more there are.
fn named<T: ToString>(items: &[T]) -> String {
    let mut names: Vec<String> = items.iter().take(NAMED_COUNT_MAX).map(T::to_string).collect();
    if let more @ 1.. = items.len().saturating_sub(NAMED_COUNT_MAX) {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{Demand, SeedSpan};

    fn record(done: &[&str]) -> ScenarioRecord {
        let done: Vec<SeedSpan> = done.iter().map(|span| span.parse().unwrap()).collect();
        ScenarioRecord {
            expect: "holds".into(),
            seeds: "0..100".into(),
            demanded: Some(100),
            runs: done.iter().map(|span| span.count()).sum(),
            whole: Some(SeedSpan { from: 0, to: 100 }),
            demand: Demand {
                seeds: Some(SeedSpan { from: 0, to: 50 }),
                goals: vec!["renewal".into()],
                ..Demand::default()
            },
            done,
            ..ScenarioRecord::default()
        }
    }

    fn judged(mut record: ScenarioRecord) -> (u8, String) {
        judge(&mut record);
        (record.code, record.remarks.join("\n"))
    }

    #[test]
    fn a_gap_is_incomplete_and_never_passed() {
        let mut gapped = record(&["0..60", "80..90"]);
        gapped.reached.insert("renewal".into(), 1);
        let words = "incomplete: 70 of 100 runs; seeds 60..80, 90..100 are missing";
        assert_eq!(judged(gapped), (exit::INCOMPLETE, words.into()));
    }

    #[test]
    fn only_a_campaign_that_saw_the_whole_range_can_miss() {
        let missed = "never reached, though it must be: renewal";
        assert_eq!(judged(record(&["0..100"])), (exit::PROGRESS, missed.into()));
        let (code, said) = judged(record(&["0..40", "60..100"]));
        assert_eq!(code, exit::INCOMPLETE);
        assert!(said.starts_with("never reached: renewal; judged over seeds 0..50 alone"), "{said}");
    }

    #[test]
    fn results_that_disagree_are_nondeterminism() {
        let mut found = record(&["0..100"]);
        found.reached.insert("renewal".into(), 1);
        found.disagreed = (0..7).collect();
        let (code, said) = judged(found);
        assert_eq!(code, exit::NONDETERMINISM);
        assert!(said.contains("different runs of seed 0, 1, 2, 3, 4, and 2 more;"), "{said}");
    }
}
