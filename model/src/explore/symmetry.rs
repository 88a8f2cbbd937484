//! Interchangeable nodes: of a row and its permutations, the least stands for all.
//!
//! What a component becomes is remembered for all permutations at once, its weights side by side: the weight of a permuted
//! row is a sum, and only the least row is made. A node and the monitor are permuted as a whole, since a part alone has no
//! type here.

use std::collections::BTreeMap;

use super::canonize::fingerprint;
use super::interned::Interned;
use super::layout::Block;
use super::memo::{Dependencies, Memo};
use super::pool::{Id, Permuting, Pool};
use crate::canonical::Canonical;
use crate::name::NodeId;
use crate::protocol::Protocol;

/// The permutations of a protocol's nodes, and what they made of the components met so far.
pub(super) struct Symmetry {
    /// All within the classes of interchangeable nodes, but the identity: `[i]` is what node `i` becomes.
    permutations: Vec<Vec<NodeId>>,
    /// `image_of[id]`: the images of a component that is permuted alone.
    image_of: Vec<Option<Images>>,
    /// By the first slot of a block and what is in it: an index of `blocks`.
    block_memo: Memo<()>,
    blocks: Vec<Images>,
    cells: Vec<Id>,
    weights: Vec<u64>,
    /// The row being worked on.
    row: Vec<Images>,
    /// What each permutation makes of its weight.
    sums: Vec<u64>,
}

/// What the permutations make of a component or a block, one after the other.
#[derive(Debug, Clone, Copy)]
struct Images {
    /// Of the components, as many for each permutation as it consists of.
    cells: u32,
    /// Of the weights, one for each permutation.
    weights: u32,
}

/// Those of eight nodes, 40,320, take tenths of a second in each state; those of nine, seconds.
const PERMUTATION_COUNT_MAX: u64 = 50_000;

impl Symmetry {
    pub(super) fn none() -> Self {
        Self::by(Vec::new())
    }

    /// Of all nodes that the protocol calls interchangeable.
    ///
    /// # Errors
    /// If there are too many permutations.
    pub(super) fn of<P: Protocol>(protocol: &P) -> Result<Self, String> {
        let orders_of = |class: &Vec<NodeId>| (1..=class.len() as u64).fold(1, u64::saturating_mul);
        let count = protocol.symmetry().iter().map(orders_of).fold(1, u64::saturating_mul);
        if count > PERMUTATION_COUNT_MAX {
            return Err(format!(
                "interchangeable nodes have {count} permutations or more, and no more than {PERMUTATION_COUNT_MAX} can be \
                 tried in each state; set `symmetry` to false (--no-symmetry)"
            ));
        }
        let identity: Vec<NodeId> = (0..protocol.nodes().len() as u16).map(NodeId).collect();
        let mut all = vec![identity.clone()];
        for class in protocol.symmetry() {
            let orders = orders(&class);
            all = all.iter().flat_map(|base| orders.iter().map(|order| permuted(base, &class, order))).collect();
        }
        all.retain(|permutation| *permutation != identity);
        Ok(Self::by(all))
    }

