//! What an experiment measures of a run, exactly: times, counts and bytes, as the run goes.

use std::collections::BTreeMap;

use seedbed_model::{Effect, Event, Host, Named, NodeId, OpId, Protocol, Span, Timers};
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
    /// The mean time from the invocation of an operation to its answer, or to the run's end if there is none [ms].
    Latency,
}

impl Quantity {
    /// Of the values.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Quantity::Count => "",
            Quantity::Rate => "1/s",
            Quantity::Span | Quantity::Latency => "ms",
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
            Quantity::Sent
            | Quantity::Received
            | Quantity::Written
            | Quantity::State
            | Quantity::Busy
            | Quantity::Latency => (false, false),
        }
    }

    /// Whether it can be had along this, and if not, what can.
    pub(crate) fn along(self, axis: &Axis) -> Result<(), &'static str> {
        let fits = match axis {
            Axis::Settings => true,
            Axis::Time(_) => !matches!(self, Quantity::Span | Quantity::State),
            Axis::Shares(_) => self == Quantity::Latency,
        };
        match axis {
            _ if fits => Ok(()),
            Axis::Shares(_) => Err("along shares of the operations `latency` alone can be measured"),
            _ => Err("along the time there is no `span` and no `state`"),
        }
    }
}

/// Along what a quantity is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Runs with different parameters or settings: each gives one value.
    Settings,
    /// Slices of a run, each so long.
    Time(Span),
    /// Shares of a run's operations, from the fastest on [%].
    Shares(Vec<u64>),
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
    /// What happens from here on, of operations their invocation,
    pub(crate) after: Span,
    /// and before this.
    pub(crate) before: Span,
}

impl Measure {
    /// Whether what happens then is measured.
    fn lasts_at(&self, at_ns: u64) -> bool {
        (self.after.0..self.before.0).contains(&at_ns)
    }
}

/// Runs one seed and measures it.
pub(crate) fn measured<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    seed: Seed,
    measures: &[Measure],
    axis: &Axis,
) -> Measured {
    let names = protocol.nodes();
    let slice = if let Axis::Time(slice) = axis { *slice } else { Span::secs(1) };
    let gauges = measures.iter().map(|measure| Gauge::new(measure, &names, slice, axis)).collect();
    let mut meter =
        Meter { sizer: Sizer::new(protocol.clone()), marks: BTreeMap::new(), open: BTreeMap::new(), gauges };
    let run = simulate(protocol, settings, seed, Some(&mut meter));
    for ((node, _), invoked_ns) in std::mem::take(&mut meter.open) {
        meter.answered(node, invoked_ns, run.now_ns);
    }
    let values = meter.gauges.iter().map(|gauge| match axis {
        Axis::Settings => vec![gauge.value(&meter.marks, run.now_ns, settings)],
        Axis::Time(slice) => {
            let count = (settings.duration + settings.quiet).0.div_ceil(slice.0);
            (0..count).map(|number| gauge.in_slice(number, settings)).collect()
        }
        Axis::Shares(shares) => shares.iter().map(|share| gauge.at_share(*share)).collect(),
    });
    Measured { values: values.collect(), run }
}

/// When a mark was taken, first and last [ns].
#[derive(Debug, Clone, Copy)]
struct Taken {
    first: u64,
    last: u64,
}

struct Meter<'m, P: Protocol> {
    sizer: Sizer<P>,
    marks: BTreeMap<&'static str, Taken>,
    /// When operations that wait for their answers were invoked [ns].
    open: BTreeMap<(NodeId, OpId), u64>,
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
    /// How long a slice is, and what was measured in each, where that is asked.
    slice: Span,
    slices: Option<BTreeMap<u64, u64>>,
    /// Of operations: when each was answered, and how long it took [ns].
    latencies: Vec<(u64, u64)>,
}

impl<'m> Gauge<'m> {
    fn new(measure: &'m Measure, names: &[String], slice: Span, axis: &Axis) -> Self {
        let is_of = |name: &String| measure.nodes.is_empty() || measure.nodes.iter().any(|node| fits(node, name));
        let of = names.iter().map(is_of).collect();
        let is_sliced = measure.peak || matches!(axis, Axis::Time(_));
        Gauge {
            measure,
            of,
            total: 0,
            at_first: None,
            at_last: None,
            slice,
            slices: is_sliced.then(BTreeMap::new),
            latencies: Vec::new(),
        }
    }

    fn marked(&mut self, mark: &str, at_ns: u64) {
        if matches!(self.measure.quantity, Quantity::Count | Quantity::Rate) && self.measure.to.as_deref() == Some(mark)
        {
            self.add(at_ns, 1);
        }
        if self.measure.from.as_deref() == Some(mark) {
            self.at_first.get_or_insert(self.total);
        }
        if self.measure.to.as_deref() == Some(mark) {
            self.at_last = Some(self.total);
        }
    }

