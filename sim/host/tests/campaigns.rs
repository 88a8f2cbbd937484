//! Whole protocols on the host in madsim's world: nodes are killed and paused, disks lose what was not synced, links are cut;
//! and what the nodes taped replays as it was, with the same properties as in our simulator.

#![cfg(madsim)]

mod world;

use std::collections::BTreeMap;
use std::time::Duration;

use seedbed_host::cluster::Cluster;
use seedbed_model::Family;
use seedbed_protocols::fatlease::FaTLease;
use seedbed_protocols::leasing::Leasing;
use seedbed_protocols::zab::Zab;
use seedbed_protocols::zookeeper::ZooKeeper;
use world::{Campaign, Outcome, campaign, world};

/// The cluster's file, with these mechanisms switched off and these parameters beside its own.
fn cluster<F: Family>(usual: &str, params: &str, mutants: &[&str]) -> Cluster {
    let mut table: toml::Table = toml::from_str(usual).expect("a cluster's file");
    table.insert("protocol".into(), F::NAME.into());
    table.insert("nodes".into(), toml::Table::new().into());
    let mut cluster: Cluster = table.try_into().expect("a cluster's file");
    cluster.params.extend(toml::from_str::<toml::Table>(params).expect("parameters"));
    cluster.mutants.extend(mutants.iter().map(|name| (*name).to_owned()));
    cluster
}

fn run<F: Family>(cluster: &Cluster, seed: u64) -> Outcome {
    let of = Campaign {
        pace: cluster.pace,
        active: Duration::from_secs(30),
        quiet: Duration::from_secs(30),
        kill_every: Duration::from_secs(3),
        down: Duration::from_secs(2),
        cuts: true,
        ..Campaign::new(cluster.build::<F>().expect("its parameters"))
    };
    world(seed, campaign(of, seed))
}

/// Runs many seeds of a whole protocol, and returns how often marks and goals were reached.
fn holds<F: Family>(cluster: &Cluster, seeds: std::ops::Range<u64>) -> BTreeMap<&'static str, u64> {
    let mut reached = BTreeMap::new();
    for seed in seeds {
        let outcome = run::<F>(cluster, seed);
        assert_eq!(outcome.wrong(), None, "{} seed {seed}", F::NAME);
        for (what, count) in outcome.judged.expect("it went well").reached {
            *reached.entry(what).or_insert(0) += count;
        }
    }
    reached
}

/// Runs seeds of a mutant until its property falls.
fn falls<F: Family>(cluster: &Cluster, property: &str, seeds: std::ops::Range<u64>) {
    for seed in seeds.clone() {
        if let Some(wrong) = run::<F>(cluster, seed).wrong() {
            assert!(wrong.starts_with(property), "{} seed {seed}: {wrong}", F::NAME);
            return;
        }
    }
    panic!("{} {:?}: {property} does not fall in {seeds:?}", F::NAME, cluster.mutants);
}

const LEASING: &str = include_str!("../clusters/leasing.toml");

const FATLEASE: &str = include_str!("../clusters/fatlease.toml");
const ZAB: &str = include_str!("../clusters/zab.toml");

const ZOOKEEPER: &str = include_str!("../clusters/zookeeper.toml");

/// Every CI run tries a few; with `--ignored` many more.
const FEW: std::ops::Range<u64> = 0..3;
const MANY: std::ops::Range<u64> = 0..200;

fn leasing_holds(seeds: std::ops::Range<u64>) {
    let reached = holds::<Leasing>(&cluster::<Leasing>(LEASING, "", &[]), seeds);
    for goal in ["grant", "renewal", "recall", "failover", "owner-restarted", "expiry", "notified", "migrated"] {
        assert!(reached.contains_key(goal), "{goal}: {reached:?}");
    }
}

fn fatlease_holds(seeds: std::ops::Range<u64>) {
    let reached = holds::<FaTLease>(&cluster::<FaTLease>(FATLEASE, "", &[]), seeds);
    for goal in ["acquired", "renewed", "handed-over", "adopted", "not yet rejoined", "invalidated"] {
        assert!(reached.contains_key(goal), "{goal}: {reached:?}");
    }
}

fn zab_holds(seeds: std::ops::Range<u64>) {
    let reached = holds::<Zab>(&cluster::<Zab>(ZAB, "", &[]), seeds);
    for goal in ["re-established", "delivered-everywhere", "inherited", "recovered", "trunc", "diff"] {
        assert!(reached.contains_key(goal), "{goal}: {reached:?}");
    }
}

fn zookeeper_holds(seeds: std::ops::Range<u64>) {
    let reached = holds::<ZooKeeper>(&cluster::<ZooKeeper>(ZOOKEEPER, "", &[]), seeds);
    for goal in ["led-again", "session-ended", "locked", "waited"] {
        assert!(reached.contains_key(goal), "{goal}: {reached:?}");
    }
}

#[test]
fn zookeeper_over_zab_holds_in_a_few() {
    zookeeper_holds(FEW);
}

#[test]
fn leasing_holds_in_a_few() {
    leasing_holds(FEW);
}

#[test]
fn fatlease_holds_in_a_few() {
    fatlease_holds(FEW);
}

#[test]
fn zab_holds_in_a_few() {
    zab_holds(FEW);
}

#[test]
#[ignore = "minutes: .ci/run --full, in its step sweeps"]
fn all_hold_in_many() {
    leasing_holds(MANY);
    fatlease_holds(MANY);
    zab_holds(MANY);
    zookeeper_holds(MANY);
}

#[test]
fn a_renewal_after_a_restart_is_found() {
    falls::<Leasing>(&cluster::<Leasing>(LEASING, "", &["renewal-after-restart"]), "generation-once", FEW);
}

#[test]
fn a_leader_that_outlives_its_lease_is_found() {
    falls::<Leasing>(&cluster::<Leasing>(LEASING, "", &["old-leader-serves"]), "one-leader", FEW);
}

/// What madsim finds of all mutants of a family: the seed of the first fall and the property, or nothing.
fn table<F: Family>(usual: &str, params: &str, seeds: std::ops::Range<u64>) {
    for mutant in F::mutants() {
        let cluster = cluster::<F>(usual, params, &[mutant.name]);
        let found = seeds.clone().find_map(|seed| run::<F>(&cluster, seed).wrong().map(|wrong| (seed, wrong)));
        let is_harmless = matches!(mutant.outcome, seedbed_model::Outcome::Harmless(_));
        assert!(found.is_none() || !is_harmless, "{} is harmless, and {found:?}", mutant.name);
        let found = found.map_or("-".to_owned(), |(seed, wrong)| format!("{seed}: {}", &wrong[..wrong.len().min(60)]));
        println!(
            "{:12} {:32} {:40} {found}",
            F::NAME,
            mutant.name,
            format!("{:?}", mutant.outcome).chars().take(40).collect::<String>()
        );
    }
}

#[test]
#[ignore = "twelve minutes, for what is found of every mutant: .ci/run --full, in its step sweeps"]
fn every_mutant() {
    table::<Leasing>(LEASING, "", 0..30);
    table::<Leasing>(LEASING, "variant = \"prs\"", 0..30);
    table::<FaTLease>(FATLEASE, "", 0..30);
    table::<Zab>(ZAB, "", 0..30);
}