    fn by(permutations: Vec<Vec<NodeId>>) -> Self {
        Symmetry {
            permutations,
            image_of: Vec::new(),
            block_memo: Memo::new(),
            blocks: Vec::new(),
            cells: Vec::new(),
            weights: Vec::new(),
            row: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Another worker's.
    pub(super) fn fork(&self) -> Self {
        Self::by(self.permutations.clone())
    }

    /// Whether no nodes can be interchanged.
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.permutations.is_empty()
    }

    /// The row being worked on becomes the least of its permutations, by fingerprint, which is returned.
    pub(super) fn make_least<P: Protocol>(&mut self, store: &mut Interned<P>) -> u64 {
        self.weigh(store);
        let mut best = (fingerprint(store.work.weight), None);
        for (index, sum) in self.sums.iter().enumerate() {
            let candidate = fingerprint(*sum);
            if candidate < best.0 {
                best = (candidate, Some(index));
            }
        }
        if let Some(index) = best.1 {
            self.permute(index, store);
            debug_assert_eq!(store.work.weight, store.weight_of_work(), "images weigh what they were said to");
        }
        best.0
    }

    /// Finds the images of all that is in the row, and what they weigh together.
    fn weigh<P: Protocol>(&mut self, store: &mut Interned<P>) {
        let (faults, clocks, deadlines) = (store.layout.faults, store.layout.clocks, store.layout.deadlines);
        self.row.clear();
        self.sums.clear();
        self.sums.resize(self.permutations.len(), store.pool.weight(store.work.fixed[usize::from(deadlines)]));
        for node in store.layout.node_ids() {
            let images = self.block(store.layout.nodes[node.index()], store, |permutations, store| {
                let host = store.host(node);
                images(permutations, &host, store, |permutation, store| {
                    store.layout.nodes[permutation[node.index()].index()]
                })
            });
            self.add(images);
            let slot = store.layout.timers[node.index()];
            let images = self.single(store.work.fixed[usize::from(slot)], store, |permutation, id, store| {
                let mut timers = store.timers(id).clone();
                timers.rename(&mut Permuting(permutation));
                store.intern_timers(store.layout.timers[permutation[node.index()].index()], timers)
            });
            self.add(images);
        }
        let monitor = store.layout.monitor;
        let monitor = self
            .block(monitor, store, |permutations, store| images(permutations, &store.monitor(), store, |_, _| monitor));
        self.add(monitor);
        let images = self.single(store.work.fixed[usize::from(faults)], store, |permutation, id, store| {
            let mut value = store.faults_of(id).clone();
            value.rename(&mut Permuting(permutation));
            store.intern_faults(value)
        });
        self.add(images);
        let images = self.single(store.work.fixed[usize::from(clocks)], store, |permutation, id, store| {
            let mut value: BTreeMap<NodeId, i64> = store.decode_split(&[id]);
            value.rename(&mut Permuting(permutation));
            store.pool.intern_value(clocks.into(), &value)
        });
        self.add(images);
        for at in 0..store.work.flights.len() {
            let images = self.single(store.work.flights[at], store, |permutation, id, store| {
                store.rename_flight(id, &mut Permuting(permutation))
            });
            self.add(images);
        }
    }

    #[inline]
    fn add(&mut self, images: Images) {
        let weights = &self.weights[images.weights as usize..][..self.sums.len()];
        for (sum, weight) in self.sums.iter_mut().zip(weights) {
            *sum = sum.wrapping_add(*weight);
        }
        self.row.push(images);
    }

    /// The row becomes what the permutation makes of it.
    fn permute<P: Protocol>(&self, index: usize, store: &mut Interned<P>) {
        let permutation = &self.permutations[index];
        let (layout, work) = (&store.layout, &mut store.work);
        let mut row = self.row.iter().map(|images| images.cells as usize);
        let mut next = || row.next().expect("the row was weighed");
        for node in layout.node_ids() {
            let to = permutation[node.index()].index();
            let block = layout.nodes[to];
            let len = usize::from(block.len);
            work.fixed[block.range()].copy_from_slice(&self.cells[next() + index * len..][..len]);
            work.fixed[usize::from(layout.timers[to])] = self.cells[next() + index];
        }
        let len = usize::from(layout.monitor.len);
        work.fixed[layout.monitor.range()].copy_from_slice(&self.cells[next() + index * len..][..len]);
        work.fixed[usize::from(layout.faults)] = self.cells[next() + index];
        work.fixed[usize::from(layout.clocks)] = self.cells[next() + index];
        work.flights.iter_mut().for_each(|flight| *flight = self.cells[next() + index]);
        work.weight = self.sums[index];
        work.tags_changed = false;
    }

    #[inline]
    fn block<P: Protocol>(
        &mut self,
        block: Block,
        store: &mut Interned<P>,
        compute: impl FnOnce(&[Vec<NodeId>], &mut Interned<P>) -> Vec<Id>,
    ) -> Images {
        let fixed = &store.work.fixed;
        match self.block_memo.find(block.start.into(), |at| fixed[usize::from(at)], |_, ()| false) {
            Some(known) => self.blocks[known as usize],
            None => self.learn_block(block, store, compute),
        }
    }

    #[cold]
    fn learn_block<P: Protocol>(
        &mut self,
        block: Block,
        store: &mut Interned<P>,
        compute: impl FnOnce(&[Vec<NodeId>], &mut Interned<P>) -> Vec<Id>,
    ) -> Images {
        let input = block.start.into();
        let cells = store.learn_images(block, |store| compute(&self.permutations, store));
        let depends = Dependencies { slots: block.slots().collect(), timers: None };
        let images = self.keep(&cells, &store.pool);
        let fixed = &store.work.fixed;
        self.block_memo.insert(input, depends, self.blocks.len() as u32, |at| fixed[usize::from(at)], |_, ()| false);
        self.blocks.push(images);
        images
    }

    /// Keeps images, as many components for each permutation.
    fn keep(&mut self, cells: &[Id], pool: &Pool) -> Images {
        let place = |len: usize| u32::try_from(len).expect("images of all components take less than 16 GiB");
        let images = Images { cells: place(self.cells.len()), weights: place(self.weights.len()) };
        let weight = |image: &[Id]| image.iter().map(|id| pool.weight(*id)).fold(0, u64::wrapping_add);
        self.weights.extend(cells.chunks_exact(cells.len() / self.permutations.len()).map(weight));
        self.cells.extend_from_slice(cells);
        images
    }

    #[inline]
    fn single<P: Protocol>(
        &mut self,
        id: Id,
        store: &mut Interned<P>,
        compute: impl Fn(&[NodeId], Id, &mut Interned<P>) -> Id,
    ) -> Images {
        if let Some(Some(known)) = self.image_of.get(id as usize) {
            return *known;
        }
        let image = |permutation: &Vec<NodeId>| compute(permutation, id, store);
        let cells: Vec<Id> = self.permutations.iter().map(image).collect();
        let images = self.keep(&cells, &store.pool);
        if self.image_of.len() <= id as usize {
            self.image_of.resize(id as usize + 1, None);
        }
        self.image_of[id as usize] = Some(images);
        images
    }
}

/// What the permutations make of a value of parts, one after the other.
fn images<P: Protocol, T: Canonical + Clone>(
    permutations: &[Vec<NodeId>],
    value: &T,
    store: &mut Interned<P>,
    place: impl Fn(&[NodeId], &Interned<P>) -> Block,
) -> Vec<Id> {
    let image = |permutation: &Vec<NodeId>| {
        let mut value = value.clone();
        value.rename(&mut Permuting(permutation));
        store.intern_split(place(permutation, store), &mut value)
    };
    permutations.iter().flat_map(image).collect()
}

fn permuted(base: &[NodeId], class: &[NodeId], order: &[NodeId]) -> Vec<NodeId> {
    let mut permutation = base.to_vec();
    for (node, becomes) in class.iter().zip(order) {
        permutation[node.index()] = *becomes;
    }
    permutation
}

fn orders(class: &[NodeId]) -> Vec<Vec<NodeId>> {
    if class.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for index in 0..class.len() {
        let mut rest = class.to_vec();
        let first = rest.remove(index);
        for mut order in orders(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}
