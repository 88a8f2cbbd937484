//! The network: when each message arrives, if it does.
//!
//! Fault model. A message is lost, or delayed, or arrives twice, each as drawn for its link; its content is never
//! altered. Delays alone reorder: two messages of one link arrive in the order of their delays, or in the order sent
//! where `fifo` is set. Where links are limited, messages queue before their delays begin (`shape`). A lost message leaves flight at once. Of a message and its copy the earlier arrival is the
//! copy's, so that a copy never outlives its message; copies are not ordered by `fifo`. A cut link loses what
//! *arrives* while it is cut, whenever it was sent. A paused node's messages arrive as it resumes, before all others.
//! In the quiet phase nothing is lost, and no copy is made or arrives.

use seedbed_model::{NodeId, Ratio, Span};
use serde::{Deserialize, Serialize};

use crate::settings::SpanRange;
use crate::shape::Shape;
use crate::stream::{Label, Streams, part};

/// What the network does to messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Network {
    /// The least one-way delay. At most `delay-max`.
    pub delay_min: Span,
    /// The most one-way delay.
    pub delay_max: Span,
    /// How delays lie between the two.
    pub distribution: Distribution,
    /// Which part of the messages is lost.
    pub loss: Ratio,
    /// Which part of the messages arrives twice.
    pub duplicate: Ratio,
    /// Whether messages of a link arrive in the order sent.
    pub fifo: bool,
    /// Bytes a second that each link takes, in each direction; without limit if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<u64>,
}

impl Default for Network {
    fn default() -> Self {
        Network {
            delay_min: Span::millis(1),
            delay_max: Span::millis(20),
            distribution: Distribution::Uniform,
            loss: Ratio::ZERO,
            duplicate: Ratio::ZERO,
            fifo: false,
            bandwidth: None,
        }
    }
}

/// How delays are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Evenly from `delay-min` to `delay-max`.
    Uniform,
    /// Most near `delay-min`, few far out: each sixteenth of the way to `delay-max` halves the chance, which makes the
    /// mean about a tenth of the way.
    Exponential,
    /// Always `delay-min`.
    Fixed,
}

/// Leading zeros are halvings of the chance, the bits behind the first one a place within the sixteenth.
fn tail(pair: u64, width: u64) -> u64 {
    let halvings = pair.leading_zeros().min(15);
    let place = u128::from(halvings) << 64 | u128::from(pair << (halvings + 1));
    (((place >> 4) * (u128::from(width) + 1)) >> 64) as u64
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It never arrives.
    Lost,
    /// It arrives at the instant, if the link is not cut then [ns].
    Arrives(u64),
    /// A copy arrives at the first instant, the message at the second, not earlier one.
    Twice(u64, u64),
}

/// What is remembered of a directed link.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    /// Messages sent on it.
    sent: u64,
    /// The latest arrival drawn so far [ns].
    last: u64,
}

/// Links that a row grows by at a time.
const ROW: usize = 8;

/// The links of a run.
pub(crate) struct Links {
    settings: Network,
    delays: Delays,
    /// `rows[from][to]`, each row about as long as its furthest receiver asks: a client that knows three servers costs few.
    rows: Vec<Vec<Link>>,
    /// What slows messages down beside their delays.
    pub(crate) shape: Shape,
}

impl Links {
    /// Links that nothing was sent on, with the losses and copies of `settings`.
    pub(crate) fn new(settings: Network, uplink: Option<u64>, ticks: bool, node_count: usize) -> Self {
        let shape = Shape::new(settings.bandwidth, uplink, node_count);
        let delays = Delays::new(&settings, ticks);
        Links { settings, delays, rows: vec![Vec::new(); node_count], shape }
    }

    /// Neither loses nor copies from here on, nor is any link slow.
    pub(crate) fn calm(&mut self) {
        self.shape.calm();
        self.settings.loss = Ratio::ZERO;
        self.settings.duplicate = Ratio::ZERO;
    }

    /// The fate of the next message from `from` to `to`, sent at `now` [ns]. Only a limited network asks its size.
    #[inline]
    pub(crate) fn fate(
        &mut self,
        streams: &mut Streams,
        now: u64,
        (from, to): (NodeId, NodeId),
        size: impl FnOnce() -> u64,
    ) -> Fate {
        let is_shaped = self.shape.is_in_force();
        let now = if is_shaped && self.shape.is_limited() { self.shape.departure(now, from, to, size()) } else { now };
        let row = &mut self.rows[from.index()];
        if row.len() <= to.index() {
            row.resize((to.index() + 1).next_multiple_of(ROW), Link::default());
        }
        let link = &mut row[to.index()];
        let number = link.sent;
        link.sent += 1;
        if streams.chance(Label::loss(from, to), number, self.settings.loss) {
            return Fate::Lost;
        }
        let mut delay = self.delays.draw(streams, Label::delay(from, to), number);
        if is_shaped {
            delay = self.shape.stretched(delay, from, to);
        }
        let mut arrival = now + delay;
        if self.settings.fifo {
            arrival = arrival.max(link.last);
            link.last = arrival;
        }
        if streams.chance(Label::duplicate(from, to), number, self.settings.duplicate) {
            let mut delay = self.delays.draw(streams, Label::copy(from, to), number);
            if is_shaped {
                delay = self.shape.stretched(delay, from, to);
            }
            let other = now + delay;
            return Fate::Twice(arrival.min(other), arrival.max(other));
        }
        Fate::Arrives(arrival)
    }
}

