//! Many seeds, on many threads, handed over in the order of the seeds.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};

use seedbed_model::Protocol;

use crate::run::{Run, simulate};
use crate::seed::Seed;
use crate::settings::Settings;

/// Workers run so many seeds ahead of the one handed over last, at most, for each of them.
const AHEAD_COUNT_MAX: u64 = 64;

/// Runs each of `seeds` and hands the runs to `on_run` in order, whatever `jobs` is. `Break` ends the sweep.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn sweep<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    seeds: Range<u64>,
    jobs: usize,
    on_run: &mut dyn FnMut(Run) -> ControlFlow<()>,
) {
    sweep_with(&|seed| simulate(protocol, settings, Seed::Number(seed), None), seeds, jobs, on_run);
}

/// [`sweep`], where `run` says what is done with a seed's number: a pure function of it.
pub fn sweep_with<T: Send>(
    run: &(dyn Fn(u64) -> T + Sync),
    seeds: Range<u64>,
    jobs: usize,
    on_run: &mut dyn FnMut(T) -> ControlFlow<()>,
) {
    if jobs <= 1 {
        let mut runs = seeds.map(run);
        let _ = runs.try_for_each(on_run);
        return;
    }
    let gate = Gate::new(seeds.clone(), AHEAD_COUNT_MAX * jobs as u64);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, gate) = (sender.clone(), &gate);
            scope.spawn(move || {
                while let Some(seed) = gate.next() {
                    if sender.send((seed, run(seed))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Also when `on_run` panics, so that no worker waits for ever.
        let _closing = CloseOnDrop(&gate);
        hand_over(seeds.start, &receiver, &gate, on_run);
    });
}

fn hand_over<T>(
    first: u64,
    receiver: &mpsc::Receiver<(u64, T)>,
    gate: &Gate,
    on_run: &mut dyn FnMut(T) -> ControlFlow<()>,
) {
    let mut early = BTreeMap::new();
    let mut next = first;
    for (seed, run) in receiver {
        early.insert(seed, run);
        while let Some(run) = early.remove(&next) {
            next += 1;
            if on_run(run).is_break() {
                return;
            }
        }
        gate.passed(next);
    }
}

/// Gives out seeds in order, and holds workers back that are too far ahead.
struct Gate {
    state: Mutex<GateState>,
    moved: Condvar,
    ahead: u64,
}

struct GateState {
    left: Range<u64>,
    /// The first seed not yet handed over.
    passed: u64,
}

impl Gate {
    fn new(seeds: Range<u64>, ahead: u64) -> Self {
        let passed = seeds.start;
        Gate { state: Mutex::new(GateState { left: seeds, passed }), moved: Condvar::new(), ahead }
    }

    /// The state is whole after each change, so that a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next seed to run, or none if there is none or the sweep has ended.
    fn next(&self) -> Option<u64> {
        let mut state = self.lock();
        while !state.left.is_empty() && state.left.start - state.passed >= self.ahead {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.left.next()
    }

    fn passed(&self, next: u64) {
        self.lock().passed = next;
        self.moved.notify_all();
    }

    fn close(&self) {
        self.lock().left = 0..0;
        self.moved.notify_all();
    }
}

struct CloseOnDrop<'a>(&'a Gate);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
