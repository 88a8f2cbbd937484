//! A million inputs that something was done to: frames, streams, tapes, notes. None makes a panic, or an allocation that has
//! nothing to do with its length; each that is not right has one error.

#![cfg(not(madsim))]

use std::alloc::System;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use seedbed_host::streams;
use seedbed_host::wire::{Frame, Hello};
use seedbed_model::tape::{Tape, TapeLine, join, read};
use seedbed_model::{Canonical, Family, Mutants, NodeId, Protocol, Span, decoding, encoding, moves};
use seedbed_protocols::leasing::Leasing;
use seedbed_sim::{Seed, Settings, record};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Message = <Leasing as Protocol>::Message;
type Record = <Leasing as Protocol>::Record;

/// Everything that a run of leasing sends and writes, and its steps as tapes have them.
struct Samples {
    messages: Vec<Vec<u8>>,
    records: Vec<Vec<u8>>,
    lines: Vec<String>,
}

fn samples() -> Samples {
    let protocol = Leasing::build(&Default::default(), Mutants::none()).expect("the defaults");
    let settings = Settings { duration: Span::secs(120), quiet: Span::secs(1), ..Settings::default() };
    let (_, script) = record(&protocol, &settings, Seed::Number(1)).expect("a run");
    let names = protocol.nodes();
    let mut samples = Samples { messages: Vec::new(), records: Vec::new(), lines: Vec::new() };
    let mut world = seedbed_model::Playback::new(&protocol, script.untimed, &script.clocks);
    world.world.driver.observed = true;
    for step in &script.steps {
        world.take(step).expect("its own steps");
        for (_, effect) in std::mem::take(&mut world.world.driver.effects) {
            match effect {
                seedbed_model::Effect::Send { message, .. } => samples.messages.push(encoding(&message)),
                seedbed_model::Effect::Persist { record, .. } => samples.records.push(encoding(&record)),
                _ => {}
            }
        }
        let line = TapeLine {
            at: samples.lines.len() as u64,
            step: moves::text_of(&step.what, &names),
            answers: step.answers.clone(),
            does: Vec::new(),
            found: None,
        };
        samples.lines.push(serde_json::to_string(&line).expect("a line"));
    }
    // Protocols without records would leave nothing to be cut off.
    samples.records.push(encoding(&vec![7u32; 40]));
    samples
}

struct Mutations {
    draws: ChaCha8Rng,
}

impl Mutations {
    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.draws.next_u64()) * count.max(1) as u128) >> 64) as usize
    }

    /// A few bytes changed, taken out, doubled, or the end cut off.
    fn of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match (self.below(6), bytes.is_empty()) {
                (_, true) => bytes.push(self.draws.next_u64() as u8),
                (0, _) => bytes[at] ^= 1 << self.below(8),
                (1, _) => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
                (2, _) => drop(bytes.remove(at)),
                (3, _) => bytes.truncate(at),
                (4, _) => bytes.insert(at, self.draws.next_u64() as u8),
                _ => {
                    let end = (at + self.below(12)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        bytes
    }
}

/// Runs `read` on an input, and holds what it allocates to the input's length.
fn bounded<T>(input: &[u8], read: impl FnOnce(&[u8]) -> T) -> T {
    let region = Region::new(ALLOCATOR);
    let result = read(input);
    let allocated = region.change().bytes_allocated;
    // A value in memory takes more than in its encoding, and a vector has room for twice what it holds.
    let most = 1_024 * input.len() + 65_536;
    assert!(allocated <= most, "{allocated} B are allocated for {} B: {input:?}", input.len());
    result
}

fn decoded<T: Canonical>(bytes: &[u8]) -> bool {
    decoding::<T>(bytes).is_ok()
}

// One test, since the allocator counts what all threads do.
#[test]
fn a_million_inputs() {
    let samples = samples();
    let mut mutations = Mutations { draws: ChaCha8Rng::seed_from_u64(1) };
    let (mut refused, mut taken) = (0u64, 0u64);
    let mut count = |is_taken: bool| if is_taken { taken += 1 } else { refused += 1 };

    let hello = Hello { cluster: 1, from: 0, to: 1, incarnation: 1, connection: 0 };
    for round in 0..300_000 {
        let message = &samples.messages[mutations.below(samples.messages.len())];
        let frame = match round % 3 {
            0 => Frame::Hello(hello),
            1 => Frame::Message(message.clone()),
            _ => Frame::Datagram(hello, message.clone()),
        };
        let bytes = mutations.of(&frame.bytes().expect("a frame"));
        count(bounded(&bytes, |bytes| Frame::of_datagram(bytes).is_ok()));
    }
    for _ in 0..300_000 {
        // As if the checksum were right: what is in a frame is not trusted either.
        let message = &samples.messages[mutations.below(samples.messages.len())];
        let bytes = mutations.of(message);
        count(bounded(&bytes, decoded::<Message>));
    }
    for _ in 0..200_000 {
        let records = [1, 2, 3].map(|number| {
            let record = &samples.records[mutations.below(samples.records.len())];
            streams::record(number, record).expect("a record")
        });
        let whole = records.concat();
        let bytes = mutations.of(&whole);
        let contents = bounded(&bytes, streams::read);
        assert!(contents.length <= bytes.len() as u64);
        count(contents.records.len() == 3);
        for (_, record) in contents.records {
            bounded(&record, decoded::<Record>);
        }
    }
    let protocol = Leasing::build(&Default::default(), Mutants::none()).expect("the defaults");
    for _ in 0..200_000 {
        let line = &samples.lines[mutations.below(samples.lines.len())];
        let bytes = [mutations.of(line.as_bytes()), vec![b'\n']].concat();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = bounded(&bytes, |_| read(&text, |line| serde_json::from_str(line)));
        match lines {
            Ok(lines) => {
                let tape = Tape { name: protocol.nodes()[NodeId(0).index()].clone(), lines };
                count(bounded(&bytes, |_| join(&protocol, &[tape]).is_ok()));
            }
            Err((line, why)) => {
                assert!(line >= 1 && !why.is_empty());
                count(false);
            }
        }
    }
    println!("{refused} refused, {taken} taken");
    assert_eq!(refused + taken, 1_000_000);
    assert!(refused > 500_000, "{refused} refused");
}
