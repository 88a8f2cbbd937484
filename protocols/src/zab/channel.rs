//! Connections: packets in order, or none any more (Zab §2: "we assume TCP channels").
//!
//! The world's network reorders and loses. A packet says the how manieth of its direction it is, and one that does not follow
//! on the last is not read: it has no effect at all. Where the network keeps the order of a link (the simulator's `fifo`) that
//! never happens but for a loss, after which the connection is stuck, until a timer ends it; in the explorer such a packet
//! stays in flight (`keep-ignored`), and is read when it is its turn. Rejected: a buffer for packets that come early, which
//! would make of each order of arrival a state.

use seedbed_model::{Canonical, Context, NodeId};

use super::Zab;
use super::message::{Message, Packet, Round};

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Channel {
    /// Which: the learner's round.
    pub connection: Round,
    /// Packets sent from this end.
    sent: u32,
    /// Packets read at this end.
    read: u32,
}

impl Channel {
    /// A new one.
    pub fn open(connection: Round) -> Self {
        Channel { connection, sent: 0, read: 0 }
    }

    /// Sends the next packet.
    pub fn send(&mut self, to: NodeId, packet: Packet, cx: &mut Context<'_, Zab>) {
        let message = self.next(packet);
        cx.send(to, message);
    }

    /// The next packet, to be sent later; nothing else is sent before it.
    pub fn next(&mut self, packet: Packet) -> Message {
        self.sent += 1;
        Message::Packet { connection: self.connection, number: self.sent, packet }
    }

    /// Whether the packet is the next one, which is then read.
    pub fn read(&mut self, number: u32) -> bool {
        let is_next = number == self.read + 1;
        self.read += u32::from(is_next);
        is_next
    }

    /// Whether a packet can still be read.
    pub fn awaits(&self, connection: Round, number: u32) -> bool {
        self.connection == connection && number > self.read
    }
}
