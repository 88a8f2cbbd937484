//! Which node is what, and who talks to whom.

use seedbed_model::{Context, NodeId};

use super::message::{Message, RangeId};
use super::{GroupKind, Leasing, MANAGER, Variant};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Manager,
    Owner,
    Lookup,
    Group,
    Acceptor,
}

impl Leasing {
    pub(super) fn owners(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..=self.params.owners).map(NodeId)
    }

    /// The Owners in the order in which a free range is offered to them.
    pub(super) fn candidates(&self, range: RangeId) -> impl Iterator<Item = NodeId> + use<> {
        let (owners, ranges) = (u32::from(self.params.owners), u32::from(self.params.ranges));
        let first = if self.params.candidates == 0 { 0 } else { u32::from(range.0) * owners / ranges };
        let pools = self.params.pools;
        let all = (0..owners).map(move |place| NodeId(((first + place) % owners) as u16 + 1));
        all.filter(move |owner| pools == 1 || (owner.0 - 1) % u16::from(pools) == u16::from(range.0 % pools))
    }

    /// The Owners of each pool.
    pub(super) fn pools(&self) -> impl Iterator<Item = Vec<NodeId>> + use<'_> {
        let pools = u16::from(self.params.pools);
        (0..pools).map(move |pool| self.owners().filter(|owner| (owner.0 - 1) % pools == pool).collect())
    }

    pub(super) fn lookups(&self) -> impl Iterator<Item = NodeId> + use<> {
        let before = self.params.owners;
        (1..=self.params.lookups).map(move |number| NodeId(before + number))
    }

    /// Every server of the Manager service.
    pub(super) fn managers(&self) -> impl Iterator<Item = NodeId> + use<> {
        let before = self.params.owners + self.params.lookups;
        std::iter::once(MANAGER).chain((1..self.params.managers).map(move |number| NodeId(before + number)))
    }

    /// Whether the group's acceptors are nodes here.
    pub(super) fn has_acceptors(&self) -> bool {
        self.params.group == GroupKind::Paxos
    }

    /// The Paxos group, where there is one; or its first acceptor.
    pub(super) fn group(&self) -> NodeId {
        NodeId(self.params.owners + self.params.lookups + self.params.managers)
    }

    pub(super) fn has_no_group(&self) -> bool {
        self.params.group == GroupKind::None
    }

    /// Whether the leader's state is the group's.
    pub(super) fn commits(&self) -> bool {
        self.params.variant == Variant::Centrifuge
    }

    /// The leader, where no other can be.
    pub(super) fn only_manager(&self) -> Option<NodeId> {
        (self.params.managers == 1).then_some(MANAGER)
    }

    /// To the leader, or to all servers while it is not known: "they will only ever get a response from the leader".
    pub(super) fn send_to_manager(&self, leader: Option<NodeId>, message: Message, cx: &mut Context<'_, Self>) {
        match leader {
            Some(leader) => cx.send(leader, message),
            None => self.managers().for_each(|manager| cx.send(manager, message.clone())),
        }
    }

    pub(super) fn role(&self, node: NodeId) -> Role {
        match node.0 {
            0 => Role::Manager,
            id if id <= self.params.owners => Role::Owner,
            id if id <= self.params.owners + self.params.lookups => Role::Lookup,
            _ if self.has_acceptors() && node >= self.group() => Role::Acceptor,
            _ if node == self.group() => Role::Group,
            _ => Role::Manager,
        }
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = RangeId> + use<> {
        (0..self.params.ranges).map(RangeId)
    }
}
