//! Parameters that break the argument, or say nothing, are refused with one clear error.

use seedbed_model::Span;

use super::embedded::group_params;
use super::params::{ACCEPTOR_COUNT_MAX, KEY_COUNT_MAX, MANAGER_COUNT_MAX, SIDE_COUNT_MAX};
use super::{Application, GroupKind, Params, PartitionerKind, Side, VIRTUAL_NODES, Variant};

impl Params {
    /// Says what would be right of parameters that break the argument.
    pub(super) fn check(&self) -> Result<(), String> {
        // Without Owners there is the competition for the leader lease alone.
        let owners_min = u16::from(self.group == GroupKind::None);
        let sized = (owners_min..=SIDE_COUNT_MAX).contains(&self.owners)
            && self.lookups <= SIDE_COUNT_MAX
            && (1..=200).contains(&self.ranges)
            && self.back_off_slots > 0;
        let in_time = [self.lease, self.margin, self.renew, self.poll].iter().all(|span| *span > Span::ZERO);
        if !sized || !in_time {
            return Err(format!(
                "owners must be {owners_min} to {SIDE_COUNT_MAX}, lookups at most {SIDE_COUNT_MAX}, ranges 1 to 200, back-off-slots \
                 and every time but back-off positive"
            ));
        }
        if self.owner_longest.num < self.owner_longest.den {
            return Err(format!(
                "owner-longest {} is below 1, so not even an exact clock is allowed",
                self.owner_longest
            ));
        }
        let needed = self.owner_longest.ceil_of(self.lease);
        if self.margin < needed {
            return Err(format!(
                "margin {} is too short: a lease of {} may take {needed} on the slowest clock",
                self.margin, self.lease
            ));
        }
        let back_off = self.back_off * u64::from(self.back_off_slots - 1);
        if back_off >= self.renew {
            return Err(format!("the longest back-off, {back_off}, must be shorter than renew, {}", self.renew));
        }
        self.check_service()?;
        self.check_pools()?;
        self.check_application()?;
        self.check_together()?;
        self.check_sides()?;
        // Ranges are dealt out to pools by turns, and so are halves of one range.
        if self.halves && (!self.ranges.is_multiple_of(2) || self.pools > 1) {
            return Err(format!("ranges {} are no halves of whole ranges: an even number, and pools = 1", self.ranges));
        }
        if !(1..=VIRTUAL_NODES).contains(&self.virtual_nodes) {
            return Err(format!("virtual-nodes {} must be 1 to {VIRTUAL_NODES}", self.virtual_nodes));
        }
        if self.contact <= self.poll {
            return Err(format!("contact {} must be longer than poll {}", self.contact, self.poll));
        }
        Ok(())
    }

    fn check_sides(&self) -> Result<(), String> {
        for (name, sides) in [("unfailing", &self.unfailing), ("at-once", &self.at_once)] {
            if let Some((_, side)) = sides.iter().enumerate().find(|(at, side)| sides[..*at].contains(side)) {
                return Err(format!("{name} names {} twice", side.name()));
            }
        }
        match self.at_once.iter().find(|side| !self.may_be_at_once(**side)) {
            Some(Side::Managers) => Err("at-once names managers, who bid at once to group = \"atomic\" alone".into()),
            Some(side) => Err(format!("at-once names {0}: name {0} in unfailing, too", side.name())),
            None => Ok(()),
        }
    }

    fn may_be_at_once(&self, side: Side) -> bool {
        match side {
            Side::Managers => self.group == GroupKind::Atomic,
            Side::Owners | Side::Lookups => self.unfailing.contains(&side),
        }
    }

    fn check_application(&self) -> Result<(), String> {
        if self.application == Application::None {
            return match self.operations {
                0 => Ok(()),
                count => Err(format!("operations {count} without an application: application = \"hash-table\"")),
            };
        }
        if !(1..=KEY_COUNT_MAX).contains(&self.keys) {
            return Err(format!("keys {} must be 1 to {KEY_COUNT_MAX}", self.keys));
        }
        if self.work == Span::ZERO {
            return Err("work must be positive where there is an application".into());
        }
        match self.application {
            service if service.has_frontends() => self.check_frontends(),
            Application::PeriodicTask if self.period <= self.work => {
                Err(format!("period {} must be longer than work, {}", self.period, self.work))
            }
            Application::PeriodicTask if self.operations > 0 => {
                Err(format!("operations {} of a task that has no clients: operations = 0", self.operations))
            }
            _ => Ok(()),
        }
    }

