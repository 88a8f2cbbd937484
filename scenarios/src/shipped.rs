//! The protocols that Seedbed ships, with their files.

use seedbed_protocols::basics::echo::Echo;
use seedbed_protocols::basics::lease_stamps::LeaseStamps;
use seedbed_protocols::basics::lease_timers::LeaseTimers;
use seedbed_protocols::basics::paxos::Paxos;
use seedbed_protocols::basics::register::Register;
use seedbed_protocols::leasing::Leasing;
use seedbed_protocols::seqpair::SeqPair;

use crate::files;
use crate::registry::Registry;

/// The shipped protocols, called as `cargo seedbed`.
pub fn shipped() -> Registry {
    Registry::new()
        .command("cargo seedbed")
        .with::<Echo>(files!("../echo", check, ["lossy", "quiet"]))
        .with::<LeaseTimers>(files!("../lease-timers", check, ["clock-beyond-bound", "crash", "drift"]))
        .with::<LeaseStamps>(files!("../lease-stamps", check, ["clock-beyond-bound", "crash", "jumps", "offsets"]))
        .with::<Paxos>(files!("../paxos", check, ["contention", "crash", "disks", "empty-disk"]))
        .with::<Register>(files!("../register", check, ["crash", "disks", "lossy", "stragglers"]))
        .with::<SeqPair>(files!("../seqpair", check, ["crash", "crossing"], pinned["crisscross"]))
        .with::<Leasing>(files!(
            "../leasing",
            check,
            [
                "clock-beyond-bound",
                "datacenter",
                "dying-owner",
                "late-messages",
                "manager-crash",
                "owner-crash",
                "partition",
                "paused-owner",
                "race",
                "rough-links",
                "steady"
            ],
            pinned["crisscross"]
        ))
}

#[cfg(test)]
mod tests {
    use seedbed_model::{Kind, Outcome};

    use crate::face::Setup;
    use crate::file::Expect;
    use crate::library::Library;

    /// What no mutant is declared to break, and why.
    const EXEMPT: [&str; 4] = [
        // `no-retry` breaks the three promises of progress at once; it is declared by the one that the explorer meets first.
        "echo: all-answered",
        "echo: answered-after-healing",
        // Whether a grantor that asks and answers without end can be stuck: no mechanism of theirs is there to prevent it.
        "lease-timers: obtainable",
        "lease-stamps: usable",
    ];

    /// A property that nothing makes fall might as well not be there: each is what some mutant is declared to break, or
    /// what some scenario or bound that breaks an assumption expects. Goals are exempt: a run that misses one says so.
    #[test]
    fn every_property_is_declared_to_fall_somewhere() {
        let registry = super::shipped();
        let library = Library::new(&registry, None).expect("there is no folder to refuse");
        let mut never: Vec<String> = Vec::new();
        for entry in &registry.entries {
            let face = entry.face.as_ref();
            let scenarios = library.scenarios(entry).expect("shipped files are right");
            let bounds = library.bounds(entry).expect("shipped files are right");
            let expected =
                scenarios.iter().map(|scenario| &scenario.expect).chain(bounds.iter().map(|bound| &bound.expect));
            let mut falls: Vec<&str> = expected
                .filter_map(|expect| match expect {
                    Expect::Violated(property) => Some(property.as_str()),
                    Expect::Holds => None,
                })
                .collect();
            falls.extend(face.mutants().iter().filter_map(|mutant| match mutant.outcome {
                Outcome::Falls(name) | Outcome::Unreachable(name) => Some(name),
                Outcome::Harmless(_) => None,
            }));
            let described = face.describe(&Setup::default()).expect("the defaults are right");
            let claimed = described.properties.iter().filter(|property| property.kind != Kind::Sometimes);
            let missing = claimed.filter(|property| !falls.contains(&property.name));
            never.extend(missing.map(|property| format!("{}: {}", face.name(), property.name)));
        }
        assert_eq!(never, EXEMPT, "these are never declared to fall, and those are exempt");
    }
}
