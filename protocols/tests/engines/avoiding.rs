//! What a search for a run without the fall may cost: states, the bytes of what is in them, and the ways between them.

use seedbed_model::explore::{Avoidance, Bounds, Moment, Pace, avoidance};
use seedbed_model::{
    Choice, ClockBound, Context, Event, ExactScript, ExactStep, Input, Local, Never, NodeId, Nonce, Property, Protocol,
    Ratio, Span, Watch,
};

/// It counts to ten, which is forbidden, carries what it has no use for, tosses coins that it does not look at, and sets timers
/// that mean nothing to it.
#[derive(Debug, Clone)]
struct Burdened {
    bytes: usize,
    /// In each step.
    coins: u32,
    /// Set in each step, by a clock that may be slow.
    timers: u8,
}

const COUNT_MAX: u8 = 10;

/// The timer that it counts by.
const TICK: u8 = 0;

impl Protocol for Burdened {
    type State = Vec<u8>;
    type Message = Never;
    type Timer = u8;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = u8;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        vec!["mule".into()]
    }

    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> Vec<u8> {
        cx.set(TICK, Span::ticks(1));
        vec![0; self.bytes]
    }

    fn step(&self, state: &mut Vec<u8>, _: Input<Self>, cx: &mut Context<'_, Self>) {
        for _ in 0..self.coins {
            let _ = cx.choose(2);
        }
        state[0] += 1;
        cx.observe(state[0]);
        cx.set(TICK, Span::ticks(1));
        for timer in 1..=self.timers {
            cx.set(timer, Span::ticks(100));
        }
    }

    fn clock(&self, _: NodeId) -> ClockBound {
        let longest = if self.timers > 0 { Ratio::new(2, 1) } else { Ratio::ONE };
        ClockBound { longest, ..ClockBound::EXACT }
    }

    fn properties(&self) -> Vec<Property> {
        vec![Property::always("below-ten", "it never counts to ten")]
    }

    fn watch(&self, (): &mut (), _: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        if let Event::Observed(COUNT_MAX) = event {
            watch.violated("below-ten", "it did");
        }
    }
}

fn searched(protocol: &Burdened, states: usize) -> (Avoidance, usize) {
    let steps = vec![ExactStep::of(Choice::At(NodeId(0), Local::Start))];
    let script = ExactScript { untimed: false, clocks: Vec::new(), steps };
    let moment = Moment::after(protocol, script, Pace::default()).expect("it starts");
    avoidance(protocol, &Bounds::default(), &moment, "below-ten", states).expect("the bounds fit")
}

fn carrying(bytes: usize) -> Burdened {
    Burdened { bytes, coins: 0, timers: 0 }
}

#[test]
fn a_search_ends_where_its_states_or_their_bytes_do() {
    let (found, needed) = searched(&carrying(1), 1_000);
    assert_eq!(found, Avoidance::Unavoidable);
    assert_eq!(searched(&carrying(1), needed).0, Avoidance::Unavoidable, "{needed} states are all");
    assert_eq!(searched(&carrying(1), needed - 2).0, Avoidance::Unknown, "one more than the budget may be met");
    assert_eq!(searched(&carrying(1_000), needed).0, Avoidance::Unavoidable, "a kilobyte for each state is within it");
    let (found, seen) = searched(&carrying(100_000), needed);
    assert_eq!(found, Avoidance::Unknown);
    assert!(seen < needed, "{seen} of {needed} states, their bytes being too many");
}

#[test]
fn a_step_of_more_ways_than_may_be_taken_is_given_up() {
    let tossing = |coins| Burdened { coins, ..carrying(1) };
    assert_eq!(searched(&tossing(3), 1_000).0, Avoidance::Unavoidable, "eight ways of each step are few");
    // To go all of them would take years.
    assert_eq!(searched(&tossing(40), 1_000).0, Avoidance::Unknown);
    assert_eq!(searched(&Burdened { timers: 6, ..carrying(1) }, 1_000).0, Avoidance::Unknown);
}
