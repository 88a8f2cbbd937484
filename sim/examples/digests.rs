//! What a scenario of `leasing` comes to over many seeds, in one digest: it is the same in every build.
//!
//! `cargo run -p seedbed-sim --example digests -- FILE COUNT`, once with `--release` and once without.

#![allow(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;
use std::ops::ControlFlow;

use seedbed_model::{Family, Mutants};
use seedbed_protocols::leasing::{Leasing, Params};
use seedbed_sim::{Settings, sweep};
use serde::Deserialize;

/// Of a scenario file, what a run depends on.
#[derive(Deserialize)]
struct Scenario {
    #[serde(default)]
    params: Params,
    settings: Settings,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (file, count) = args.next().zip(args.next()).ok_or("write a scenario file of leasing and a count of seeds")?;
    let Scenario { params, settings } = toml::from_str(&std::fs::read_to_string(file)?)?;
    settings.check()?;
    let protocol = Leasing::build(&params, Mutants::named(Leasing::mutants(), [])?)?;
    let (mut runs, mut digest) = (0_u64, 0_u64);
    sweep(&protocol, &settings, 0..count.parse()?, 2, &mut |run| {
        runs += 1;
        digest = digest.rotate_left(1) ^ run.digest;
        ControlFlow::Continue(())
    });
    println!("{runs} runs, digest {digest:016x}");
    Ok(())
}
