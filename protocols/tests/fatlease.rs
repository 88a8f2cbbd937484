//! FaTLease at bounds that `check` has no time for, and parameters that it refuses.

use seedbed_model::explore::{Bounds, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, Span};
use seedbed_protocols::fatlease::{FaTLease, Params, Variant};
use serde::Deserialize;

#[derive(Deserialize)]
struct BoundsFile {
    params: toml::Table,
    bound: Vec<Bound>,
}

#[derive(Deserialize)]
struct Bound {
    name: String,
    params: toml::Table,
    bounds: Bounds,
}

/// Each bound of `fatlease.toml` is exhausted and holds.
#[test]
#[ignore = "minutes, for larger bounds: .ci/run --full, in its step sweeps"]
fn pairs_of_features_hold() {
    let file: BoundsFile = toml::from_str(include_str!("fatlease.toml")).expect("the file fits its types");
    for bound in &file.bound {
        let mut params = file.params.clone();
        params.extend(bound.params.clone());
        let params: Params = toml::Value::Table(params).try_into().expect("the parameters fit their types");
        let protocol = FaTLease::build(&params, Mutants::none()).expect("the parameters make sense");
        let found = explore(&protocol, &bound.bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
        assert_eq!(found.verdict, Verdict::Holds, "{}: {:#?}", bound.name, found.script);
        assert!(found.stats.exhausted && !found.stats.cut, "{} is not exhausted: {:?}", bound.name, found.stats);
    }
}

#[test]
fn parameters_that_break_the_argument_are_refused() {
    let refusal = |params: Params| FaTLease::build(&params, Mutants::none()).map(drop).unwrap_err();
    let whole = Params::default;
    assert_eq!(
        refusal(Params { d_max: Span::millis(900), ..whole() }),
        "d-max 900ms is too small: clocks differ by up to 1s"
    );
    assert_eq!(refusal(Params { lease: Span::secs(1), ..whole() }), "lease 1s must be longer than d-max, 1s (§4.1)");
    assert_eq!(
        refusal(Params { variant: Variant::AsPublished, ..whole() }),
        "renewals are not in the printed pseudo-code (§4.3); write renewals = false"
    );
    assert_eq!(
        refusal(Params { variant: Variant::Paxos, ..whole() }),
        "regular Paxos keeps what it promised for ever (§4.4); write discards = false"
    );
    assert_eq!(
        refusal(Params { batch: 8, ..whole() }),
        "batch and linger are for acceptors that write; write variant = \"paxos\""
    );
    let alone = Params { variant: Variant::Paxos, discards: false, batch: 1, linger: Span::millis(5), ..whole() };
    assert_eq!(refusal(alone), "a linger waits for a second answer, which batch = 1 has no room for");
    assert!(refusal(Params { askers: 4, ..whole() }).starts_with("hosts must be"));
    assert!(refusal(Params { notice: Span::secs(1), ..whole() }).starts_with("notice and progress"));
}
