//! Failures grouped by their signatures.

use std::collections::BTreeMap;

use seedbed_model::Signature;
use seedbed_model::record::FailureGroup;
use seedbed_sim::{Run, Seed};

/// The groups so far. Runs come in the order of their seeds.
#[derive(Default)]
pub(crate) struct Kinds {
    groups: BTreeMap<Signature, Group>,
}

struct Group {
    count: u64,
    first: Seed,
    smallest: Seed,
    steps: u64,
}

impl Kinds {
    /// One more failure.
    pub(crate) fn note(&mut self, signature: Signature, run: &Run) {
        let new = || Group { count: 0, first: run.seed, smallest: run.seed, steps: run.steps };
        let group = self.groups.entry(signature).or_insert_with(new);
        group.count += 1;
        if run.steps < group.steps {
            (group.smallest, group.steps) = (run.seed, run.steps);
        }
    }

    /// The groups of a property, the most frequent first; those as frequent in the order of their signatures.
    pub(crate) fn of(&self, property: &str) -> Vec<FailureGroup> {
        let of_property = self.groups.iter().filter(|(signature, _)| signature.property == property);
        let mut groups: Vec<FailureGroup> = of_property
            .map(|(signature, group)| FailureGroup {
                signature: signature.clone(),
                count: group.count,
                first: group.first.to_string(),
                smallest: group.smallest.to_string(),
                steps: group.steps,
            })
            .collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        groups
    }
}
