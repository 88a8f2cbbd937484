//! The protocols that a command knows, with their files.

use seedbed_model::Family;

use crate::exit::{BadInput, unknown};
use crate::face::{Face, FamilyFace};

/// The files that a protocol ships with: what [`files!`](crate::files) makes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files {
    /// The folder that they are embedded from, by way of the source file that says so: what reports point at.
    pub folder: &'static str,
    /// The bounds of `check`: the text of `check.toml`.
    pub check: Option<&'static str>,
    /// File names without `.toml`, and texts.
    pub scenarios: &'static [(&'static str, &'static str)],
    /// Pinned runs, from the folder `pinned`: file names without `.toml`, and texts.
    pub pinned: &'static [(&'static str, &'static str)],
    /// Experiments, from the folder `experiments`: likewise.
    pub experiments: &'static [(&'static str, &'static str)],
}

/// Embeds a protocol's files: the folder, `check` if it has a `check.toml`, its scenarios, and `pinned` and `experiments`
/// with what its folders of those names hold, if there are any.
///
/// ```ignore
/// Registry::new().with::<Parking>(seedbed::files!("../scenarios/parking", check, ["calm", "busy"], pinned ["twice"]))
/// ```
#[macro_export]
macro_rules! files {
    ($folder:literal, check, [$($name:literal),* $(,)?] $($rest:tt)*) => {
        $crate::Files {
            check: Some(include_str!(concat!($folder, "/check.toml"))),
            ..$crate::files!($folder, [$($name),*] $($rest)*)
        }
    };
    ($folder:literal, [$($name:literal),* $(,)?]
     $(, pinned [$($pin:literal),* $(,)?])? $(, experiments [$($experiment:literal),* $(,)?])? $(,)?) => {
        $crate::Files {
            folder: concat!(file!(), "/../", $folder),
            check: None,
            scenarios: &[$(($name, include_str!(concat!($folder, "/", $name, ".toml")))),*],
            pinned: &[$($(($pin, include_str!(concat!($folder, "/pinned/", $pin, ".toml")))),*)?],
            experiments: &[
                $($(($experiment, include_str!(concat!($folder, "/experiments/", $experiment, ".toml")))),*)?
            ],
        }
    };
}

/// Compares a recording of a real system, a file of JSON Lines of this name and text, with what a protocol's own parts answer:
/// what was compared, in words.
pub type Comparison = fn(file: &str, text: &str) -> Result<String, Unlike>;

/// Why a recording does not agree. Each text begins with the file and the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unlike {
    /// It is no recording: what was found, and what would be right.
    Malformed(String),
    /// The first difference.
    Differs(String),
}

/// The protocols that a command knows. A user's crate fills one and hands it to [`crate::main`].
#[derive(Default)]
pub struct Registry {
    pub(crate) entries: Vec<Entry>,
    pub(crate) comparison: Option<Comparison>,
    command: Option<String>,
}

/// A protocol with its files.
pub(crate) struct Entry {
    pub(crate) face: Box<dyn Face>,
    pub(crate) files: Files,
}

impl Registry {
    /// No protocol.
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds a family of protocols.
    ///
    /// # Panics
    /// If there is one of the name already: names are how the command tells them apart.
    #[must_use]
    pub fn with<F: Family>(mut self, files: Files) -> Self {
        assert!(self.names().iter().all(|name| *name != F::NAME), "two protocols are named {}", F::NAME);
        self.entries.push(Entry { face: Box::new(FamilyFace::<F>::new()), files });
        self
    }

    /// What `replay` asks of a recording, a file whose name ends in `.jsonl`.
    #[must_use]
    pub fn recordings(mut self, comparison: Comparison) -> Self {
        self.comparison = Some(comparison);
        self
    }

    /// How a failure says that the command is called, in the line to paste. Without it: as it was called.
    #[must_use]
    pub fn command(mut self, line: &str) -> Self {
        self.command = Some(line.to_owned());
        self
    }

    /// The protocols' names, as registered.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.face.name()).collect()
    }

    /// How the command is called.
    pub(crate) fn command_line(&self, called: &str) -> String {
        self.command.clone().unwrap_or_else(|| called.to_owned())
    }

    pub(crate) fn entry(&self, name: &str) -> Result<&Entry, BadInput> {
        self.entries
            .iter()
            .find(|entry| entry.face.name() == name)
            .ok_or_else(|| BadInput::flag(unknown("protocol", name, &self.names())))
    }
}
