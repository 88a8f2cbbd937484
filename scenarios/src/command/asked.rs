//! Which bounds of check.toml a check is about: by `--bound`, by the mutants, by class.

use toml::{Table, Value};

use super::flags::Variation;
use crate::exit::{BadInput, unknown};
use crate::face::Face;
use crate::file::Class;
use crate::library::{self, Bound};
use crate::params::Override;

/// What `--bound` says, by kind.
pub(super) struct Asked<'a> {
    /// `name=race`: the bound of this name.
    names: Vec<&'a Override>,
    /// The bounds that have these values: the protocol's own sizes, and what is said beside them.
    values: Vec<Override>,
    /// Put over the bounds that are chosen otherwise, as in `crashes=1`.
    pub(super) changes: Vec<Override>,
}

impl<'a> Asked<'a> {
    /// A parameter of the protocol makes of all but the names a choice: a bound is known by its sizes, too.
    pub(super) fn of(face: &dyn Face, overrides: &'a [Override]) -> Self {
        let (names, rest): (Vec<&Override>, Vec<&Override>) = overrides.iter().partition(|change| change.key == "name");
        let params = face.full_params(&Table::new()).unwrap_or_default();
        let is_choice = rest.iter().any(|change| params.contains_key(&change.key));
        // The word of published specifications: where nodes come back, each crash ends in a restart.
        let of_a_bound = |change: &Override| match change.key.as_str() {
            "restarts" if !params.contains_key("restarts") => Override { key: "crashes".into(), ..change.clone() },
            _ => change.clone(),
        };
        let rest: Vec<Override> = rest.into_iter().map(of_a_bound).collect();
        match is_choice {
            true => Asked { names, values: rest, changes: Vec::new() },
            false => Asked { names, values: Vec::new(), changes: rest },
        }
    }

    /// Whether it is one of those named, if any are.
    fn names_it(&self, bound: &Bound) -> bool {
        self.names.is_empty() || self.names.iter().any(|change| change.value == bound.name)
    }

    /// A bound that is not meant, and what it has for what was asked.
    fn told(&self, bound: &Bound, sizes: &Table) -> String {
        let has = |wanted: &Override| Some(format!("{}={}", wanted.key, sizes.get(&wanted.key)?));
        let values: Vec<String> = self.values.iter().filter_map(has).collect();
        format!("{} ({})", bound.name, values.join(", "))
    }
}

/// The bounds asked for, and which are left out, each in a line: the one named, or those of these sizes; else those that claim the
/// mutants; else all that are not long, and go with the variant.
///
/// # Errors
/// If there is none.
pub(super) fn chosen(
    face: &dyn Face,
    all: Vec<Bound>,
    asked: &Asked<'_>,
    variation: &Variation,
    mutants: &[String],
    with_long: bool,
) -> Result<(Vec<Bound>, String), BadInput> {
    let all = if all.is_empty() { vec![unnamed()] } else { all };
    if let Some(missing) = asked.names.iter().find(|change| all.iter().all(|bound| bound.name != change.value)) {
        let known: Vec<&str> = all.iter().map(|bound| bound.name.as_str()).collect();
        return Err(BadInput::flag(format!("--bound: {}", unknown("bound", &missing.value, &known))));
    }
    let claimed = all.iter().any(|bound| claims(bound, mutants));
    let (mut bounds, mut left_out, mut long, mut known) = (Vec::new(), String::new(), Vec::new(), Vec::new());
    for bound in all {
        if !asked.names_it(&bound) {
            continue;
        } else if asked.values.is_empty() && !asked.names.is_empty() {
            bounds.push(bound);
        } else if !asked.values.is_empty() {
            let sizes = sizes(face, &bound, variation)?;
            if asked.values.iter().all(|wanted| wanted.reads_as(sizes.get(&wanted.key))) {
                bounds.push(bound);
            } else {
                known.push(asked.told(&bound, &sizes));
            }
        } else if claimed && !claims(&bound, mutants) {
            continue;
        } else if bound.class == Class::Long && !with_long && !claims(&bound, mutants) {
            long.push(bound.name);
        } else if let Some(why) = variation.misfit(face, &bound.params) {
            left_out.push_str(&format!("left out: {}: {why}\n", bound.name));
        } else {
            bounds.push(bound);
        }
    }
    if bounds.is_empty() && !asked.values.is_empty() {
        let wanted: Vec<String> = asked.values.iter().map(|value| format!("{}={}", value.key, value.value)).collect();
        let message =
            format!("--bound: no bound of {} has {}; known: {}", face.name(), wanted.join(", "), known.join("; "));
        return Err(BadInput::flag(message));
    }
    if !long.is_empty() {
        left_out.push_str(&format!("left out, unless by --long: {}\n", long.join(", ")));
    }
    Ok((bounds, left_out))
}

/// All that can be said of a bound by `--bound`: its own keys and the protocol's parameters, in full.
fn sizes(face: &dyn Face, bound: &Bound, variation: &Variation) -> Result<Table, BadInput> {
    let refused = |why: String| BadInput::file(format!("check {}, bound {}", face.name(), bound.name), why);
    let params = variation.params_of(face, &bound.params)?;
    let mut sizes = face.full_params(&params).map_err(refused)?;
    let own = library::full_bounds(&bound.bounds).map_err(refused)?;
    sizes.extend(Table::try_from(own).map_err(|error| refused(error.to_string()))?);
    Ok(sizes)
}

/// Whether the bound claims all of the mutants.
fn claims(bound: &Bound, mutants: &[String]) -> bool {
    !mutants.is_empty() && mutants.iter().all(|mutant| bound.claims.contains(mutant))
}

/// What is explored of a protocol that declares no bounds.
fn unnamed() -> Bound {
    Bound {
        name: "default".into(),
        story: "The protocol declares no bounds: its default parameters, no faults, messages in any order.".into(),
        class: Class::Quick,
        expect: Default::default(),
        goals: Vec::new(),
        claims: Vec::new(),
        params: Table::new(),
        bounds: Table::new(),
    }
}

impl Override {
    /// Whether it says what the value is.
    fn reads_as(&self, value: Option<&Value>) -> bool {
        value.is_some_and(|value| self.readings().contains(value))
    }
}
