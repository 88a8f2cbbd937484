//! The Manager service and migration, step by step: one test for each sentence of the papers that a script can show.

use seedbed_model::Local;

use super::play::{GROUP, OWNER_1, OWNER_2, Play, RANGE, SECOND};
use super::*;

/// The first server is gone, and the second leads as soon as the group may elect it.
fn succeeded(variant: Variant, mutants: &[&str]) -> Play {
    let mut play = Play::serving(variant, mutants);
    play.at(MANAGER, Local::Crash(Vec::new()));
    play.tick();
    // To the leader that they know; the next requests go to all.
    play.renew(OWNER_1);
    play.renew(OWNER_2);
    play.tick();
    // What the second asked for at its start is answered now; it counts its lease from its latest bid.
    play.at(SECOND, Local::Fire(Timer::NextBid));
    play.deliver_nth(SECOND, GROUP, 1);
    play.deliver(GROUP, SECOND);
    assert_eq!(play.marked("failover"), 1);
    play
}

/// Both Owners say what they hold, the new leader meets them, and they say it again.
fn introduced(play: &mut Play) {
    for owner in [OWNER_1, OWNER_2] {
        play.renew(owner);
        play.deliver_newest(owner, SECOND);
    }
    play.deliver(SECOND, OWNER_1);
    play.deliver_newest(OWNER_1, SECOND);
}

/// Centrifuge §2.1.1: "it reads in all the state from the Paxos group, and then resumes processing where the previous
/// leader left off".
#[test]
fn a_new_leader_resumes_and_the_lease_goes_on() {
    let mut play = succeeded(Variant::Centrifuge, &[]);
    let before = play.generation_at(SECOND);
    introduced(&mut play);
    assert_eq!(play.marked("lease-resumed"), 2, "heard of in the request that opened the session, and after it");
    play.deliver(SECOND, OWNER_1);
    assert!(play.marked("renewal") > 0);
    assert!(play.holds(OWNER_1));
    assert_eq!(play.generation_at(SECOND), before);
}

/// And whatever it does not hear of may be held for a whole margin from its taking of office.
#[test]
fn a_new_leader_counts_every_margin_anew() {
    let mut play = succeeded(Variant::Centrifuge, &[]);
    for _ in 1..=3 {
        play.tick();
        assert!(!play.is_due(SECOND, &Timer::Unavailable(RANGE)));
    }
    play.tick();
    assert!(play.is_due(SECOND, &Timer::Unavailable(RANGE)));
    assert!(!play.holds(OWNER_1));
}

/// PRS §4.4: "all previously granted leases are allowed to expire before any new leases are granted".
#[test]
fn a_new_leader_of_prs_grants_nothing_until_all_has_expired() {
    let mut play = succeeded(Variant::Prs, &[]);
    play.renew(OWNER_2);
    play.deliver_newest(OWNER_2, SECOND);
    for _ in 1..=4 {
        assert!(!play.may_grant(SECOND));
        play.tick();
        play.at(SECOND, Local::Fire(Timer::NextBid));
        play.deliver_newest(SECOND, GROUP);
        play.deliver_newest(GROUP, SECOND);
        play.renew(OWNER_2);
        play.deliver_newest(OWNER_2, SECOND);
    }
    assert!(!play.holds(OWNER_1));
    play.at(SECOND, Local::Fire(Timer::Quarantine));
    assert!(play.may_grant(SECOND));
}

/// Centrifuge §2.1.1: "it commits the state change to the Paxos group before responding to the caller".
#[test]
fn a_grant_leaves_when_the_group_has_it() {
    let mut play = Play::served(Variant::Centrifuge, &[]);
    play.decide(Decision::Grant(RANGE, OWNER_1));
    assert_eq!(play.count(MANAGER, OWNER_1), 0);
    assert!(!play.may_grant(MANAGER), "nothing else is decided meanwhile");
    play.bid(MANAGER);
    assert_eq!(play.count(MANAGER, OWNER_1), 1);
}

/// In PRS the group holds nothing, so nothing waits for it.
#[test]
fn in_prs_a_grant_leaves_at_once() {
    let mut play = Play::served(Variant::Prs, &[]);
    play.decide(Decision::Grant(RANGE, OWNER_1));
    assert_eq!(play.count(MANAGER, OWNER_1), 1);
}

/// A leader that stood still leads no longer, whatever is delivered first when it goes on.
#[test]
fn a_leader_that_stood_still_says_nothing() {
    for (mutants, answers) in [(&[][..], 0), (&[OLD_LEADER_SERVES][..], 1)] {
        let mut play = Play::serving(Variant::Centrifuge, mutants);
        play.at(MANAGER, Local::Pause);
        play.tick();
        play.tick();
        play.renew(OWNER_1);
        play.at(MANAGER, Local::Resume);
        play.deliver(OWNER_1, MANAGER);
        assert_eq!(play.count(MANAGER, OWNER_1), answers, "with {mutants:?}");
    }
}

/// "They will only ever get a response from the leader" (Centrifuge §2.1.1).
#[test]
fn a_standby_says_nothing() {
    let mut play = Play::serving(Variant::Centrifuge, &[]);
    play.deliver(OWNER_1, SECOND);
    assert_eq!(play.marked("standby-silent"), 1);
    assert_eq!(play.count(SECOND, OWNER_1), 0);
}

