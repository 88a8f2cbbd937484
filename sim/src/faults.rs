//! The plan of a run: what goes wrong in it, and when.
//!
//! Fault model. A crash takes the volatile state, the timers and, of each stream, what is not yet durable but a drawn
//! prefix of its own, whose last record may be torn; the node restarts from its disk, or never. An empty disk and a
//! corruption are crashes that break the promise of the disk, on purpose. A pause stops a node's inputs, not its time.
//! A partition cuts every link between some nodes and the rest, in both directions or in one; a flap cuts and heals
//! them in turn; slow links delay what is sent on them. A slow disk takes longer, and on a full one nothing becomes
//! durable until there is room. A jump moves a clock's stamps, never its timers. Everything is healed by the end of the
//! active phase, except a crash that says otherwise. A fault that finds its node down already has no effect.
//!
//! The plan is data: it can be printed, edited and passed back in. Each fault has its own stream, so that leaving one
//! out changes no other draw.

use seedbed_model::{Protocol, Ratio, Span, Stream, hash};
use serde::{Deserialize, Serialize};

use seedbed_model::NodeClock;

/// What goes wrong in a run, and when. What a file leaves out does not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// Which part of the messages is lost, in the active phase.
    pub loss: Ratio,
    /// Which part of the messages arrives twice, in the active phase.
    pub duplicate: Ratio,
    /// Sorted by time.
    pub faults: Vec<TimedFault>,
    /// The clocks that are not exact; nodes left out have exact ones.
    pub clocks: Vec<NamedClock>,
    /// Where the run leaves the way of its seed: sorted by time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// From an instant on, all that is left open is drawn from another seed: delays, losses, decisions, what clients do. What comes
/// before stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Turn {
    /// Since the start of the run.
    pub at: Span,
    /// A number, as a seed of a campaign.
    pub seed: u64,
    /// Whether half of what takes time takes as little or as much as it may: that is where timing arguments break.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sharp: bool,
}

/// A node and its clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NamedClock {
    /// The node's name.
    pub node: String,
    /// Its clock.
    pub clock: NodeClock,
}

/// A fault and when it happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimedFault {
    /// Since the start of the run. A fault at or after the end of the active phase does not happen.
    pub at: Span,
    /// What happens.
    pub fault: Fault,
}

/// Something that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Fault {
    /// A node crashes.
    Crash {
        /// Its name.
        node: String,
        /// What it keeps of its unsynced records: 0 nothing, [`u32::MAX`] all, anything else some prefix of each
        /// stream, the same for the same number.
        keeps: u32,
        /// Whether the last record that it keeps of a stream may be torn: of some streams, which depends on `keeps`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        torn: bool,
        /// When it restarts, since the start of the run; `None` for never.
        restart: Option<Span>,
    },
    /// A node crashes, and finds an empty disk when it restarts.
    EmptyDisk {
        /// Its name.
        node: String,
        /// When it restarts, since the start of the run.
        restart: Span,
    },
    /// A node crashes, and finds one of its durable records corrupt when it restarts: the record's stream ends there.
    /// Without a durable record it is but a crash.
    Corruption {
        /// Its name.
        node: String,
        /// As of a crash.
        keeps: u32,
        /// Which record: some record of the latest, the same for the same number.
        record: u32,
        /// When it restarts, since the start of the run.
        restart: Span,
    },
    /// A node stops taking inputs.
    Pause {
        /// Its name.
        node: String,
        /// When it takes them again, since the start of the run.
        resume: Span,
    },
    /// Some nodes are cut off from the others.
    Partition {
        /// Their names.
        side: Vec<String>,
        /// In which directions.
        ways: Ways,
        /// When the links work again, since the start of the run.
        heal: Span,
    },
    /// Some nodes are cut off from the others, and heard again, in turn.
    Flap {
        /// Their names.
        side: Vec<String>,
        /// In which directions.
        ways: Ways,
        /// For how long at a time they are cut off. Above 0.
        down: Span,
        /// For how long at a time they are not. Above 0.
        up: Span,
        /// When the links work again for good, since the start of the run.
        end: Span,
    },
    /// What is sent between some nodes and the others takes longer.
    SlowLinks {
        /// Their names.
        side: Vec<String>,
        /// In which directions.
        ways: Ways,
        /// So many times as long.
        factor: Ratio,
        /// And so much longer.
        added: Span,
        /// When the links are as before, since the start of the run.
        end: Span,
    },
    /// Records take longer to become durable.
    SlowDisk {
        /// The node's name.
        node: String,
        /// So many times as long.
        factor: Ratio,
        /// And so much longer.
        added: Span,
        /// When the disk is as before, since the start of the run.
        end: Span,
    },
    /// No record becomes durable; those that are written meanwhile do once there is room.
    FullDisk {
        /// The node's name.
        node: String,
        /// When there is room, since the start of the run.
        end: Span,
    },
    /// A node's clock jumps: its stamps move, its timers do not.
    Jump {
        /// The node's name.
        node: String,
        /// By how much, forward or back [ns]. Less, where stamps would leave what the plan allows the clock.
        by_ns: i64,
    },
}

