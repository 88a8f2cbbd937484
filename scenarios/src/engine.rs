//! Which checker explores: Seedbed's own, or stateright's as a second opinion.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use seedbed_model::Protocol;
use seedbed_model::explore::{Bounds, Exploration, Order, Progress, Strategy};

/// A checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The explorer.
    Seedbed,
    /// stateright's checkers, over plain worlds.
    Stateright,
}

impl Engine {
    /// How far a counterexample is shrunk, in words.
    pub(crate) fn shrunk(self, strategy: &Strategy) -> &'static str {
        match (self, strategy) {
            (_, Strategy { order: Order::DepthFirst | Order::BitState { .. }, .. }) => {
                "not at all: the exploration was depth first; breadth first finds the shortest"
            }
            (_, Strategy { order: Order::Walks(_), .. }) => {
                "not at all: the walk was random; --order bfs finds the shortest"
            }
            (Engine::Stateright, Strategy { jobs: 2.., .. }) => {
                "not at all: stateright's threads race; --jobs 1 finds the shortest"
            }
            _ => "shortest within the bound and its ticks: the exploration is breadth first",
        }
    }
}

/// Where a page is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address(pub(crate) SocketAddr);

impl FromStr for Address {
    type Err = String;
    /// `3000` is a port of this machine alone; `0.0.0.0:3000` lets others in.
    fn from_str(text: &str) -> Result<Address, String> {
        let port = text.parse().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
        port.or_else(|_| text.parse()).map(Address).map_err(|_| {
            format!("`{text}` is no address; write a port such as 3000, or an address and a port such as 0.0.0.0:3000")
        })
    }
}

/// Explores with stateright's checker.
#[cfg(feature = "stateright")]
pub(crate) fn cross_check<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    strategy: &Strategy,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    seedbed_stateright::check(protocol, bounds, strategy, watch)
}

/// Serves stateright's Explorer page until the process ends.
#[cfg(feature = "stateright")]
pub(crate) fn serve<P: Protocol>(protocol: &P, bounds: &Bounds, address: Address) -> Result<(), String> {
    seedbed_stateright::serve(protocol, bounds, address.0)
}

#[cfg(not(feature = "stateright"))]
const LEFT_OUT: &str = "stateright was left out when this command was built; build it with the feature `stateright`";

/// Refuses: there is nothing to explore with.
#[cfg(not(feature = "stateright"))]
pub(crate) fn cross_check<P: Protocol>(
    _: &P,
    _: &Bounds,
    _: &Strategy,
    _: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    Err(LEFT_OUT.to_owned())
}

/// Refuses: there is no page to serve.
#[cfg(not(feature = "stateright"))]
pub(crate) fn serve<P: Protocol>(_: &P, _: &Bounds, _: Address) -> Result<(), String> {
    Err(LEFT_OUT.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_this_machine_alone() {
        assert_eq!("3000".parse::<Address>().map(|address| address.0.to_string()), Ok("127.0.0.1:3000".into()));
        assert_eq!("0.0.0.0:80".parse::<Address>().map(|address| address.0.to_string()), Ok("0.0.0.0:80".into()));
        assert!("somewhere".parse::<Address>().is_err() && "70000".parse::<Address>().is_err());
    }
}
