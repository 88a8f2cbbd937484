//! What the workers of a search compute for each other: who does not remember something asks the others, and computes it
//! if none of them has. And how they wait for each other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::memo::{Dependencies, Memo};
use super::pool::Id;

/// Looks up to `count` times for what others will soon have done: to fall asleep and be woken takes longer than most waits.
pub(super) fn look<T>(count: usize, mut find: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..count {
        let found = find();
        if found.is_some() {
            return found;
        }
        std::hint::spin_loop();
    }
    None
}

/// What workers share is held for less time than so many looks take.
const LOOK_COUNT: usize = 1000;

/// A worker that panicked leaves what workers share whole: an entry is pushed last of all.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    let free = look(LOOK_COUNT, || match shared.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    free.unwrap_or_else(|| shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The results of one function, as all workers know it together. What they are made of means the same to all of them.
pub(super) struct Shared<T, V>(Arc<Mutex<Told<T, V>>>);

struct Told<T, V> {
    /// To an index of `results`.
    memo: Memo<T>,
    results: Vec<(Dependencies<T>, V)>,
}

impl<T: Clone + PartialEq, V: Clone> Shared<T, V> {
    pub(super) fn new() -> Self {
        Shared(Arc::new(Mutex::new(Told { memo: Memo::new(), results: Vec::new() })))
    }

    /// Another worker's.
    pub(super) fn fork(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }

    /// What another worker found for `input` and a row; `slot` and `armed` as for [`Memo::find`].
    pub(super) fn ask(
        &self,
        input: u32,
        slot: impl Fn(u16) -> Id,
        armed: impl Fn(Id, &T) -> bool,
    ) -> Option<(Dependencies<T>, V)> {
        if self.is_alone() {
            return None;
        }
        let mut told = lock(&self.0);
        let index = told.memo.find(input, slot, armed)?;
        Some(told.results[index as usize].clone())
    }

    /// Tells the others.
    pub(super) fn tell(
        &self,
        input: u32,
        depends: &Dependencies<T>,
        result: &V,
        slot: impl Fn(u16) -> Id,
        armed: impl Fn(Id, &T) -> bool,
    ) {
        if self.is_alone() {
            return;
        }
        let mut told = lock(&self.0);
        // Another may have found it meanwhile.
        if told.memo.find(input, &slot, &armed).is_none() {
            let index = told.results.len() as u32;
            told.memo.insert(input, depends.clone(), index, slot, armed);
            told.results.push((depends.clone(), result.clone()));
        }
    }

    fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row in which each slot holds its own number.
    fn own(slot: u16) -> Id {
        slot.into()
    }

    fn depends() -> Dependencies<char> {
        Dependencies { slots: vec![2, 5], timers: Some((7, vec!['a', 'b'])) }
    }

    #[test]
    fn what_one_worker_tells_the_others_find_in_rows_that_agree_on_it() {
        let one = Shared::new();
        let other = one.fork();
        let is_a = |_: Id, timer: &char| *timer == 'a';
        one.tell(3, &depends(), &"result", own, is_a);
        other.tell(3, &depends(), &"found meanwhile", own, is_a);
        assert_eq!(other.ask(3, own, is_a), Some((depends(), "result")));
        assert_eq!(one.ask(4, own, is_a), None, "another input");
        assert_eq!(one.ask(3, |slot| if slot == 5 { 6 } else { own(slot) }, is_a), None, "another component");
        assert!(one.ask(3, |slot| if slot == 4 { 6 } else { own(slot) }, is_a).is_some(), "one that does not matter");
        let other_timers = |id: Id| move |slot| if slot == 7 { id } else { own(slot) };
        assert_eq!(one.ask(3, other_timers(8), |_, timer| *timer == 'b'), None, "another timer is armed");
        assert!(one.ask(3, other_timers(9), is_a).is_some(), "of other timers the same are armed");
    }

    #[test]
    fn who_is_alone_tells_nobody() {
        let alone = Shared::new();
        alone.tell(3, &depends(), &"result", own, |_, _| false);
        let other = alone.fork();
        assert_eq!(other.ask(3, own, |_, _| false), None);
    }
}
