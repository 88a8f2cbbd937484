//! Scenarios and bounds from `cargo test`: each function runs what the command would, and panics with what it says.
//!
//! ```no_run
//! # fn registry() -> seedbed::Registry { seedbed::shipped() }
//! #[test]
//! fn it_holds_when_the_link_is_lossy() {
//!     seedbed::testing::run(&registry(), "echo/lossy", 0..200);
//! }
//!
//! #[test]
//! fn it_holds_within_every_bound() {
//!     seedbed::testing::check(&registry(), "echo");
//! }
//! ```

use std::ops::Range;

use crate::exit;
use crate::registry::Registry;

/// Runs a scenario, or a folder of them, over `seeds`.
///
/// # Panics
/// If anything is not as expected, with the failures and the lines to paste that replay them.
pub fn run(registry: &Registry, scenario: &str, seeds: Range<u64>) {
    let seeds = format!("{}..{}", seeds.start, seeds.end);
    expect(registry, &["run", scenario, "--seeds", &seeds]);
}

/// Explores a protocol at every bound of its `check.toml`.
///
/// # Panics
/// If a verdict is not as expected, with the counterexample.
pub fn check(registry: &Registry, protocol: &str) {
    expect(registry, &["check", protocol]);
}

/// Tries every mutant of a protocol.
///
/// # Panics
/// If one is not what it is declared to be.
pub fn mutants(registry: &Registry, protocol: &str) {
    expect(registry, &["mutants", protocol]);
}

/// What a command says and its exit code: the arguments come after the command's name.
pub fn command(registry: &Registry, arguments: &[&str]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = std::iter::once("seedbed").chain(arguments.iter().copied()).map(Into::into);
    let code = crate::run(registry, arguments, &mut out, &mut err, false);
    out.append(&mut err);
    (code, String::from_utf8_lossy(&out).into_owned())
}

fn expect(registry: &Registry, arguments: &[&str]) {
    let (code, said) = command(registry, arguments);
    assert_eq!(code, exit::EXPECTED, "{} ended with {code}:\n{said}", arguments.join(" "));
}
