//! A run as an exact script.

use seedbed_model::{
    Choice, Effect, Event, ExactScript, ExactStep, Local, Move, Named, NodeClock, NodeId, Protocol, Span, exact,
};

use crate::drawing::plan;
use crate::faults::Plan;
use crate::injection::index;
use crate::run::{Run, simulate_plan};
use crate::seed::Seed;
use crate::settings::Settings;
use crate::trace::{Recorder, Tracer};

/// Runs `protocol` from `seed`, with the faults drawn for it, and writes down what happens. The script replays in a plain
/// world ([`seedbed_model::replay_exact`]) to the same violations.
///
/// # Errors
/// If a run in tick mode is no script: a bug of ours.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn record<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Result<(Run, ExactScript<P>), String> {
    let plan = plan(protocol, settings, seed);
    if settings.tick_mode {
        let mut recorder = Recorder::new(protocol).with_tail(0).with_script();
        let run = simulate_plan(protocol, settings, &plan, seed, Some(&mut recorder));
        let script = recorder.into_script().unwrap_or_else(|| seedbed_model::Script::new(Vec::new()));
        return exact(protocol, &script).map(|script| (run, script));
    }
    let mut writer = Writer { steps: Vec::new(), at_ns: 0 };
    let run = simulate_plan(protocol, settings, &plan, seed, Some(&mut writer));
    let script = ExactScript { untimed: false, clocks: clocks(protocol, &plan), steps: writer.steps };
    Ok((run, script))
}

fn clocks<P: Protocol>(protocol: &P, plan: &Plan) -> Vec<NodeClock> {
    let names = protocol.nodes();
    let mut clocks = if plan.clocks.is_empty() { Vec::new() } else { vec![NodeClock::EXACT; names.len()] };
    for named in &plan.clocks {
        clocks[index(&names, &named.node).index()] = named.clock;
    }
    clocks
}

/// Writes down a run outside tick mode.
struct Writer<P: Protocol> {
    steps: Vec<ExactStep<P>>,
    /// Up to when the script tells [ns].
    at_ns: u64,
}

impl<P: Protocol> Tracer<P> for Writer<P> {
    fn step(&mut self, at_ns: u64, _: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]) {
        if at_ns > self.at_ns {
            self.steps.push(ExactStep::of(Choice::Elapse(Span(at_ns - self.at_ns))));
            self.at_ns = at_ns;
        }
        let what = match (choice, effects) {
            // Ends that pass follow from the time that does.
            (Choice::At(_, Local::Lapse(_)), _) => return,
            (Choice::Elapse(_), [(_, Effect::Happened(Event::Healed))]) => Move::Healed,
            (Choice::Elapse(_), _) => return,
            _ => Move::Choice(choice.clone()),
        };
        self.steps.push(ExactStep { what, answers: answers.to_vec(), lengths: Vec::new() });
    }
}
