//! Claims about where states lead: which goals a transition reaches, what a state owes, what a choice takes.

use super::*;
use crate::explore::space::{Claim, ClaimKind};
use crate::explore::walker::Pick;
use crate::property::Kind;
use crate::world::Choice;

/// A claim is a bit.
const CLAIMS_MAX: usize = 32;

/// The number of passing time. Other numbers are those of components.
const TIME: u32 = u32::MAX;

/// The claims about where the protocol's states lead that are judged within `bounds`.
pub(super) fn of<P: Protocol>(protocol: &P, bounds: &Bounds) -> Vec<Claim> {
    let claim = |property: &Property| match property.kind {
        Kind::ReachableAlways => Some(Claim { name: property.name, kind: ClaimKind::Reachable }),
        Kind::Eventually if bounds.eventually => Some(Claim { name: property.name, kind: ClaimKind::Paid }),
        _ => None,
    };
    protocol.properties().iter().filter_map(claim).take(CLAIMS_MAX).collect()
}

impl<P: Protocol> Interned<P> {
    fn bits_of(&self, is_wanted: impl Fn(&'static str) -> bool) -> u32 {
        self.claims.iter().enumerate().filter(|(_, claim)| is_wanted(claim.name)).map(|(bit, _)| 1 << bit).sum()
    }

    pub(super) fn goal_bits(&self, names: &[&'static str]) -> u32 {
        self.bits_of(|claim| names.contains(&claim))
    }

    /// What the monitor of the row being worked on owes.
    pub(in crate::explore) fn owed(&mut self) -> u32 {
        let parts = &self.work.fixed[self.layout.monitor.range()];
        if let Some(known) = self.owed_memo.get(parts) {
            return *known;
        }
        let parts = parts.into();
        let monitor = self.monitor();
        let owed = self.bits_of(|claim| self.protocol.owes(&monitor, claim));
        self.owed_memo.insert(parts, owed);
        owed
    }

    /// The number of what must come of `pick` if it stays possible, the same for all workers; 0 if it need never come.
    pub(in crate::explore) fn action_of(&mut self, pick: &Pick) -> u32 {
        match pick {
            Choice::Deliver(flight) => *flight,
            Choice::Elapse(_) => TIME,
            Choice::At(node, local) => match self.local_of(*local).1 {
                Local::Fire(_) | Local::Lapse(_) | Local::Sync(_) => self.action_at(*node, *local),
                _ => 0,
            },
            Choice::Duplicate(_) | Choice::Lose(_) | Choice::Cut(..) | Choice::Heal(..) => 0,
        }
    }

    fn action_at(&mut self, node: NodeId, local: u32) -> u32 {
        let at = local as usize;
        if self.actions.len() <= at {
            self.actions.resize(at + 1, 0);
        }
        if self.actions[at] == 0 {
            let mut bytes = encoding(&node);
            bytes.extend(encoding(&self.local_of(local).1));
            self.actions[at] = self.pool.intern(ACTION, &bytes, NamesIn::default);
        }
        self.actions[at]
    }
}
