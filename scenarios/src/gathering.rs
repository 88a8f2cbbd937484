//! What a campaign has gathered so far.

use std::collections::BTreeMap;

use seedbed_model::hash;
use seedbed_model::record::{self, Block, Exercise, Failure, Fall, Piece, Reach, ScenarioRecord, SeedSpan, Tally};
use seedbed_sim::{End, Run, Seed};

/// Pieces of single seeds are put together at the end of each such stretch, and the hundreds at the end of each larger.
const STRETCHES: [u64; 2] = [100, 10_000];

/// The runs so far. They come in the order of their seeds.
#[derive(Clone, Default)]
pub(crate) struct Gathered {
    /// Pieces that will not grow any more.
    pieces: Vec<Piece>,
    /// `open[i]` holds those that become one at the end of the next stretch of the size `STRETCHES[i]`.
    open: [Vec<Piece>; 2],
    /// By property: the first failure.
    firsts: BTreeMap<String, Failure>,
    /// The run of a single seed, which need not be a number.
    single: Option<(Seed, Tally)>,
    runs: u64,
}

impl Gathered {
    /// How many runs.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Goes on from what was kept.
    pub(crate) fn resume(&mut self, kept: ScenarioRecord) {
        self.runs = kept.runs;
        self.pieces = kept.pieces;
        kept.falls.into_iter().for_each(|fall| self.note_first(fall.first));
    }

    /// The seeds that are done, in order.
    pub(crate) fn done(&self) -> Vec<SeedSpan> {
        record::done(&self.pieces)
    }

    /// Whether a fall of the property at this seed comes before all others.
    pub(crate) fn is_first(&self, property: &str, seed: Seed) -> bool {
        let first = self.firsts.get(property).and_then(|first| first.seed.as_deref()?.parse::<Seed>().ok());
        first.is_none_or(|first| seed < first)
    }

    /// The first failure of its property.
    pub(crate) fn note_first(&mut self, failure: Failure) {
        self.firsts.insert(failure.property.clone(), failure);
    }

    /// The run of the only seed.
    pub(crate) fn note_single(&mut self, seed: Seed, tally: Tally) {
        self.runs = 1;
        self.single = Some((seed, tally));
    }

    /// One more run.
    pub(crate) fn note(&mut self, tally: Tally, run: &Run) {
        let seed = number(run.seed);
        self.runs += 1;
        self.open[0].push(Piece::one(seed, check_word(run, &tally), tally));
        let next = seed.saturating_add(1);
        if next.is_multiple_of(STRETCHES[0]) {
            let joined = record::joined(std::mem::take(&mut self.open[0]));
            self.open[1].extend(joined);
        }
        if next.is_multiple_of(STRETCHES[1]) {
            let joined = record::joined(std::mem::take(&mut self.open[1]));
            self.pieces.extend(joined);
        }
    }

    /// The record with all that is gathered, `blank` but for that.
    pub(crate) fn record(self, blank: ScenarioRecord) -> ScenarioRecord {
        let mut record = blank;
        let fall = |(property, first)| Fall { property, count: 0, expected: false, first, groups: Vec::new() };
        record.falls = self.firsts.into_iter().map(fall).collect();
        if let Some((seed, tally)) = self.single {
            record.settle_sum(&tally, &|_| seed.to_string());
            record.blocks = vec![block(&record, seed)];
            return record;
        }
        record.pieces = record::joined(self.pieces.into_iter().chain(self.open.into_iter().flatten()));
        record.settle();
        // Without a demand it is what there was time for.
        record.whole = match record.demanded {
            Some(_) => record.whole,
            None => record.done.iter().copied().reduce(SeedSpan::hull),
        };
        record
    }
}

/// The block of a single seed.
fn block(record: &ScenarioRecord, seed: Seed) -> Block {
    let unexpected = record.falls.iter().find(|fall| !fall.expected);
    let failed = unexpected.map(|fall| (seed.to_string(), fall.property.clone()));
    Block { seeds: seed.to_string(), runs: 1, failed: failed.into_iter().collect() }
}

/// The number of a seed; 0 for a commit's hash, which is only ever run alone.
pub(crate) fn number(seed: Seed) -> u64 {
    match seed {
        Seed::Number(number) => number,
        Seed::Commit(_) => 0,
    }
}

/// What a run comes to, but for its falls.
pub(crate) fn tally(run: &Run) -> Tally {
    let seed = number(run.seed);
    let in_runs: BTreeMap<String, u64> = run.reached.keys().map(|name| ((*name).to_owned(), 1)).collect();
    let exercise = |kind: &str| (kind.to_owned(), Exercise { runs: 1, reached: in_runs.clone() });
    let reach = |(name, times): (&&str, &u64)| ((*name).to_owned(), Reach { times: *times, runs: 1, first: seed });
    Tally {
        runs: 1,
        steps: run.steps,
        messages: run.messages,
        virtual_ns: run.now_ns,
        digest: hash(seed, &run.digest.to_le_bytes()),
        limited: u64::from(run.end == End::StepLimit),
        reached: run.reached.iter().map(reach).collect(),
        faults: run.plan.kinds_before(run.now_ns).into_iter().map(exercise).collect(),
        ..Tally::default()
    }
}

/// Tells different runs of a seed apart: a digest over everything that is counted of it.
fn check_word(run: &Run, tally: &Tally) -> u32 {
    let counted = [run.digest, run.steps, run.messages, run.now_ns, tally.limited, tally.unasserted, tally.repeated];
    let mut word = counted.iter().fold(0, |word, number| hash(word, &number.to_le_bytes()));
    for fell in &tally.fell {
        word = hash(word, fell.property.as_bytes());
        word = hash(word, format!("{:?}", fell.signature).as_bytes());
    }
    for words in tally.diverged.values() {
        word = hash(word, words.as_bytes());
    }
    word as u32
}
