//! Signatures: which failures are one.

use serde::{Deserialize, Serialize};

use crate::canonical::Canonical;
use crate::exact::Move;
use crate::host::Local;
use crate::name::NodeId;
use crate::property::Violation;
use crate::protocol::Protocol;
use crate::world::{Choice, Named};

/// What two failures have in common if they are taken for one: no numbers, no times, no node but by its role.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Signature {
    /// The property that fell.
    pub property: String,
    /// The roles of the nodes that the violation names, in order, each as often as it is named by a node of its own.
    pub roles: Vec<String>,
    /// The shapes of the last steps at those nodes, the violating one last.
    pub steps: Vec<String>,
}

/// Steps that a signature shows, at most.
pub const STEP_COUNT_MAX: usize = 3;

impl Signature {
    /// The signature of `violation` after steps of these shapes, of which the last violates. `names[i]` is node `i`'s.
    pub fn of(names: &[String], violation: &Violation, steps: &[Shape]) -> Self {
        let culprits = culprits(names, &violation.detail);
        let mut roles: Vec<String> = culprits.iter().map(|node| role(&names[node.index()]).to_owned()).collect();
        roles.sort();
        let last = steps.last();
        let counts = |shape: &&Shape| {
            culprits.is_empty() || shape.node.is_some_and(|node| culprits.contains(&node)) || Some(*shape) == last
        };
        let mut shown: Vec<String> =
            steps.iter().rev().filter(counts).take(STEP_COUNT_MAX).map(|shape| shape.words.clone()).collect();
        shown.reverse();
        Signature { property: violation.property.clone(), roles, steps: shown }
    }

    /// Whether the same thing goes wrong: the property, the roles and the violating step. The steps before it differ
    /// between a run and what it is shrunk to, as some of them had no part in it.
    pub fn is_like(&self, other: &Signature) -> bool {
        self.property == other.property && self.roles == other.roles && self.steps.last() == other.steps.last()
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.property)?;
        if !self.roles.is_empty() {
            write!(f, " by {}", self.roles.join(", "))?;
        }
        if !self.steps.is_empty() {
            write!(f, " after {}", self.steps.join("; "))?;
        }
        Ok(())
    }
}

/// What a step is like, without numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Where it happened.
    pub node: Option<NodeId>,
    /// As `deliver Grant manager -> owner`.
    pub words: String,
}

impl Shape {
    /// The shape of a step. `names[i]` is node `i`'s.
    pub fn of<P: Protocol>(names: &[String], what: &Move<P>) -> Self {
        match what {
            Move::Choice(choice) => Self::of_choice::<P>(names, choice),
            Move::Healed => Shape { node: None, words: "healed".into() },
        }
    }

    /// The shape of a choice. A copy that arrives is like its message, and an end that passes like the time that does.
    pub fn of_choice<P: Protocol>(names: &[String], choice: &Named<P>) -> Self {
        let name = |node: &NodeId| role(&names[node.index()]);
        let shape = |node, words: Vec<&str>| {
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            Shape { node, words: words.join(" ") }
        };
        match choice {
            Choice::Deliver(sent) | Choice::Duplicate(sent) => {
                shape(Some(sent.to), vec!["deliver", kind(&sent.message), name(&sent.from), "->", name(&sent.to)])
            }
            Choice::Lose(sent) => {
                shape(None, vec!["lose", kind(&sent.message), name(&sent.from), "->", name(&sent.to)])
            }
            Choice::Cut(from, to) => shape(None, vec!["cut", name(from), "->", name(to)]),
            Choice::Heal(from, to) => shape(None, vec!["heal", name(from), "->", name(to)]),
            Choice::Elapse(_) | Choice::At(_, Local::Lapse(_)) => shape(None, vec!["elapse"]),
            Choice::At(node, local) => {
                let of = match local {
                    Local::Fire(timer) => kind(timer),
                    Local::Decide(decision) => kind(decision),
                    _ => "",
                };
                shape(Some(*node), vec![local.name(), of, "at", name(node)])
            }
        }
    }
}

fn kind<T: Canonical>(value: &T) -> &'static str {
    T::KINDS.get(value.kind()).copied().unwrap_or("")
}

/// A node's name without its number: `owner-2` is an `owner`.
pub fn role(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    if bare.is_empty() { name } else { bare }
}

/// The nodes that a text names, in the order of their ids.
pub fn culprits(names: &[String], text: &str) -> Vec<NodeId> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let words: Vec<&str> = text.split(|c: char| !is_of_word(c)).collect();
    let named = names.iter().enumerate().filter(|(_, name)| words.contains(&name.as_str()));
    named.map(|(index, _)| NodeId(index as u16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["manager", "owner-1", "owner-2", "7"].map(str::to_owned).to_vec()
    }

    fn shape(node: u16, words: &str) -> Shape {
        Shape { node: Some(NodeId(node)), words: words.into() }
    }

    #[test]
    fn a_role_is_a_name_without_its_number() {
        let roles: Vec<&str> = names().iter().map(|name| role(name)).map(|role| &*role.to_owned().leak()).collect();
        assert_eq!(roles, ["manager", "owner", "owner", "7"]);
    }

    #[test]
    fn culprits_are_whole_words() {
        let found = culprits(&names(), "owner-2 holds r0, which owner-1x lost: owner-2");
        assert_eq!(found, [NodeId(2)]);
    }

    #[test]
    fn a_signature_shows_the_last_steps_of_the_culprits_alone() {
        let detail = "owner-1 and owner-2 hold r0".to_owned();
        let violation = Violation { property: "single-copy".into(), detail };
        let steps = [shape(1, "a"), shape(0, "b"), shape(2, "c"), shape(0, "d"), shape(1, "e")];
        let found = Signature::of(&names(), &violation, &steps);
        assert_eq!(found.to_string(), "single-copy by owner, owner after a; c; e");
        let other = Signature::of(&names(), &violation, &steps[3..]);
        assert!(found != other && found.is_like(&other));
    }
}
