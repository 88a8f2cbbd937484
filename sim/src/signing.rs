//! The signature of a run that fell.

use std::collections::VecDeque;

use seedbed_model::signature::{Shape, Signature};
use seedbed_model::{Choice, Effect, Named, NodeId, Protocol, Violation};

use crate::run::simulate;
use crate::seed::Seed;
use crate::settings::Settings;
use crate::trace::Tracer;

/// So many steps before the fall are looked at for those of its culprits.
const TAIL_COUNT: usize = 64;

/// Runs `seed` again and signs the fall of `property` with which it ends; `None` if it does not.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn signature<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed, property: &str) -> Option<Signature> {
    let mut tail = Tail { names: protocol.nodes(), shapes: VecDeque::new() };
    let run = simulate(protocol, settings, seed, Some(&mut tail));
    let found = run.violations.into_iter().find(|found| found.violation.property == property)?;
    Some(tail.sign(&found.violation))
}

/// The shapes of the last steps.
struct Tail {
    names: Vec<String>,
    shapes: VecDeque<Shape>,
}

impl Tail {
    fn sign(mut self, violation: &Violation) -> Signature {
        Signature::of(&self.names, violation, self.shapes.make_contiguous())
    }
}

impl<P: Protocol> Tracer<P> for Tail {
    fn step(&mut self, _: u64, _: u64, choice: &Named<P>, _: &[u32], _: &[(NodeId, Effect<P>)]) {
        let shape = Shape::of_choice::<P>(&self.names, choice);
        // Time that passes is one step, however many ends pass in it.
        let is_time = matches!(choice, Choice::Elapse(_));
        if is_time && self.shapes.back() == Some(&shape) {
            return;
        }
        if self.shapes.len() == TAIL_COUNT {
            self.shapes.pop_front();
        }
        self.shapes.push_back(shape);
    }
}
