//! The verdict in words.

use seedbed_model::history::{Contradiction, NEVER, Verdict};

use super::{Told, described};

/// More operations than these are not listed.
const LISTED_COUNT_MAX: usize = 40;

/// One line for a history that has an order; for a contradiction the operations that make it, too.
pub fn text(told: &Told<'_>) -> String {
    let subject = format!("{}: {} as {}", told.name, told.judgement, told.specification);
    let count = told.intervals.len();
    let (answer, more) = match told.verdict {
        Verdict::Ordered(_) => (format!("yes, {count} operations"), String::new()),
        Verdict::Unknown(_) => {
            (format!("unknown, {}", told.exhausted.as_deref().unwrap_or("the budget ran out")), String::new())
        }
        Verdict::Violated(found) => (format!("no, {count} operations"), contradiction(told, found)),
    };
    format!("{subject}: {answer}\n{}{more}", left_out(told.unknown_count))
}

fn left_out(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "  without: 1 read of nil, which nobody knows the value of (--nil value)\n".into(),
        count => format!("  without: {count} reads of nil, which nobody knows the values of (--nil value)\n"),
    }
}

fn contradiction(told: &Told<'_>, found: &Contradiction) -> String {
    let mut text = String::new();
    if let Some(within) = &found.within {
        text.push_str(&format!("  within:  {within}\n"));
    }
    let longest = if found.is_longest { ", the longest there is" } else { "" };
    text.push_str(&format!(
        "  prefix:  {} operations are in order up to event {}{}, which has no place{longest}\n",
        found.prefix.len(),
        found.end,
        line(told, found.end)
    ));
    text.push_str(&piece(found));
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

fn piece(found: &Contradiction) -> String {
    let (count, is_minimal) = (found.piece.len(), found.is_minimal);
    let have = if count == 1 { "this 1 has" } else { &format!("these {count} have") };
    let minimal = match (is_minimal, count) {
        (true, 1) => "",
        (true, _) => ", each of them needed",
        (false, _) => ", not all of them needed as far as is known: the budget for cutting ran out",
    };
    format!("  piece:   {have} no order, whatever came of all others{minimal}:\n")
}

fn event(told: &Told<'_>, event: u64) -> String {
    format!("event {event}{}", line(told, event))
}

fn line(told: &Told<'_>, event: u64) -> String {
    told.lines.get(&event).map(|line| format!(" (line {line})")).unwrap_or_default()
}
