//! The kill table: what each engine found of each mutant, and how soon.

use serde::{Deserialize, Serialize};

use super::{Header, RunSize};

/// The kill table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KillRecord {
    /// Whence.
    #[serde(flatten)]
    pub header: Header,
    /// The names of the fields that hold times of the machine: all others are the same wherever and however often this runs.
    pub timings: Vec<String>,
    /// A row for each mutant.
    pub rows: Vec<Kill>,
    /// Runs of whole protocols that must hold, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clean: Vec<CleanRecord>,
    /// The exit code: 17 if a mutant survived or is not what it was declared to be, or if a whole protocol fell.
    pub code: u8,
}

/// One mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kill {
    /// The protocol.
    pub protocol: String,
    /// The mutant.
    pub mutant: String,
    /// The mechanism it removes.
    pub removes: String,
    /// What must come of it, in words.
    pub declared: String,
    /// What the explorer found.
    pub explorer: Detection,
    /// What the simulator found.
    pub simulator: Detection,
    /// `killed`, `harmless as declared`, or what is wrong.
    pub verdict: String,
    /// Whether it is as declared.
    pub as_declared: bool,
    /// How soon each engine kills it, for those that were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<Measured>,
}

/// What one engine found of a mutant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detection {
    /// The bound or scenario that detected it; `None` if none did.
    pub place: Option<String>,
    /// What was detected there: the property that fell or the goal that was missed.
    pub found: Option<String>,
    /// States, or seeds, until detection; without one, all that were tried.
    pub effort: u64,
    /// Bounds or scenarios tried.
    pub tried: u32,
    /// Whether something was left unknown: a budget ran out, of the trial or of a monitor.
    pub unknown: bool,
}

/// How soon one engine kills a mutant, over restarts that have nothing random in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The engine: `simulator`, `guided`, `explore-at`, `walks`, `pct` or `explorer`.
    pub engine: String,
    /// What `efforts` count: `seed`, `moment`, `walk` or `state`.
    pub unit: String,
    /// The scenario or bound. Empty if there is none to try.
    pub place: String,
    /// How many times the search was begun anew; 1 where nothing is random.
    pub restarts: u32,
    /// A search gives up after so many units.
    pub limit: u64,
    /// Units until the first kill, of the restarts that killed, in rising order.
    pub efforts: Vec<u64>,
    /// The properties that fell, in order of name.
    pub found: Vec<String>,
    /// The run of the first restart that killed, as found.
    pub before: Option<RunSize>,
    /// The same made small.
    pub after: Option<RunSize>,
    /// Whether nothing can be left out of that any more.
    pub is_minimal: bool,
    /// Units that the whole protocol was tried for, the same ones.
    pub clean: u64,
    /// How many of them fell.
    pub false_alarms: u64,
    /// Processor time of the searches for the mutant [s]. Of this machine.
    pub cpu_seconds: f64,
}

impl Measured {
    /// The effort that half of the restarts need at most; `None` if fewer than half killed.
    pub fn median(&self) -> Option<u64> {
        self.quantile(1, 2)
    }

    /// The effort that this part of the restarts needs at most; `None` if fewer killed. Restarts that did not kill count as
    /// longer than all others.
    pub fn quantile(&self, num: u32, den: u32) -> Option<u64> {
        let rank = (u64::from(self.restarts) * u64::from(num)).div_ceil(u64::from(den)).max(1);
        self.efforts.get(rank as usize - 1).copied()
    }
}

/// Runs of one whole protocol, all of which must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanRecord {
    /// The protocol.
    pub protocol: String,
    /// Its quick scenarios that hold, among which the seeds were shared.
    pub scenarios: u64,
    /// Seeds run.
    pub runs: u64,
    /// How many fell.
    pub false_alarms: u64,
    /// The first one, as a line to paste.
    pub paste: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_without_a_kill_counts_as_longer_than_all_others() {
        let measured =
            |restarts, efforts: &[u64]| Measured { restarts, efforts: efforts.to_vec(), ..Measured::default() };
        assert_eq!(measured(5, &[1, 2, 3, 40, 50]).median(), Some(3));
        assert_eq!(measured(5, &[1, 2, 3]).median(), Some(3));
        assert_eq!(measured(5, &[1, 2]).median(), None);
        assert_eq!(measured(4, &[7, 8]).median(), Some(8));
        assert_eq!(measured(8, &[1, 2, 3, 4, 5, 6, 7, 8]).quantile(1, 4), Some(2));
        assert_eq!(measured(8, &[1, 2, 3, 4, 5, 6, 7, 8]).quantile(3, 4), Some(6));
        assert_eq!(measured(1, &[9]).quantile(3, 4), Some(9));
    }
}
