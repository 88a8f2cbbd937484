//! What must come on a fair run and what need not: a debt that one kind of event pays, while a timer goes round for ever.

use seedbed_model::explore::{Bounds, Clock, Exploration, Strategy, Verdict, explore};
use seedbed_model::{
    Canonical, Choice, Context, Event, Input, NodeId, Nonce, Offers, OpId, Property, Protocol, Span, Stream, Watch,
    replay,
};

/// What pays the debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Payment {
    Message,
    Timer,
    Record,
    Time,
    Decision,
    Operation,
    Restart,
}

/// Node 0 owes from its start; node 1 winds itself up for ever.
#[derive(Debug, Clone)]
struct Debt(Payment);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Timer {
    Round,
    Pay,
}

/// Whether it is paid.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Paid(bool);

const DEBTOR: NodeId = NodeId(0);
const WINDER: NodeId = NodeId(1);

impl Protocol for Debt {
    type State = ();
    type Message = u8;
    type Timer = Timer;
    type Record = u8;
    type Durable = ();
    type Operation = u8;
    type Answer = u8;
    type Decision = u8;
    type Observation = u8;
    type Monitor = Paid;

    fn nodes(&self) -> Vec<String> {
        vec!["debtor".into(), "winder".into()]
    }

    fn start(&self, (): &(), nonce: Nonce, cx: &mut Context<'_, Self>) {
        let _ = nonce;
        match (cx.node(), self.0) {
            (WINDER, Payment::Message) => cx.send(DEBTOR, 0),
            (DEBTOR, Payment::Timer) => cx.set(Timer::Pay, Span::ticks(1)),
            (DEBTOR, Payment::Time) => cx.set(Timer::Pay, Span::ticks(5)),
            (DEBTOR, Payment::Record) => drop(cx.persist(Stream(0), 0)),
            _ => {}
        }
        if cx.node() == WINDER && self.0 != Payment::Time {
            cx.set(Timer::Round, Span::ticks(1));
        }
    }

    fn step(&self, (): &mut (), input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Timer(Timer::Round) => cx.set(Timer::Round, Span::ticks(1)),
            Input::Operation { op, .. } => {
                cx.observe(0);
                cx.respond(op, 0);
            }
            _ => cx.observe(0),
        }
    }

    fn decisions(&self, node: NodeId, (): &(), offers: &mut Offers<'_, Self>) {
        if (node, self.0) == (DEBTOR, Payment::Decision) {
            offers.offer(0);
        }
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        u32::from((node, self.0) == (DEBTOR, Payment::Operation))
    }

    fn operation(&self, _: NodeId, _: OpId, _: Option<&u8>, _: &mut dyn FnMut(u32) -> u32) -> u8 {
        0
    }

    fn properties(&self) -> Vec<Property> {
        vec![Property::eventually("paid", "the debt is paid in the end")]
    }

    fn watch(&self, paid: &mut Paid, node: NodeId, event: &Event<Self>, _: &mut Watch<'_>) {
        match (event, self.0) {
            (Event::Observed(_), _) => paid.0 = true,
            (Event::Started, Payment::Restart) if node == DEBTOR => paid.0 = true,
            (Event::Crashed, Payment::Restart) => paid.0 = false,
            _ => {}
        }
    }

    fn owes(&self, paid: &Paid, property: &str) -> bool {
        property == "paid" && !paid.0
    }
}

fn explored(payment: Payment, bounds: &Bounds) -> Exploration<Debt> {
    let bounds = Bounds { eventually: true, ..bounds.clone() };
    explore(&Debt(payment), &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit")
}

fn is_paid(payment: Payment, bounds: &Bounds) -> bool {
    let found = explored(payment, bounds);
    if let (Verdict::Violated(violation), Some(script)) = (&found.verdict, &found.script) {
        assert_eq!(violation.property, "paid");
        let replayed = replay(&Debt(payment), script);
        assert_eq!((replayed.drift, replayed.owed), (None, vec!["paid"]));
    }
    found.verdict == Verdict::Holds
}

fn untimed() -> Bounds {
    Bounds { clock: Clock::Untimed, ..Bounds::default() }
}

#[test]
fn messages_timers_writes_and_time_come_in_the_end() {
    for payment in [Payment::Message, Payment::Timer, Payment::Record] {
        assert!(is_paid(payment, &untimed()), "{payment:?}, untimed");
        assert!(is_paid(payment, &Bounds::default()), "{payment:?}, digital");
    }
    assert!(is_paid(Payment::Time, &Bounds::default()));
}

#[test]
fn decisions_clients_and_restarts_need_not_come() {
    for payment in [Payment::Decision, Payment::Operation] {
        assert!(!is_paid(payment, &untimed()), "{payment:?}, untimed");
        assert!(!is_paid(payment, &Bounds::default()), "{payment:?}, digital");
    }
    let crash = Bounds { crashes: 1, ..Bounds::default() };
    assert!(!is_paid(Payment::Restart, &crash));
}

#[test]
fn a_fault_that_can_happen_need_not_and_one_that_did_counts() {
    let lossy = Bounds { losses: 1, ..Bounds::default() };
    assert!(!is_paid(Payment::Message, &lossy), "the message that would pay is lost");
    assert!(is_paid(Payment::Timer, &lossy), "a loss that never comes stands in no way");
    let paused = Bounds { pauses: 1, ..Bounds::default() };
    assert!(!is_paid(Payment::Message, &paused), "a paused node need not resume");
}

#[test]
fn the_run_without_end_is_shown_as_a_way_and_a_round() {
    let found = explored(Payment::Decision, &Bounds::default());
    let script = found.script.expect("a counterexample");
    let round = &script.steps[found.repeats_from.expect("a run without end")..];
    assert!(round.iter().any(|step| matches!(step.choice, Choice::Elapse(_))), "time goes on: {round:?}");
    assert!(round.iter().any(|step| matches!(step.choice, Choice::At(WINDER, _))), "so does the winder: {round:?}");
    let lost = explored(Payment::Message, &Bounds { losses: 1, ..untimed() });
    assert!(lost.repeats_from.is_some());
}

#[test]
fn without_being_asked_the_explorer_says_that_it_does_not_judge() {
    let found = explore(&Debt(Payment::Decision), &Bounds::default(), &Strategy::default(), &mut |_| true);
    let found = found.expect("the bounds fit");
    assert_eq!(found.verdict, Verdict::Holds);
    assert!(found.abstractions.iter().any(|line| line == "what is claimed eventually is not judged"));
}
