//! Watching a run: a tracer sees each step, a recorder keeps them.

use std::collections::VecDeque;

use seedbed_model::{Effect, Host, Named, NodeId, Protocol, Script, ScriptStep, Timers, TraceStep};

/// What sees a run, step by step. It never changes the run.
pub trait Tracer<P: Protocol> {
    /// A step at `at_ns` on the reference clock. Steps are numbered from 1; the starts of the nodes come before, as
    /// step 0. `answers` are those that a [`ScriptStep`] holds. A deadline's passing and the healing of the faults
    /// come as the passing of no time, with the event as effect.
    fn step(&mut self, at_ns: u64, step: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]);

    /// After a step at `node`: how it left the node.
    fn after(&mut self, at_ns: u64, node: NodeId, host: &Host<P>, timers: &Timers<P::Timer>) {
        let _ = (at_ns, node, host, timers);
    }

    /// The run is over: how it leaves the node. Called for each node in order, but not after a panic.
    fn left(&mut self, node: NodeId, host: &Host<P>) {
        let _ = (node, host);
    }
}

/// A tracer that keeps what it sees.
pub struct Recorder<P: Protocol> {
    names: Vec<String>,
    trace: VecDeque<TraceStep>,
    trace_count_max: usize,
    script: Option<Vec<ScriptStep<P>>>,
}

impl<P: Protocol> Recorder<P> {
    /// Keeps the whole trace in words.
    pub fn new(protocol: &P) -> Self {
        Recorder { names: protocol.nodes(), trace: VecDeque::new(), trace_count_max: usize::MAX, script: None }
    }

    /// Keeps the last `count` steps of the trace alone.
    #[must_use]
    pub fn with_tail(mut self, count: usize) -> Self {
        self.trace_count_max = count;
        self
    }

    /// Keeps the script too. It replays only if the run was one in tick mode.
    #[must_use]
    pub fn with_script(mut self) -> Self {
        self.script = Some(Vec::new());
        self
    }

    /// The trace so far.
    pub fn trace(&self) -> impl Iterator<Item = &TraceStep> {
        self.trace.iter()
    }

    /// The trace.
    pub fn into_trace(self) -> Vec<TraceStep> {
        self.trace.into()
    }

    /// The script, if it was to be kept.
    pub fn into_script(self) -> Option<Script<P>> {
        self.script.map(Script::new)
    }
}

impl<P: Protocol> Tracer<P> for Recorder<P> {
    fn step(&mut self, at_ns: u64, step: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]) {
        if let Some(script) = self.script.as_mut().filter(|_| step > 0) {
            script.push(ScriptStep { choice: choice.clone(), answers: answers.to_vec() });
        }
        if self.trace_count_max == 0 {
            return;
        }
        if self.trace.len() == self.trace_count_max {
            self.trace.pop_front();
        }
        self.trace.push_back(TraceStep::of(&self.names, step, at_ns, choice, effects));
    }
}
