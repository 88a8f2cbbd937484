//! Where each operation's bar goes.

use std::collections::BTreeMap;

use seedbed_model::history::{NEVER, Verdict};

use super::{Told, described};

/// More operations than these are not drawn.
const DRAWN_COUNT_MAX: usize = 200;

/// A row for each client.
pub(super) struct Layout {
    pub(super) lanes: Vec<Lane>,
    /// In columns.
    pub(super) width: usize,
    /// What is shown, in words.
    pub(super) caption: String,
}

/// A client, or a further row of one whose operations overlap.
pub(super) struct Lane {
    pub(super) name: String,
    /// From left to right, apart.
    pub(super) bars: Vec<Bar>,
}

/// An operation.
pub(super) struct Bar {
    pub(super) from: usize,
    /// The column of the answer; `None` if it never came.
    pub(super) to: Option<usize>,
    pub(super) label: String,
    /// Whether it makes the contradiction.
    pub(super) is_culprit: bool,
}

impl Layout {
    /// The contradiction alone, or everything. Columns are as wide as labels need: time is in order, not to scale.
    pub(super) fn new(told: &Told<'_>) -> Self {
        let (order, culprits): (&[usize], &[usize]) = match told.verdict {
            Verdict::Ordered(order) => (order, &[]),
            Verdict::Violated(found) => (&[], &found.piece),
            Verdict::Unknown(_) => (&[], &[]),
        };
        let places: BTreeMap<usize, usize> =
            order.iter().enumerate().map(|(place, index)| (*index, place + 1)).collect();
        let label = |index: usize| match places.get(&index) {
            Some(place) => format!("{place}. {}", described(&told.intervals[index])),
            None => described(&told.intervals[index]),
        };
        let mut shown: Vec<usize> = match culprits {
            [] => (0..told.intervals.len()).collect(),
            culprits => culprits.to_vec(),
        };
        let count = shown.len();
        shown.truncate(DRAWN_COUNT_MAX);
        let columns = columns(told, &shown, &label);
        let width = columns.values().max().map_or(1, |column| column + 1);
        let mut processes: BTreeMap<u64, Vec<Vec<Bar>>> = BTreeMap::new();
        for index in &shown {
            let interval = &told.intervals[*index];
            let bar = Bar {
                from: columns[&interval.invoked],
                to: columns.get(&interval.returned).copied(),
                label: label(*index),
                is_culprit: !culprits.is_empty(),
            };
            put(processes.entry(interval.process).or_default(), bar);
        }
        Layout { lanes: named(processes), width, caption: caption(told.verdict, shown.len(), count) }
    }
}

/// Into the first row that is free there.
fn put(rows: &mut Vec<Vec<Bar>>, bar: Bar) {
    let is_free = |row: &Vec<Bar>| row.last().is_none_or(|last| last.to.is_some_and(|to| to < bar.from));
    match rows.iter().position(is_free) {
        Some(row) => rows[row].push(bar),
        None => rows.push(vec![bar]),
    }
}

fn named(processes: BTreeMap<u64, Vec<Vec<Bar>>>) -> Vec<Lane> {
    let rows = processes.into_iter().flat_map(|(process, rows)| rows.into_iter().map(move |bars| (process, bars)));
    let mut last = None;
    rows.map(|(process, bars)| {
        let is_first = last.replace(process) != Some(process);
        Lane { name: if is_first { format!("process {process}") } else { String::new() }, bars }
    })
    .collect()
}

/// The column of each event: after the one before, and far enough for the labels of what ends there.
fn columns(told: &Told<'_>, shown: &[usize], label: &dyn Fn(usize) -> String) -> BTreeMap<u64, usize> {
    let mut events: BTreeMap<u64, Option<usize>> = BTreeMap::new();
    for index in shown {
        events.insert(told.intervals[*index].invoked, None);
        if told.intervals[*index].returned != NEVER {
            events.insert(told.intervals[*index].returned, Some(*index));
        }
    }
    let mut columns = BTreeMap::new();
    let mut column = 0;
    for (event, ends) in events {
        if let Some(index) = ends {
            let from: usize = columns[&told.intervals[index].invoked];
            column = column.max(from + label(index).chars().count() + 3);
        }
        columns.insert(event, column);
        column += 2;
    }
    // What is never answered needs room for its label, too.
    let open = shown.iter().filter(|index| told.intervals[**index].returned == NEVER);
    let end = open.map(|index| columns[&told.intervals[*index].invoked] + label(*index).chars().count() + 4).max();
    columns.insert(NEVER - 1, column.max(end.unwrap_or(0)));
    columns
}

fn caption(verdict: &Verdict, shown: usize, count: usize) -> String {
    let what = match verdict {
        Verdict::Ordered(order) if order.is_empty() => "the operations",
        Verdict::Ordered(_) => "the operations, numbered in the order found",
        Verdict::Violated(_) => "operations that have no order, whatever came of all others",
        Verdict::Unknown(_) => "the operations; whether they have an order is unknown",
    };
    if shown < count { format!("{what} (the first {shown} of {count})") } else { what.to_owned() }
}
