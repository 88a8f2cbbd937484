//! One test for each sentence of the papers that a script can show, step by step.

use seedbed_model::{Family, Local, Mutants, NodeId, Span};

use super::play::{OWNER_1, OWNER_2, Play, RANGE, params};
use super::*;

/// Figure 6, step by step: the acknowledgment of a recall passes a new grant.
///
/// The range was recalled and its Owner's acknowledgment arrived; the Manager grants it again and, before the grant
/// arrives, an Owner's request that does not list it.
fn crisscross(mutants: &[&str]) -> Play {
    let mut play = Play::introduced(mutants);
    play.tick();
    play.renew(OWNER_1); // "I don't have the lease."
    play.decide(Decision::Grant(RANGE, OWNER_1)); // "Here is the lease."
    play.deliver(OWNER_1, MANAGER);
    play
}

#[test]
fn the_manager_drops_a_request_that_crossed_its_grant() {
    let mut play = crisscross(&[]);
    assert_eq!(play.marked("race-dropped"), 1);
    assert!(!play.is_free(), "what crossed a grant must not free it");
    // The Owner drops the grant likewise, and asks anew.
    play.deliver(MANAGER, OWNER_1);
    assert_eq!(play.marked("race-dropped"), 2);
    assert!(!play.holds(OWNER_1));
}

/// "Since you returned the lease, I'll give it to someone else." / "I have the lease again!"
#[test]
fn without_sequence_numbers_two_owners_hold_what_crossed() {
    let mut play = crisscross(&[NO_SEQUENCE_PAIRS]);
    assert!(play.is_free(), "the Manager takes the request for the answer to its grant");
    play.decide(Decision::Grant(RANGE, OWNER_2));
    play.deliver(MANAGER, OWNER_1);
    assert!(play.fallen().is_empty());
    play.deliver(MANAGER, OWNER_2);
    assert_eq!(play.fallen(), ["single-copy"]);
}

/// §2.3.2: what was dropped at the Manager is computed anew; as a renewal, since a grant is one in one message only.
#[test]
fn a_dropped_grant_comes_again_as_a_renewal_and_is_refused() {
    let mut play = crisscross(&[]);
    // The back-off of this script is no time at all: the Manager's second message is on its way.
    play.deliver_nth(MANAGER, OWNER_1, 1);
    assert_eq!(play.marked("renewal-refused"), 1);
    // What was granted first comes last, and counts for nothing.
    play.deliver(MANAGER, OWNER_1);
    assert_eq!(play.marked("stale-response"), 1);
    assert!(!play.holds(OWNER_1));
    play.deliver(OWNER_1, MANAGER);
    assert!(play.is_free(), "the refusal frees the range");
}

/// §2.3.2: "new leases can be handed out after a single message round trip instead of waiting up to 60 seconds".
#[test]
fn a_recalled_range_is_free_after_one_round_trip() {
    let mut play = Play::holding(&[]);
    play.decide(Decision::Recall(RANGE));
    play.deliver(MANAGER, OWNER_1);
    assert!(!play.holds(OWNER_1));
    assert!(!play.is_free(), "the Manager does not know yet");
    play.deliver(OWNER_1, MANAGER);
    assert!(play.is_free());
}

/// And where the recall is lost, the margin ends it (ambiguity CA7: a silent Owner is waited for).
#[test]
fn a_range_of_a_silent_owner_is_free_after_the_margin() {
    let mut play = Play::holding(&[]);
    play.decide(Decision::Recall(RANGE));
    play.lose(MANAGER, OWNER_1);
    play.at(OWNER_1, Local::Crash(Vec::new()));
    for _ in 1..=4 {
        play.tick();
        play.keep_owner_2();
        assert_eq!(play.marked("expiry"), 0);
    }
    play.at(MANAGER, Local::Fire(Timer::Unavailable(RANGE)));
    assert!(play.is_free());
}

/// §2.3.1 (2): the lease counts from the sending of the request, however late the answer is.
#[test]
fn an_owner_counts_from_the_sending_of_its_request() {
    let mut play = Play::introduced(&[]);
    play.tick();
    play.renew(OWNER_1);
    play.deliver(OWNER_1, MANAGER);
    play.decide(Decision::Grant(RANGE, OWNER_1));
    for _ in 0..2 {
        play.tick();
    }
    // The renewal due meanwhile is late: the grant names the latest request still.
    play.deliver(MANAGER, OWNER_1);
    assert!(play.holds(OWNER_1));
    play.tick();
    assert!(!play.holds(OWNER_1), "three ticks after the sending, though one after the receipt");
}

