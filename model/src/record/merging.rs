//! Merging: several results of one campaign become one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::pieces::{self, Piece};
use super::seeds::SeedSpan;
use super::statistics;
use super::tally::{FallenRun, Tally};
use super::{Block, CampaignRecord, Failure, FailureGroup, Fall, PinRecord, SCHEMA, ScenarioRecord};
use crate::signature::Signature;

/// Consecutive seeds in a block.
const BLOCK_SIZE: u64 = 100;

/// What `records` know together, whole campaigns, their parts, or merged ones: in any order and grouping, and however
/// often one is among them, the outcome is the same. Codes, remarks and missed goals are left empty: they are judged
/// afterwards. Each record comes with the name that a refusal gives it.
///
/// # Errors
/// If there is none, or they are not of one schema, revision and scenario, or one contradicts itself: a line that
/// names the first culprit.
pub fn merged(records: Vec<(String, CampaignRecord)>) -> Result<CampaignRecord, String> {
    let Some((first, header)) = records.first().map(|(name, record)| (name.clone(), record.header.clone())) else {
        return Err("there is nothing to merge".into());
    };
    let mut all_pins = Vec::new();
    // Of each scenario its results, and the file that had it first.
    let mut by_name: BTreeMap<String, (String, Vec<ScenarioRecord>)> = BTreeMap::new();
    for (name, record) in records {
        check(&name, &record)?;
        if record.header.revision != header.revision {
            let (a, b) = (&header.revision, &record.header.revision);
            return Err(format!("{name}: revision {b}, but {first} is of {a}; merge results of one revision"));
        }
        all_pins.extend(record.pins);
        for found in record.scenarios {
            let (place, known) = by_name.entry(found.name.clone()).or_insert_with(|| (name.clone(), Vec::new()));
            known.first().map_or(Ok(()), |other| same(&name, &found, place, other))?;
            known.push(found);
        }
    }
    let scenarios = by_name.into_values().filter_map(|(_, parts)| scenario(parts)).collect();
    Ok(CampaignRecord { header, pins: pins(all_pins), scenarios, code: 0 })
}

fn check(name: &str, record: &CampaignRecord) -> Result<(), String> {
    if record.header.kind != "campaign" {
        return Err(format!("{name}: results of kind `{}`; merge takes those of `run --json`", record.header.kind));
    }
    if record.header.schema != SCHEMA {
        let found = record.header.schema;
        return Err(format!(
            "{name}: results of schema {found}, and this command reads {SCHEMA}; run the campaign again"
        ));
    }
    for scenario in &record.scenarios {
        if scenario.whole.is_none() {
            return Err(format!("{name}: {} ran a single seed; merge takes ranges of seeds", scenario.name));
        }
        // A campaign of ten thousand years is none.
        if !(0.0..=3e11).contains(&scenario.seconds) {
            return Err(format!(
                "{name}: {} took {} seconds; a time from 0 is wanted",
                scenario.name, scenario.seconds
            ));
        }
        for piece in &scenario.pieces {
            piece.check().map_err(|why| format!("{name}: {}: {why}", scenario.name))?;
        }
    }
    Ok(())
}

/// Whether two results are of one scenario.
fn same(name: &str, found: &ScenarioRecord, first: &str, other: &ScenarioRecord) -> Result<(), String> {
    if found.subject != other.subject {
        let (a, b) = (&other.subject.hash, &found.subject.hash);
        return Err(format!(
            "{name}: {} ran with scenario hash {b}, but in {first} with {a}; merge results of one scenario",
            found.name
        ));
    }
    if found.expect != other.expect || found.demand != other.demand || found.story != other.story {
        return Err(format!(
            "{name}: {} has other expectations, goals or seeds than in {first}; merge results of one scenario",
            found.name
        ));
    }
    Ok(())
}

/// Each pin once; of two that differ, the worse.
fn pins(all: Vec<PinRecord>) -> Vec<PinRecord> {
    let mut by_name: BTreeMap<String, PinRecord> = BTreeMap::new();
    let rank = |pin: &PinRecord| (pin.code, pin.verdict.clone(), pin.words.clone(), pin.story.clone());
    for pin in all {
        match by_name.get_mut(&pin.name) {
            Some(other) if rank(other) < rank(&pin) => *other = pin,
            Some(_) => {}
            None => {
                by_name.insert(pin.name.clone(), pin);
            }
        }
    }
    by_name.into_values().collect()
}

