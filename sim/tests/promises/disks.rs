//! What disks promise, each both ways.

use crate::common::{Observation, Probe, Step, assert_quiet, only, settings, traced_plan};
use seedbed_model::{Choice, Effect, Local, NodeId, Ratio, Span, Stream};
use seedbed_sim::{DiskTimes, Fault, Plan, Settings};

const SECOND: Span = Span::secs(1);
const NODE: NodeId = NodeId(0);

fn name() -> String {
    "probe-0".into()
}

/// Nothing written in the last five seconds is durable.
fn late() -> Settings {
    Settings { disk: DiskTimes { sync_min: SECOND * 5, sync_max: SECOND * 5 }, ..settings() }
}

fn run(settings: &Settings, plan: &Plan) -> Vec<Step> {
    traced_plan(&Probe::default(), settings, plan, 1).1
}

/// Of a stream at node 0: when each record was written, and when it was durable.
fn times(steps: &[Step], stream: u8) -> (Vec<Span>, Vec<Span>) {
    let of_stream = |effect: &(NodeId, Effect<Probe>)| match effect {
        (NODE, Effect::Persist { stream: written, .. }) => written.0 == stream,
        _ => false,
    };
    let written = steps.iter().flat_map(|step| step.effects.iter().filter(|e| of_stream(e)).map(|_| step.at)).collect();
    let sync = Choice::At(NODE, Local::Sync(Stream(stream)));
    (written, steps.iter().filter(|step| step.choice == sync).map(|step| step.at).collect())
}

/// How many records a start at node 0 found, after `from`.
fn restored(steps: &[Step], from: Span) -> u32 {
    let start = steps.iter().find(|step| step.at > from && step.choice == Choice::At(NODE, Local::Restart));
    let found = start.expect("it restarts").shown().find_map(|shown| match shown {
        Observation::Restored(count) => Some(*count),
        _ => None,
    });
    found.expect("a start says what it found")
}

/// How many records of a stream are durable at node 0 before `until`.
fn durable(steps: &[Step], stream: u8, until: Span) -> u32 {
    times(steps, stream).1.iter().filter(|at| **at < until).count() as u32
}

fn crash(keeps: u32, torn: bool) -> Plan {
    only(SECOND * 20, Fault::Crash { node: name(), keeps, torn, restart: Some(SECOND * 25) })
}

#[test]
fn each_stream_keeps_a_prefix_of_its_own() {
    let mut differ = false;
    for keeps in 1..40 {
        let steps = run(&late(), &crash(keeps, false));
        let crashed = steps.iter().find_map(|step| match &step.choice {
            Choice::At(NODE, Local::Crash(kept)) => Some(kept.clone()),
            _ => None,
        });
        let kept = crashed.expect("it crashes");
        assert_eq!(kept.iter().map(|(stream, _)| stream.0).collect::<Vec<_>>(), [0, 1], "both have unsynced records");
        differ |= (kept[0].1 == 0) != (kept[1].1 == 0);
        let before = durable(&steps, 0, SECOND * 20) + durable(&steps, 1, SECOND * 20);
        assert_eq!(restored(&steps, SECOND * 20), before + kept[0].1 + kept[1].1);
    }
    assert!(differ, "one stream keeps some where the other keeps none");
}

#[test]
fn a_torn_record_is_cut_off_and_those_before_it_are_not() {
    let whole = restored(&run(&late(), &crash(u32::MAX, false)), SECOND * 20);
    let (torn_run, steps) = traced_plan(&Probe::default(), &late(), &crash(u32::MAX, true), 1);
    assert_quiet(&torn_run);
    assert_eq!(torn_run.reached["torn-record"], 2, "one of each stream");
    assert_eq!(restored(&steps, SECOND * 20), whole - 2);
    // Nothing is kept, so nothing is torn.
    let (none, steps) = traced_plan(&Probe::default(), &late(), &crash(0, true), 1);
    assert!(!none.reached.contains_key("torn-record"));
    let synced = durable(&steps, 0, SECOND * 20) + durable(&steps, 1, SECOND * 20);
    assert!(synced > 0);
    assert_eq!(restored(&steps, SECOND * 20), synced, "what is synced is never torn");
}

#[test]
fn an_empty_disk_loses_what_a_crash_keeps() {
    let kept = restored(&run(&settings(), &crash(0, false)), SECOND * 20);
    assert!(kept > 0);
    let empty = only(SECOND * 20, Fault::EmptyDisk { node: name(), restart: SECOND * 25 });
    let (run, steps) = traced_plan(&Probe::default(), &settings(), &empty, 1);
    assert_quiet(&run);
    assert_eq!((restored(&steps, SECOND * 20), run.reached["empty-disk"]), (0, 1));
    assert!(durable(&steps, 0, SECOND * 60) > durable(&steps, 0, SECOND * 25), "it writes again");
    let other = traced_plan(&Probe::default(), &settings(), &empty, 1).1;
    assert!(!other.iter().any(|step| matches!(step.choice, Choice::At(NodeId(1), Local::Erase))));
}