/// Figure 5: the slowest Owner that the clock bound allows has lost its lease when the Manager's margin ends.
#[test]
fn the_margin_outlasts_the_slowest_lease() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[NO_MARGIN][..], &["single-copy"][..])] {
        let mut play = Play::introduced(mutants);
        play.tick();
        play.slow();
        play.renew(OWNER_1);
        play.deliver(OWNER_1, MANAGER);
        play.decide(Decision::Grant(RANGE, OWNER_1));
        play.deliver(MANAGER, OWNER_1);
        for _ in 1..=3 {
            play.tick();
            play.keep_owner_2();
        }
        assert!(play.holds(OWNER_1));
        if !mutants.is_empty() {
            play.at(MANAGER, Local::Fire(Timer::Unavailable(RANGE)));
            play.decide(Decision::Grant(RANGE, OWNER_2));
            play.deliver(MANAGER, OWNER_2);
        }
        play.tick();
        assert!(!play.holds(OWNER_1), "a lease of 3 ends within 4");
        assert_eq!(play.fallen(), fallen);
    }
}

/// §2.3: "if a just restarted Owner receives a renewal on a lease X, it refuses the renewal, and the Manager learns that
/// the lease is free" — "thus triggering a change in the lease generation number".
#[test]
fn a_restarted_owner_refuses_a_renewal_and_the_generation_changes() {
    let mut play = Play::holding(&[]);
    let before = play.generation();
    play.crash_and_restart(OWNER_1);
    play.deliver(OWNER_1, MANAGER);
    play.deliver(MANAGER, OWNER_1);
    assert_eq!(play.marked("renewal-refused"), 1);
    play.deliver(OWNER_1, MANAGER);
    assert!(play.is_free());
    assert!(play.generation() > before);
}

#[test]
fn accepting_a_renewal_after_a_restart_revives_a_lost_generation() {
    let mut play = Play::holding(&[RENEWAL_AFTER_RESTART]);
    play.crash_and_restart(OWNER_1);
    play.deliver(OWNER_1, MANAGER);
    play.deliver(MANAGER, OWNER_1);
    assert_eq!(play.fallen(), ["generation-once"]);
}

/// PRS §4.4: "all previously granted leases are allowed to expire before any new leases are granted".
#[test]
fn a_restarted_manager_waits_before_it_grants() {
    let mut play = Play::holding(&[]);
    play.crash_and_restart(MANAGER);
    play.tick();
    play.renew(OWNER_2);
    play.deliver(OWNER_2, MANAGER);
    assert!(!play.is_free());
    for _ in 0..3 {
        play.tick();
        play.keep_owner_2();
    }
    play.at(MANAGER, Local::Fire(Timer::Quarantine));
    assert!(play.is_free());
    assert!(!play.holds(OWNER_1), "what the earlier incarnation granted has expired");
}

/// PRS §4.1, §4.2: the loss reaches the Lookup as a change of generation, by change or by snapshot.
#[test]
fn a_lookup_tells_of_a_changed_generation() {
    for log in [0, 1, 8] {
        let lookup = NodeId(2);
        let mut play = Play::new(&Params { owners: 1, ranges: 3, lookups: 1, log, ..params() }, &[]);
        play.deliver(OWNER_1, MANAGER);
        play.deliver(lookup, MANAGER);
        play.deliver(MANAGER, lookup);
        play.decide(Decision::Grant(RANGE, OWNER_1));
        play.deliver(MANAGER, OWNER_1);
        play.decide(Decision::Recall(RANGE));
        play.deliver(MANAGER, OWNER_1);
        play.deliver(OWNER_1, MANAGER);
        play.tick();
        play.renew(OWNER_1);
        play.tick();
        play.at(lookup, Local::Fire(Timer::Poll));
        play.deliver(lookup, MANAGER);
        assert_eq!(play.marked("notified"), 0);
        play.deliver(MANAGER, lookup);
        assert_eq!(play.marked("notified"), 1, "with a log of {log}");
        assert_eq!(play.marked("snapshot"), u64::from(log < 2), "with a log of {log}");
    }
}

/// PRS §2.1: a Lookup that loses contact declares everything lost.
#[test]
fn a_lookup_out_of_contact_declares_everything_lost() {
    let lookup = NodeId(2);
    let mut play = Play::new(&Params { owners: 1, lookups: 1, ..params() }, &[]);
    play.deliver(lookup, MANAGER);
    play.deliver(MANAGER, lookup);
    for _ in 0..3 {
        play.tick();
    }
    play.at(lookup, Local::Fire(Timer::Contact));
    assert_eq!(play.marked("contact-lost"), 1);
}

/// Two halves of one range, both at Owner 1, who loses the second to a split.
fn split(mutants: &[&str]) -> Play {
    let mut play = Play::new(&Params { ranges: 2, lookups: 1, halves: true, ..params() }, mutants);
    let lookup = NodeId(3);
    play.deliver(OWNER_1, MANAGER);
    play.decide(Decision::Grant(RANGE, OWNER_1));
    play.deliver(MANAGER, OWNER_1);
    play.deliver(lookup, MANAGER);
    play.deliver(MANAGER, lookup);
    assert!(play.holds(OWNER_1), "a whole range is granted at once");
    play.decide(Decision::Split(RangeId(1), None));
    play
}

