//! Kinds of fault: what a table of faults has a row for.

use std::collections::BTreeSet;

use crate::faults::{Fault, Plan};

impl Fault {
    /// What kind of fault it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::Crash { restart: None, .. } => "crash for good",
            Fault::Crash { .. } => "crash",
            Fault::EmptyDisk { .. } => "empty disk",
            Fault::Corruption { .. } => "corruption",
            Fault::Pause { .. } => "pause",
            Fault::Partition { .. } => "partition",
            Fault::Flap { .. } => "flapping links",
            Fault::SlowLinks { .. } => "slow links",
            Fault::SlowDisk { .. } => "slow disk",
            Fault::FullDisk { .. } => "full disk",
            Fault::Jump { .. } => "clock jump",
        }
    }
}

impl Plan {
    /// The kinds of fault that are in force at some time before `end_ns` since the start; `none` where there is none.
    /// Loss, copies and inexact clocks are from the start.
    pub fn kinds_before(&self, end_ns: u64) -> BTreeSet<&'static str> {
        let begun = self.faults.iter().filter(|timed| timed.at.0 < end_ns);
        let mut kinds: BTreeSet<&'static str> = begun.map(|timed| timed.fault.kind()).collect();
        kinds.extend((self.loss.num > 0).then_some("loss"));
        kinds.extend((self.duplicate.num > 0).then_some("duplication"));
        kinds.extend((!self.clocks.is_empty()).then_some("inexact clock"));
        if kinds.is_empty() {
            kinds.insert("none");
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::TimedFault;
    use seedbed_model::Span;

    #[test]
    fn what_begins_after_the_end_is_not_in_force() {
        let mut plan = Plan::calm();
        assert_eq!(Vec::from_iter(plan.kinds_before(9)), ["none"]);
        let fault = Fault::Pause { node: "a".into(), resume: Span(9) };
        plan.faults.push(TimedFault { at: Span(5), fault });
        assert_eq!(Vec::from_iter(plan.kinds_before(5)), ["none"]);
        assert_eq!(Vec::from_iter(plan.kinds_before(6)), ["pause"]);
    }
}
