//! What an experiment measures of a run, exactly: times, counts and bytes, as the run goes.

use std::collections::BTreeMap;

use seedbed_model::{Effect, Host, Named, NodeId, Protocol, Span, Timers};
use seedbed_sim::{Seed, Settings, Sizer, Tracer, simulate};
use serde::{Deserialize, Serialize};

use crate::face::{Measured, fits};

/// A quantity of a run, beside the marks that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quantity {
    /// How often the mark `to` was taken.
    Count,
    /// The same by the time from the first mark `from` to the last `to` [1/s].
    Rate,
    /// The time from the first mark `from` to the last `to` [ms].
    Span,
    /// Bytes that the nodes send [kB/s].
    Sent,
    /// Bytes that are sent to the nodes [kB/s].
    Received,
    /// Bytes that the nodes write to their disks [kB/s].
    Written,
    /// What the nodes hold at the end of the run, volatile state and records, as their canonical encodings are long [B].
    State,
    /// The share of the time that the nodes' steps take, of one processor each, by the cost of a step [%].
    Busy,
}

impl Quantity {
    /// Of the values.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Quantity::Count => "",
            Quantity::Rate => "1/s",
            Quantity::Span => "ms",
            Quantity::Sent | Quantity::Received | Quantity::Written => "kB/s",
            Quantity::State => "B",
            Quantity::Busy => "%",
        }
    }

    /// Which marks it cannot do without: `from`, `to`.
    pub(crate) fn needs(self) -> (bool, bool) {
        match self {
            Quantity::Count => (false, true),
            Quantity::Rate | Quantity::Span => (true, true),
            Quantity::Sent | Quantity::Received | Quantity::Written | Quantity::State | Quantity::Busy => {
                (false, false)
            }
        }
    }
}

/// What is measured. What is taken by time is taken from the first mark `from` to the last `to`; without them, of all the
/// run.
#[derive(Debug, Clone)]
pub(crate) struct Measure {
    pub(crate) quantity: Quantity,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// Of which nodes: names, or beginnings of names with a star; of all if it is empty.
    pub(crate) nodes: Vec<String>,
    /// The most in any second of the run, not the mean.
    pub(crate) peak: bool,
}

/// Runs one seed and measures it.
pub(crate) fn measured<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed, measures: &[Measure]) -> Measured {
    let names = protocol.nodes();
    let gauges = measures.iter().map(|measure| Gauge::new(measure, &names)).collect();
    let mut meter = Meter { sizer: Sizer::new(protocol.clone()), marks: BTreeMap::new(), gauges };
    let run = simulate(protocol, settings, seed, Some(&mut meter));
    let values = meter.gauges.iter().map(|gauge| gauge.value(&meter.marks, run.now_ns, settings)).collect();
    Measured { values, run }
}

/// How often a mark was taken, first and last when [ns].
#[derive(Debug, Clone, Copy)]
struct Taken {
    count: u64,
    first: u64,
    last: u64,
}

struct Meter<'m, P: Protocol> {
    sizer: Sizer<P>,
    marks: BTreeMap<&'static str, Taken>,
    gauges: Vec<Gauge<'m>>,
}

/// A measure, and what it has seen.
struct Gauge<'m> {
    measure: &'m Measure,
    /// Whether it is of node `i`.
    of: Vec<bool>,
    total: u64,
    /// What `total` was at the first mark `from`, and at the last `to`.
    at_first: Option<u64>,
    at_last: Option<u64>,
    /// By second.
    seconds: BTreeMap<u64, u64>,
}

impl<'m> Gauge<'m> {
    fn new(measure: &'m Measure, names: &[String]) -> Self {
        let is_of = |name: &String| measure.nodes.is_empty() || measure.nodes.iter().any(|node| fits(node, name));
        let of = names.iter().map(is_of).collect();
        Gauge { measure, of, total: 0, at_first: None, at_last: None, seconds: BTreeMap::new() }
    }

    fn marked(&mut self, mark: &str) {
        if self.measure.from.as_deref() == Some(mark) {
            self.at_first.get_or_insert(self.total);
        }
        if self.measure.to.as_deref() == Some(mark) {
            self.at_last = Some(self.total);
        }
    }

