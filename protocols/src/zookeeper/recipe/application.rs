//! The applications of §3, out of the recipes: what is a master's, beside the queue for the lead.
//!
//! - The Fetching Service: "it has master processes that command page-fetching processes. The master provides the fetchers with
//!   configuration, and the fetchers write back informing of their status and health". Who leads writes the configuration (§2.3);
//!   fetchers are members of a group, read the configuration, and see who is there.
//! - Katta: "a master server assigns shards to slaves and tracks progress. Slaves can fail, so the master must redistribute load as
//!   slaves come and go. The master can also fail, so other servers must be ready to take over". Who leads watches the group of
//!   slaves, and assigns shards to those that are there; slaves watch the shards.
//! - Yahoo! Message Broker: topics are nodes with "child znodes that indicate the primary and backup server for each topic", which
//!   "also manage leader election and server crashes": a queue for each ([`super::queue`]), whose first is the primary and whose
//!   second is the backup. Brokers are members of a group, and watch `shutdown`.
//!
//! A master commands in the session that its place in the queue is of. What it has asked for when that ends comes before the end, or is
//! refused: so no two masters' commands are mixed.

use seedbed_model::Canonical;

use super::configuration::Configure;
use super::queue::{Kind, Queue};
use super::{Cx, Event, GROUP, Recipe, Scene, set};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::{ASSIGNS_FROM_MEMORY, COMMANDS_UNLED, SLAVES_UNWATCHED};
use crate::zookeeper::path;
use crate::zookeeper::txn::{Answer, Read};

/// What says which slave has which shard.
pub const SHARDS: [&str; 2] = ["/shards/one", "/shards/two"];

/// Whose children are the shards.
pub const ALL_SHARDS: &str = "/shards";

/// Whose children queue for a topic each.
pub const TOPICS: [&str; 2] = ["/topics/one", "/topics/two"];

/// Whose children are the topics.
pub const ALL_TOPICS: &str = "/topics";

/// What brokers watch, to be shut down.
pub const SHUTDOWN: &str = "/shutdown";

/// A client that is to lead, and to command while it does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Command {
    queue: Queue,
    duty: Duty,
}

/// What a master does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Duty {
    /// It writes the configuration.
    Configure(Configure),
    /// It assigns shards to the members of the group, has done so once, and saw these then.
    Assign { is_done: bool, slaves: Vec<String> },
}

impl Command {
    /// A master of fetchers.
    pub(super) fn fetchers() -> Command {
        Command { queue: Queue::new(Kind::Lead), duty: Duty::Configure(Configure::default()) }
    }

    /// A master of slaves.
    pub(super) fn slaves() -> Command {
        Command { queue: Queue::new(Kind::Lead), duty: Duty::Assign { is_done: false, slaves: Vec::new() } }
    }
}

impl Duty {
    fn is_done(&self) -> bool {
        match self {
            Duty::Configure(configure) => configure.is_done(),
            Duty::Assign { is_done, .. } => *is_done,
        }
    }

    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        let watch = !scene.has(SLAVES_UNWATCHED);
        let look = || vec![Ask::Read { read: Read::Children(GROUP.into()), watch }];
        match (self, event) {
            (Duty::Configure(configure), event) => configure.on_event(event, scene, cx),
            (Duty::Assign { .. }, Event::Connected) => look(),
            (Duty::Assign { slaves, .. }, Event::Notified(trigger)) if trigger.path == GROUP => {
                if scene.has(ASSIGNS_FROM_MEMORY) { assigned(slaves) } else { look() }
            }
            (
                Duty::Assign { is_done, slaves: known },
                Event::Answered(
                    Ask::Read { read: Read::Children(path), .. },
                    Answer::Children { children: slaves, .. },
                ),
            ) if path == GROUP => {
                *is_done = true;
                if !slaves.is_empty() {
                    cx.mark("assigned");
                }
                let asks = assigned(&slaves);
                *known = slaves;
                asks
            }
            _ => Vec::new(),
        }
    }
}

/// The shards go round the slaves.
fn assigned(slaves: &[String]) -> Vec<Ask> {
    SHARDS.iter().zip(slaves.iter().cycle()).map(|(shard, slave)| set(*shard, slave.clone())).collect()
}

impl Recipe for Command {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        let is_new = matches!(&event, Event::Answered(_, Answer::Created { path, .. })
            if path::parent(path) == Some(super::ELECTION));
        let led = self.queue.holds();
        let mut asks = self.queue.on_event(event.clone(), scene, cx);
        let leads = self.queue.holds();
        if leads && !led || is_new && scene.has(COMMANDS_UNLED) {
            asks.extend(self.duty.on_event(Event::Connected, scene, cx));
        } else if leads {
            asks.extend(self.duty.on_event(event, scene, cx));
        }
        asks
    }

    fn is_done(&self) -> bool {
        self.queue.is_done()
    }

    fn holds(&self) -> bool {
        self.queue.holds() && self.duty.is_done()
    }
}
