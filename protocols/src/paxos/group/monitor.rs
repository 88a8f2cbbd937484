//! What the group is to its servers: the atomic leader lease and register of `leasing`'s `group = "atomic"`, step by step.
//!
//! The monitor is that atomic group's state: who leads, in which term, and what the register holds. Each ruling must be one
//! that it could have given: a term greater than all before, to one leader at a time, with the register as it is.

use std::collections::BTreeSet;

use seedbed_model::{Canonical, Data, Event, NodeId, Property, Span, Watch};

use super::{Observation, Params, PaxosGroup};

const SINGLE_LEADER: &str = "single-leader";
const TERMS_GROW: &str = "terms-grow";
const NEWEST_READ: &str = "newest-read";
const LED_AGAIN: &str = "led-again";

/// The deadline of [`LED_AGAIN`].
const HEALED: u32 = 0;

/// The atomic group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor<V> {
    /// Who leads now.
    leaders: BTreeSet<NodeId>,
    /// The term given last, and to whom.
    last: Option<(u16, NodeId)>,
    /// What the register holds.
    committed: Option<V>,
    /// What its last leader has offered since: the register may hold that instead.
    offered: Option<V>,
    /// Whether nobody has led since the last fault was healed.
    is_waiting: bool,
}

impl<V> Default for Monitor<V> {
    fn default() -> Self {
        Monitor { leaders: BTreeSet::new(), last: None, committed: None, offered: None, is_waiting: false }
    }
}

/// See the module.
pub(super) fn properties(params: &Params) -> Vec<Property> {
    let mut all = vec![
        Property::always(
            SINGLE_LEADER,
            "no two servers lead at one instant, and nobody commits once another was elected (Centrifuge §2.1.1, PRS §4.4)",
        ),
        Property::always(TERMS_GROW, "each leader's term is greater than those of all leaders before"),
        Property::always(
            NEWEST_READ,
            "a new leader reads what was committed last, or what the leader before offered after it: nothing committed is lost, \
             or replaced by an older leader's (Centrifuge §2.1.1)",
        ),
        Property::sometimes("elected", "a server leads"),
        Property::sometimes("failover", "another leads than before"),
        Property::sometimes("committed", "a leader commits a state"),
        Property::sometimes("read", "a new leader reads a state"),
        Property::sometimes("offered-read", "a new leader reads a state whose commit nobody was told of"),
        Property::sometimes("lease-held", "an acceptor keeps the lease for another"),
        Property::sometimes("read-back", "a restarted acceptor finds what it wrote"),
        Property::sometimes("released", "a candidate gives up, and an acceptor need not wait"),
        Property::sometimes("stepped-down", "a leader gives up its lease, or loses it"),
    ];
    if params.progress > Span::ZERO {
        all.push(Property::within(
            LED_AGAIN,
            "once all faults are healed, a server leads within `progress` (Centrifuge §2.1.1)",
        ));
    }
    all
}

impl<V: Data> Monitor<V> {
    pub(super) fn watch(
        &mut self,
        node: NodeId,
        event: &Event<PaxosGroup<V>>,
        group: &PaxosGroup<V>,
        watch: &mut Watch<'_>,
    ) {
        match event {
            Event::Observed(Observation::Leads { term, earlier, value }) => {
                self.leads(node, *term, *earlier, value, watch);
            }
            Event::Observed(Observation::Offered(value)) if self.last.is_some_and(|(_, leader)| leader == node) => {
                self.offered = Some(value.clone());
            }
            Event::Observed(Observation::Committed(value)) => self.commits(node, value, watch),
            Event::Observed(Observation::Deposed) | Event::Crashed => drop(self.leaders.remove(&node)),
            Event::Healed if group.params.progress > Span::ZERO => {
                self.is_waiting = self.leaders.is_empty();
                watch.set_deadline(HEALED, group.params.progress);
            }
            Event::Deadline(HEALED) if self.is_waiting => {
                watch.violated(LED_AGAIN, format!("nobody has led for {}", group.params.progress));
            }
            _ => {}
        }
    }

    fn leads(&mut self, node: NodeId, term: u16, earlier: bool, value: &Option<V>, watch: &mut Watch<'_>) {
        watch.reached("elected");
        if let Some(other) = self.leaders.iter().find(|other| **other != node) {
            watch.violated(SINGLE_LEADER, format!("{node:?} leads, and so does {other:?}"));
        }
        if let Some((last, leader)) = self.last {
            if term <= last {
                watch.violated(TERMS_GROW, format!("{node:?} leads in term {term}, after term {last} of {leader:?}"));
            }
            if leader != node {
                watch.reached("failover");
            }
        }
        if self.last.is_some() && !earlier {
            watch.violated(NEWEST_READ, format!("{node:?} leads as if it were the first"));
        }
        let is_offered = self.offered.is_some() && *value == self.offered;
        if *value != self.committed && !is_offered {
            let words = format!(
                "{node:?} reads {value:?}, but {:?} is committed, and {:?} offered since",
                self.committed, self.offered
            );
            watch.violated(NEWEST_READ, words);
        }
        if value.is_some() {
            watch.reached("read");
        }
        if is_offered && *value != self.committed {
            watch.reached("offered-read");
        }
        *self = Monitor {
            leaders: BTreeSet::from([node]),
            last: Some((term, node)),
            committed: value.clone(),
            offered: None,
            is_waiting: false,
        };
    }

    fn commits(&mut self, node: NodeId, value: &V, watch: &mut Watch<'_>) {
        watch.reached("committed");
        if let Some((term, leader)) = self.last.filter(|(_, leader)| *leader != node) {
            let words = format!("{node:?} is told that {value:?} is committed, though {leader:?} leads term {term}");
            watch.violated(SINGLE_LEADER, words);
        }
        self.committed = Some(value.clone());
        self.offered = None;
    }
}