/// Results of one scenario as one; `None` without any.
fn scenario(parts: Vec<ScenarioRecord>) -> Option<ScenarioRecord> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut falls: Vec<Fall> = Vec::new();
    let mut whole: Option<SeedSpan> = None;
    let mut source = None;
    let mut seconds: f64 = 0.0;
    let mut merged = None;
    for mut part in parts {
        pieces.append(&mut part.pieces);
        falls.append(&mut part.falls);
        source = [part.source.take(), source].into_iter().flatten().min();
        whole = part.whole.map(|span| whole.map_or(span, |whole| whole.hull(span))).or(whole);
        seconds = seconds.max(part.seconds);
        merged.get_or_insert(part);
    }
    let mut merged = merged?;
    merged.pieces = pieces::joined(pieces);
    merged.falls = firsts(falls);
    merged.whole = whole;
    merged.seeds = whole.map(|whole| whole.to_string()).unwrap_or_default();
    merged.demanded = whole.map(SeedSpan::count);
    merged.source = source;
    merged.seconds = seconds;
    merged.settle();
    Some(merged)
}

/// The first failure of each property.
fn firsts(falls: Vec<Fall>) -> Vec<Fall> {
    let mut by_property: BTreeMap<String, Fall> = BTreeMap::new();
    for fall in falls {
        match by_property.get_mut(&fall.property) {
            Some(other) if rank(&fall.first) < rank(&other.first) => *other = fall,
            Some(_) => {}
            None => {
                by_property.insert(fall.property.clone(), fall);
            }
        }
    }
    by_property.into_values().collect()
}

/// By seed; the text decides between two results of one seed.
fn rank(failure: &Failure) -> (u64, String) {
    let seed = failure.seed.as_deref().and_then(|seed| seed.parse().ok());
    (seed.unwrap_or(u64::MAX), format!("{failure:?}"))
}

impl ScenarioRecord {
    /// Fills in everything that follows from the pieces. Of the falls, the first failures must be there.
    pub fn settle(&mut self) {
        let total = pieces::sum(&self.pieces);
        self.done = pieces::done(&self.pieces);
        self.disagreed = pieces::disagreed(&self.pieces);
        self.settle_sum(&total, &|seed| seed.to_string());
        self.runs = self.done.iter().map(|span| span.count()).sum();
        self.blocks = self.blocks_of(&total.fell);
        (self.missed, self.remarks, self.code) = (Vec::new(), Vec::new(), 0);
    }

    /// Fills in everything that follows from a sum of runs alone. `name` is how a seed is written.
    pub fn settle_sum(&mut self, total: &Tally, name: &dyn Fn(u64) -> String) {
        self.runs = total.runs;
        self.steps = total.steps;
        self.messages = total.messages;
        self.virtual_seconds = total.virtual_ns / 1_000_000_000;
        self.digest = format!("{:016x}", total.digest);
        self.reached = total.reached.iter().map(|(name, reach)| (name.clone(), reach.times)).collect();
        self.coverage = total.reached.clone();
        self.exercised = total.faults.clone();
        self.limited = total.limited;
        self.unasserted = total.unasserted;
        self.repeated = total.repeated;
        self.divergence = total.diverged.iter().next().map(|(seed, words)| format!("seed {}: {words}", name(*seed)));
        let expected = self.expect.strip_prefix("violated: ");
        for fall in &mut self.falls {
            let of_property = || total.fell.iter().filter(|run| run.property == fall.property);
            fall.count = of_property().count() as u64;
            fall.groups = groups(of_property(), name);
            fall.expected = expected == Some(&fall.property);
        }
        self.chances =
            self.falls.iter().map(|fall| statistics::chance(&fall.property, fall.count, total.runs)).collect();
        self.clean_bound = self.falls.is_empty().then(|| statistics::clean_bound(total.runs)).flatten();
    }

