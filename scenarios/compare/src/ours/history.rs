//! What clients saw of a register, and whether it can be put in one order.

use seedbed_model::Canonical;

/// A register's value; 0 at first.
pub type Value = u8;

/// What a client did, with what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Operation {
    /// It wrote.
    Write(Value),
    /// It read; the value is known once the read is answered.
    Read(Option<Value>),
}

/// An operation, and how many of each client's operations were answered when it was invoked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Invocation {
    operation: Operation,
    before: Vec<u8>,
}

/// One client's operations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical, Default)]
pub struct Client {
    answered: Vec<Invocation>,
    open: Option<Invocation>,
}

/// All clients' operations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical, Default)]
pub struct History {
    clients: Vec<Client>,
}

impl History {
    /// Client `client` invokes an operation.
    pub fn invoked(&mut self, client: usize, operation: Operation) {
        if self.clients.len() <= client {
            self.clients.resize_with(client + 1, Client::default);
        }
        let count = |(index, other): (usize, &Client)| if index == client { 0 } else { other.answered.len() as u8 };
        let mut before: Vec<u8> = self.clients.iter().enumerate().map(count).collect();
        while before.last() == Some(&0) {
            before.pop();
        }
        self.clients[client].open = Some(Invocation { operation, before });
    }

    /// Client `client` is answered; `value` is what it read.
    pub fn answered(&mut self, client: usize, value: Option<Value>) {
        let Some(mut invocation) = self.clients[client].open.take() else { return };
        if let Operation::Read(read) = &mut invocation.operation {
            *read = value;
        }
        self.clients[client].answered.push(invocation);
    }

    /// Whether some order of the operations, each between its invocation and its answer, explains what was read. An
    /// open operation may have taken effect or not.
    pub fn is_linearizable(&self) -> bool {
        self.extends(&mut vec![0; self.clients.len()], 0)
    }

    /// `placed[c]`: how many of client `c`'s operations are in the order so far.
    fn extends(&self, placed: &mut Vec<usize>, value: Value) -> bool {
        if self.clients.iter().zip(&*placed).all(|(client, placed)| *placed >= client.answered.len()) {
            return true;
        }
        for index in 0..self.clients.len() {
            let client = &self.clients[index];
            let next = client.answered.get(placed[index]);
            let open = client.open.as_ref().filter(|_| placed[index] == client.answered.len());
            let Some(invocation) = next.or(open) else { continue };
            let in_time =
                invocation.before.iter().zip(&*placed).all(|(before, placed)| usize::from(*before) <= *placed);
            let after = match invocation.operation {
                Operation::Write(written) => Some(written),
                Operation::Read(read) => (read.is_none() || read == Some(value)).then_some(value),
            };
            if let (true, Some(after)) = (in_time, after) {
                placed[index] += 1;
                let extends = self.extends(placed, after);
                placed[index] -= 1;
                if extends {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_of_what_was_overwritten_has_no_order() {
        let mut history = History::default();
        history.invoked(0, Operation::Write(1));
        history.answered(0, None);
        history.invoked(1, Operation::Read(None));
        assert!(history.is_linearizable());
        let mut stale = history.clone();
        history.answered(1, Some(1));
        assert!(history.is_linearizable());
        stale.answered(1, Some(0));
        assert!(!stale.is_linearizable());
    }
}
