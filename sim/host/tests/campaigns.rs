//! Whole protocols on the host in madsim's world: nodes are killed and paused, disks lose what was not synced, links are cut;
//! and what the nodes taped replays as it was, with the same properties as in our simulator.

#![cfg(madsim)]

mod world;

use std::collections::BTreeMap;
use std::time::Duration;

use seedbed_host::cluster::Cluster;
use seedbed_model::{Family, Span};
use seedbed_protocols::fatlease::FaTLease;
use seedbed_protocols::leasing::Leasing;
use seedbed_protocols::zab::Zab;
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

#[test]
fn leasing_holds() {
    let reached = holds::<Leasing>(&cluster::<Leasing>(LEASING, "", &[]), 0..40);
    println!("{reached:?}");
}

#[test]
fn fatlease_holds() {
    let reached = holds::<FaTLease>(&cluster::<FaTLease>(include_str!("../clusters/fatlease.toml"), "", &[]), 0..40);
    println!("{reached:?}");
}

#[test]
fn zab_holds() {
    let reached = holds::<Zab>(&cluster::<Zab>(include_str!("../clusters/zab.toml"), "", &[]), 0..40);
    println!("{reached:?}");
}

#[test]
fn a_leader_that_does_not_wait_is_found() {
    let _ = Span::ZERO;
    falls::<Leasing>(&cluster::<Leasing>(LEASING, "variant = \"prs\"", &["no-failover-wait"]), "single-copy", 0..60);
}
