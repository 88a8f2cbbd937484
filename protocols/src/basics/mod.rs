//! Small protocols that pull the contract in different directions.
//!
//! - [`echo`]: numbered requests, retried on a timer, answered by a server without state
//! - [`lease_timers`]: one lease among several holders, on timers alone
//! - [`lease_stamps`]: the same promise on absolute times in messages and records
//! - [`paxos`]: single-decree Paxos with durable acceptors, proposers that retry, and clients
//! - [`register`]: a register kept by a majority of servers, judged by what its clients see
//! - [`request`]: how the others number their requests

pub mod echo;
pub mod lease_stamps;
pub mod lease_timers;
pub mod paxos;
pub mod register;
pub mod request;

#[cfg(test)]
mod tests {
    use seedbed_model::explore::{Bounds, Clock, Strategy, Verdict, explore};
    use seedbed_model::{Family, Mutants};

    use super::{echo, lease_timers, paxos};

    /// Explores the whole protocol: everything within the bounds, and it holds.
    fn holds<F: Family>(params: &F::Params, bounds: &Bounds) {
        let none: [&str; 0] = [];
        let mutants = Mutants::named(F::mutants(), none).expect("there are none");
        let protocol = F::build(params, mutants).expect("the parameters make sense");
        let found = explore(&protocol, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
        assert_eq!((found.verdict, found.stats.exhausted), (Verdict::Holds, true));
        assert!(found.stats.unique > 20, "{} states", found.stats.unique);
    }

    /// The explorer's assertions hold what it saw without taking a step to what taking it comes to: this is where they are asked, of
    /// steps that write and send, set timers, are told to the monitor, and past messages that die.
    #[test]
    fn explorations_with_assertions_come_to_their_ends() {
        let params = paxos::Params { servers: 3, clients: 1, rounds: 1, ..Default::default() };
        holds::<paxos::Paxos>(&params, &Bounds { clock: Clock::Untimed, ..Bounds::default() });
        for symmetry in [true, false] {
            let bounds = Bounds { depth: Some(9), crashes: 1, symmetry, ..Bounds::default() };
            holds::<echo::Echo>(&echo::Params { clients: 2, ..Default::default() }, &bounds);
            holds::<lease_timers::LeaseTimers>(&lease_timers::Params::default(), &bounds);
        }
    }
}
