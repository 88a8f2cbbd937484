//! The command `seedbed`: every shipped protocol under every verb.

use std::process::ExitCode;

fn main() -> ExitCode {
    seedbed::main(seedbed::shipped())
}
