//! Pieces of work side by side, and what comes of them in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Does the pieces on so many threads and hands on what comes of each, with its index, in their order and on this thread: up
/// to the first that fails. `is_over` is raised then, for those that were begun by that time, and at the end.
///
/// # Errors
/// The first one, of a piece or of who it is handed to.
pub(crate) fn abreast<T: Sync, R: Send, E: Send>(
    pieces: &[T],
    workers: usize,
    is_over: &AtomicBool,
    work: impl Fn(usize, &T) -> Result<R, E> + Sync,
    hand_on: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    let (next, work) = (&next, &work);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(pieces.len()) {
            let sender = sender.clone();
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(piece) = pieces.get(index) else { return };
                    if sender.send((index, work(index, piece))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let ended = in_order(&receiver, hand_on);
        is_over.store(true, Ordering::Relaxed);
        ended
    })
}

/// Hands on what arrives in order of its index.
fn in_order<R, E>(
    receiver: &mpsc::Receiver<(usize, Result<R, E>)>,
    mut hand_on: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let (mut early, mut next) = (BTreeMap::new(), 0);
    for (index, done) in receiver {
        early.insert(index, done);
        while let Some(done) = early.remove(&next) {
            hand_on(next, done?)?;
            next += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_handed_on_in_order_up_to_the_first_error() {
        let pieces: Vec<u32> = (0..100).collect();
        let done = |refused: u32| {
            let mut handed = Vec::new();
            let work = |_: usize, piece: &u32| if *piece == refused { Err(*piece) } else { Ok(piece * 2) };
            let ended = abreast(&pieces, 3, &AtomicBool::new(false), work, |index, twice| {
                handed.push((index as u32, twice));
                Ok(())
            });
            (ended, handed)
        };
        let all: Vec<(u32, u32)> = (0..100).map(|piece| (piece, piece * 2)).collect();
        assert_eq!(done(100), (Ok(()), all.clone()));
        assert_eq!(done(40), (Err(40), all[..40].to_vec()));
    }
}
