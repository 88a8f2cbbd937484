//! What an exploration says: a block for each bound as it ends, and a table of all at the end.

use seedbed_model::record::{BoundRecord, CheckRecord};

use crate::number;
use crate::table::{self, Side, Table};

const WIDTH: usize = 110;

/// Everything known of one bound, but the counterexample.
pub fn bound(record: &BoundRecord) -> String {
    let mut text = format!("{} / {}\n", record.subject.protocol, record.name);
    text.push_str(&table::wrapped(&record.story, 2, WIDTH));
    let mut rows = Table::bare(&[Side::Left, Side::Left], 2);
    for abstraction in &record.abstractions {
        rows.row(["abstraction:", abstraction]);
    }
    rows.row(["verdict:", &verdict(record)]);
    rows.row(["states:", &states(record)]);
    rows.row(["odds:", &odds(record)]);
    rows.row(["reached:", &listed(&record.reached)]);
    if !record.missed.is_empty() {
        rows.row(["vacuous:", &format!("never reached: {}", listed(&record.missed))]);
    }
    rows.row(["never occurred:", &listed(&record.unexercised)]);
    for remark in &record.remarks {
        rows.row(["note:", remark]);
    }
    text.push_str(&rows.text());
    text
}

/// Of a counterexample without end, what repeats for ever: a line, or nothing.
pub fn for_ever(record: &BoundRecord) -> String {
    let last = record.counterexample.len() as u64;
    match record.repeats_after {
        None => String::new(),
        Some(after) if after == last => "and nothing that must happen is left to happen\n".into(),
        Some(after) if after + 1 == last => format!("and step {last} repeats for ever\n"),
        Some(after) => format!("and steps {} to {last} repeat for ever\n", after + 1),
    }
}

/// The verdict with the bounds it holds within.
pub fn verdict(record: &BoundRecord) -> String {
    let expected = if record.expect != "holds" && record.code == 0 { ", as expected" } else { "" };
    match (record.verdict.as_str(), &record.property, &record.detail) {
        ("violated", Some(property), Some(detail)) => format!("violated{expected}: {property}: {detail}"),
        ("unknown", _, Some(why)) => format!("unknown: {why}"),
        _ if !record.missed.is_empty() => format!("holds, but vacuously, within {}", within(record)),
        _ => format!("holds within {}", within(record)),
    }
}

/// The bounds in a few words.
fn within(record: &BoundRecord) -> String {
    let bounds = &record.bounds;
    let count = |count: u32, noun: &str| (count > 0).then(|| number::counted(u64::from(count), noun));
    let optional = |value: Option<u32>, what: &str| value.map(|value| format!("{what} {value}"));
    let words: Vec<String> = [
        optional(bounds.capacity, "link capacity"),
        optional(bounds.delay, "delay at most"),
        count(bounds.losses, "loss").map(|text| text.replace("losss", "losses")),
        count(bounds.duplicates, "duplicate"),
        count(bounds.crashes, "crash").map(|text| text.replace("crashs", "crashes")),
        count(bounds.pauses, "pause"),
        count(bounds.cuts, "cut"),
        optional(bounds.tag_max, "tags up to"),
        optional(bounds.depth, "depth"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if words.is_empty() { "the parameters alone: no faults, no limits".into() } else { words.join(", ") }
}

fn states(record: &BoundRecord) -> String {
    let end = match (record.exhausted, record.cut) {
        (true, false) => "exhausted",
        (true, true) => "exhausted up to the bound on tags or depth",
        (false, _) => "not exhausted",
    };
    let memory = match record.bytes_per_state {
        0 => "memory not measured".to_owned(),
        bytes => format!("{bytes} bytes a state"),
    };
    let depth = record.depth.map(|depth| format!(", depth {depth}")).unwrap_or_default();
    format!(
        "{} unique, {} total{depth}, {end}; {}, {memory}",
        number::grouped(record.unique),
        number::grouped(record.total),
        number::elapsed(record.seconds),
    )
}

fn odds(record: &BoundRecord) -> String {
    format!(
        "a state was missed by a collision of fingerprints: at most 1 in {}",
        number::grouped(record.collision_odds)
    )
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// A row for each bound.
pub fn summary(record: &CheckRecord) -> String {
    let mut table = Table::new(&[
        ("bound", Side::Left),
        ("unique", Side::Right),
        ("total", Side::Right),
        ("depth", Side::Right),
        ("time", Side::Right),
        ("verdict", Side::Left),
    ]);
    for bound in &record.bounds {
        table.row([
            bound.name.clone(),
            number::grouped(bound.unique),
            number::grouped(bound.total),
            bound.depth.map_or_else(|| "-".to_owned(), |depth| depth.to_string()),
            number::elapsed(bound.seconds),
            short(bound),
        ]);
    }
    let mutants =
        if record.mutants.is_empty() { String::new() } else { format!(" with {}", record.mutants.join(", ")) };
    let end = match record.code {
        0 => "all as expected".into(),
        code => format!("not as expected (exit {code})"),
    };
    let bounds = number::counted(record.bounds.len() as u64, "bound");
    format!("{}{}{mutants}, {bounds}: {end}\n", table.text(), record.protocol)
}

fn short(bound: &BoundRecord) -> String {
    match (bound.verdict.as_str(), &bound.property) {
        ("violated", Some(property)) if bound.code == 0 => format!("{property} falls, as expected"),
        ("violated", Some(property)) => format!("{property} falls"),
        (verdict, _) if !bound.missed.is_empty() => format!("{verdict}, vacuous"),
        (verdict, _) => verdict.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::explore::Bounds;
    use seedbed_model::record::Subject;

    fn record() -> BoundRecord {
        BoundRecord {
            name: "race".into(),
            story: "Recalls cross requests.".into(),
            subject: Subject { protocol: "leasing".into(), ..Subject::default() },
            bounds: Bounds { capacity: Some(1), crashes: 2, losses: 1, ..Bounds::default() },
            expect: "holds".into(),
            verdict: "holds".into(),
            unique: 12_345,
            total: 67_890,
            depth: Some(17),
            exhausted: true,
            seconds: 1.5,
            bytes_per_state: 96,
            collision_odds: 1_000_000,
            abstractions: vec!["a timer takes its longest length alone".into()],
            reached: vec!["recall".into()],
            ..BoundRecord::default()
        }
    }

    #[test]
    fn a_bound_tells_its_verdict_with_what_it_holds_within() {
        let expected = "leasing / race
  Recalls cross requests.
  abstraction:     a timer takes its longest length alone
  verdict:         holds within link capacity 1, 1 loss, 2 crashes
  states:          12,345 unique, 67,890 total, depth 17, exhausted; 1.50 s, 96 bytes a state
  odds:            a state was missed by a collision of fingerprints: at most 1 in 1,000,000
  reached:         recall
  never occurred:  none
";
        assert_eq!(bound(&record()), expected);
    }

    #[test]
    fn a_goal_that_is_missed_makes_the_verdict_vacuous() {
        let record = BoundRecord { missed: vec!["eviction".into()], ..record() };
        assert!(bound(&record).contains("  verdict:         holds, but vacuously, within"));
        assert!(bound(&record).contains("  vacuous:         never reached: eviction\n"));
        assert_eq!(short(&record), "holds, vacuous");
    }

    #[test]
    fn the_budget_that_ran_out_is_named() {
        let record = BoundRecord { verdict: "unknown".into(), detail: Some("10 s ran out".into()), ..record() };
        assert_eq!(verdict(&record), "unknown: 10 s ran out");
    }
}
