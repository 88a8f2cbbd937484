//! Runs without end that are weakly fair and owe something for ever: a way to a state, and a cycle from it.
//!
//! Within a set of states, a run that goes round for ever visits, in the end, states of one strongly connected component
//! alone. It can be fair if and only if each action that is possible in every state of the component is taken on some
//! transition within it: going round all of the component then takes or forgoes each action again and again. So one look at
//! each component decides, and no cycle needs to be enumerated.

use std::collections::VecDeque;
use std::ops::Range;

use super::graph::Edge;
use super::search::{Fall, Turn};
use super::table::{ROOT, Table};
use crate::property::Violation;

/// No component yet, or none at all.
const NONE: u32 = u32::MAX;

/// The states that owe a claim, as a graph of their own.
pub(super) struct Owed<'g> {
    table: &'g Table,
    /// In the order of the states they start from.
    edges: &'g [Edge],
    /// `edges[starts[s]..starts[s + 1]]` start from state `s`.
    starts: Vec<u32>,
    inside: Vec<bool>,
    /// The state before each on a shortest way from a start.
    before: Vec<u32>,
}

impl<'g> Owed<'g> {
    /// The states of `owing`, but for those of `open`, which may lead anywhere. If `once`, only those that a start leads
    /// to through states of `owing` alone.
    pub(super) fn new(
        table: &'g Table,
        edges: &'g [Edge],
        owing: impl Iterator<Item = u32>,
        open: &[u32],
        once: bool,
    ) -> Self {
        let count = table.number_max();
        let mut starts = vec![0u32; count + 1];
        edges.iter().for_each(|edge| starts[edge.from as usize + 1] += 1);
        (1..=count).for_each(|state| starts[state] += starts[state - 1]);
        let mut inside = vec![false; count];
        owing.for_each(|state| inside[state as usize] = true);
        open.iter().for_each(|state| inside[*state as usize] = false);
        let states = (0..count as u32).map(|state| if table.holds(state) { table.parent(state) } else { NONE });
        let mut owed = Owed { table, edges, starts, inside, before: states.collect() };
        if once {
            owed.keep_what_starts_lead_to();
        }
        owed
    }

    /// A weakly fair run that stays inside for ever, on a shortest way there.
    pub(super) fn fall(&self, property: &str) -> Option<Fall> {
        let stuck = self.states().filter(|state| self.actions(*state).next().is_none());
        let candidates = stuck.chain(self.fair_components());
        let entry = candidates.min_by_key(|state| (self.depth_of(*state), *state))?;
        let cycle = self.cycle_from(entry);
        let detail = if cycle.is_empty() {
            "what is owed after these steps is owed for ever: nothing that must happen is left to happen".to_owned()
        } else {
            "what is owed after these steps is owed for ever, as the last of them repeat".to_owned()
        };
        let turns: Vec<u32> = cycle.iter().map(|edge| edge.to).collect();
        let turns = self.table.fingerprints(&turns).into_iter().zip(&cycle);
        Some(Fall {
            violation: Violation { property: property.to_owned(), detail },
            path: self.table.fingerprints(&self.way_to(entry)),
            in_state: true,
            cycle: Some(turns.map(|(fingerprint, edge)| Turn { fingerprint, action: edge.action }).collect()),
        })
    }

    fn states(&self) -> impl Iterator<Item = u32> {
        (0..self.inside.len() as u32).filter(|state| self.inside[*state as usize])
    }

    fn range(&self, state: u32) -> Range<usize> {
        self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize
    }

    /// The actions possible in a state that must be taken in the end if they stay possible.
    fn actions(&self, state: u32) -> impl Iterator<Item = u32> {
        self.edges[self.range(state)].iter().map(|edge| edge.action).filter(|action| *action != 0)
    }

    fn can(&self, state: u32, action: u32) -> bool {
        self.actions(state).any(|other| other == action)
    }

    fn way_to(&self, state: u32) -> Vec<u32> {
        let mut way = vec![state];
        while self.before[way[way.len() - 1] as usize] != ROOT {
            way.push(self.before[way[way.len() - 1] as usize]);
        }
        way.reverse();
        way
    }

    fn depth_of(&self, state: u32) -> usize {
        self.way_to(state).len()
    }

    fn keep_what_starts_lead_to(&mut self) {
        let roots = self.states().filter(|state| self.before[*state as usize] == ROOT);
        let mut queue: VecDeque<u32> = roots.collect();
        let mut kept = vec![false; self.inside.len()];
        queue.iter().for_each(|root| kept[*root as usize] = true);
        while let Some(state) = queue.pop_front() {
            for at in self.range(state) {
                let to = self.edges[at].to;
                if self.inside[to as usize] && !std::mem::replace(&mut kept[to as usize], true) {
                    self.before[to as usize] = state;
                    queue.push_back(to);
                }
            }
        }
        self.inside = kept;
    }

