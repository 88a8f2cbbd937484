//! What a step did to a timer counts at once, however much it does.

use std::collections::BTreeMap;

use proptest::prelude::*;
use seedbed_model::{Context, Effects, NodeId, Span, Stamp, Surroundings};
use seedbed_protocols::leasing::{Leasing, RangeId, Timer};

/// What was armed before the step.
struct Before(Vec<Timer>);

impl Surroundings<Timer> for Before {
    fn is_armed(&mut self, timer: &Timer) -> bool {
        self.0.contains(timer)
    }
    fn clock(&mut self) -> Stamp {
        unreachable!("nobody reads the clock")
    }
    fn choose(&mut self, _: u32) -> u32 {
        unreachable!("nobody chooses")
    }
}

#[derive(Debug, Clone)]
enum Act {
    Set(u8, u64),
    Copy(u8, u8),
    Cancel(u8),
    Mark,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        (0..6u8, 0..3u64).prop_map(|(timer, span)| Act::Set(timer, span)),
        (0..6u8, 0..6u8).prop_map(|(from, to)| Act::Copy(from, to)),
        (0..6u8).prop_map(Act::Cancel),
        Just(Act::Mark),
    ];
    prop::collection::vec(act, 0..200)
}

fn timer(number: u8) -> Timer {
    Timer::Lease(RangeId(number))
}

proptest! {
    #[test]
    fn a_timer_is_armed_as_the_step_left_it(before in prop::collection::vec(0..6u8, 0..4), acts in acts()) {
        let mut armed: BTreeMap<u8, bool> = (0..6).map(|number| (number, before.contains(&number))).collect();
        let mut around = Before(before.into_iter().map(timer).collect());
        let mut effects = Effects::new();
        let mut cx = Context::<Leasing>::new(NodeId(0), &mut effects, &mut around);
        for act in acts {
            match act {
                Act::Set(number, span) => {
                    cx.set(timer(number), Span(span));
                    armed.insert(number, span > 0);
                }
                Act::Copy(from, to) => {
                    cx.copy(timer(from), timer(to));
                    armed.insert(to, armed[&from]);
                }
                Act::Cancel(number) => {
                    cx.cancel(timer(number));
                    armed.insert(number, false);
                }
                Act::Mark => cx.mark("nothing"),
            }
            for (number, is_armed) in &armed {
                prop_assert_eq!(cx.is_armed(&timer(*number)), *is_armed);
            }
        }
    }
}
