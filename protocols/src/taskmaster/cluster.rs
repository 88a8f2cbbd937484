//! Clusters (§5.7): which node is what, which TaskMaster node has which consistency group, and the proxies.
//!
//! "Workers talk directly to many well-known stateless proxies, each exporting the same interface as TaskMaster. Each stateless
//! proxy is aware of the consistency group to cluster node mapping." A message that goes through one says whose it is, so that a
//! proxy remembers nothing but the mapping, and what has come back of a batch whose operations are of several nodes; it loses nothing in
//! a crash but what passes through it then.
//!
//! # Decisions where the paper is open
//!
//! - All TaskMaster nodes stand over one data store, as in §6.3 over "a single Bigtable cell": rows of tasks and counters are where
//!   they are whoever has their group; each node has a log and a minimum ticket of its own.
//! - A node restarted "with a new static sharding" is another job than the one before: a node of ours has one sharding for all of
//!   its life, and those of the next are others. See [`super::manager`].
//! - Tickets of a later sharding are larger than all of an earlier one: incarnations are compared by their nodes first, and later
//!   shardings have later nodes. So TA4 holds from sharding to sharding: what a former owner writes late is not shown.
//! - A job that begins takes over what the log of the former owner of each of its groups holds, once, before it serves (see
//!   [`super::recovery`]). An operation is within one group, so that each is taken over by one job.
//! - Who has a lease keeps it: the new owner's clock measures what is left of it.

use std::collections::BTreeSet;
use std::ops::Range;

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Span};

use super::admission::first_queue;
use super::batching::Batches;
use super::message::{Message, Observation, OpKey, Request, Timer};
use super::task::Queue;
use super::{TaskMaster, mutants};

/// What a node is. In the order of their ids: the data store, the TaskMaster jobs of each sharding, proxies, the cluster
/// management where there is more than one sharding, clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Store,
    Job,
    Proxy,
    Manager,
    Client,
}

impl TaskMaster {
    pub(super) fn store(&self) -> NodeId {
        NodeId(0)
    }

    pub(super) fn role(&self, node: NodeId) -> Role {
        if node >= self.first_client() {
            Role::Client
        } else if self.manager() == Some(node) {
            Role::Manager
        } else if node >= self.first_proxy() {
            Role::Proxy
        } else if node > self.store() {
            Role::Job
        } else {
            Role::Store
        }
    }

    /// How many TaskMaster nodes each sharding has.
    fn sizes(&self) -> impl Iterator<Item = u16> {
        std::iter::once(self.params.nodes).chain(self.params.reshards.iter().copied())
    }

    /// The TaskMaster nodes of a sharding.
    pub(super) fn jobs_of(&self, sharding: u32) -> Range<u16> {
        let before: u16 = self.sizes().take(sharding as usize).sum();
        let size = self.sizes().nth(sharding as usize).unwrap_or_default();
        1 + before..1 + before + size
    }

    /// The sharding of a TaskMaster node.
    pub(super) fn sharding_of(&self, job: NodeId) -> u32 {
        let count = self.params.reshards.len() as u32;
        (0..=count).find(|sharding| job.0 < self.jobs_of(*sharding).end).unwrap_or(count)
    }

    /// Whether there are several shardings, between which somebody decides.
    pub(super) fn is_managed(&self) -> bool {
        !self.params.reshards.is_empty()
    }

    /// Whether there are several TaskMaster nodes at a time.
    pub(super) fn is_cluster(&self, sharding: u32) -> bool {
        self.jobs_of(sharding).len() > 1
    }

    fn first_proxy(&self) -> NodeId {
        NodeId(1 + self.sizes().sum::<u16>())
    }

    pub(super) fn proxies(&self) -> impl Iterator<Item = NodeId> {
        let first = self.first_proxy().0;
        (first..first + self.params.proxies).map(NodeId)
    }

    pub(super) fn manager(&self) -> Option<NodeId> {
        self.is_managed().then_some(NodeId(self.first_proxy().0 + self.params.proxies))
    }

    pub(super) fn first_client(&self) -> NodeId {
        NodeId(self.first_proxy().0 + self.params.proxies + u16::from(self.is_managed()))
    }

    /// The nodes' names but for the clients'.
    pub(super) fn names_of_servers(&self) -> Vec<String> {
        let mut names = vec!["store".to_owned()];
        for (sharding, size) in self.sizes().enumerate() {
            names.extend((1..=size).map(|number| match (sharding, size) {
                (0, 1) if !self.is_managed() => "taskmaster".to_owned(),
                (0, _) => format!("taskmaster-{number}"),
                _ => format!("taskmaster-{number}-{}", sharding + 1),
            }));
        }
        names.extend((1..=self.params.proxies).map(|number| format!("proxy-{number}")));
        names.extend(self.is_managed().then(|| "manager".to_owned()));
        names
    }

