//! The transitions of a search, for what must stay reachable.

use super::space::Entry;

/// Every transition, and the goals reached on them.
#[derive(Default)]
pub(super) struct Graph {
    /// (from, to).
    pub(super) edges: Vec<(u32, u32)>,
    /// (from, goals).
    pub(super) goals: Vec<(u32, u32)>,
}

impl Graph {
    pub(super) fn append(&mut self, mut other: Graph) {
        self.edges.append(&mut other.edges);
        self.goals.append(&mut other.goals);
    }

    pub(super) fn note_goals(&mut self, entries: &[Entry]) {
        self.goals.extend(entries.iter().filter(|entry| entry.goals != 0).map(|entry| (entry.from, entry.goals)));
    }

    /// For each goal, which states can reach it; those of `open` count as reaching everything.
    pub(super) fn cut_off(&self, number_max: usize, goal_count: usize, open: &[u32]) -> Vec<Vec<bool>> {
        let reverse = Reverse::of(&self.edges, number_max);
        let reaching = |bit: usize| {
            let reaching = self.goals.iter().filter(move |(_, goals)| goals >> bit & 1 == 1).map(|(state, _)| *state);
            reverse.closure(reaching.chain(open.iter().copied()))
        };
        (0..goal_count).map(reaching).collect()
    }

    pub(super) fn memory(&self) -> usize {
        (self.edges.capacity() + self.goals.capacity()) * size_of::<(u32, u32)>()
    }
}

/// Predecessors of every state, flat.
struct Reverse {
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl Reverse {
    fn of(edges: &[(u32, u32)], count: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        for (_, to) in edges {
            starts[*to as usize + 1] += 1;
        }
        for index in 1..=count {
            starts[index] += starts[index - 1];
        }
        let mut at = starts.clone();
        let mut sources = vec![0u32; edges.len()];
        for (from, to) in edges {
            sources[at[*to as usize] as usize] = *from;
            at[*to as usize] += 1;
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
