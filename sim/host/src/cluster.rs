//! A cluster as a file: which protocol, with which parameters, and where its nodes are.
//!
//! ```toml
//! protocol = "leasing"
//! mutants = []
//! transport = "tcp"
//! seed = 1
//!
//! [params]
//! owners = 3
//!
//! [pace]
//! decisions = "200ms"
//!
//! [nodes]
//! manager = "127.0.0.1:7001"
//! ```

use std::collections::BTreeMap;
use std::net::SocketAddr;

use seedbed_model::tape::{Joined, Tape, drift, join};
use seedbed_model::{Family, Mutants, Protocol, hash, moves, replay_exact};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::driver::Pace;
use crate::links::Transport;

/// A cluster's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cluster {
    /// The protocol's name.
    pub protocol: String,
    /// The mechanisms that are switched off.
    #[serde(default)]
    pub mutants: Vec<String>,
    /// How messages travel.
    #[serde(default)]
    pub transport: Transport,
    /// What nodes draw comes from it.
    #[serde(default)]
    pub seed: u64,
    /// How many messages wait for a node or a link, at most.
    #[serde(default = "queue")]
    pub queue: usize,
    /// The protocol's parameters.
    #[serde(default)]
    pub params: Table,
    /// How nodes are driven.
    #[serde(default)]
    pub pace: Pace,
    /// Where each node is, by its name.
    pub nodes: BTreeMap<String, SocketAddr>,
}

fn queue() -> usize {
    1024
}

impl Cluster {
    /// Tells clusters apart: nodes of different ones refuse each other.
    pub fn id(&self) -> u64 {
        let text = toml::to_string(self).unwrap_or_default();
        hash(0, text.as_bytes())
    }

    /// The family's protocol as the file has it.
    ///
    /// # Errors
    /// On parameters or mutants that the protocol does not have.
    pub fn build<F: Family>(&self) -> Result<F::Protocol, String> {
        let params: F::Params = self.params.clone().try_into().map_err(|why| format!("[params]: {why}"))?;
        let mutants = Mutants::named(F::mutants(), self.mutants.iter().map(String::as_str))?;
        F::build(&params, mutants).map_err(|why| format!("[params]: {why}"))
    }

    /// The nodes' addresses in the order of their ids.
    ///
    /// # Errors
    /// If the file has no address for a node of the protocol, or one for a node that there is not.
    pub fn addresses(&self, names: &[String]) -> Result<Vec<SocketAddr>, String> {
        if let Some(unknown) = self.nodes.keys().find(|name| !names.contains(name)) {
            return Err(format!("[nodes]: no node is called `{unknown}`; they are {}", names.join(", ")));
        }
        let address = |name| self.nodes.get(name).copied().ok_or_else(|| format!("[nodes]: `{name}` has no address"));
        names.iter().map(address).collect()
    }
}

/// What became of a taped run when it was replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// How many steps the run has, without the passing of time.
    pub steps: usize,
    /// The properties that fell, each with what happened.
    pub fell: Vec<(String, String)>,
    /// Where the replay did otherwise than the tapes say: the step's place among all, and what differs.
    pub drift: Option<(usize, String)>,
    /// Marks and goals reached, each with how often.
    pub reached: BTreeMap<&'static str, u64>,
}

/// Joins a cluster's tapes and replays them, watched by the protocol's properties.
///
/// # Errors
/// If the tapes do not make a run.
pub fn judge<P: Protocol>(protocol: &P, tapes: &[Tape]) -> Result<Judged, String> {
    let joined: Joined<P> = join(protocol, tapes).map_err(|why| why.to_string())?;
    let exact = replay_exact(protocol, &joined.script);
    let names = protocol.nodes();
    let told = |at: usize| joined.script.steps.get(at).map_or(String::new(), |step| moves::text_of(&step.what, &names));
    let drift = drift(&joined, &exact).map(|(at, why)| (at, format!("`{}`: {why}", told(at))));
    let steps = joined.does.iter().flatten().count();
    let fell = exact.replayed.violations.into_iter().map(|fell| (fell.property, fell.detail)).collect();
    Ok(Judged { steps, fell, drift, reached: exact.reached })
}
