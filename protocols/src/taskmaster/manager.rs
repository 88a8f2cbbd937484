//! Resharding by restart: "currently, additional nodes are added to a TaskMaster cluster by forcibly restarting all jobs with a new
//! static sharding" (§5.7). Who restarts them is "the cluster management application" (§3.1), a node that stands for it.
//!
//! A job that starts asks it, and waits. To reshard, it stops all jobs of the sharding, and begins those of the next once every one
//! has said that it is stopped: a restart of one after the other would have two nodes serve a group at a time (`stops-unheard`). That
//! a job has crashed does not say so: what it was told before may reach its next incarnation. It reshards again once all serve: they
//! have then taken over what was in the logs of those before.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Offers, Span};

use super::cluster::Role;
use super::message::{Decision, Message, Observation, Timer};
use super::node::Node;
use super::{State, TaskMaster, mutants};

/// The cluster management.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Manager {
    /// How often it has resharded.
    sharding: u32,
    /// Whether it stops the jobs of this sharding.
    is_stopping: bool,
    /// Who has not said yet that it is stopped, or that it serves.
    pending: BTreeSet<NodeId>,
    /// The latest incarnation of each that has asked.
    joined: BTreeMap<NodeId, Nonce>,
}

/// A TaskMaster job that does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Job {
    /// It has not been told to begin.
    Waiting(Nonce),
    /// It was told to stop, and never begins again.
    Stopped(Nonce),
}

impl Manager {
    /// At the start of all.
    pub fn start(rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) -> Manager {
        let pending = rules.jobs_of(0).map(NodeId).chain(rules.proxies()).collect();
        let manager = Manager { sharding: 0, is_stopping: false, pending, joined: BTreeMap::new() };
        manager.ask_again_later(rules, cx);
        manager
    }

    /// One input.
    pub fn step(&mut self, input: Input<TaskMaster>, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match input {
            Input::Message { from, message: Message::Join(nonce) } => {
                let latest = self.joined.entry(from).or_insert(nonce);
                *latest = nonce.max(*latest);
                self.tell(from, rules, cx);
            }
            Input::Message { from, message: Message::Stopped } if self.is_stopping => {
                self.pending.remove(&from);
                self.begin_next(rules, cx);
            }
            Input::Message { from, message: Message::Ready(sharding) } if sharding == self.sharding => {
                if !self.is_stopping {
                    self.pending.remove(&from);
                }
            }
            Input::Timer(Timer::Retry) => {
                for node in self.pending.clone() {
                    self.tell(node, rules, cx);
                }
                self.ask_again_later(rules, cx);
            }
            Input::Decision(Decision::Reshard) => {
                self.is_stopping = true;
                self.pending = rules.jobs_of(self.sharding).map(NodeId).collect();
                for job in &self.pending {
                    cx.send(*job, Message::Stop);
                }
                self.ask_again_later(rules, cx);
                if rules.has(mutants::STOPS_UNHEARD) {
                    self.pending.clear();
                    self.begin_next(rules, cx);
                }
            }
            _ => cx.mark("late answer"),
        }
    }

    /// See [`seedbed_model::Protocol::decisions`].
    pub fn decisions(&self, rules: &TaskMaster, offers: &mut Offers<'_, TaskMaster>) {
        let has_another = (self.sharding as usize) < rules.params.reshards.len();
        if has_another && !self.is_stopping && self.pending.is_empty() {
            offers.offer(Decision::Reshard);
        }
    }

    /// Once all have stopped.
    fn begin_next(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if !self.pending.is_empty() {
            return;
        }
        self.sharding += 1;
        self.is_stopping = false;
        cx.observe(Observation::Resharded(self.sharding));
        self.pending = rules.jobs_of(self.sharding).map(NodeId).chain(rules.proxies()).collect();
        for node in self.pending.clone() {
            self.tell(node, rules, cx);
        }
    }

    /// With what it is to be started, or that it is not to run.
    fn tell(&self, node: NodeId, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let sharding = self.sharding;
        let Some(nonce) = self.joined.get(&node).copied() else { return };
        if rules.role(node) == Role::Proxy {
            return cx.send(node, Message::Begin { nonce, sharding });
        }
        match rules.sharding_of(node) {
            of if of == sharding && !self.is_stopping => cx.send(node, Message::Begin { nonce, sharding }),
            of if of <= sharding => cx.send(node, Message::Stop),
            _ => {}
        }
    }

    fn ask_again_later(&self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if rules.params.retry > Span::ZERO {
            cx.set(Timer::Retry, rules.params.retry);
        }
    }
}

impl Job {
    /// After a start or a crash.
    pub fn start(nonce: Nonce, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) -> Job {
        let job = Job::Waiting(nonce);
        job.ask(rules, cx);
        job
    }

    /// One input that changes nothing.
    pub fn step(self, input: &Input<TaskMaster>, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match input {
            Input::Timer(Timer::Retry) => self.ask(rules, cx),
            _ => cx.mark("a job that does not run"),
        }
    }

    /// Whether a message may do anything here.
    pub fn awaits(self, message: &Message) -> bool {
        match (self, message) {
            (Job::Waiting(own), Message::Begin { nonce, .. }) => own == *nonce,
            (Job::Waiting(_), Message::Found { .. } | Message::Written { .. }) => false,
            // It may run when they are delivered.
            (Job::Waiting(_), _) | (Job::Stopped(_), Message::Stop) => true,
            (Job::Stopped(_), _) => false,
        }
    }

    /// Whether it may run.
    fn ask(self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if let (Job::Waiting(nonce), Some(manager)) = (self, rules.manager()) {
            cx.send(manager, Message::Join(nonce));
            if rules.params.retry > Span::ZERO {
                cx.set(Timer::Retry, rules.params.retry);
            }
        }
    }
}

impl TaskMaster {
    /// A TaskMaster job is told to begin or to stop.
    pub(super) fn told(&self, state: &mut State, from: NodeId, message: &Message, cx: &mut Context<'_, TaskMaster>) {
        match (&*state, message) {
            (State::Job(Job::Waiting(own)), Message::Begin { nonce, .. }) if own == nonce => {
                cx.cancel(Timer::Retry);
                *state = State::Node(Box::new(Node::start(*nonce, self, cx)));
            }
            (State::Node(node), Message::Begin { nonce, sharding }) if node.serves(*nonce) => {
                cx.send(from, Message::Ready(*sharding));
            }
            (State::Node(node), Message::Stop) => {
                cx.send(from, Message::Stopped);
                if !self.has(mutants::SERVES_ON) {
                    cx.observe(Observation::Halted);
                    cx.cancel(Timer::Checkpoint);
                    cx.cancel(Timer::Retry);
                    *state = State::Job(Job::Stopped(node.nonce));
                }
            }
            (State::Job(Job::Waiting(nonce) | Job::Stopped(nonce)), Message::Stop) => {
                cx.send(from, Message::Stopped);
                cx.cancel(Timer::Retry);
                *state = State::Job(Job::Stopped(*nonce));
            }
            _ => cx.mark("late answer"),
        }
    }
}