#[test]
fn a_corrupt_record_ends_its_stream_and_leaves_the_other() {
    let mut lengths = Vec::new();
    for record in 0..30 {
        let fault = Fault::Corruption { node: name(), keeps: 0, record, restart: SECOND * 25 };
        let (run, steps) = traced_plan(&Probe::default(), &settings(), &only(SECOND * 20, fault), 1);
        assert_quiet(&run);
        assert_eq!(run.reached["corrupt-record"], 1);
        let hit = steps.iter().find_map(|step| match step.choice {
            Choice::At(NODE, Local::Corrupt(stream, back)) => Some((stream.0, back)),
            _ => None,
        });
        let (stream, back) = hit.expect("a record is corrupted");
        let all = durable(&steps, 0, SECOND * 20) + durable(&steps, 1, SECOND * 20);
        assert_eq!(
            restored(&steps, SECOND * 20),
            all - back - 1,
            "stream {stream} lost its end and nothing else is lost"
        );
        lengths.push((stream, back));
    }
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.iter().any(|(stream, _)| *stream == 0) && lengths.iter().any(|(stream, _)| *stream == 1));
    assert!(lengths.iter().any(|(_, back)| *back == 0) && lengths.iter().any(|(_, back)| *back > 0));
}

#[test]
fn a_corruption_of_an_empty_disk_is_but_a_crash() {
    let fault = Fault::Corruption { node: name(), keeps: 0, record: 3, restart: SECOND * 5 };
    let (run, steps) = traced_plan(&Probe::default(), &late(), &only(SECOND, fault), 1);
    assert_quiet(&run);
    assert!(!run.reached.contains_key("corrupt-record"));
    assert_eq!(restored(&steps, SECOND), 0);
}

#[test]
fn a_slow_disk_takes_longer_for_its_while_alone() {
    let disk = DiskTimes { sync_min: Span::millis(100), sync_max: Span::millis(100) };
    let settings = Settings { disk, ..settings() };
    let slow = Fault::SlowDisk { node: name(), factor: Ratio::new(3, 1), added: Span::millis(50), end: SECOND * 40 };
    let steps = run(&settings, &only(SECOND * 20, slow));
    let mut seen = [false, false];
    for stream in [0, 1] {
        let (written, durable) = times(&steps, stream);
        for (written, durable) in written.iter().zip(&durable) {
            let is_slow = *written >= SECOND * 20 && *written < SECOND * 40;
            seen[usize::from(is_slow)] = true;
            let took = Span(durable.0 - written.0);
            assert_eq!(took, Span::millis(if is_slow { 350 } else { 100 }), "written at {written}");
        }
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn on_a_full_disk_nothing_becomes_durable_and_nothing_is_lost() {
    let full = only(SECOND * 20, Fault::FullDisk { node: name(), end: SECOND * 40 });
    let (ran, steps) = traced_plan(&Probe::default(), &settings(), &full, 1);
    assert_quiet(&ran);
    let (mut written_then, mut durable_then) = (0, 0);
    for stream in [0, 1] {
        let (written, durable) = times(&steps, stream);
        let during = |at: &&Span| **at > SECOND * 20 && **at < SECOND * 40;
        assert_eq!(durable.iter().filter(during).count(), 0, "no ticket while it is full");
        written_then += written.iter().filter(during).count();
        durable_then += durable.iter().filter(|at| **at == SECOND * 40).count();
        let early = written.iter().filter(|at| **at < SECOND * 80).count();
        assert!((early..=written.len()).contains(&durable.len()), "{} of {early} and more", durable.len());
    }
    assert!(written_then > 5);
    assert!(durable_then >= written_then, "all of it as there is room");
    let elsewhere = |step: &&Step| {
        step.at > SECOND * 20 && step.at < SECOND * 40 && matches!(step.choice, Choice::At(NodeId(1), Local::Sync(_)))
    };
    assert!(steps.iter().any(|step| elsewhere(&step)), "other disks have room");
}

#[test]
fn a_crash_on_a_full_disk_loses_what_waited() {
    let mut plan = only(SECOND * 20, Fault::FullDisk { node: name(), end: SECOND * 40 });
    plan.faults.extend(
        only(SECOND * 30, Fault::Crash { node: name(), keeps: 0, torn: false, restart: Some(SECOND * 32) }).faults,
    );
    let (ran, steps) = traced_plan(&Probe::default(), &settings(), &plan, 1);
    assert_quiet(&ran);
    assert_eq!(restored(&steps, SECOND * 30), durable(&steps, 0, SECOND * 20) + durable(&steps, 1, SECOND * 20));
}