    fn check_pools(&self) -> Result<(), String> {
        let Params { pools, ranges, owners, .. } = *self;
        if self.balance > Span::ZERO && (self.partitioner != PartitionerKind::Hashing || pools != 1) {
            return Err("loads are managed by virtual nodes, of one pool: partitioner = \"hashing\", pools = 1".into());
        }
        let services = if self.application == Application::LiveMesh { 3 } else { pools };
        if pools != services {
            return Err(format!("pools {pools} for the services of live-mesh: pools = {services}"));
        }
        let is_short = pools > 1 && owners < u16::from(pools);
        if pools == 0 || !ranges.is_multiple_of(pools) || is_short {
            return Err(format!("pools {pools} must divide ranges {ranges}, and not exceed owners {owners}"));
        }
        Ok(())
    }

    fn check_frontends(&self) -> Result<(), String> {
        let service = self.application.words();
        if [self.retry, self.patience].contains(&Span::ZERO) {
            return Err(format!("retry and patience must be positive where there is {service}"));
        }
        if self.retry_limit > Span::ZERO && self.retry_limit <= self.retry.max(self.patience) {
            return Err(format!(
                "retry-limit {} must be longer than retry {} and patience {}",
                self.retry_limit, self.retry, self.patience
            ));
        }
        self.check_replicas()?;
        if self.lookups == 0 {
            return Err(format!("{service} without a Lookup has no frontend: lookups = 1"));
        }
        if self.writers > self.lookups {
            return Err(format!(
                "writers {} exceed the frontends, which are the lookups: {}",
                self.writers, self.lookups
            ));
        }
        if self.application == Application::LiveMesh {
            if u32::from(self.keys) != u32::from(self.lookups) * 3 {
                return Err(format!(
                    "keys {} must be three for each frontend's device: {}",
                    self.keys,
                    self.lookups * 3
                ));
            }
            if self.writers == 0 || self.writers >= self.lookups {
                return Err(format!("writers {} must be some of the {} frontends", self.writers, self.lookups));
            }
        }
        if self.ttl > Span::ZERO && self.application == Application::LiveMesh {
            return Err(format!(
                "ttl {} in the chain of three services, whose clients refresh nothing: ttl = \"0s\"",
                self.ttl
            ));
        }
        if self.ttl > Span::ZERO && self.application == Application::Queue && self.retry_limit == Span::ZERO {
            return Err("a queue that expired is asked for until retries end: retry-limit = \"300s\"".into());
        }
        let subscribers = self.lookups - self.writers;
        match self.fixed_subscriptions {
            true if self.application != Application::PublishSubscribe => {
                Err("fixed-subscriptions without subscriptions: application = \"publish-subscribe\"".into())
            }
            true if subscribers != self.keys => {
                Err(format!("fixed-subscriptions with {subscribers} subscribers of {} topics: one of each", self.keys))
            }
            _ => Ok(()),
        }
    }

    fn check_replicas(&self) -> Result<(), String> {
        let Params { replicas, keys, .. } = *self;
        if replicas == 0 || !keys.is_multiple_of(replicas) {
            return Err(format!("replicas {replicas} must be positive and divide keys {keys}"));
        }
        let fits = self.application == Application::HashTable && self.writers == 1 && !self.republish;
        match (replicas, self.cap) {
            (1, 0) => Ok(()),
            (1, cap) => Err(format!("cap {cap} of one outstanding request: replicas = 3")),
            _ if fits => Ok(()),
            _ => Err(format!("replicas {replicas} of a hash table with one writer: writers = 1, republish = false")),
        }
    }

    fn check_service(&self) -> Result<(), String> {
        if self.progress > Span::ZERO && self.partitioner == PartitionerKind::Free {
            return Err("progress is asked, but nothing drives a free assignment: partitioner = \"hashing\"".into());
        }
        if !(1..=ACCEPTOR_COUNT_MAX).contains(&self.acceptors) {
            return Err(format!("acceptors {} must be 1 to {ACCEPTOR_COUNT_MAX}", self.acceptors));
        }
        match self.group {
            GroupKind::None if self.managers != 1 => {
                return Err(format!("managers {} without a group: 1, or group = \"atomic\"", self.managers));
            }
            GroupKind::None if self.variant == Variant::Centrifuge => {
                return Err("variant centrifuge keeps its state in a group: group = \"atomic\"".into());
            }
            GroupKind::None => return Ok(()),
            GroupKind::Atomic | GroupKind::Paxos => {}
        }
        if !(1..=MANAGER_COUNT_MAX).contains(&self.managers) {
            return Err(format!("managers {} must be 1 to {MANAGER_COUNT_MAX}", self.managers));
        }
        group_params(self).check_lease()
    }
}
