//! Threads that work together again and again: a search has thousands of rounds, too many to start threads in each.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::Scope;

use super::sharing::look;

/// Work that one thread does. It owns what it works on, and brings it back.
pub(super) type Task<'env, T> = Box<dyn FnOnce() -> T + Send + 'env>;

/// Some threads that wait for work. They end when the crew is dropped.
pub(super) struct Crew<'env> {
    hands: Vec<Sender<Task<'env, ()>>>,
}

impl<'env> Crew<'env> {
    /// A crew of `count`, the caller among them.
    pub(super) fn new<'scope>(scope: &'scope Scope<'scope, 'env>, count: usize) -> Self {
        let hand = |_| {
            let (sender, tasks) = channel::<Task<'env, ()>>();
            scope.spawn(move || {
                while let Some(task) = soon(&tasks) {
                    task();
                }
            });
            sender
        };
        Crew { hands: (1..count).map(hand).collect() }
    }

    /// The caller alone.
    pub(super) fn alone() -> Self {
        Crew { hands: Vec::new() }
    }

    /// Does the tasks side by side, the first of them here; one after the other, where the caller is alone. Their results, in
    /// their order.
    ///
    /// # Panics
    /// If a task panics, or a crew of several has fewer hands than there are tasks.
    pub(super) fn together<T: Send + 'env>(&self, tasks: impl IntoIterator<Item = Task<'env, T>>) -> Vec<T> {
        let mut tasks = tasks.into_iter();
        if self.hands.is_empty() {
            return tasks.map(|task| task()).collect();
        }
        let Some(own) = tasks.next() else { return Vec::new() };
        let (sender, done) = channel();
        let mut results = vec![None];
        for (number, task) in (1..).zip(tasks) {
            let sender = sender.clone();
            let task: Task<'env, ()> = Box::new(move || {
                // The crew waits for it: the send fails only if the crew is panicking.
                let _ = sender.send((number, task()));
            });
            self.hands[number - 1].send(task).expect("a hand waits for work");
            results.push(None);
        }
        drop(sender);
        results[0] = Some(own());
        while let Some((number, result)) = soon(&done) {
            results[number] = Some(result);
        }
        results.into_iter().map(|result| result.expect("a task panicked")).collect()
    }
}

/// Most parts of a round are over before one has looked so often.
const LOOK_COUNT: usize = 10_000;

/// What comes next; `None` if nothing will.
fn soon<T>(receiver: &Receiver<T>) -> Option<T> {
    let found = look(LOOK_COUNT, || match receiver.try_recv() {
        Ok(next) => Some(Some(next)),
        Err(TryRecvError::Disconnected) => Some(None),
        Err(TryRecvError::Empty) => None,
    });
    found.unwrap_or_else(|| receiver.recv().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_tasks() {
        let text = String::from("borrowed from outside");
        let text = text.as_str();
        std::thread::scope(|scope| {
            let crew = Crew::new(scope, 4);
            for round in 0..100_usize {
                let task = |number: usize| -> Task<'_, usize> { Box::new(move || number * round + text.len()) };
                let found = crew.together((0..1 + round % 4).map(task));
                let expected: Vec<usize> = (0..1 + round % 4).map(|number| number * round + text.len()).collect();
                assert_eq!(found, expected);
            }
            assert!(crew.together(std::iter::empty::<Task<'_, ()>>()).is_empty());
        });
    }
}
