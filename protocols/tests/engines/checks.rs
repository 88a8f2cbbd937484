//! The declared bounds of the small protocols, and of ZooKeeper: the whole protocol is exhausted and reaches the goals, and each mutant
//! claimed by a bound falls there as declared.

use seedbed_model::explore::{Bounds, Exploration, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, Outcome};
use seedbed_protocols::basics::{
    echo::Echo, lease_stamps::LeaseStamps, lease_timers::LeaseTimers, paxos::Paxos, register::Register,
};
use seedbed_protocols::zookeeper::ZooKeeper;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What this test reads of a `check.toml`.
#[derive(Deserialize)]
struct CheckFile {
    #[serde(default)]
    params: toml::Table,
    bound: Vec<Bound>,
}

#[derive(Deserialize)]
struct Bound {
    name: String,
    #[serde(default)]
    class: String,
    /// `violated: ` and a property, if that must fall.
    expect: Option<String>,
    #[serde(default)]
    goals: Vec<String>,
    #[serde(default)]
    claims: Vec<String>,
    #[serde(default)]
    params: toml::Table,
    #[serde(default)]
    bounds: toml::Table,
}

fn typed<T: DeserializeOwned>(table: toml::Table) -> T {
    toml::Value::Table(table).try_into().expect("the file fits its types")
}

impl Bound {
    fn explore<F: Family>(&self, file: &CheckFile, mutant: Option<&str>) -> Exploration<F::Protocol> {
        let mut params = file.params.clone();
        params.extend(self.params.clone());
        let mutants = Mutants::named(F::mutants(), mutant).expect("claimed mutants exist");
        let protocol = F::build(&typed(params), mutants).expect("the parameters make sense");
        let bounds: Bounds = typed(self.bounds.clone());
        explore(&protocol, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit the protocol")
    }

    fn check_whole<F: Family>(&self, file: &CheckFile) {
        let found = self.explore::<F>(file, None);
        let name = format!("{}, {}", F::NAME, self.name);
        if let Some(expected) = &self.expect {
            let Verdict::Violated(violation) = found.verdict else { panic!("{name}: {expected} is not met") };
            return assert_eq!(format!("violated: {}", violation.property), *expected, "{name}");
        }
        assert_eq!(found.verdict, Verdict::Holds, "{name}: {:#?}", found.script);
        // Where fairness is judged, counters keep their values and must be bounded.
        let may_be_cut = self.bounds.contains_key("eventually");
        let is_whole = found.stats.exhausted && (may_be_cut || !found.stats.cut);
        assert!(is_whole, "{name} is not exhausted: {:?}", found.stats);
        for goal in &self.goals {
            assert!(found.reached.contains(&goal.as_str()), "{name} never reaches {goal}, only {:?}", found.reached);
        }
    }

    fn check_mutant<F: Family>(&self, file: &CheckFile, mutant: &str) {
        let declared = F::mutants().iter().find(|other| other.name == mutant).map(|mutant| mutant.outcome);
        let found = self.explore::<F>(file, Some(mutant));
        match (declared, found.verdict) {
            (Some(Outcome::Falls(property)), Verdict::Violated(violation)) => {
                assert_eq!(violation.property, property, "{mutant} at {}", self.name);
            }
            (Some(Outcome::Unreachable(goal)), Verdict::Holds) => {
                assert!(self.goals.iter().any(|other| other == goal), "{} does not demand {goal}", self.name);
                assert!(!found.reached.contains(&goal), "{goal} is reached at {}, without {mutant}", self.name);
            }
            (declared, verdict) => panic!("{mutant} at {}: {verdict:?}, and it is declared as {declared:?}", self.name),
        }
    }
}

/// Every bound of the family's file that `check` has time for, and the mutants that it claims.
fn stands<F: Family>() -> CheckFile {
    let path = format!("{}/../scenarios/{}/check.toml", env!("CARGO_MANIFEST_DIR"), F::NAME);
    let text = std::fs::read_to_string(&path).expect("the family has a check.toml");
    let file: CheckFile = toml::from_str(&text).expect("it is well-formed");
    for bound in file.bound.iter().filter(|bound| bound.class != "long") {
        bound.check_whole::<F>(&file);
        bound.claims.iter().for_each(|mutant| bound.check_mutant::<F>(&file, mutant));
    }
    file
}

/// And that every mutant is claimed by one.
fn check<F: Family>() {
    let file = stands::<F>();
    for mutant in F::mutants() {
        let is_claimed = file.bound.iter().any(|bound| bound.claims.iter().any(|claim| claim == mutant.name));
        assert!(is_claimed, "no bound of {} claims {}", F::NAME, mutant.name);
    }
}

#[test]
fn echo_stands_at_its_bounds_and_its_mutants_fall() {
    check::<Echo>();
}

#[test]
fn lease_timers_stands_at_its_bounds_and_its_mutants_fall() {
    check::<LeaseTimers>();
}

#[test]
fn lease_stamps_stands_at_its_bounds_and_its_mutants_fall() {
    check::<LeaseStamps>();
}

#[test]
fn paxos_stands_at_its_bounds_and_its_mutants_fall() {
    check::<Paxos>();
}

#[test]
fn register_stands_at_its_bounds_and_its_mutants_fall() {
    check::<Register>();
}

/// A herd takes three clients, which no bound of this size has: only the simulator sees it.
#[test]
fn zookeeper_stands_at_its_bounds_and_claimed_mutants_fall() {
    stands::<ZooKeeper>();
}
