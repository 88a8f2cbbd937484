//! What an application that stands on a server of Zab sees of it: [`crate::zookeeper`] does, with `broadcast = "zab"`.

use seedbed_model::NodeId;

use super::message::{Round, Zxid};
use super::server::{Role, Server};

/// What a server is to its application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It serves nobody.
    Looking,
    /// It is up to date, and goes on with this leader.
    Following {
        /// Whom.
        leader: NodeId,
        /// In which epoch.
        epoch: u32,
    },
    /// It is established, and broadcasts.
    Leading {
        /// In which epoch.
        epoch: u32,
    },
}

impl Server {
    /// What it is.
    pub fn place(&self) -> Place {
        let epoch = self.accepted;
        match &self.role {
            Role::Learning(learner) if learner.is_up_to_date() => Place::Following { leader: learner.leader, epoch },
            Role::Leading(leader) if leader.is_established() => Place::Leading { epoch },
            _ => Place::Looking,
        }
    }

    /// What its history ends with.
    pub fn last(&self) -> Zxid {
        self.log.last()
    }

    /// Up to where its history is a state, without the transactions that made it.
    pub fn base(&self) -> Zxid {
        self.log.base.last
    }

    /// The connection that breaks when it looks for a leader again.
    pub fn connection(&self) -> Round {
        self.round
    }
}
