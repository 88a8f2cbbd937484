//! `seedbed-host`: what `seedbed node` and `seedbed cluster` call. Knows the shipped protocols.

use std::process::ExitCode;

#[cfg(not(madsim))]
fn main() -> ExitCode {
    use seedbed_host::command::{Hosts, main};
    use seedbed_protocols::basics::echo::Echo;
    use seedbed_protocols::basics::lease_stamps::LeaseStamps;
    use seedbed_protocols::basics::lease_timers::LeaseTimers;
    use seedbed_protocols::basics::paxos::Paxos;
    use seedbed_protocols::basics::register::Register;
    use seedbed_protocols::fatlease::FaTLease;
    use seedbed_protocols::leasing::Leasing;
    use seedbed_protocols::paxos::group::ManagerGroup;
    use seedbed_protocols::seqpair::SeqPair;
    use seedbed_protocols::taskmaster::TaskMaster;
    use seedbed_protocols::zab::Zab;
    use seedbed_protocols::zookeeper::ZooKeeper;

    main(
        Hosts::new()
            .with::<Leasing>(include_str!("../clusters/leasing.toml"))
            .with::<FaTLease>(include_str!("../clusters/fatlease.toml"))
            .with::<Zab>(include_str!("../clusters/zab.toml"))
            .with::<ManagerGroup>("")
            .with::<ZooKeeper>(include_str!("../clusters/zookeeper.toml"))
            .with::<TaskMaster>("")
            .with::<SeqPair>("")
            .with::<Register>("")
            .with::<Paxos>("")
            .with::<LeaseStamps>("")
            .with::<LeaseTimers>("")
            .with::<Echo>(""),
    )
}

/// Nodes are no processes in a simulated world.
#[cfg(madsim)]
fn main() -> ExitCode {
    ExitCode::from(2)
}
