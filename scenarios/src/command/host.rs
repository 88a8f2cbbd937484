//! `node` and `cluster`: protocols on real sockets. A program of its own does it, so that nobody else builds an asynchronous
//! runtime: `seedbed-host`, which lies beside this one or on the path.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::exit::BadInput;

/// Flags of `node` and `cluster`: the host's.
#[derive(Debug, Clone, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// As `seedbed-host` takes them: `--help` tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FLAGS")]
    rest: Vec<OsString>,
}

const PROGRAM: &str = "seedbed-host";

pub(crate) fn run(verb: &str, args: &Args) -> Result<u8, BadInput> {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let ended = Command::new(&program).arg(verb).args(&args.rest).status();
    let status = ended.map_err(|why| {
        BadInput::flag(format!(
            "{verb}: {PROGRAM} lies neither beside this program nor on the path ({why}); \
             `cargo install --path sim/host` puts it there, and in its repository `cargo host {verb}` runs it"
        ))
    })?;
    // A host that was killed has no code: what came of it is not known.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::exit::UNKNOWN))
}
