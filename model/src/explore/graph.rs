//! The transitions of a search, for claims about where states lead.

use super::fairness::Owed;
use super::search::Fall;
use super::space::{Claim, ClaimKind, Entry};
use super::table::Table;
use crate::property::Violation;

/// A transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    /// What it takes; see [`super::Successors::act`].
    pub(super) action: u32,
}

/// Every transition, the goals reached on them, and what states owe.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) edges: Vec<Edge>,
    /// (from, goals).
    pub(super) goals: Vec<(u32, u32)>,
    /// (state, claims).
    pub(super) owing: Vec<(u32, u32)>,
}

impl Graph {
    pub(super) fn append(&mut self, mut other: Graph) {
        self.edges.append(&mut other.edges);
        self.goals.append(&mut other.goals);
        self.owing.append(&mut other.owing);
    }

    pub(super) fn note_goals(&mut self, entries: &[Entry]) {
        self.goals.extend(entries.iter().filter(|entry| entry.goals != 0).map(|entry| (entry.from, entry.goals)));
    }

    pub(super) fn memory(&self) -> usize {
        self.edges.capacity() * size_of::<Edge>()
            + (self.goals.capacity() + self.owing.capacity()) * size_of::<(u32, u32)>()
    }

    /// The first of `claims` that falls, and the shortest way there. The states of `open` were not expanded, or not
    /// wholly: they count as leading anywhere.
    pub(super) fn judge(mut self, table: &Table, claims: &[Claim], open: &[u32]) -> Option<Fall> {
        let reachable = claims.iter().any(|claim| claim.kind == ClaimKind::Reachable);
        let reverse = reachable.then(|| Reverse::of(&self.edges, table.number_max()));
        let reachable = claims.iter().enumerate().filter(|(_, claim)| claim.kind == ClaimKind::Reachable);
        let cut_off = reachable.zip(&reverse).find_map(|((bit, claim), reverse)| {
            let reaching = self.goals.iter().filter(|(_, goals)| goals >> bit & 1 == 1).map(|(state, _)| *state);
            let reached = reverse.closure(reaching.chain(open.iter().copied()));
            let states = reached.iter().enumerate().filter(|(_, reached)| !**reached).map(|(state, _)| state as u32);
            let state = states.filter(|state| table.holds(*state)).min_by_key(|state| table.depth_of(*state))?;
            let detail = format!("after these steps `{}` cannot be reached any more, whatever happens", claim.name);
            let violation = Violation { property: claim.name.to_owned(), detail };
            Some(Fall { violation, path: table.path_to(state), in_state: true, cycle: None })
        });
        cut_off.or_else(|| {
            // Stable: what a state leads to stays in the order it was found.
            self.edges.sort_by_key(|edge| edge.from);
            let eventual = claims.iter().enumerate().filter(|(_, claim)| claim.kind != ClaimKind::Reachable);
            eventual
                .filter_map(|(bit, claim)| {
                    let owing = self.owing.iter().filter(|(_, claims)| claims >> bit & 1 == 1).map(|(state, _)| *state);
                    Owed::new(table, &self.edges, owing, open, claim.kind == ClaimKind::PaidOnce).fall(claim.name)
                })
                .next()
        })
    }
}

/// Predecessors of every state, flat.
struct Reverse {
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl Reverse {
    fn of(edges: &[Edge], count: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        for edge in edges {
            starts[edge.to as usize + 1] += 1;
        }
        for index in 1..=count {
            starts[index] += starts[index - 1];
        }
        let mut at = starts.clone();
        let mut sources = vec![0u32; edges.len()];
        for edge in edges {
            sources[at[edge.to as usize] as usize] = edge.from;
            at[edge.to as usize] += 1;
        }
        Reverse { starts, sources }
    }

    /// Which states can reach one of `seeds`.
    fn closure(&self, seeds: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut reached = vec![false; self.starts.len() - 1];
        let mut stack: Vec<u32> = Vec::new();
        let mut push = |state: u32, stack: &mut Vec<u32>| {
            if !std::mem::replace(&mut reached[state as usize], true) {
                stack.push(state);
            }
        };
        for seed in seeds {
            push(seed, &mut stack);
        }
        while let Some(state) = stack.pop() {
            let range = self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize;
            for &source in &self.sources[range] {
                push(source, &mut stack);
            }
        }
        reached
    }
}
