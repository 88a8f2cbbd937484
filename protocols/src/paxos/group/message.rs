//! What servers and acceptors say to each other, what acceptors write, and the names in it.

use seedbed_model::{Canonical, Data, Serial, TagKind};

use crate::paxos;

/// The numbers of a server's bids; the scope is the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bids {}

impl TagKind for Bids {
    // Distinct from those of the protocols that the group is embedded in.
    const ID: u16 = 7;
    const NAME: &'static str = "group bid";
    const BY_NODE: bool = true;
}

/// One bid of a server. "Can I have the leader lease?", and "renew leader lease and commit state update" (Centrifuge
/// Figure 3) have a bid each.
pub type Bid = Serial<Bids>;

/// A ballot, opened by the bid `attempt`. Its number is the term of the leader that is elected by it.
pub type Ballot = paxos::Ballot<Bids>;

/// The register, as a leader wrote it with one of its bids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Write<V> {
    /// Which bid.
    pub bid: Bid,
    /// The register. `None`: nothing was ever committed.
    pub value: Option<V>,
}

impl<V: Data> paxos::Value for Write<V> {
    type Turn = Bid;

    fn turn(&self) -> Bid {
        self.bid
    }
}

/// What an acceptor accepted.
pub type Vote<V> = paxos::Vote<Ballot, Write<V>>;

/// What an acceptor must not forget. Each record holds all of it.
pub type Kept<V> = paxos::Acceptor<Ballot, Write<V>>;

/// A message of the group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message<V> {
    /// Server to acceptor: grant me the leader lease, and promise to accept nothing of smaller ballots.
    Prepare(Ballot),
    /// Server to acceptor: accept this state of the register, and grant the lease anew.
    Accept {
        /// The leader's, or the winner's of the first phase.
        ballot: Ballot,
        /// To be named in the answer.
        bid: Bid,
        /// The register.
        value: Option<V>,
    },
    /// Server to acceptor: grant the lease anew.
    Renew {
        /// The leader's.
        ballot: Ballot,
        /// To be named in the answer.
        bid: Bid,
    },
    /// Server to acceptor: nobody will lead by this ballot; its grant is not needed any more.
    Release(Ballot),
    /// Acceptor to server: granted and promised.
    Promise {
        /// Which bid it answers.
        bid: Bid,
        /// What the acceptor accepted last.
        vote: Option<Vote<V>>,
    },
    /// Acceptor to server: accepted, or granted anew.
    Granted {
        /// Which bid it answers.
        bid: Bid,
    },
    /// Acceptor to server: another's lease may be running, or a larger ballot is promised.
    Denied {
        /// Which bid it answers.
        bid: Bid,
        /// The number of the ballot promised.
        number: u16,
    },
}
