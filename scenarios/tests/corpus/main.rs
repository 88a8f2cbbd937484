//! The differential corpus: random small protocols, each explored in every way there is, with one answer.
//!
//! - [`table`]: the protocols; [`generate`]: how they are drawn;
//! - [`reference`]: the dumb twin whose answer counts;
//! - [`modes`]: the ways to explore; [`sampled`]: the simulator's runs lie within;
//! - [`planted`]: faults in the explorer itself.
//!
//! `CORPUS_CASES` says how many models: 300 without it.

mod generate;
mod modes;
mod planted;
mod reference;
mod sampled;
mod table;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use generate::{Sample, sample};
use modes::MODES;
use planted::Fault;
use reference::Truth;
use table::Planted;

/// How many models a run draws.
fn cases() -> u32 {
    let given = option_env_at_run("CORPUS_CASES");
    given.map_or(300, |text| text.parse().expect("CORPUS_CASES is a number of models"))
}

#[expect(clippy::disallowed_methods, reason = "how many models are tried, never what comes of one")]
fn option_env_at_run(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The same models in every run: a failure is shrunk and shown whole.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 30, ..Config::default() };
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
}

fn judge(sample: &Sample) -> Result<Truth, String> {
    let truth = Truth::of(sample);
    for mode in MODES {
        mode.judge(sample, &truth)?;
    }
    sampled::judge(sample, &truth)?;
    Ok(truth)
}

#[test]
fn every_mode_gives_one_answer() {
    let telling = std::cell::Cell::new([0u32; 6]);
    let outcome = runner(cases()).run(&sample(), |sample| {
        let truth = judge(&sample).map_err(TestCaseError::fail)?;
        let [big, whole, fell, cut_off, lasts, passes] = telling.get();
        let falls = |name: &str| truth.fall.as_ref().is_some_and(|fall| fall.properties.contains(name));
        telling.set([
            big + u32::from(truth.is_telling()),
            whole + u32::from(truth.depth.is_none()),
            fell + u32::from(falls("never") || falls("soon")),
            cut_off + u32::from(falls("again")),
            lasts + u32::from(truth.lasts),
            passes + u32::from(sample.table.then && truth.fall.is_none() && !truth.lasts && truth.is_telling()),
        ]);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let enough = cases() / 30;
    for count in telling.get() {
        assert!(count >= enough, "the corpus is one-sided: {:?}", telling.get());
    }
}

/// A corpus that finds nothing proves nothing: each fault is planted in the models, and must be found in some.
#[test]
fn planted_faults_are_caught() {
    for planted in [Planted::LiveIsDead, Planted::AllActAlike, Planted::HubIsASpoke] {
        caught(&format!("{planted:?}"), |drawn, truth| {
            let mut broken = drawn.clone();
            broken.table.planted = Some(planted);
            MODES[0].judge(&broken, truth).is_err()
        });
    }
}

/// The same of faults planted in the explorer: transitions lost between workers, and a wrong rule of fairness.
#[test]
fn faults_planted_in_the_explorer_are_caught() {
    for fault in [Fault::LostMerge, Fault::AnyStepIsFair] {
        caught(&format!("{fault:?}"), |drawn, truth| fault.is_caught(drawn, truth));
    }
}

/// Whether enough of the models show a fault.
fn caught(fault: &str, is_caught: impl Fn(&Sample, &Truth) -> bool) {
    const MODELS: usize = 100;
    let mut runner = runner(1);
    let shows = |_: &usize| {
        let drawn = sample().new_tree(&mut runner).expect("samples are drawn").current();
        is_caught(&drawn, &Truth::of(&drawn))
    };
    let count = (0..MODELS).filter(shows).count();
    assert!(count > 5, "{fault}: caught in {count} of {MODELS} models");
}
