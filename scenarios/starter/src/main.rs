//! The command of this crate: every verb of `seedbed`, for the protocols of [`seedbed_starter::registry`].

use std::process::ExitCode;

fn main() -> ExitCode {
    seedbed::main(seedbed_starter::registry())
}
