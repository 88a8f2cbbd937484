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

    use super::paxos;

    /// The explorer's assertions hold what it saw without taking a step to what taking it comes to: this is where they are asked.
    #[test]
    fn an_exploration_with_assertions_comes_to_its_end() {
        let params = paxos::Params { servers: 3, clients: 1, rounds: 1, ..Default::default() };
        let none: [&str; 0] = [];
        let mutants = Mutants::named(<paxos::Paxos as Family>::mutants(), none).expect("there are none");
        let protocol = <paxos::Paxos as Family>::build(&params, mutants).expect("the parameters make sense");
        let bounds = Bounds { clock: Clock::Untimed, ..Bounds::default() };
        let found = explore(&protocol, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
        assert_eq!((found.verdict, found.stats.exhausted), (Verdict::Holds, true));
        assert!(found.stats.unique > 20, "{} states", found.stats.unique);
    }
}
