//! The protocols in the explorer, in both stores and by every way to search. One program, so that its code is made once.

mod agreement;
mod avoiding;
mod checks;
mod embedding;
mod fairness;
mod fatlease;
mod leasing_pairs;
mod leasing_whole;
mod moments;
mod names;
mod paxos_group;
mod searches;
mod taskmaster;
mod walk;
mod walks;
mod zab;
mod zookeeper;

use seedbed_model::{Family, Mutants};

fn build<F: Family>(params: F::Params, mutants: &[&str]) -> F::Protocol {
    let mutants = Mutants::named(F::mutants(), mutants.iter().copied()).expect("the mutants are known");
    F::build(&params, mutants).expect("the parameters make sense")
}
