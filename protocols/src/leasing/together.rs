//! Whether features of the protocol and of its world met in one run: what a bound says for the pairs that it covers.
//!
//! That each of two goals is reached somewhere does not say that they met. So a bound names its features in `together`, the
//! monitor remembers which a run has had, and the goal `together` is reached where it has had them all. Nothing of this is there
//! where `together` names none.

use std::collections::BTreeSet;

use seedbed_model::{Canonical, Context, NodeId, Watch};
use serde::{Deserialize, Serialize};

use super::monitor::Monitor;
use super::{GroupKind, Leasing, Observation, Params};

/// What a run may have had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Two ranges were held at one instant.
    TwoRanges,
    /// An Owner that held a lease crashed, and an Owner refused the renewal of one that it does not know.
    OwnerCrash,
    /// The Manager took a lease back.
    Recall,
    /// A server led after another term.
    Failover,
    /// A server that took itself for the leader was silent, as its leader lease had ended, while another led.
    PausedLeader,
    /// A Lookup was silent while more changed than the log holds, in one term.
    LogCap,
    /// A Lookup was silent while a range was lost and then cleanly migrated.
    LossMigration,
}

/// What a run has had.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Had {
    features: BTreeSet<Feature>,
    /// Whether an Owner that held a lease crashed.
    crashed: bool,
}

impl Feature {
    /// On the command line.
    fn name(self) -> &'static str {
        match self {
            Feature::TwoRanges => "two-ranges",
            Feature::OwnerCrash => "owner-crash",
            Feature::Recall => "recall",
            Feature::Failover => "failover",
            Feature::PausedLeader => "paused-leader",
            Feature::LogCap => "log-cap",
            Feature::LossMigration => "loss-migration",
        }
    }

    /// The parameter with which no run has it.
    fn barred_by(self, params: &Params) -> Option<&'static str> {
        match self {
            Feature::TwoRanges if params.ranges == 1 => Some("ranges = 1"),
            Feature::Failover | Feature::PausedLeader if params.group == GroupKind::None => Some("group = \"none\""),
            Feature::PausedLeader if params.managers == 1 => Some("managers = 1"),
            Feature::LogCap | Feature::LossMigration if params.lookups == 0 => Some("lookups = 0"),
            Feature::LossMigration if !params.migration => Some("migration = false"),
            _ => None,
        }
    }
}

impl Params {
    pub(super) fn check_together(&self) -> Result<(), String> {
        for (place, feature) in self.together.iter().enumerate() {
            let name = feature.name();
            if self.together[..place].contains(feature) {
                return Err(format!("together names {name} twice"));
            }
            if let Some(barrier) = feature.barred_by(self) {
                return Err(format!("together asks for {name}, which {barrier} never has"));
            }
        }
        Ok(())
    }
}

impl Leasing {
    /// Shows that the feature is met, where the bound asks.
    pub(super) fn show(&self, feature: Feature, cx: &mut Context<'_, Leasing>) {
        if self.params.together.contains(&feature) {
            cx.observe(Observation::Had(feature));
        }
    }

    /// The run has had the feature, which `node` shows, if the rest of it is so.
    pub(super) fn have(&self, monitor: &mut Monitor, node: NodeId, feature: Feature, watch: &mut Watch<'_>) {
        let has_met = match feature {
            Feature::OwnerCrash => monitor.had.crashed,
            Feature::PausedLeader => monitor.leader.is_some_and(|leader| leader != node),
            _ => true,
        };
        if has_met && self.params.together.contains(&feature) {
            monitor.had.features.insert(feature);
            // It is not asked any more.
            monitor.had.crashed &= feature != Feature::OwnerCrash;
        }
        if !self.params.together.is_empty() && monitor.had.features.len() == self.params.together.len() {
            watch.reached("together");
        }
    }

    /// An Owner that held a lease crashed.
    pub(super) fn have_crashed(&self, monitor: &mut Monitor) {
        let is_asked = self.params.together.contains(&Feature::OwnerCrash);
        monitor.had.crashed |= is_asked && !monitor.had.features.contains(&Feature::OwnerCrash);
    }
}