    fn add(&mut self, at_ns: u64, amount: u64) {
        self.total += amount;
        if self.measure.peak {
            *self.seconds.entry(at_ns / Span::secs(1).0).or_default() += amount;
        }
    }

    fn sees(&self, quantity: Quantity, node: NodeId) -> bool {
        self.measure.quantity == quantity && self.of[node.index()]
    }

    /// In thousandths of the unit; `None` if a mark is missing, or no time passed between the marks.
    fn value(&self, marks: &BTreeMap<&'static str, Taken>, end: u64, settings: &Settings) -> Option<u64> {
        let mark = |name: &Option<String>| name.as_deref().map(|name| marks.get(name));
        let from = mark(&self.measure.from).map_or(Some(0), |taken| taken.map(|taken| taken.first));
        let to = mark(&self.measure.to).map_or(Some(end), |taken| taken.map(|taken| taken.last));
        let counted = mark(&self.measure.to).flatten().map_or(0, |taken| taken.count);
        match self.measure.quantity {
            Quantity::Count => return Some(counted * 1_000),
            Quantity::State => return Some(self.total * 1_000),
            _ => {}
        }
        let span = to?.checked_sub(from?).filter(|span| *span > 0)?;
        let in_window = self.at_last.unwrap_or(self.total).saturating_sub(self.at_first.unwrap_or(0));
        let by_time = |amount: u64, scale: u64| match self.measure.peak {
            true => self.seconds.values().max().copied().unwrap_or(0) * (scale / Span::secs(1).0),
            false => (u128::from(amount) * u128::from(scale) / u128::from(span)) as u64,
        };
        let second = Span::secs(1).0;
        Some(match self.measure.quantity {
            Quantity::Count | Quantity::State => unreachable!("it needs no time"),
            Quantity::Span => span / 1_000,
            Quantity::Rate => (u128::from(counted) * u128::from(second) * 1_000 / u128::from(span)) as u64,
            // Bytes a second are thousandths of kB/s.
            Quantity::Sent | Quantity::Received | Quantity::Written => by_time(in_window, second),
            Quantity::Busy => {
                let nodes = self.of.iter().filter(|is_of| **is_of).count().max(1) as u64;
                by_time(in_window * settings.costs.step.0, 100_000) / nodes
            }
        })
    }
}

impl<P: Protocol> Tracer<P> for Meter<'_, P> {
    fn step(&mut self, at_ns: u64, _: u64, _: &Named<P>, _: &[u32], effects: &[(NodeId, Effect<P>)]) {
        for (node, effect) in effects {
            match effect {
                Effect::Mark(name) => {
                    let taken = self.marks.entry(name).or_insert(Taken { count: 0, first: at_ns, last: at_ns });
                    (taken.count, taken.last) = (taken.count + 1, at_ns);
                    self.gauges.iter_mut().for_each(|gauge| gauge.marked(name));
                }
                Effect::Send { to, message, .. } => {
                    let mut size = None;
                    for gauge in &mut self.gauges {
                        if gauge.sees(Quantity::Sent, *node) || gauge.sees(Quantity::Received, *to) {
                            let size = *size.get_or_insert_with(|| self.sizer.message(message));
                            gauge.add(at_ns, size);
                        }
                    }
                }
                Effect::Persist { record, .. } => {
                    let mut size = None;
                    for gauge in self.gauges.iter_mut().filter(|gauge| gauge.sees(Quantity::Written, *node)) {
                        let size = *size.get_or_insert_with(|| self.sizer.record(record));
                        gauge.add(at_ns, size);
                    }
                }
                _ => {}
            }
        }
    }

    fn after(&mut self, at_ns: u64, node: NodeId, _: &Host<P>, _: &Timers<P::Timer>) {
        for gauge in self.gauges.iter_mut().filter(|gauge| gauge.sees(Quantity::Busy, node)) {
            gauge.add(at_ns, 1);
        }
    }

    fn left(&mut self, node: NodeId, host: &Host<P>) {
        let mut size = None;
        for gauge in self.gauges.iter_mut().filter(|gauge| gauge.sees(Quantity::State, node)) {
            gauge.total += *size.get_or_insert_with(|| self.sizer.host(host));
        }
    }
}
