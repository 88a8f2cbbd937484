//! Sizes and times.

use seedbed_model::{Family, Mutant, Mutants, Span};
use serde::{Deserialize, Serialize};

use super::{Zab, mutants};

/// Who says who leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Election {
    /// Fast leader election, among the servers, by timers.
    Fast,
    /// One node that stands for it, and for who hears whom: it elects a most recent server of a quorum that looks for a leader,
    /// and breaks connections, `timeouts` times. No timers run.
    Oracle,
}

/// What is written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disk {
    /// The world's disk: three streams, whose records become durable one by one, at any moment.
    Streams,
    /// Nothing: what is written counts as durable at the end of the step, and is gone with the server, which does not come
    /// back from a crash. It is there after a restart in one action (`restarts`), as in the published specification.
    None,
}

/// Sizes and times. Every span is of the own clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many servers vote. 2 to 13.
    pub servers: u16,
    /// How many observers. At most 9.
    pub observers: u16,
    /// Who says who leads.
    pub election: Election,
    /// What is written on.
    pub disk: Disk,
    /// Established leaders issue so many transactions, at moments of their own. One that crashes may be followed by one that does
    /// not know how many it has issued, and issues more.
    pub transactions: u32,
    /// How many operations the client of each server and observer invokes.
    pub operations: u32,
    /// How often the oracle may break a connection.
    pub timeouts: u32,
    /// How often the oracle restarts a server: a crash and a start in one action, after which the server has what it wrote, and
    /// what it delivered is to be delivered again. With disk "none"; with streams servers crash.
    pub restarts: u32,
    /// How often the oracle elects.
    pub elections: u32,
    /// Whether what the oracle does is one action of all concerned, as in the published specification: nothing else happens before
    /// they hear of it.
    pub at_once: bool,
    /// Whether the oracle elects any server that looks, however old its history is, as long as a quorum looks.
    pub elects_anyone: bool,
    /// 0: phases 1 to 3 follow on an election. Else fast leader election is all there is: each server begins with one of so many
    /// histories, and who has found a leader does no more than answer, until it looks again, in at most `elections` elections.
    pub histories: u32,
    /// With `histories`: how many servers, from the first on, look again at all.
    pub again: u16,
    /// Whether all must find the same leader: where messages take less than `finalize-wait` and all begin at once.
    pub agrees: bool,
    /// So many delivered transactions are kept for learners that lack them (commitLogCount); others need a snapshot.
    pub window: u32,
    /// A snapshot is written after so many deliveries (snapCount). 0: never.
    pub snapshot_every: u32,
    /// A leader pings so often, and counts who it hears of (half a tick).
    pub ping: Span,
    /// Who was not heard of for so long is given up (syncLimit). Above `ping`.
    pub sync_limit: Span,
    /// A leader is established within this, or gives up (initLimit). Until then it pings, too, so that its learners wait.
    pub init_limit: Span,
    /// A server that looks for a leader says so again after this.
    pub notify: Span,
    /// How long a winning vote waits for a better one (finalizeWait).
    pub finalize_wait: Span,
    /// Once all faults are healed, a leader is established and all servers have caught up within this. 0: not watched.
    pub progress: Span,
    /// After a crash of an established leader another is established within this, if a quorum stays up. 0: not watched.
    pub takeover: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            servers: 3,
            observers: 0,
            election: Election::Fast,
            disk: Disk::Streams,
            transactions: 0,
            operations: 0,
            timeouts: 0,
            restarts: 0,
            elections: 3,
            at_once: false,
            elects_anyone: false,
            histories: 0,
            again: 13,
            agrees: false,
            window: 500,
            snapshot_every: 0,
            ping: Span::millis(500),
            sync_limit: Span::millis(2000),
            init_limit: Span::millis(5000),
            notify: Span::millis(200),
            finalize_wait: Span::millis(200),
            progress: Span::ZERO,
            takeover: Span::ZERO,
        }
    }
}

impl Params {
    /// Whether they make sense together.
    fn check(&self) -> Result<(), String> {
        let Params { servers, observers, election, operations, timeouts, .. } = self;
        if !(2..=13).contains(servers) || *observers > 9 {
            return Err(format!("servers {servers} and observers {observers}: 2 to 13 and 0 to 9 are possible"));
        }
        if *election == Election::Oracle && *operations > 0 {
            return Err(
                "operations: with election \"oracle\" leaders issue transactions; say transactions instead".into()
            );
        }
        if *election == Election::Fast && *timeouts > 0 {
            return Err("timeouts: with election \"fast\" timers break connections; leave it out".into());
        }
        if *election == Election::Fast && (self.restarts > 0 || self.at_once) {
            return Err("restarts and at-once: with election \"fast\" there is no oracle; leave them out".into());
        }
        let forgets = self.snapshot_every > 0 || self.window < self.transactions;
        if self.restarts > 0 && (self.disk == Disk::Streams || forgets) {
            return Err("restarts: what was written is all there; say disk \"none\", snapshot-every 0 and a window of all transactions".into());
        }
        if *election == Election::Fast && self.elects_anyone {
            return Err("elects-anyone: with election \"fast\" servers elect; leave it out".into());
        }
        if *election == Election::Oracle && (self.progress > Span::ZERO || self.takeover > Span::ZERO) {
            return Err("progress and takeover need election \"fast\": an oracle takes any time".into());
        }
        let beside = self.transactions + operations + u32::from(*observers) + self.snapshot_every;
        let is_timed = self.progress > Span::ZERO || self.takeover > Span::ZERO;
        if self.histories > 0 && (*election != Election::Fast || self.disk != Disk::None || beside > 0 || is_timed) {
            return Err("histories: fast leader election is all there is; leave out all that is after it, and say disk \"none\"".into());
        }
        if self.histories == 0 && self.again != Params::default().again {
            return Err(
                "again: who looks again is for fast leader election on its own; leave it out without histories".into(),
            );
        }
        if self.agrees && (self.histories == 0 || self.elections != 1) {
            return Err("agrees: all begin at once, with histories and one election alone; say elections 1".into());
        }
        if self.ping == Span::ZERO || self.notify == Span::ZERO || self.finalize_wait == Span::ZERO {
            return Err("ping, notify and finalize-wait must be positive".into());
        }
        if self.sync_limit <= self.finalize_wait {
            return Err(format!(
                "sync-limit {}: learners give up a leader before it leads; above finalize-wait {} it is long enough",
                self.sync_limit, self.finalize_wait
            ));
        }
        if self.sync_limit <= self.ping || self.init_limit <= self.finalize_wait {
            return Err(format!(
                "sync-limit {} must be above ping {}, and init-limit {} above finalize-wait {}",
                self.sync_limit, self.ping, self.init_limit, self.finalize_wait
            ));
        }
        Ok(())
    }
}

impl Family for Zab {
    type Protocol = Zab;
    type Params = Params;
    const NAME: &'static str = "zab";
    const SUMMARY: &'static str = "Zab, ZooKeeper's atomic broadcast (ZooKeeper §4.2; Junqueira, Reed, Serafini 2011)";

    fn mutants() -> &'static [Mutant] {
        mutants::MUTANTS
    }

    fn build(params: &Params, mutants: Mutants) -> Result<Zab, String> {
        params.check()?;
        Ok(Zab { params: params.clone(), mutants })
    }
}
