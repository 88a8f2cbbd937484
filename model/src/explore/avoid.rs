//! Whether a fall can still be avoided from a moment: the search for a run that goes on for ever without it.
//!
//! A run goes on for ever if it comes back to a state after time has passed, or to a state after which nothing need happen any
//! more. All states from which the property has not fallen are searched, depth first and time first, for such a cycle; one is
//! noticed as soon as the path closes it, and at the end every cycle is looked for (the strongly connected parts of the graph,
//! Tarjan 1972). Without one, and with every state searched, each run falls: the fall cannot be avoided.

use std::collections::BTreeMap;

use super::interned::Work;
use super::moment::Moment;
use super::walker::{Pick, Walker};
use super::{Bounds, Clock};
use crate::host::Local;
use crate::protocol::Protocol;
use crate::world::Choice;

/// Ways that are taken for each state of the budget, at most.
const WAYS_OF_STATE: usize = 8;

/// Bytes of distinct components, encoded, that are kept for each state of the budget, at most: where hardly any are shared, as
/// in worlds of large trees and long logs, they are what the search costs. Decoded, they take up to forty times as much.
const BYTES_OF_STATE: usize = 1 << 11;

/// What a search for a run without the fall came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Avoidance {
    /// There is one.
    Avoidable,
    /// There is none, within the bounds.
    Unavoidable,
    /// The budget of states ran out first, or a bound cut the search off.
    Unknown,
}

/// Whether `property` can still be kept from falling after `moment`, and how many states it took to say. Gives up beyond
/// `states` of them, eight times as many ways between them, or 2 KiB of distinct components for each.
///
/// # Errors
/// If the bounds do not fit the protocol or the moment.
pub fn avoidance<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    moment: &Moment<P>,
    property: &str,
    states: usize,
) -> Result<(Avoidance, usize), String> {
    if bounds.clock == Clock::Untimed {
        return Err("clock: without time there is no moment to search from".into());
    }
    let mut walker = Walker::from(protocol, bounds, Some(moment))?;
    // One step that draws many things may have more ways than all that are to be taken.
    walker.store.ways_max = states.saturating_mul(WAYS_OF_STATE).max(1);
    let mut search = Avoiding {
        walker,
        property,
        limit: states,
        known: BTreeMap::new(),
        edges: Vec::new(),
        is_cut: false,
        ways_left: states.saturating_mul(WAYS_OF_STATE),
    };
    let found = search.run();
    match search.walker.store.misfit {
        Some(misfit) => Err(misfit),
        None => Ok((found, search.edges.len())),
    }
}

/// A way on from a state.
#[derive(Clone, Copy)]
struct Edge {
    target: usize,
    /// Whether time passes on it.
    is_time: bool,
}

struct Avoiding<'a, P: Protocol> {
    walker: Walker<P>,
    property: &'a str,
    limit: usize,
    /// States by fingerprint, numbered as they are met.
    known: BTreeMap<u64, usize>,
    /// `edges[state]`.
    edges: Vec<Vec<Edge>>,
    is_cut: bool,
    /// Ways that may still be taken.
    ways_left: usize,
}

/// A state on the path.
struct Frame {
    state: usize,
    /// The ways on that are left, the next one last.
    left: Vec<(Edge, Work)>,
    /// Whether time passed on the way here from the state before.
    by_time: bool,
}

/// What the ways on from a state amount to.
enum Ways {
    /// One of them ends without the fall: nothing need happen any more, or something else fell.
    Ends,
    On(Vec<(Edge, Work)>),
}