    /// "The hash value of a consistency group's name determines the owning TaskMaster node."
    pub fn owner(&self, queue: Queue, sharding: u32) -> NodeId {
        let jobs = self.jobs_of(sharding);
        if jobs.len() == 1 {
            return NodeId(jobs.start);
        }
        let hash = seedbed_model::hash(0, self.group_of(queue).to_string().as_bytes());
        NodeId(jobs.start + (hash % jobs.len() as u64) as u16)
    }

    /// Whether the queue is a job's, in its sharding.
    pub(super) fn is_of(&self, queue: Queue, job: NodeId) -> bool {
        self.owner(queue, self.sharding_of(job)) == job
    }

    /// Those whose logs a job has to take over before it begins one of its own.
    pub(super) fn predecessors(&self, job: NodeId) -> BTreeSet<NodeId> {
        match self.sharding_of(job) {
            0 => BTreeSet::new(),
            sharding => self.jobs_of(sharding - 1).map(NodeId).collect(),
        }
    }

    /// Whom a client asks: each of the proxies in turn, or the one node.
    pub(super) fn entry(&self, client: NodeId, call: u32) -> NodeId {
        match self.params.proxies {
            0 => NodeId(1),
            proxies => NodeId(self.first_proxy().0 + ((u32::from(client.0) + call) % u32::from(proxies)) as u16),
        }
    }
}

/// A proxy's volatile state: what it was started with, and batches that pass through it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Proxy {
    nonce: Nonce,
    /// `None`: it has not been told, and can route nothing.
    sharding: Option<u32>,
    batches: Batches,
}

impl Proxy {
    /// After a start or a crash.
    pub fn start(nonce: Nonce, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) -> Proxy {
        let sharding = (!rules.is_managed()).then_some(0);
        let proxy = Proxy { nonce, sharding, batches: Batches::default() };
        if proxy.sharding.is_some() {
            cx.observe(Observation::Routes(0));
        }
        proxy.join(rules, cx);
        proxy
    }

    /// One input.
    pub fn step(&mut self, input: Input<TaskMaster>, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match input {
            Input::Message { from, message: Message::Call { nonce, call, request: Request::Batch(requests) } } => {
                for (part, request) in self.batches.begin(OpKey { client: from, nonce, call }, requests) {
                    self.route(part, request, rules, cx);
                }
            }
            Input::Message { from, message: Message::Call { nonce, call, request } } => {
                self.route(OpKey { client: from, nonce, call }, request, rules, cx);
            }
            Input::Message { message: Message::PassedBack { key, reply }, .. } => {
                if let Some((key, reply)) = self.batches.ended(key, reply, rules, cx) {
                    cx.send(key.client, Message::Reply { nonce: key.nonce, call: key.call, reply });
                }
            }
            Input::Message { from, message: Message::Begin { sharding, .. } } => {
                self.sharding = self.sharding.max(Some(sharding));
                cx.observe(Observation::Routes(sharding));
                cx.send(from, Message::Ready(sharding));
            }
            Input::Timer(Timer::Retry) => self.join(rules, cx),
            _ => cx.mark("input out of place"),
        }
    }

    /// It asks with what it is to be started, until it knows.
    fn join(&self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if let (Some(manager), None) = (rules.manager(), self.sharding) {
            cx.send(manager, Message::Join(self.nonce));
            if rules.params.retry > Span::ZERO {
                cx.set(Timer::Retry, rules.params.retry);
            }
        }
    }

    /// "Able to route updates to the appropriate cluster node"; what is about no queue, to any.
    fn route(&self, key: OpKey, request: Request, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(sharding) = self.sharding else { return cx.mark("proxy without a sharding") };
        let jobs = rules.jobs_of(sharding);
        let any = NodeId(jobs.start + (key.call % jobs.len() as u32) as u16);
        let job = match first_queue(&request) {
            Some(queue) if !rules.has(mutants::ROUTES_ANYWHERE) => rules.owner(queue, sharding),
            _ => any,
        };
        if rules.has(mutants::PASSES_TWICE) && matches!(request, Request::Update(_)) {
            cx.send(job, Message::Passed { key, request: request.clone() });
        }
        cx.send(job, Message::Passed { key, request });
    }
}