    /// Of each component in which a run can go round fairly for ever, the state nearest to a start.
    fn fair_components(&self) -> impl Iterator<Item = u32> {
        let Components { of, members } = Components::of(self);
        members.into_iter().filter_map(move |members| {
            let number = of[members[0] as usize];
            let is_within = |edge: &&Edge| of[edge.to as usize] == number;
            let within = |state: &u32| self.edges[self.range(*state)].iter().filter(is_within);
            if members.iter().all(|state| within(state).next().is_none()) {
                return None;
            }
            let mut starved: Vec<u32> = self.actions(members[0]).collect();
            for state in &members {
                starved.retain(|action| self.can(*state, *action));
                within(state).for_each(|edge| starved.retain(|action| *action != edge.action));
            }
            let entry = members.iter().min_by_key(|state| (self.depth_of(**state), **state));
            entry.copied().filter(|_| starved.is_empty())
        })
    }

    /// A cycle through `entry` that takes or forgoes each action possible there. Empty if none is.
    fn cycle_from(&self, entry: u32) -> Vec<Edge> {
        let mut wanted: Vec<u32> = self.actions(entry).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let component = Components::of(self).of;
        let mut cycle: Vec<Edge> = Vec::new();
        let mut at = entry;
        while let Some(action) = wanted.pop() {
            let serves = |edge: &Edge| edge.action == action || !self.can(edge.to, action);
            if !cycle.iter().any(serves) {
                cycle.extend(self.way_on(&component, at, serves));
                at = cycle[cycle.len() - 1].to;
            }
        }
        if at != entry || cycle.is_empty() {
            cycle.extend(self.way_on(&component, at, |edge| edge.to == entry));
        }
        cycle
    }

    /// The shortest way from `state` within its component to and over an edge that `ends` it.
    fn way_on(&self, component: &[u32], state: u32, ends: impl Fn(&Edge) -> bool) -> Vec<Edge> {
        let mut came_by: Vec<(u32, usize)> = Vec::new();
        let mut seen = vec![false; self.inside.len()];
        let mut queue = VecDeque::from([(state, usize::MAX)]);
        seen[state as usize] = true;
        while let Some((state, last)) = queue.pop_front() {
            for at in self.range(state) {
                let edge = &self.edges[at];
                if component[edge.to as usize] != component[state as usize] {
                    continue;
                }
                if ends(edge) {
                    let mut way = vec![*edge];
                    let mut last = last;
                    while last != usize::MAX {
                        let (edge, before) = came_by[last];
                        way.push(self.edges[edge as usize]);
                        last = before;
                    }
                    way.reverse();
                    return way;
                }
                if !std::mem::replace(&mut seen[edge.to as usize], true) {
                    came_by.push((at as u32, last));
                    queue.push_back((edge.to, came_by.len() - 1));
                }
            }
        }
        unreachable!("every edge of a strongly connected component can be reached from each of its states")
    }
}

/// The strongly connected components of the states inside (Tarjan), without recursion.
struct Components {
    /// By state; [`NONE`] outside.
    of: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl Components {
    fn of(owed: &Owed<'_>) -> Components {
        let count = owed.inside.len();
        let mut components = Components { of: vec![NONE; count], members: Vec::new() };
        let (mut index, mut low, mut next) = (vec![NONE; count], vec![NONE; count], 0);
        let mut stack = Vec::new();
        for root in owed.states() {
            if index[root as usize] != NONE {
                continue;
            }
            let mut frames = vec![(root, owed.range(root))];
            (index[root as usize], low[root as usize], next) = (next, next, next + 1);
            stack.push(root);
            while let Some((state, edges)) = frames.last_mut() {
                let state = *state;
                if let Some(at) = edges.next() {
                    let to = owed.edges[at].to;
                    if !owed.inside[to as usize] {
                        continue;
                    }
                    if index[to as usize] == NONE {
                        (index[to as usize], low[to as usize], next) = (next, next, next + 1);
                        stack.push(to);
                        frames.push((to, owed.range(to)));
                    } else if components.of[to as usize] == NONE {
                        low[state as usize] = low[state as usize].min(index[to as usize]);
                    }
                    continue;
                }
                frames.pop();
                if let Some((parent, _)) = frames.last() {
                    low[*parent as usize] = low[*parent as usize].min(low[state as usize]);
                }
                if low[state as usize] == index[state as usize] {
                    components.close(state, &mut stack);
                }
            }
        }
        components
    }

    /// The states of `stack` from `state` on are a component.
    fn close(&mut self, state: u32, stack: &mut Vec<u32>) {
        let at = stack.iter().rposition(|other| *other == state).expect("a state is on the stack until it is closed");
        let members = stack.split_off(at);
        members.iter().for_each(|member| self.of[*member as usize] = self.members.len() as u32);
        self.members.push(members);
    }
}
