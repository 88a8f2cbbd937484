//! What a cluster of real nodes left behind: its file and the tapes of its nodes, in a folder.

use std::path::Path;

use seedbed_model::tape::{self, Tape};
use seedbed_model::{Protocol, Replayed, replay_exact};
use serde::Deserialize;
use toml::Table;

use crate::exit::BadInput;
use crate::library;
use crate::pin::PinnedScript;
use crate::written;

/// What a cluster's file says of its protocol. The rest is the host's: where nodes are, how they are driven.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ClusterFile {
    pub(crate) protocol: String,
    #[serde(default)]
    pub(crate) mutants: Vec<String>,
    #[serde(default)]
    pub(crate) params: Table,
}

/// The file of a cluster in its folder.
pub(crate) const FILE: &str = "cluster.toml";

/// Whether a cluster was run in this folder.
pub(crate) fn is_cluster(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// Reads the cluster's file.
pub(crate) fn cluster(folder: &Path) -> Result<ClusterFile, BadInput> {
    let source = library::read(&folder.join(FILE))?;
    toml::from_str(&source.text).map_err(|error| source.refused(&error))
}

/// Reads its tapes, in the order of their names.
pub(crate) fn tapes(folder: &Path) -> Result<Vec<Tape>, BadInput> {
    let folder = folder.join("tapes");
    let refused = |why: std::io::Error| BadInput::flag(format!("{}: {why}", folder.display()));
    let entries = std::fs::read_dir(&folder).map_err(refused)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(refused)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    if paths.is_empty() {
        return Err(BadInput::flag(format!("{}: no tape is there; a node writes one with --tape", folder.display())));
    }
    paths.iter().map(|path| one(path)).collect()
}

fn one(path: &Path) -> Result<Tape, BadInput> {
    let source = library::read(path)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let lines = tape::read(&source.text, |line| serde_json::from_str(line));
    lines
        .map(|lines| Tape { name, lines })
        .map_err(|(line, why)| BadInput::flag(format!("{}:{line}: {why}", path.display())))
}

/// The run of real nodes, joined from their tapes and replayed.
#[derive(Debug, Clone)]
pub(crate) struct JoinedRun {
    pub(crate) script: PinnedScript,
    pub(crate) replayed: Replayed,
    /// How many steps are on the tapes: without the passing of time.
    pub(crate) step_count: usize,
    /// The first step that cannot happen, or in which the replay did otherwise than the tape says.
    pub(crate) drift: Option<(usize, String)>,
}

/// Joins tapes, and replays the run.
///
/// # Errors
/// If they make no run of this protocol: which line of which tape, and why.
pub(crate) fn joined<P: Protocol>(protocol: &P, tapes: &[Tape]) -> Result<JoinedRun, String> {
    let joined = tape::join(protocol, tapes).map_err(|why| why.to_string())?;
    let exact = replay_exact(protocol, &joined.script);
    Ok(JoinedRun {
        script: written::pinned(protocol, &joined.script, &exact),
        step_count: joined.does.iter().flatten().count(),
        drift: tape::drift(&joined, &exact),
        replayed: exact.replayed,
    })
}
