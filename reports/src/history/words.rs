//! The verdict in words.

use seedbed_model::history::{Contradiction, NEVER, Verdict};

use super::{Told, described};

/// More operations than these are not listed.
const LISTED_COUNT_MAX: usize = 40;

/// One line for a history that has an order; for a contradiction the operations that make it, too.
pub fn text(told: &Told<'_>) -> String {
    let subject = format!("{}: {} as {}", told.name, told.judgement, told.specification);
    let count = told.intervals.len();
    match told.verdict {
        Verdict::Ordered(_) => format!("{subject}: yes, {count} operations\n"),
        Verdict::Unknown(_) => {
            let why = told.exhausted.as_deref().unwrap_or("the budget ran out");
            format!("{subject}: unknown, {why}\n")
        }
        Verdict::Violated(found) => format!("{subject}: no, {count} operations\n{}", contradiction(told, found)),
    }
}

fn contradiction(told: &Told<'_>, found: &Contradiction) -> String {
    let mut text = String::new();
    if let Some(within) = &found.within {
        text.push_str(&format!("  within:  {within}\n"));
    }
    text.push_str(&format!(
        "  prefix:  {} operations are in order up to event {}{}, which has no place\n",
        found.prefix.len(),
        found.end,
        line(told, found.end)
    ));
    let minimal = if found.is_minimal { "each of them needed" } else { "perhaps not all needed: the budget ran out" };
    text.push_str(&format!("  these {} have no order, whatever else happened, {minimal}:\n", found.piece.len()));
    for index in found.piece.iter().take(LISTED_COUNT_MAX) {
        let interval = &told.intervals[*index];
        let end = if interval.returned == NEVER { "never answered".into() } else { event(told, interval.returned) };
        text.push_str(&format!(
            "    process {} {}  from {} to {end}\n",
            interval.process,
            described(interval),
            event(told, interval.invoked)
        ));
    }
    if found.piece.len() > LISTED_COUNT_MAX {
        text.push_str(&format!("    and {} more\n", found.piece.len() - LISTED_COUNT_MAX));
    }
    text
}

fn event(told: &Told<'_>, event: u64) -> String {
    format!("event {event}{}", line(told, event))
}

fn line(told: &Told<'_>, event: u64) -> String {
    told.lines.get(&event).map(|line| format!(" (line {line})")).unwrap_or_default()
}
