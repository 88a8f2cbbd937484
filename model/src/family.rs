//! A protocol family as the command sees it: a name, typed parameters, mutants.
//!
//! Scenario files and the bounds of `check` are handed to the command where the family is registered.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::protocol::{Mutant, Mutants, Protocol};

/// What a protocol adds to be listed, run, checked and replayed by the command.
pub trait Family: 'static {
    /// What runs.
    type Protocol: Protocol;
    /// Its parameters: a struct with `#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]`; spans as
    /// [`crate::Span`], decimals as [`crate::Ratio`].
    type Params: Serialize + DeserializeOwned + Default + Clone;

    /// Kebab case, as on the command line.
    const NAME: &'static str;
    /// One line of what it is, with its source.
    const SUMMARY: &'static str;

    /// Its mutants, each with the declared outcome.
    fn mutants() -> &'static [Mutant] {
        &[]
    }

    /// The protocol with these parameters, and these mechanisms switched off.
    ///
    /// # Errors
    /// On parameters that make no sense together: which, and what would be right.
    fn build(params: &Self::Params, mutants: Mutants) -> Result<Self::Protocol, String>;
}
