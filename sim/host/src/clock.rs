//! The clocks of a machine: the monotonic one, on which timers run and which all processes share, and the one of the wall.
//!
//! Under madsim both are madsim's.

/// The monotonic clock of this machine [ns]. Processes of one machine read the same.
#[cfg(not(madsim))]
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// What the wall's clock, counted from the year 2020, is ahead of [`now`] [ns]: what a node's stamps are counted from, for as
/// long as it is up. A span of more than 36 years is none that a file may hold.
#[cfg(not(madsim))]
pub fn stamps_ahead() -> i64 {
    const YEAR_2020: i128 = 1_577_836_800;
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let wall = (i128::from(time.tv_sec) - YEAR_2020) * 1_000_000_000 + i128::from(time.tv_nsec);
    i64::try_from(wall - i128::from(now())).unwrap_or(i64::MAX)
}

/// Time since the simulated world began [ns].
#[cfg(madsim)]
pub fn now() -> u64 {
    u64::try_from(madsim::time::TimeHandle::current().elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Nothing: in a simulated world a node's clock is off by what its test says.
#[cfg(madsim)]
pub fn stamps_ahead() -> i64 {
    0
}