/// How delays are drawn: whole units from the least to the most.
struct Delays {
    least: u64,
    /// How many there are.
    count: u64,
    /// What they count [ns].
    unit: u64,
    distribution: Distribution,
}

impl Delays {
    fn new(network: &Network, ticks: bool) -> Self {
        let range = SpanRange { min: network.delay_min, max: network.delay_max };
        let ((least, most), unit) = if ticks { (range.ticks(), Span::TICK.0) } else { ((range.min.0, range.max.0), 1) };
        Delays { least, count: (most - least).saturating_add(1), unit, distribution: network.distribution }
    }

    /// The delay of a link's message `number` [ns].
    #[inline(always)]
    fn draw(&self, streams: &mut Streams, label: Label, number: u64) -> u64 {
        if self.count == 1 {
            return self.least * self.unit;
        }
        let ahead = match self.distribution {
            Distribution::Fixed => 0,
            Distribution::Uniform => part(streams.pair(label, number), self.count),
            Distribution::Exponential => tail(streams.pair(label, number), self.count - 1),
        };
        (self.least + ahead) * self.unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn fates(settings: Network, count: usize) -> Vec<Fate> {
        let mut streams = Streams::new(Seed::Number(3), 2);
        let mut links = Links::new(settings, None, false, 2);
        (0..count).map(|_| links.fate(&mut streams, 0, (NodeId(0), NodeId(1)), || 0)).collect()
    }

    #[test]
    fn loss_zero_loses_nothing_and_loss_one_everything() {
        assert!(fates(Network::default(), 1000).iter().all(|fate| matches!(fate, Fate::Arrives(_))));
        let lossy = Network { loss: Ratio::ONE, ..Network::default() };
        assert!(fates(lossy, 1000).iter().all(|fate| *fate == Fate::Lost));
        let some = Network { loss: Ratio::new(1, 10), ..Network::default() };
        let lost = fates(some, 10_000).iter().filter(|fate| **fate == Fate::Lost).count();
        assert!((900..1100).contains(&lost), "{lost} of 10000 lost at one in ten");
    }

    #[test]
    fn losing_some_messages_leaves_the_delays_of_the_others_alone() {
        let whole = fates(Network::default(), 100);
        let lossy = fates(Network { loss: Ratio::new(1, 2), ..Network::default() }, 100);
        let kept = lossy.iter().zip(&whole).filter(|(fate, _)| **fate != Fate::Lost);
        assert!(kept.clone().count() > 20);
        assert!(kept.clone().all(|(fate, before)| fate == before));
    }

    #[test]
    fn delays_stay_within_their_bounds_and_reorder_unless_fifo() {
        let instants = |settings: Network| -> Vec<u64> {
            fates(settings, 1000).into_iter().map(|fate| if let Fate::Arrives(at) = fate { at } else { 0 }).collect()
        };
        for distribution in [Distribution::Uniform, Distribution::Exponential] {
            let found = instants(Network { distribution, ..Network::default() });
            assert!(found.iter().all(|at| (1_000_000..=20_000_000).contains(at)));
            assert!(!found.is_sorted());
        }
        let ordered = instants(Network { fifo: true, ..Network::default() });
        assert!(ordered.is_sorted());
        let fixed = instants(Network { distribution: Distribution::Fixed, ..Network::default() });
        assert!(fixed.iter().all(|at| *at == 1_000_000));
    }

    #[test]
    fn an_exponential_delay_is_mostly_short_and_reaches_far() {
        assert_eq!((tail(u64::MAX, 1600), tail(1, 1600)), (100, 1500));
        let mut found: Vec<u64> = (0..1u64 << 16).map(|high| tail(high << 48, 1600)).collect();
        found.sort_unstable();
        assert!(found[found.len() / 2] <= 100, "half lie within the first sixteenth");
        assert!(found.last() > Some(&1400));
    }

    #[test]
    fn a_copy_arrives_no_later_than_its_message() {
        let found = fates(Network { duplicate: Ratio::ONE, ..Network::default() }, 1000);
        assert!(found.iter().all(|fate| matches!(fate, Fate::Twice(copy, message) if copy <= message)));
    }
}
