//! The numbers of requests.

use seedbed_model::{Canonical, Nonce, Tag, TagKind};

/// The numbers that one node gives to its requests.
#[derive(Debug)]
pub enum RequestNumber {}

impl TagKind for RequestNumber {
    const ID: u16 = 1;
    const NAME: &'static str = "request";
    const BY_NODE: bool = true;
}

/// A request's name: distinct from that of every other request of the same node, also across its restarts.
///
/// A restarted node begins its numbers anew, so numbers are compared only together with their session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct RequestId {
    /// The incarnation of the node that asks.
    pub session: Nonce,
    /// Its number within the incarnation.
    pub number: Tag<RequestNumber>,
}

impl RequestId {
    /// What precedes the first request of a session.
    pub fn before_first(session: Nonce) -> Self {
        RequestId { session, number: Tag::first(session.scope()) }
    }

    /// The request after this one. For the session's node alone.
    #[must_use]
    pub fn next(self) -> Self {
        RequestId { number: self.number.next(), ..self }
    }
}
