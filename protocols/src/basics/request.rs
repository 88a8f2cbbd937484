//! The numbers of requests.

use seedbed_model::{Serial, TagKind};

/// The numbers that one node gives to its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestNumber {}

impl TagKind for RequestNumber {
    const ID: u16 = 1;
    const NAME: &'static str = "request";
    const BY_NODE: bool = true;
}

/// A request's name: distinct from that of every other request of the same node, also across its restarts.
pub type RequestId = Serial<RequestNumber>;