/// Centrifuge Figure 4: [1-9:B, 15] becomes [1-2:B, 16] and [2-9:C, 17]; what B retains it holds on, under the new number.
#[test]
fn the_half_that_stays_gets_a_new_number_and_is_held_on() {
    let mut play = split(&[]);
    let before = play.generation();
    play.deliver(MANAGER, OWNER_1);
    assert_eq!((play.marked("retained"), play.marked("renewal-refused")), (1, 0));
    assert!(play.holds(OWNER_1));
    assert_eq!(play.generation(), before, "the Manager had given the new number");
    play.deliver(OWNER_1, MANAGER);
    assert!(play.is_free(), "the other half");
    assert!(play.fallen().is_empty());
}

/// An Owner that has not heard of the new number lists the old one, and is waited for.
#[test]
fn a_new_number_that_is_lost_comes_again() {
    let mut play = split(&[]);
    play.lose(MANAGER, OWNER_1);
    play.tick();
    play.renew(OWNER_1);
    // It crossed what was lost, and both ends compute anew.
    play.deliver(OWNER_1, MANAGER);
    play.deliver(MANAGER, OWNER_1);
    assert_eq!(play.marked("retained"), 1);
    assert!(play.holds(OWNER_1));
    assert!(play.fallen().is_empty());
}

/// The Lookup hears of the new number, and that nothing is lost.
#[test]
fn a_lookup_is_silent_about_the_half_that_stays() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[SPLIT_UNFLAGGED][..], &["no-false-alarm"][..])] {
        let lookup = NodeId(3);
        let mut play = split(mutants);
        play.deliver(MANAGER, OWNER_1);
        play.tick();
        play.renew(OWNER_1);
        play.tick();
        play.at(lookup, Local::Fire(Timer::Poll));
        play.deliver(lookup, MANAGER);
        play.deliver(MANAGER, lookup);
        assert_eq!(play.marked("kept"), u64::from(mutants.is_empty()));
        assert_eq!(play.fallen(), fallen);
    }
}

#[test]
fn halves_that_make_no_whole_are_refused() {
    let odd = Leasing::build(&Params { ranges: 3, halves: true, ..params() }, Mutants::none()).map(drop).unwrap_err();
    assert_eq!(odd, "ranges 3 are no halves of whole ranges: an even number, and pools = 1");
}

#[test]
fn parameters_that_break_the_argument_are_refused() {
    let build = |params: Params| Leasing::build(&params, Mutants::none()).map(|_| ()).unwrap_err();
    let short = build(Params { margin: Span::secs(64), ..Params::default() });
    assert_eq!(short, "margin 64s is too short: a lease of 60s may take 65s on the slowest clock");
    let late = build(Params { back_off: Span::secs(5), ..Params::default() });
    assert_eq!(late, "the longest back-off, 15s, must be shorter than renew, 15s");
    let deaf = build(Params { contact: Span::secs(30), ..Params::default() });
    assert_eq!(deaf, "contact 30s must be longer than poll 30s");
    assert!(build(Params { ranges: 0, ..Params::default() }).starts_with("owners must be"));
}

/// The bounds of `check.toml`, in whole ticks: a deadline must lie beyond them.
#[test]
fn the_notification_bound_is_margin_and_contact() {
    let bound = params().notice_needed(Span::ZERO, Span::ZERO, 0);
    assert_eq!(bound, Span::ticks(8));
    let paper = Params::default();
    assert!(paper.notice_needed(Span::secs(5), Span::millis(1), 0) < paper.notice);
}

/// One margin more for each leader that takes office meanwhile: it counts all of them anew (CA4).
#[test]
fn each_takeover_puts_the_notification_off_by_a_margin() {
    let params = Params { variant: Variant::Centrifuge, group: GroupKind::Atomic, ..params() };
    let bound = |takeovers| params.notice_needed(Span::ZERO, Span::ZERO, takeovers);
    assert_eq!(bound(1), bound(0) + params.margin);
}

#[test]
fn services_that_break_the_argument_are_refused() {
    let service = Params { group: GroupKind::Atomic, managers: 3, ..Params::default() };
    let build = |params: Params| Leasing::build(&params, Mutants::none()).map(|_| ()).unwrap_err();
    let alone = build(Params { managers: 3, ..Params::default() });
    assert_eq!(alone, "managers 3 without a group: 1, or group = \"atomic\"");
    let stateless = build(Params { variant: Variant::Centrifuge, ..Params::default() });
    assert_eq!(stateless, "variant centrifuge keeps its state in a group: group = \"atomic\"");
    assert_eq!(build(Params { managers: 0, ..service.clone() }), "managers 0 must be 1 to 16");
    assert_eq!(build(Params { acceptors: 0, ..Params::default() }), "acceptors 0 must be 1 to 16");
    let short = build(Params { leader_margin: Span::secs(10), ..service.clone() });
    assert!(short.starts_with("leader-margin 10s is too short: a leader lease of 10s may take "), "{short}");
    let late = build(Params { leader_renew: Span::secs(10), ..service.clone() });
    assert_eq!(late, "leader-renew 10s must be positive and shorter than leader-lease 10s");
    let driven = build(Params { progress: Span::secs(10), ..service });
    assert!(driven.starts_with("progress is asked, but nothing drives a free assignment"), "{driven}");
}