impl<P: Protocol> Avoiding<'_, P> {
    fn run(&mut self) -> Avoidance {
        let initial = self.walker.initial[0].row.clone();
        self.walker.store.reset(&initial);
        let landed = self.walker.begin_row();
        let row = self.walker.store.work.clone();
        let first = self.number(landed.fingerprint);
        let mut path: Vec<Frame> = Vec::new();
        // Where a state lies on the path.
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut next = Some((Edge { target: first, is_time: false }, row));
        loop {
            if let Some((edge, row)) = next.take() {
                let Ways::On(left) = self.ways(edge.target, &row) else { return Avoidance::Avoidable };
                places.insert(edge.target, path.len());
                path.push(Frame { state: edge.target, left, by_time: edge.is_time });
            }
            let bytes = self.walker.store.pool.encoded_bytes();
            if self.edges.len() > self.limit
                || self.ways_left == 0
                || self.walker.store.is_cut_short
                || bytes > self.limit.saturating_mul(BYTES_OF_STATE)
            {
                return Avoidance::Unknown;
            }
            let Some(frame) = path.last_mut() else { break };
            let Some((edge, row)) = frame.left.pop() else {
                places.remove(&frame.state);
                path.pop();
                continue;
            };
            match places.get(&edge.target) {
                Some(place) if edge.is_time || path[place + 1..].iter().any(|frame| frame.by_time) => {
                    return Avoidance::Avoidable;
                }
                Some(_) => {}
                None if self.is_met(edge.target) => {}
                None => next = Some((edge, row)),
            }
        }
        match (self.has_cycle(), self.is_cut) {
            (true, _) => Avoidance::Avoidable,
            (false, true) => Avoidance::Unknown,
            (false, false) => Avoidance::Unavoidable,
        }
    }

    fn is_sync(&self, pick: &Pick) -> bool {
        matches!(pick, Choice::At(_, local) if matches!(self.walker.store.local_of(*local).1, Local::Sync(_)))
    }

    fn number(&mut self, fingerprint: u64) -> usize {
        let next = self.known.len();
        *self.known.entry(fingerprint).or_insert(next)
    }

    /// Whether the ways on from the state are known.
    fn is_met(&self, state: usize) -> bool {
        self.edges.get(state).is_some_and(|edges| !edges.is_empty())
    }

    fn ways(&mut self, state: usize, row: &Work) -> Ways {
        let mut picks: Vec<Pick> = Vec::new();
        self.walker.store.reset(row);
        self.walker.options(&mut picks);
        // A disk is never idle for ever: what is written is durable before time passes.
        let is_writing = picks.iter().any(|pick| self.is_sync(pick));
        if is_writing {
            picks.retain(|pick| !matches!(pick, Choice::Elapse(_)));
        }
        let may_wait = !is_writing && !self.walker.store.is_urgent() && self.walker.store.next_end().is_none();
        if picks.is_empty() || may_wait {
            return Ways::Ends;
        }
        let mut ways = Vec::new();
        for pick in &picks {
            loop {
                self.ways_left = self.ways_left.saturating_sub(1);
                if self.ways_left == 0 {
                    // A state may have very many ways: the search is given up in the middle of them.
                    return Ways::On(ways);
                }
                self.walker.store.reset(row);
                self.walker.take(pick);
                match self.walker.store.taken.violation.take() {
                    Some(fell) if fell.property == self.property => {}
                    Some(_) => return Ways::Ends,
                    None => {
                        let landed = self.walker.canonize();
                        self.is_cut |= landed.cut;
                        let target = self.number(landed.fingerprint);
                        let edge = Edge { target, is_time: matches!(pick, Choice::Elapse(_)) };
                        ways.push((edge, self.walker.store.work.clone()));
                    }
                }
                if !self.walker.store.odometer.advance() {
                    break;
                }
            }
        }
        if self.edges.len() < self.known.len() {
            self.edges.resize(self.known.len(), Vec::new());
        }
        self.edges[state] = ways.iter().map(|(edge, _)| *edge).collect();
        Ways::On(ways)
    }

    /// Whether time passes on some cycle of the graph.
    fn has_cycle(&self) -> bool {
        let parts = parts(&self.edges);
        let states = self.edges.iter().enumerate();
        states
            .flat_map(|(state, edges)| edges.iter().map(move |edge| (state, edge)))
            .any(|(state, edge)| edge.is_time && parts[state] == parts[edge.target])
    }
}

/// The strongly connected part of each state, by number.
fn parts(edges: &[Vec<Edge>]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let (mut index, mut low, mut part) = (vec![NEW; edges.len()], vec![0; edges.len()], vec![NEW; edges.len()]);
    let (mut count, mut part_count, mut open) = (0, 0, Vec::new());
    for root in 0..edges.len() {
        let mut path = Vec::new();
        if index[root] == NEW {
            path.push((root, 0));
        }
        while let Some((state, at)) = path.pop() {
            if at == 0 {
                (index[state], low[state]) = (count, count);
                count += 1;
                open.push(state);
            } else {
                let before = edges[state][at - 1].target;
                if part[before] == NEW {
                    low[state] = low[state].min(low[before]);
                }
            }
            if let Some(edge) = edges[state].get(at) {
                path.push((state, at + 1));
                if index[edge.target] == NEW {
                    path.push((edge.target, 0));
                }
                continue;
            }
            if low[state] == index[state] {
                while let Some(member) = open.pop() {
                    part[member] = part_count;
                    if member == state {
                        break;
                    }
                }
                part_count += 1;
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[usize]]) -> Vec<Vec<Edge>> {
        edges
            .iter()
            .map(|targets| targets.iter().map(|target| Edge { target: *target, is_time: true }).collect())
            .collect()
    }

    #[test]
    fn states_that_reach_each_other_are_one_part() {
        let parts = parts(&graph(&[&[1], &[2, 3], &[0], &[4], &[4], &[3]]));
        assert!(parts[0] == parts[1] && parts[1] == parts[2]);
        assert!(parts[3] != parts[0] && parts[3] != parts[4] && parts[5] != parts[3]);
        assert_eq!(parts.iter().max(), Some(&3));
    }
}
