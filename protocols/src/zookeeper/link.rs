//! Connections between clients and servers, and the names of rounds.

use seedbed_model::{Canonical, Serial, TagKind};

/// The rounds of a server; the scope is the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rounds {}

impl TagKind for Rounds {
    const ID: u16 = 1;
    const NAME: &'static str = "round";
    const BY_NODE: bool = true;
}

/// From one time that a server joins the broadcast to the next.
pub type Round = Serial<Rounds>;

/// The connections of a client; the scope is the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Connections {}

impl TagKind for Connections {
    const ID: u16 = 2;
    const NAME: &'static str = "connection";
    const BY_NODE: bool = true;
}

/// A client's connection to a server. A broken one never works again.
pub type Connection = Serial<Connections>;

/// One end of a connection: packets are numbered, and one that is not next is not read. (See [`crate::zab::channel`]: in the
/// explorer it stays in flight, `keep-ignored`; in the simulator links keep their order.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Link {
    /// Which.
    pub connection: Connection,
    sent: u32,
    read: u32,
    /// After this number comes 1 again; 0: never. At most half as many packets are on their way.
    last: u32,
}

impl Link {
    /// A new one, whose numbers begin anew after `last`.
    pub fn open(connection: Connection, last: u32) -> Link {
        Link { connection, sent: 0, read: 0, last }
    }

    /// The number of the next packet that is sent.
    pub fn take_number(&mut self) -> u32 {
        self.sent = self.after(self.sent);
        self.sent
    }

    /// Whether the packet is the next one, which is then read.
    pub fn read(&mut self, connection: Connection, number: u32) -> bool {
        let is_next = self.connection == connection && number == self.after(self.read);
        if is_next {
            self.read = number;
        }
        is_next
    }

    /// Whether a packet can still be read.
    pub fn awaits(&self, connection: Connection, number: u32) -> bool {
        let is_ahead = match self.last {
            0 => number > self.read,
            last => (number + last - 1 - self.read) % last < last / 2,
        };
        self.connection == connection && is_ahead
    }

    fn after(&self, number: u32) -> u32 {
        if self.last > 0 && number == self.last { 1 } else { number + 1 }
    }
}
