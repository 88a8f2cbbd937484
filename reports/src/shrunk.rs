//! A failure made small, as text: what it is, the run, what the fall hangs on, what to paste.

use seedbed_model::record::{RunSize, ShrinkRecord};

use crate::{number, table, trace};

const WIDTH: usize = 110;

/// The whole of it.
pub fn text(record: &ShrinkRecord) -> String {
    let failure = &record.failure;
    let mut text = format!("{} fell: {}\n", failure.property, failure.words);
    text.push_str(&table::wrapped(&failure.detail, 4, WIDTH));
    text.push_str(&format!("  at:       {}\n", place(record)));
    text.push_str(&format!("  shrunk:   {}\n\n", shrunk(record)));
    text.push_str(&trace::text(&record.nodes, &record.trace));
    text.push('\n');
    text.push_str(&format!("  chain:    {}\n", chain(record)));
    text.push_str(&faults(record));
    text.push_str(&format!("  avoided:  {}\n", avoidable(record)));
    if !failure.paste.is_empty() {
        text.push_str(&format!("  replay:   {}\n", failure.paste));
    }
    if !failure.shrink.is_empty() {
        text.push_str(&format!("  shrink:   {}\n", failure.shrink));
    }
    text.push_str(&format!("  revision: {}\n  digest:   {}\n", failure.revision, failure.digest));
    text
}

fn place(record: &ShrinkRecord) -> String {
    let seed = record.failure.seed.as_ref().map(|seed| format!(", seed {seed}")).unwrap_or_default();
    format!("{}{seed}", record.failure.place)
}

/// From what to what, in words: a line of its own in failures too.
pub fn shrunk(record: &ShrinkRecord) -> String {
    let end = if record.is_minimal { "1-minimal" } else { "not minimal yet: the budget ran out" };
    format!(
        "from {} to {}; {end}, after {} tries",
        size(record.before),
        size(record.after),
        number::grouped(record.tries)
    )
}

fn size(size: RunSize) -> String {
    let part = |count: usize, one: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{} {one}{plural}", number::grouped(count as u64))
    };
    format!("{}, {} and {}", part(size.nodes, "node"), part(size.faults, "fault"), part(size.steps, "step"))
}

fn chain(record: &ShrinkRecord) -> String {
    let owed: Vec<String> =
        record.chain.iter().zip(1..).filter(|(hangs, _)| !**hangs).map(|(_, step)| step.to_string()).collect();
    match owed.len() {
        0 => "the fall hangs on every step".into(),
        1 => format!("the fall hangs on every step but {}, which the world owed", owed[0]),
        _ => format!("the fall hangs on every step but {}, which the world owed", owed.join(", ")),
    }
}

fn faults(record: &ShrinkRecord) -> String {
    if record.faults.is_empty() {
        return "  faults:   none is needed\n".into();
    }
    let line = |(index, fault): (usize, &seedbed_model::record::FaultRole)| {
        let head = if index == 0 { "faults:" } else { "" };
        let role = if fault.is_needed { "without it nothing falls" } else { "not needed" };
        format!("  {head:<9} {}: {role}\n", fault.what)
    };
    record.faults.iter().enumerate().map(line).collect()
}

/// Until when the fall could still be avoided: by search if that says, else by random continuations, which is an estimate.
fn avoidable(record: &ShrinkRecord) -> String {
    let Some(after) = record.certain_after else { return format!("estimate: {}", estimated(record)) };
    let states = number::counted(record.certain_states, "state");
    let steps = record.trace.len() as u64;
    let found = match after {
        0 => "never: from the start on every way on falls".to_owned(),
        after if after >= steps => "until the last step: before it there is a way on that never falls".to_owned(),
        after => format!("no longer after step {after}: every way on falls then, and a step before one never does"),
    };
    let (start, all) = (record.falls.first().copied().unwrap_or(0), record.continuations);
    format!("{found} (searched, {states}; {start} of {all} random continuations fall from the start)")
}

/// The first moment from which all continuations fall, and how it was before.
fn estimated(record: &ShrinkRecord) -> String {
    let (falls, all) = (&record.falls, record.continuations);
    let at = falls.iter().rposition(|fell| *fell < all).map_or(0, |last| last + 1);
    let start = falls.first().copied().unwrap_or(0);
    match at {
        0 => format!("never: from the start on {all} of {all} random continuations fall"),
        at => {
            let from =
                if at < falls.len() { format!("no longer after step {at}") } else { "until the last step".to_owned() };
            let before = falls[at - 1];
            format!(
                "{from}: {all} of {all} random continuations fall then, {before} a step before, {start} from the start"
            )
        }
    }
}
