//! What a verdict must say beside its answer: where the model is smaller than the protocol, and what never occurred.

use super::bounds::{Bounds, Clock, Lengths};
use super::exercised::Exercised;
use super::search::Searched;
use super::walker::Walker;
use super::{Exploration, Stats, Verdict};
use crate::name::NodeId;
use crate::property::Kind;
use crate::protocol::Protocol;
use crate::script::Script;
use crate::time::Span;

/// What a search of a world found, in the words of the protocol.
pub(super) fn exploration<P: Protocol>(protocol: &P, bounds: &Bounds, found: Searched<Walker<P>>) -> Exploration<P> {
    let Searched { mut stats, fall, stopped, mut spaces, moment } = found;
    let mut exercised = Exercised::default();
    for walker in &spaces {
        exercised.join(&walker.store.exercised, moment);
        stats.steps_computed += walker.store.step_count() as u64;
    }
    let walker = &mut spaces[0];
    walker.store.catch_up();
    stats.parts = walker.store.pool.len() as u64;
    stats.messages = walker.store.message_count() as u64;
    let (script, repeats_from) = match fall.as_ref().and_then(|fall| walker.counterexample(fall)) {
        Some((script, repeats_from)) => (Some(script), repeats_from),
        None => (None, None),
    };
    let verdict = match (fall, stopped) {
        (Some(fall), _) if script.is_some() => Verdict::Violated(fall.violation),
        (Some(fall), _) => Verdict::Unknown(format!(
            "{} fell in the search, but the way there could not be walked again: a defect of the explorer",
            fall.violation.property
        )),
        (None, Some(why)) => Verdict::Unknown(why),
        (None, None) => Verdict::Holds,
    };
    Exploration {
        verdict,
        script,
        repeats_from,
        reached: exercised.reached(),
        unexercised: exercised.missing::<P>(),
        abstractions: abstractions(protocol, bounds),
        stats,
    }
}

/// What random walks found: `walker` has walked them.
pub(super) fn sampled<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    walker: Walker<P>,
    mut stats: Stats,
    verdict: Verdict,
    script: Option<Script<P>>,
) -> Exploration<P> {
    let store = &walker.store;
    stats.steps_computed = store.step_count() as u64;
    stats.parts = store.pool.len() as u64;
    stats.messages = store.message_count() as u64;
    Exploration {
        verdict,
        script,
        repeats_from: None,
        reached: store.exercised.reached(),
        unexercised: store.exercised.missing::<P>(),
        abstractions: abstractions(protocol, bounds),
        stats,
    }
}

/// The abstractions in force within `bounds`, in words.
pub fn abstractions<P: Protocol>(protocol: &P, bounds: &Bounds) -> Vec<String> {
    let mut all = Vec::new();
    let nodes = || (0..protocol.nodes().len() as u16).map(NodeId);
    match bounds.clock {
        Clock::Untimed => all.push("untimed: any armed timer may fire at any time; deadlines never pass".to_owned()),
        Clock::Digital => {
            all.push(format!("digital time: ticks of {}; a due firing is delivered before time passes on", bounds.tick))
        }
    }
    let drifts = nodes().any(|node| protocol.clock(node).shortest != protocol.clock(node).longest);
    if drifts && bounds.clock == Clock::Digital {
        all.push(match bounds.lengths {
            Lengths::All => {
                "drift: each timer's real length is any whole tick within its clock's bound, independently".to_owned()
            }
            Lengths::Longest => "drift: timers run for their longest real length only".to_owned(),
        });
    }
    if nodes().any(|node| protocol.clock(node).offset > Span::ZERO) {
        all.push("clock offsets: whole ticks, fixed for the run".to_owned());
    }
    let names = protocol.nodes();
    for node in nodes() {
        if let Some(service) = protocol.stands_for(node) {
            let name = &names[node.index()];
            all.push(format!("{name} stands for {service}: atomic, and neither crashed nor paused"));
        }
    }
    if let Some(capacity) = bounds.capacity {
        let messages = if capacity == 1 { "message" } else { "messages" };
        all.push(format!("links hold {capacity} {messages} each way; of one too many, any is lost"));
    }
    match (bounds.delay, bounds.losses) {
        (None, 0) => all.push("messages take any time, for ever included; none is lost otherwise".to_owned()),
        (None, _) => all.push("messages take any time".to_owned()),
        (Some(delay), _) => all.push(match delay {
            0 => "messages arrive before time passes".to_owned(),
            1 => "messages take at most a tick".to_owned(),
            _ => format!("messages take at most {delay} ticks"),
        }),
    }
    let budget = |count: u32, one: &str, many: &str| match count {
        0 => format!("no {many}"),
        1 => format!("at most 1 {one}"),
        _ => format!("at most {count} {many}"),
    };
    all.push(
        [
            budget(bounds.losses, "loss", "losses"),
            budget(bounds.duplicates, "duplicate", "duplicates"),
            budget(bounds.crashes, "crash", "crashes"),
            budget(bounds.pauses, "pause", "pauses"),
            budget(bounds.cuts, "cut", "cuts"),
        ]
        .join(", "),
    );
    if !bounds.restart && bounds.crashes > 0 {
        all.push("crashed nodes never restart".to_owned());
    }
    if !protocol.tags_are_ranked() || bounds.eventually {
        all.push("counters are not renamed".to_owned());
    }
    if let Some(most) = bounds.tag_max {
        all.push(format!("counters beyond {most} are cut off"));
    }
    if bounds.keep_ignored {
        all.push("a message that changes nothing stays in flight".to_owned());
    }
    let claims_eventually = protocol.properties().iter().any(|property| property.kind == Kind::Eventually);
    if bounds.eventually {
        all.push(
            "fair are messages, timers, writes and time; faults, restarts, clients and decisions need never come"
                .to_owned(),
        );
    } else if claims_eventually {
        all.push("what is claimed eventually is not judged".to_owned());
    }
    if bounds.symmetry && !bounds.eventually && !protocol.symmetry().is_empty() {
        all.push("interchangeable nodes are interchanged".to_owned());
    }
    all.push("steps are atomic; records become durable one at a time, at any time".to_owned());
    all
}
