//! Transactions and votes, what is sent, what is written, what is shown, and the names in it.

use std::collections::BTreeMap;
use std::fmt;

use seedbed_model::{Canonical, NodeId, OpId, Serial, TagKind};

/// The rounds of a server; the scope is the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rounds {}

impl TagKind for Rounds {
    const ID: u16 = 11;
    const NAME: &'static str = "round";
    const BY_NODE: bool = true;
}

/// From one time that a server looks for a leader to the next. It names the connection that the server opens to the leader
/// it finds: a new one for each round, as a broken TCP connection never works again.
pub type Round = Serial<Rounds>;

/// A transaction's number: `<epoch, counter>`, ordered by epoch first (Zab §3). Counters of an epoch begin at 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Canonical)]
pub struct Zxid {
    /// The leader's.
    pub epoch: u32,
    /// Its place among that leader's.
    pub counter: u32,
}

impl Zxid {
    /// Before any transaction.
    pub const ZERO: Zxid = Zxid { epoch: 0, counter: 0 };

    /// What the leader of `epoch` gives next, whose history ends here.
    #[must_use]
    pub fn next_in(self, epoch: u32) -> Zxid {
        Zxid { epoch, counter: if self.epoch == epoch { self.counter + 1 } else { 1 } }
    }

    /// Whether the two can be neighbours in a history: counters have no gaps.
    pub fn precedes(self, next: Zxid) -> bool {
        if self.epoch == next.epoch {
            self.counter + 1 == next.counter
        } else {
            self.epoch < next.epoch && next.counter == 1
        }
    }
}

impl fmt::Debug for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{},{}>", self.epoch, self.counter)
    }
}

/// What a transaction does: to Zab, who asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Value {
    /// The leader, by a decision of the moment: the how manieth of all.
    Issued(u32),
    /// A server's client.
    Asked(NodeId, OpId),
}

/// A transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Txn {
    /// Its number.
    pub zxid: Zxid,
    /// What it does.
    pub value: Value,
}

/// The application's state after some transactions: as much as Zab needs of it. It is what a snapshot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Canonical)]
pub struct Tree {
    /// The last transaction in it.
    pub last: Zxid,
    /// How many it has.
    pub count: u32,
    /// Which, in which order: equal trees are equal histories.
    pub digest: u64,
}

impl Tree {
    /// Applies a transaction.
    pub fn apply(&mut self, txn: &Txn) {
        let value = match txn.value {
            Value::Issued(number) => u64::from(number) << 1,
            Value::Asked(server, op) => 1 | u64::from(server.0) << 40 | u64::from(op.0) << 1,
        };
        let number = u64::from(txn.zxid.epoch) << 32 | u64::from(txn.zxid.counter);
        self.last = txn.zxid;
        self.count += 1;
        // FNV-1a, a word at a time.
        for word in [number, value] {
            self.digest = (self.digest ^ word).wrapping_mul(0x0000_0100_0000_01b3) ^ self.digest >> 29;
        }
    }

    /// The tree after these, too.
    #[must_use]
    pub fn with<'a>(mut self, txns: impl IntoIterator<Item = &'a Txn>) -> Tree {
        txns.into_iter().for_each(|txn| self.apply(txn));
        self
    }
}

/// A vote of fast leader election, ordered as votes are compared: by epoch, zxid, server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Vote {
    /// The current epoch of who is proposed.
    pub epoch: u32,
    /// The last transaction that it has logged.
    pub zxid: Zxid,
    /// Who is proposed.
    pub leader: NodeId,
}

/// What a server is doing, as it tells others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Doing {
    /// It looks for a leader.
    Looking,
    /// It follows, or observes.
    Following,
    /// It leads.
    Leading,
}

/// How a learner's history is made the leader's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Mode {
    /// It lacks what comes with it, and nothing else.
    Diff,
    /// It gives up what it has after this, first.
    Trunc(Zxid),
    /// It takes this for all it has, first.
    Snap(Tree),
}

/// What goes through a connection, in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Packet {
    /// FOLLOWERINFO, OBSERVERINFO (the paper's CEPOCH): this learner follows you.
    FollowerInfo {
        /// The epoch that it has accepted last.
        accepted: u32,
        /// The leader's round, where the leader invited.
        term: Option<Round>,
    },
    /// LEADERINFO (NEWEPOCH): the epoch that the leader proposes.
    LeaderInfo {
        /// Above all that a quorum has accepted.
        epoch: u32,
    },
    /// ACKEPOCH: accepted, no earlier leader is listened to any more.
    AckEpoch {
        /// The learner's current epoch; `None` if it had accepted that epoch before, and so does not count (-1).
        current: Option<u32>,
        /// The last transaction in its history.
        last: Zxid,
    },
    /// DIFF, TRUNC or SNAP, the transactions after it, and NEWLEADER: the leader's history.
    NewLeader {
        /// The leader's.
        epoch: u32,
        /// Where the history meets the learner's.
        mode: Mode,
        /// What comes after.
        txns: Vec<Txn>,
    },
    /// The answer to NEWLEADER (ACK-LD): the history is the learner's, and durable.
    AckNewLeader {
        /// As far as this.
        logged: Zxid,
    },
    /// UPTODATE (COMMIT-LD): the leader is established.
    UpToDate {
        /// As far as this all is committed.
        committed: Zxid,
    },
    /// PROPOSAL: log this.
    Proposal(Txn),
    /// ACK: this and all before it is durable.
    Ack(Zxid),
    /// COMMIT: this and all before it is committed.
    Commit(Zxid),
    /// INFORM: to an observer, a proposal and its commit in one.
    Inform(Txn),
    /// REQUEST: a client of the learner asks for this.
    Request(Value),
    /// PING, and its answer.
    Ping,
}

