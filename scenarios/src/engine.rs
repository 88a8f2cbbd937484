//! Which checker explores: Seedbed's own, or stateright's as a second opinion.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use seedbed_model::Protocol;
use seedbed_model::explore::{Bounds, Exploration, Progress};

/// A checker, and how it is told to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Engine {
    /// The explorer.
    #[default]
    Seedbed,
    /// stateright's checkers, over plain worlds.
    Stateright {
        /// In which order.
        order: Order,
        /// On so many threads.
        jobs: usize,
    },
}

/// In which order states are expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Order {
    /// Level by level.
    #[default]
    Bfs,
    /// Deep first.
    Dfs,
}

impl FromStr for Order {
    type Err = String;
    fn from_str(text: &str) -> Result<Order, String> {
        match text {
            "bfs" => Ok(Order::Bfs),
            "dfs" => Ok(Order::Dfs),
            _ => Err(format!("`{text}` is no order; write bfs or dfs")),
        }
    }
}

impl Engine {
    /// How far a counterexample is shrunk, in words.
    pub(crate) fn shrunk(self) -> &'static str {
        match self {
            Engine::Seedbed | Engine::Stateright { order: Order::Bfs, jobs: 1 } => {
                "shortest: the exploration is breadth first"
            }
            Engine::Stateright { .. } => "not at all: --order bfs --jobs 1 finds a shortest",
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
    order: Order,
    jobs: usize,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    let order = match order {
        Order::Bfs => seedbed_stateright::Order::BreadthFirst,
        Order::Dfs => seedbed_stateright::Order::DepthFirst,
    };
    seedbed_stateright::check(protocol, bounds, order, jobs, watch)
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
    _: Order,
    _: usize,
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