/// A request goes to the server that answered the one before, and to all when none did.
#[test]
fn an_owner_asks_all_servers_while_the_leader_is_silent() {
    let mut play = Play::serving(Variant::Centrifuge, &[]);
    play.deliver(OWNER_1, SECOND);
    play.renew_again(OWNER_1);
    assert_eq!((play.count(OWNER_1, MANAGER), play.count(OWNER_1, SECOND)), (1, 0));
    play.renew_again(OWNER_1);
    assert_eq!((play.count(OWNER_1, MANAGER), play.count(OWNER_1, SECOND)), (2, 1));
}

/// What a deposed leader writes is refused: its successor has read.
#[test]
fn the_group_takes_nothing_from_a_deposed_leader() {
    let mut play = Play::served(Variant::Centrifuge, &[]);
    play.decide(Decision::Grant(RANGE, OWNER_1));
    play.tick();
    play.tick();
    play.at(SECOND, Local::Fire(Timer::NextBid));
    play.deliver_nth(SECOND, GROUP, 1);
    play.deliver(GROUP, SECOND);
    play.deliver(MANAGER, GROUP);
    play.deliver(GROUP, MANAGER);
    assert_eq!(play.marked("stepped-down"), 1);
    assert_eq!(play.count(MANAGER, OWNER_1), 0);
    assert!(play.owner_of(SECOND).is_none());
}

/// If it were taken, the next leader would read that what the last one granted is free.
#[test]
fn an_update_of_a_deposed_leader_would_free_what_is_held() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[ANY_LEADER_COMMITS][..], &["single-copy"][..])] {
        let mut play = Play::serving(Variant::Centrifuge, mutants);
        // The first leader commits that the range is free, and nothing of that arrives.
        play.decide(Decision::Recall(RANGE));
        play.deliver(MANAGER, OWNER_1);
        play.deliver_newest(OWNER_1, MANAGER);
        assert!(play.owner_of(MANAGER).is_none());
        // The second leads, hears the same, and grants the range anew.
        play.tick();
        play.tick();
        play.at(SECOND, Local::Fire(Timer::NextBid));
        play.ruled(SECOND);
        play.renew(OWNER_1);
        play.deliver_newest(OWNER_1, SECOND);
        play.deliver_newest(SECOND, OWNER_1);
        play.deliver_newest(OWNER_1, SECOND);
        play.ruled(SECOND);
        play.granted(SECOND, OWNER_1);
        assert!(play.holds(OWNER_1));
        // Now the first one's update arrives, and it leads again when the second has led.
        play.deliver(MANAGER, GROUP);
        play.deliver(GROUP, MANAGER);
        play.tick();
        play.tick();
        play.at(MANAGER, Local::Fire(Timer::NextBid));
        play.ruled(MANAGER);
        play.renew(OWNER_2);
        play.deliver_newest(OWNER_2, MANAGER);
        assert_eq!(play.may_grant(MANAGER), !mutants.is_empty());
        if !mutants.is_empty() {
            play.granted(MANAGER, OWNER_2);
        }
        assert_eq!(play.fallen(), fallen);
    }
}

fn on_the_move() -> Play {
    let mut play = Play::serving(Variant::Centrifuge, &[]);
    play.decide(Decision::Move(RANGE, OWNER_2));
    play.deliver(MANAGER, OWNER_1);
    assert!(!play.holds(OWNER_1), "the lease is dropped before the state leaves");
    play
}

/// PRS §4.5: the lease goes with the state, and what Lookups know stays known.
#[test]
fn a_range_changes_hands_with_its_state() {
    let mut play = on_the_move();
    let before = play.assignment(MANAGER);
    play.deliver(OWNER_1, OWNER_2);
    play.deliver(OWNER_2, MANAGER);
    play.bid(MANAGER);
    play.deliver(MANAGER, OWNER_2);
    assert!(play.holds(OWNER_2));
    let after = play.assignment(MANAGER);
    assert!(after.generation > before.generation, "every new lease has a new number");
    assert_eq!(after.since, before.generation, "and whoever knows the old one need not store anew");
}

/// State that does not arrive is lost, and the margin of the lease that ended says when.
#[test]
fn state_that_is_lost_on_the_way_is_lost_in_time() {
    let mut play = on_the_move();
    play.lose(OWNER_1, OWNER_2);
    play.deliver_newest(OWNER_1, MANAGER);
    assert_eq!(play.owner_of(MANAGER), Some(OWNER_1), "it may still arrive");
    for _ in 1..=4 {
        play.tick();
    }
    assert!(play.is_due(MANAGER, &Timer::Unavailable(RANGE)));
}

#[test]
fn a_restarted_owner_refuses_what_was_handed_over_to_its_past() {
    let mut play = Play::serving(Variant::Centrifuge, &[]);
    play.decide(Decision::Move(RANGE, OWNER_2));
    play.deliver(MANAGER, OWNER_1);
    assert!(!play.holds(OWNER_1), "the lease is dropped before the state leaves");
    play.deliver(OWNER_1, OWNER_2);
    play.deliver(OWNER_2, MANAGER);
    assert_eq!(play.marked("migrated"), 1);
    // The grant waits for the group, and meanwhile its receiver forgets the state.
    play.crash_and_restart(OWNER_2);
    play.deliver(OWNER_2, MANAGER);
    play.bid(MANAGER);
    play.deliver(MANAGER, OWNER_2);
    assert_eq!(play.marked("migrated-refused"), 1);
    assert!(!play.holds(OWNER_2));
}
