//! One test for each sentence about sequence numbers and nonces, on two ends alone.

use proptest::prelude::*;
use seedbed_model::{Nonce, Relevance, Serial};

use super::Sequence;
use super::link::{Checks, Heard, Link, Pair, Verdict};

type End = Link<Sequence, Sequence>;
type Sent = Pair<Sequence, Sequence>;

fn nonce(node: u16, incarnation: u32) -> Nonce {
    (0..incarnation).fold(Nonce::first(node), |nonce, _| nonce.next())
}

fn end(node: u16, incarnation: u32) -> End {
    Link::new(nonce(node, incarnation), node)
}

fn hear(end: &mut End, pair: Sent) -> Verdict {
    end.admit(pair, Checks::ALL)
}

/// An Owner and a Manager that know each other: the Manager answered the Owner's first message.
fn acquainted() -> (End, End) {
    let (mut owner, mut manager) = (end(0, 1), end(1, 1));
    assert_eq!(hear(&mut manager, owner.outgoing()), Verdict::NewSession);
    assert_eq!(hear(&mut owner, manager.outgoing()), Verdict::Fresh);
    (owner, manager)
}

/// Centrifuge §2.3.2: "includes both its own sequence number and the most recent sequence number it heard".
#[test]
fn a_message_that_names_the_latest_is_acted_on() {
    let (mut owner, mut manager) = acquainted();
    for _ in 0..3 {
        assert_eq!(hear(&mut manager, owner.outgoing()), Verdict::Fresh);
        assert_eq!(hear(&mut owner, manager.outgoing()), Verdict::Fresh);
    }
}

/// Figure 7: <12,101> and <11,102> cross and are both dropped; <13,102> gets through.
#[test]
fn crossed_messages_are_both_dropped_and_the_resent_one_gets_through() {
    let (mut owner, mut manager) = acquainted();
    let (request, response) = (owner.outgoing(), manager.outgoing());
    assert_eq!(hear(&mut manager, request), Verdict::Race);
    assert_eq!(hear(&mut owner, response), Verdict::Race);
    assert_eq!(hear(&mut manager, owner.outgoing()), Verdict::Fresh);
}

/// The figure shows it, the text does not say it: the number of a dropped message is heard.
#[test]
fn without_hearing_dropped_numbers_nothing_gets_through_again() {
    let checks = Checks { hear_dropped: false, ..Checks::ALL };
    let (mut owner, mut manager) = acquainted();
    let (request, response) = (owner.outgoing(), manager.outgoing());
    assert_eq!(manager.admit(request, checks), Verdict::Race);
    assert_eq!(owner.admit(response, checks), Verdict::Race);
    for _ in 0..5 {
        assert_eq!(manager.admit(owner.outgoing(), checks), Verdict::Race);
        assert_eq!(owner.admit(manager.outgoing(), checks), Verdict::Race);
    }
}

/// "Forward progress resumes when one node's message is received on the other side before its counterpart initiates
/// its resend": and not when both resend at once.
#[test]
fn messages_resent_at_once_cross_again() {
    let (mut owner, mut manager) = acquainted();
    for _ in 0..5 {
        let (request, response) = (owner.outgoing(), manager.outgoing());
        assert_eq!((hear(&mut manager, request), hear(&mut owner, response)), (Verdict::Race, Verdict::Race));
    }
}

#[test]
fn a_second_copy_is_stale() {
    let (mut owner, mut manager) = acquainted();
    let request = owner.outgoing();
    assert_eq!(hear(&mut manager, request), Verdict::Fresh);
    assert_eq!(hear(&mut manager, request), Verdict::Stale);
}

/// §2.3.2: the nonce "prevents an Owner from sending a message, crashing and re-establishing a connection with new
/// sequence numbers, and then having the previously sent message be received and interpreted out of context".
#[test]
fn a_message_of_an_earlier_incarnation_is_dropped() {
    let (mut before, mut manager) = acquainted();
    let late = before.outgoing();
    let mut owner = end(0, 2);
    assert_eq!(hear(&mut manager, owner.outgoing()), Verdict::NewSession);
    assert_eq!(hear(&mut owner, manager.outgoing()), Verdict::Fresh);
    assert_eq!(hear(&mut manager, late), Verdict::Stale);
}

/// And so is what was sent to one, though it bears the right number.
#[test]
fn a_message_to_an_earlier_incarnation_is_dropped_only_for_its_nonce() {
    let (_, mut manager) = acquainted();
    let late = manager.outgoing();
    let mut owner = end(0, 2);
    assert_eq!(hear(&mut manager, owner.outgoing()), Verdict::NewSession);
    assert_eq!(hear(&mut owner, manager.outgoing()), Verdict::Fresh);
    assert_eq!(hear(&mut owner, late), Verdict::Stale);

    let mut deceived = end(0, 2);
    deceived.outgoing();
    assert_eq!(deceived.admit(late, Checks { nonce: false, ..Checks::ALL }), Verdict::Fresh);
}