    fn add(&mut self, at_ns: u64, amount: u64) {
        if !self.measure.lasts_at(at_ns) {
            return;
        }
        self.total += amount;
        if let Some(slices) = &mut self.slices {
            *slices.entry(at_ns / self.slice.0).or_default() += amount;
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
        match self.measure.quantity {
            Quantity::Count => return Some(self.total * 1_000),
            Quantity::State => return Some(self.total * 1_000),
            Quantity::Latency => return mean(self.latencies.iter().map(|(_, took)| *took)),
            _ => {}
        }
        let (from, to) = (from?.max(self.measure.after.0), to?.min(self.measure.before.0));
        let span = to.checked_sub(from).filter(|span| *span > 0)?;
        let in_window = self.at_last.unwrap_or(self.total).saturating_sub(self.at_first.unwrap_or(0));
        let by_time = |amount: u64, scale: u64| match self.measure.peak {
            true => self.slices.iter().flat_map(BTreeMap::values).max().copied().unwrap_or(0) * (scale / self.slice.0),
            false => (u128::from(amount) * u128::from(scale) / u128::from(span)) as u64,
        };
        let second = Span::secs(1).0;
        Some(match self.measure.quantity {
            Quantity::Count | Quantity::State | Quantity::Latency => unreachable!("it needs no time"),
            Quantity::Span => span / 1_000,
            Quantity::Rate => (u128::from(self.total) * u128::from(second) * 1_000 / u128::from(span)) as u64,
            // Bytes a second are thousandths of kB/s.
            Quantity::Sent | Quantity::Received | Quantity::Written => by_time(in_window, second),
            Quantity::Busy => by_time(in_window * settings.costs.step.0, 100_000) / self.node_count(),
        })
    }

    /// What was measured in the slice of this number, in thousandths of the unit. Of operations, those answered in it; `None`
    /// where none was.
    fn in_slice(&self, number: u64, settings: &Settings) -> Option<u64> {
        let amount = u128::from(self.slices.as_ref().and_then(|slices| slices.get(&number)).copied().unwrap_or(0));
        let by_time = |scale: u64| (amount * u128::from(scale) / u128::from(self.slice.0)) as u64;
        let second = Span::secs(1).0;
        Some(match self.measure.quantity {
            Quantity::Count => amount as u64 * 1_000,
            Quantity::Rate => by_time(second * 1_000),
            Quantity::Sent | Quantity::Received | Quantity::Written => by_time(second),
            Quantity::Busy => by_time(settings.costs.step.0 * 100_000) / self.node_count(),
            Quantity::Latency => {
                let of_slice = self.latencies.iter().filter(|(at_ns, _)| at_ns / self.slice.0 == number);
                return mean(of_slice.map(|(_, took)| *took));
            }
            Quantity::Span | Quantity::State => unreachable!("it is refused along the time"),
        })
    }

    /// How long the operations took of which this share was as fast or faster [%].
    fn at_share(&self, share: u64) -> Option<u64> {
        let mut sorted: Vec<u64> = self.latencies.iter().map(|(_, took)| *took).collect();
        sorted.sort_unstable();
        let rank = (sorted.len() as u64 * share).div_ceil(100).max(1) as usize;
        sorted.get(rank - 1).map(|took| took / 1_000)
    }

    fn node_count(&self) -> u64 {
        self.of.iter().filter(|is_of| **is_of).count().max(1) as u64
    }
}

/// In thousandths of a millisecond.
fn mean(times_ns: impl Iterator<Item = u64>) -> Option<u64> {
    let (sum, count) = times_ns.fold((0u128, 0u128), |(sum, count), time| (sum + u128::from(time), count + 1));
    (count > 0).then(|| (sum / count / 1_000) as u64)
}

impl<P: Protocol> Meter<'_, P> {
    fn answered(&mut self, node: NodeId, invoked_ns: u64, at_ns: u64) {
        let took = at_ns.saturating_sub(invoked_ns);
        for gauge in self.gauges.iter_mut().filter(|gauge| gauge.sees(Quantity::Latency, node)) {
            if gauge.measure.lasts_at(invoked_ns) {
                gauge.latencies.push((at_ns, took));
            }
        }
    }
}

impl<P: Protocol> Tracer<P> for Meter<'_, P> {
    fn step(&mut self, at_ns: u64, _: u64, _: &Named<P>, _: &[u32], effects: &[(NodeId, Effect<P>)]) {
        for (node, effect) in effects {
            match effect {
                Effect::Mark(name) => {
                    let taken = self.marks.entry(name).or_insert(Taken { first: at_ns, last: at_ns });
                    taken.last = at_ns;
                    self.gauges.iter_mut().for_each(|gauge| gauge.marked(name, at_ns));
                }
                Effect::Happened(Event::Invoked(op, _)) => drop(self.open.insert((*node, *op), at_ns)),
                Effect::Happened(Event::Responded(op, _)) => {
                    if let Some(invoked_ns) = self.open.remove(&(*node, *op)) {
                        self.answered(*node, invoked_ns, at_ns);
                    }
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
