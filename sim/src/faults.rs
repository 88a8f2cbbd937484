//! Faults: which are drawn for a seed, and the plan that holds them.
//!
//! Fault model. A crash takes the volatile state, the timers and, stream by stream, what is not yet durable but a
//! drawn prefix; the node restarts from its disk, or never. A pause stops a node's inputs, not its time. A partition
//! cuts every link between some nodes and the rest, in both directions or in one. Everything is healed by the end of
//! the active phase, except a crash that says otherwise. A fault that finds its node down already has no effect.
//!
//! The plan is data: it can be printed, edited and passed back in. Each fault has its own stream, so that leaving one
//! out changes no other draw.

use std::fmt;

use seedbed_model::{Protocol, Ratio, Span, Stream, hash};
use serde::{Deserialize, Serialize};

use crate::clock::NodeClock;

/// Which faults are drawn. Counts are maxima: a seed has fewer, or none of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FaultMix {
    /// Whether each seed enables a random subset of the kinds (crashes, pauses, partitions, losses, copies), each with
    /// a chance of three in four. Otherwise every seed has each kind, as often as it may.
    pub swarm: bool,
    /// At most so many crashes.
    pub crashes: u32,
    /// A crashed node restarts after at least this. At most `restart-max`.
    pub restart_min: Span,
    /// A crashed node restarts after at most this, and by the end of the active phase.
    pub restart_max: Span,
    /// Which part of the crashes is for ever.
    pub never_restart: Ratio,
    /// At most so many pauses.
    pub pauses: u32,
    /// A pause lasts at least this. At most `pause-max`.
    pub pause_min: Span,
    /// A pause lasts at most this, and no longer than the active phase.
    pub pause_max: Span,
    /// At most so many partitions.
    pub partitions: u32,
    /// A partition lasts at least this. At most `partition-max`.
    pub partition_min: Span,
    /// A partition lasts at most this, and no longer than the active phase.
    pub partition_max: Span,
    /// Which part of the partitions cuts one direction alone.
    pub one_way: Ratio,
    /// The nodes that crash, pause and are cut off: names, or beginnings of names followed by `*`. Empty: all.
    pub nodes: Vec<String>,
}

impl Default for FaultMix {
    fn default() -> Self {
        FaultMix {
            swarm: true,
            crashes: 0,
            restart_min: Span::secs(1),
            restart_max: Span::secs(30),
            never_restart: Ratio::ZERO,
            pauses: 0,
            pause_min: Span::secs(1),
            pause_max: Span::secs(30),
            partitions: 0,
            partition_min: Span::secs(1),
            partition_max: Span::secs(60),
            one_way: Ratio { num: 1, den: 3 },
            nodes: Vec::new(),
        }
    }
}

/// What goes wrong in a run, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// Which part of the messages is lost, in the active phase.
    pub loss: Ratio,
    /// Which part of the messages arrives twice, in the active phase.
    pub duplicate: Ratio,
    /// Sorted by time.
    pub faults: Vec<TimedFault>,
    /// The clocks that are not exact; nodes left out have exact ones.
    pub clocks: Vec<NamedClock>,
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
        /// When it restarts, since the start of the run; `None` for never.
        restart: Option<Span>,
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

impl Plan {
    /// No faults, exact clocks.
    pub fn calm() -> Self {
        Plan { loss: Ratio::ZERO, duplicate: Ratio::ZERO, faults: Vec::new(), clocks: Vec::new() }
    }

    /// Whether the plan fits the protocol.
    ///
    /// # Errors
    /// On a node that the protocol does not have.
    pub fn check<P: Protocol>(&self, protocol: &P) -> Result<(), String> {
        let known = protocol.nodes();
        let in_faults = self.faults.iter().flat_map(|timed| timed.fault.nodes());
        let unknown = in_faults.chain(self.clocks.iter().map(|named| &named.node)).find(|name| !known.contains(name));
        match unknown {
            Some(name) => Err(format!("the plan names `{name}`; the nodes are {}", known.join(", "))),
            None => Ok(()),
        }
    }
}

impl Fault {
    /// The nodes it names.
    pub fn nodes(&self) -> &[String] {
        match self {
            Fault::Crash { node, .. } | Fault::Pause { node, .. } => std::slice::from_ref(node),
            Fault::Partition { side, .. } => side,
        }
    }

    /// When it ends, since the start of the run; `None` for never.
    pub fn end(&self) -> Option<Span> {
        match self {
            Fault::Crash { restart, .. } => *restart,
            Fault::Pause { resume, .. } => Some(*resume),
            Fault::Partition { heal, .. } => Some(*heal),
        }
    }
}

/// One line for each fault and each clock.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.loss.num > 0 {
            writeln!(f, "{} of the messages are lost", self.loss)?;
        }
        if self.duplicate.num > 0 {
            writeln!(f, "{} of the messages arrive twice", self.duplicate)?;
        }
        for NamedClock { node, clock } in &self.clocks {
            writeln!(f, "the clock of {node}: {clock}")?;
        }
        self.faults.iter().try_for_each(|timed| writeln!(f, "{}: {}", timed.at, timed.fault))
    }
}

impl fmt::Display for NodeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.offset_ns < 0 { "-" } else { "+" };
        write!(
            f,
            "timers run {} of their spans, stamps are off by {sign}{}",
            self.rate,
            Span(self.offset_ns.unsigned_abs())
        )?;
        write!(f, " at the start and by {} at most", self.offset_max)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Crash { node, keeps, restart } => {
                let kept = match *keeps {
                    0 => "none".to_owned(),
                    u32::MAX => "all".to_owned(),
                    some => format!("some ({some})"),
                };
                let then = restart.map_or("never restarts".into(), |at| format!("restarts at {at}"));
                write!(f, "{node} crashes, keeps {kept} of its unsynced records, {then}")
            }
            Fault::Pause { node, resume } => write!(f, "{node} is paused until {resume}"),
            Fault::Partition { side, ways, heal } => {
                let how = match ways {
                    Ways::Both => "are cut off",
                    Ways::Out => "are not heard",
                    Ways::In => "hear nothing",
                };
                write!(f, "{} {how} until {heal}", side.join(", "))
            }
        }
    }
}