impl Packet {
    /// Which round of the leader it was sent to, if it says so.
    pub fn term(&self) -> Option<Round> {
        match self {
            Packet::FollowerInfo { term, .. } => *term,
            _ => None,
        }
    }
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// Fast leader election: a server's vote.
    Notification {
        /// Its vote, or whom it follows.
        vote: Vote,
        /// The election that it votes in (the logical clock).
        election: u32,
        /// What it is doing.
        doing: Doing,
    },
    /// Through a connection.
    Packet {
        /// The learner's round.
        connection: Round,
        /// From 1, in each direction: what does not follow on what came last is not read yet.
        number: u32,
        /// What.
        packet: Packet,
    },
    /// To the oracle: this server has no leader.
    Looking {
        /// Since when.
        round: Round,
        /// Its current epoch.
        current: u32,
        /// Its last transaction.
        last: Zxid,
        /// How many transactions have been issued, as far as it led.
        issued: u32,
    },
    /// From the oracle, if the server still looks: lead.
    Lead {
        /// When it looked.
        round: Round,
        /// Who else looks, and since when: they are to follow.
        learners: BTreeMap<NodeId, Round>,
        /// How many transactions have been issued.
        issued: u32,
    },
    /// From the oracle, to a leader: this server looks, and is to follow.
    Join {
        /// The leader's.
        round: Round,
        /// Who.
        learner: NodeId,
        /// Since when.
        connection: Round,
    },
    /// From a leader that the oracle elected, if the server still looks: follow.
    Invite {
        /// When it looked.
        connection: Round,
        /// The leader's round.
        term: Round,
    },
    /// From the oracle, to a learner: the connection is broken. To a leader: no quorum hears it.
    Lost {
        /// Which.
        connection: Round,
    },
    /// From the oracle, to a leader: the connection of this learner is broken.
    Gone {
        /// Whose.
        learner: NodeId,
        /// Which.
        connection: Round,
    },
    /// From the oracle: crash, and start again.
    Restart,
}

/// What a server writes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Record {
    /// The accepted epoch.
    Accepted(u32),
    /// The current epoch.
    Current(u32),
    /// A transaction at the end of the log.
    Append(Txn),
    /// The log ends after this.
    Truncate(Zxid),
    /// A snapshot. What it has is no longer needed of the log.
    Snapshot(Tree),
}

/// The timers of servers: of fast leader election, and of those who found a leader by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// Looking: send the vote again.
    Notify,
    /// Looking: no better vote has come for so long (finalizeWait).
    Finalize,
    /// At a learner: nothing heard of the leader.
    Leader,
    /// At a learner that was not answered: open the connection anew.
    Connect,
    /// At a leader: ping, and count who is heard of (half a tick).
    Tick,
    /// At a leader: this learner was heard of.
    Learner(NodeId),
    /// At a leader that is not established.
    Establish,
}

/// What is left to the moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// At an established leader: issue a transaction.
    Issue,
    /// At the oracle: this server is to lead.
    Elect(NodeId),
    /// At the oracle: this server and its leader no longer hear each other; a leader, that no quorum follows it.
    TimeOut(NodeId),
    /// At a server that has found a leader, where elections are all there is: it looks again.
    Look,
    /// At the oracle: this server crashes and starts again.
    Restart(NodeId),
}

/// What a client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Answer {
    /// Its transaction is delivered.
    Delivered,
    /// The server has lost its leader, and nobody knows.
    Unknown,
    /// The server has no leader; nothing was done.
    Refused,
}

/// What servers show to the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// It started, and found this.
    Recovered {
        /// The accepted epoch.
        accepted: u32,
        /// The current epoch.
        current: u32,
        /// The snapshot.
        tree: Tree,
    },
    /// The accepted epoch is durable.
    Accepted(u32),
    /// The current epoch is durable.
    Current(u32),
    /// It took another's state.
    Restored(Tree),
    /// It gave these up.
    Truncated(Vec<Zxid>),
    /// It is established as leader, with this history.
    Established {
        /// Its epoch.
        epoch: u32,
        /// The tree of all of its history.
        history: Tree,
    },
    /// It broadcasts this.
    Proposed(Txn),
    /// It delivers this.
    Delivered(Txn),
    /// It no longer leads, or follows.
    Looks,
    /// It votes, where elections are all there is.
    Voted {
        /// In which election.
        election: u32,
        /// For whom.
        vote: Vote,
    },
    /// It has found a leader, where elections are all there is.
    Found {
        /// In which election.
        election: u32,
        /// What it voted for, or joined.
        vote: Vote,
        /// Whether the others had found it before.
        joined: bool,
    },
}