/// Once found by the explorer: each of two restarted ends knew only the other's past, and dropped all it heard.
#[test]
fn two_ends_that_restarted_find_each_other() {
    let (mut left_before, mut right_before) = (end(0, 1), end(1, 1));
    let (old_left, old_right) = (left_before.outgoing(), right_before.outgoing());
    let (mut left, mut right) = (end(0, 2), end(1, 2));
    let (hello_left, hello_right) = (left.outgoing(), right.outgoing());
    assert_eq!(hear(&mut left, old_right), Verdict::NewSession);
    assert_eq!(hear(&mut right, old_left), Verdict::NewSession);
    // Both hellos are lost; what they say next names the other's past.
    assert_ne!((hello_left.heard, hello_right.heard), (left.outgoing().heard, right.outgoing().heard));
    assert_eq!(hear(&mut right, left.outgoing()), Verdict::NewSession);
    assert_eq!(hear(&mut left, right.outgoing()), Verdict::NewSession);
    assert_eq!(hear(&mut right, left.outgoing()), Verdict::Fresh);
}

/// What may happen to two ends and the messages between them.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Send(usize),
    Deliver(usize),
    Restart(usize),
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let one = prop_oneof![
        3 => (0..2usize).prop_map(Happening::Send),
        4 => (0..64usize).prop_map(Happening::Deliver),
        1 => (0..2usize).prop_map(Happening::Restart),
    ];
    prop::collection::vec(one, 1..60)
}

/// Two ends, and every message ever sent, with its receiver: all of them may still arrive.
struct Both {
    ends: [End; 2],
    incarnations: [u32; 2],
    sent: Vec<(usize, Sent)>,
}

impl Both {
    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Send(node) => {
                let pair = self.ends[node].outgoing();
                self.sent.push((1 - node, pair));
            }
            Happening::Deliver(_) if self.sent.is_empty() => {}
            Happening::Deliver(which) => {
                let (to, pair) = self.sent[which % self.sent.len()];
                hear(&mut self.ends[to], pair);
            }
            Happening::Restart(node) => {
                self.incarnations[node] += 1;
                self.ends[node] = end(node as u16, self.incarnations[node]);
            }
        }
    }
}

fn outcome(end: &End, pair: Sent) -> (Verdict, End) {
    let mut end = *end;
    let verdict = hear(&mut end, pair);
    (verdict, end)
}

proptest! {
    /// The promise that the explorer relies on, now and after whatever else happens.
    #[test]
    fn relevance_is_kept(first in happenings(), then in happenings()) {
        let mut both = Both { ends: [end(0, 1), end(1, 1)], incarnations: [1, 1], sent: Vec::new() };
        first.into_iter().for_each(|happening| both.happen(happening));
        let judged: Vec<_> =
            both.sent.iter().map(|(to, pair)| (*to, *pair, both.ends[*to].relevance(*pair, Checks::ALL))).collect();
        let restarts = both.incarnations;
        for happening in std::iter::once(None).chain(then.into_iter().map(Some)) {
            happening.into_iter().for_each(|happening| both.happen(happening));
            for (to, pair, relevance) in &judged {
                // A restart gives the message a receiver of another state, which is asked anew.
                if both.incarnations[*to] != restarts[*to] {
                    continue;
                }
                let (verdict, after) = outcome(&both.ends[*to], *pair);
                match relevance {
                    Relevance::Dead => prop_assert_eq!((verdict, after), (Verdict::Stale, both.ends[*to])),
                    Relevance::Same(other) => prop_assert_eq!((verdict, after), outcome(&both.ends[*to], *other)),
                    Relevance::Live | Relevance::Always => {}
                }
            }
        }
    }

    /// What `in-context` says: a fresh message was sent after its sender had heard the receiver's latest.
    #[test]
    fn fresh_is_in_context(steps in happenings()) {
        let mut both = Both { ends: [end(0, 1), end(1, 1)], incarnations: [1, 1], sent: Vec::new() };
        // The latest message of each end, and whether the other's incarnation may have received any.
        let mut latest: [Heard<Sequence>; 2] = [Heard::Nothing; 2];
        let mut unheard = [true; 2];
        for step in steps {
            if let Happening::Deliver(which) = step && !both.sent.is_empty() {
                let (to, pair) = both.sent[which % both.sent.len()];
                match outcome(&both.ends[to], pair).0 {
                    Verdict::Fresh if pair.heard == Heard::Nothing => prop_assert!(unheard[to]),
                    Verdict::Fresh => prop_assert_eq!(pair.heard, latest[to]),
                    // What was sent to the incarnation before, the new one drops.
                    Verdict::NewSession => unheard[to] |= both.ends[to].has_heard(),
                    _ => {}
                }
            }
            both.happen(step);
            match step {
                Happening::Send(node) => {
                    latest[node] = Heard::Latest(both.sent[both.sent.len() - 1].1.own);
                    unheard[node] = false;
                }
                Happening::Restart(node) => {
                    latest[node] = Heard::Nothing;
                    unheard[node] = true;
                }
                Happening::Deliver(_) => {}
            }
        }
    }
}

/// Each incarnation counts anew, so its numbers must not be ranked among another's.
#[test]
fn serials_are_ordered_by_incarnation_first() {
    let old = Serial::<Sequence>::before_first(nonce(0, 1), 0).next().next();
    let new = Serial::<Sequence>::before_first(nonce(0, 2), 0).next();
    assert!(old < new && new < new.next());
}