/// The directions in which a partition cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ways {
    /// Nothing passes.
    Both,
    /// What the cut-off nodes send is lost; they hear the others.
    Out,
    /// What the others send them is lost; they are heard.
    In,
}

/// How many unsynced records a crash keeps of `count` in `stream`. See [`Fault::Crash`].
pub(crate) fn kept(keeps: u32, stream: Stream, count: u32) -> u32 {
    match keeps {
        0 => 0,
        u32::MAX => count,
        _ => (hash(u64::from(keeps), &[stream.0]) % (u64::from(count) + 1)) as u32,
    }
}

/// Whether a crash that keeps records of `stream` tears the last of them. All of them do that keep everything.
pub(crate) fn is_torn(keeps: u32, stream: Stream) -> bool {
    keeps == u32::MAX || hash(u64::from(keeps) ^ 1 << 32, &[stream.0]).is_multiple_of(2)
}

impl Default for Plan {
    fn default() -> Self {
        Plan::calm()
    }
}

impl Plan {
    /// No faults, exact clocks.
    pub fn calm() -> Self {
        Plan { loss: Ratio::ZERO, duplicate: Ratio::ZERO, faults: Vec::new(), clocks: Vec::new(), turns: Vec::new() }
    }

    /// Whether the plan fits the protocol.
    ///
    /// # Errors
    /// See [`Plan::check_for`].
    pub fn check<P: Protocol>(&self, protocol: &P) -> Result<(), String> {
        self.check_for(&protocol.nodes())
    }

    /// Whether the plan makes sense for nodes of these names.
    ///
    /// # Errors
    /// On a node that is not among them, a part of more than the whole, and a flap that takes no time.
    pub fn check_for(&self, known: &[String]) -> Result<(), String> {
        if let Some(name) = self.unknown_node(known) {
            return Err(format!("the plan names `{name}`; the nodes are {}", known.join(", ")));
        }
        for (name, ratio) in [("loss", self.loss), ("duplicate", self.duplicate)] {
            if ratio.num > ratio.den {
                return Err(format!("the plan's {name}: {ratio} is above 1; write a part of the whole, such as 0.05"));
            }
        }
        if let Some(named) = self.clocks.iter().find(|named| named.clock.rate.num == 0) {
            return Err(format!("the plan's clock of {}: at rate 0 time stands still; write more", named.node));
        }
        let ended = self.faults.iter().find(|timed| timed.fault.end().is_some_and(|end| end < timed.at));
        if let Some((timed, end)) = ended.and_then(|timed| timed.fault.end().map(|end| (timed, end))) {
            return Err(format!(
                "the plan's fault at {} is over at {end}, before it begins; both count from the start of the run",
                timed.at
            ));
        }
        let is_still = |fault: &Fault| matches!(fault, Fault::Flap { down, up, .. } if down.0.min(up.0) == 0);
        match self.faults.iter().find(|timed| is_still(&timed.fault)) {
            Some(timed) => Err(format!("the plan's flap at {}: down and up must be more than 0s", timed.at)),
            None => Ok(()),
        }
    }

    /// The first node it names that is not among `known`.
    pub fn unknown_node(&self, known: &[String]) -> Option<&str> {
        let in_faults = self.faults.iter().flat_map(|timed| timed.fault.nodes());
        let named = in_faults.chain(self.clocks.iter().map(|named| &named.node));
        named.map(String::as_str).find(|name| known.iter().all(|other| other != name))
    }
}

impl Fault {
    /// The nodes it names.
    pub fn nodes(&self) -> &[String] {
        match self {
            Fault::Crash { node, .. }
            | Fault::EmptyDisk { node, .. }
            | Fault::Corruption { node, .. }
            | Fault::Pause { node, .. }
            | Fault::SlowDisk { node, .. }
            | Fault::FullDisk { node, .. }
            | Fault::Jump { node, .. } => std::slice::from_ref(node),
            Fault::Partition { side, .. } | Fault::Flap { side, .. } | Fault::SlowLinks { side, .. } => side,
        }
    }

    /// When it ends, since the start of the run; `None` for never, and for what takes no time.
    pub fn end(&self) -> Option<Span> {
        match self {
            Fault::Crash { restart, .. } => *restart,
            Fault::Jump { .. } => None,
            Fault::EmptyDisk { restart: end, .. }
            | Fault::Corruption { restart: end, .. }
            | Fault::Pause { resume: end, .. }
            | Fault::Partition { heal: end, .. }
            | Fault::Flap { end, .. }
            | Fault::SlowLinks { end, .. }
            | Fault::SlowDisk { end, .. }
            | Fault::FullDisk { end, .. } => Some(*end),
        }
    }
}