    /// The seeds done in aligned blocks, with the runs that were not expected to fall, by the first property of each.
    fn blocks_of(&self, fell: &[FallenRun]) -> Vec<Block> {
        let expected = self.expect.strip_prefix("violated: ");
        let mut unexpected: BTreeMap<u64, &str> = BTreeMap::new();
        for run in fell.iter().filter(|run| Some(run.property.as_str()) != expected) {
            unexpected.entry(run.seed).or_insert(&run.property);
        }
        let mut blocks = Vec::new();
        for span in &self.done {
            let mut from = span.from;
            while from < span.to {
                let to = (from - from % BLOCK_SIZE).saturating_add(BLOCK_SIZE).min(span.to);
                let failed = unexpected.range(from..to);
                blocks.push(Block {
                    seeds: if to - from == 1 { from.to_string() } else { SeedSpan { from, to }.to_string() },
                    runs: to - from,
                    failed: failed.map(|(seed, property)| (seed.to_string(), (*property).to_owned())).collect(),
                });
                from = to;
            }
        }
        blocks
    }
}

/// Runs by what they have in common, the most frequent first; those as frequent in the order of their signatures.
fn groups<'a>(runs: impl Iterator<Item = &'a FallenRun>, name: &dyn Fn(u64) -> String) -> Vec<FailureGroup> {
    let mut by_signature: BTreeMap<&Signature, Vec<&FallenRun>> = BTreeMap::new();
    for run in runs {
        if let Some(signature) = &run.signature {
            by_signature.entry(signature).or_default().push(run);
        }
    }
    let group = |(signature, runs): (&Signature, Vec<&FallenRun>)| {
        let first = runs.iter().map(|run| run.seed).min()?;
        let smallest = runs.iter().min_by_key(|run| (run.steps, run.seed))?;
        Some(FailureGroup {
            signature: signature.clone(),
            count: runs.len() as u64,
            first: name(first),
            smallest: name(smallest.seed),
            steps: smallest.steps,
        })
    };
    let mut groups: Vec<FailureGroup> = by_signature.into_iter().filter_map(group).collect();
    groups.sort_by_key(|group| Reverse(group.count));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Header, Reach, SourceLine};
    use proptest::prelude::*;

    const SEED_COUNT: u64 = 230;

    fn one(seed: u64, fork: bool) -> Piece {
        let mut tally = Tally { runs: 1, steps: seed % 13 + 1, digest: seed + u64::from(fork), ..Tally::default() };
        tally.reached.insert("renewal".into(), Reach { times: 2, runs: 1, first: seed });
        if falls(seed) {
            let steps = vec![format!("step {}", seed % 2)];
            let signature = Signature { property: "safe".into(), roles: Vec::new(), steps };
            let fallen = FallenRun { seed, property: "safe".into(), steps: seed % 13 + 1, signature: Some(signature) };
            tally.fell.push(fallen);
        }
        Piece::one(seed, seed as u32 + u32::from(fork), tally)
    }

    fn falls(seed: u64) -> bool {
        seed % 11 == 3
    }

    /// What the shard with these seeds writes; the run of seed `fork` is another than in other shards.
    fn shard(from: u64, to: u64, fork: Option<u64>) -> CampaignRecord {
        let first = (from..to).find(|seed| falls(*seed)).map(|seed| {
            let first = Failure { seed: Some(seed.to_string()), words: "it is safe".into(), ..Failure::default() };
            Fall { property: "safe".into(), count: 0, expected: false, first, groups: Vec::new() }
        });
        let mut scenario = ScenarioRecord {
            name: "lease/crash".into(),
            expect: "holds".into(),
            // Machines may have the same file at different places.
            source: Some(SourceLine { file: format!("{}/crash.toml", from % 3), line: 4 }),
            seeds: format!("{from}..{to}"),
            demanded: Some(to - from),
            whole: Some(SeedSpan { from: 0, to: SEED_COUNT }),
            pieces: pieces::joined((from..to).map(|seed| one(seed, fork == Some(seed)))),
            falls: first.into_iter().collect(),
            ..ScenarioRecord::default()
        };
        scenario.settle();
        CampaignRecord {
            header: Header::new("campaign", "r1"),
            pins: vec![PinRecord { name: "lease/pin".into(), ..PinRecord::default() }],
            scenarios: vec![scenario],
            code: 0,
        }
    }

    fn merge(records: &[CampaignRecord]) -> CampaignRecord {
        let named = records.iter().enumerate().map(|(index, record)| (format!("{index}.json"), record.clone()));
        merged(named.collect()).unwrap()
    }

    fn refusal(change: impl FnOnce(&mut CampaignRecord)) -> String {
        let mut other = shard(100, 200, None);
        change(&mut other);
        merged(vec![("a.json".into(), shard(0, 100, None)), ("b.json".into(), other)]).unwrap_err()
    }

    #[test]
    fn results_of_different_things_are_refused_in_a_line() {
        assert_eq!(
            refusal(|other| other.header.revision = "r2".into()),
            "b.json: revision r2, but a.json is of r1; merge results of one revision"
        );
        assert_eq!(
            refusal(|other| other.header.schema = 1),
            "b.json: results of schema 1, and this command reads 2; run the campaign again"
        );
        assert_eq!(
            refusal(|other| other.header.kind = "check".into()),
            "b.json: results of kind `check`; merge takes those of `run --json`"
        );
        assert_eq!(
            refusal(|other| other.scenarios[0].subject.hash = "ff".into()),
            "b.json: lease/crash ran with scenario hash ff, but in a.json with ; merge results of one scenario"
        );
        assert_eq!(
            refusal(|other| other.scenarios[0].expect = "violated: safe".into()),
            "b.json: lease/crash has other expectations, goals or seeds than in a.json; merge results of one scenario"
        );
        assert_eq!(
            refusal(|other| other.scenarios[0].whole = None),
            "b.json: lease/crash ran a single seed; merge takes ranges of seeds"
        );
        assert_eq!(merged(Vec::new()).unwrap_err(), "there is nothing to merge");
    }

    #[test]
    fn a_missing_shard_leaves_a_gap() {
        let found = &merge(&[shard(0, 30, None), shard(90, 200, None)]).scenarios[0];
        assert_eq!((found.runs, found.demanded), (140, Some(SEED_COUNT)));
        assert_eq!(found.done, [SeedSpan { from: 0, to: 30 }, SeedSpan { from: 90, to: 200 }]);
    }

    #[test]
    fn an_overlap_that_differs_is_found() {
        let found = &merge(&[shard(0, 120, None), shard(100, 230, Some(110))]).scenarios[0];
        assert_eq!((found.runs, found.disagreed.as_slice()), (SEED_COUNT, [110].as_slice()));
    }

    /// Three shards that overlap anyhow; some have a run that differs from the others'.
    fn shards() -> impl Strategy<Value = Vec<CampaignRecord>> {
        let shard = |(from, count, fork): (u64, u64, Option<u64>)| {
            shard(from, (from + count).min(SEED_COUNT), fork.map(|fork| from + fork))
        };
        let fork = prop_oneof![4 => Just(None), 1 => (0..60_u64).prop_map(Some)];
        prop::collection::vec((0..SEED_COUNT, 1..150_u64, fork).prop_map(shard), 3..=3)
    }

    proptest! {
        #[test]
        fn merging_is_associative_commutative_and_idempotent(shards in shards()) {
            let [a, b, c] = shards.as_slice() else { unreachable!("three shards are drawn") };
            let pair = |a: &CampaignRecord, b: &CampaignRecord| merge(&[a.clone(), b.clone()]);
            let all = merge(&shards);
            prop_assert_eq!(&pair(&pair(a, b), c), &all);
            prop_assert_eq!(&pair(a, &pair(b, c)), &all);
            prop_assert_eq!(&pair(&pair(c, a), b), &all);
            prop_assert_eq!(&pair(&all, a), &all);
            prop_assert_eq!(pair(a, a), merge(&shards[..1]));
        }

        #[test]
        fn eight_shards_in_any_order_and_grouping_are_the_unsharded_result(
            order in Just((0..8_u64).collect::<Vec<_>>()).prop_shuffle(),
            pair in prop::collection::vec(any::<prop::sample::Index>(), 7),
        ) {
            let edge = |index: u64| SEED_COUNT * index / 8;
            let mut left: Vec<CampaignRecord> =
                order.into_iter().map(|index| shard(edge(index), edge(index + 1), None)).collect();
            for index in pair {
                let last = left.pop().expect("one is left in each round");
                let place = index.index(left.len());
                left[place] = merge(&[last, left[place].clone()]);
            }
            prop_assert_eq!(&left, &[shard(0, SEED_COUNT, None)]);
        }
    }
}
