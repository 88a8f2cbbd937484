//! What a simulation is told: how long, how fast, how hostile. Every span is virtual time.

use seedbed_model::Span;
use serde::{Deserialize, Serialize};

use crate::faults::Plan;

pub use crate::clock::ClockSettings;
pub use crate::mix::FaultMix;
pub use crate::network::{Distribution, Network};

/// The settings of a run, beside its seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The active phase, in which faults happen. All of them are healed at its end.
    pub duration: Span,
    /// The quiet phase after it, without faults, losses and copies: here progress is demanded.
    pub quiet: Span,
    /// Whether everything takes whole ticks of [`Span::TICK`], so that the run is a script that
    /// [`seedbed_model::replay`] accepts. Clocks then have no offset, firings are never late, and each timer's real
    /// length is drawn by itself; the monitor is not shown [`seedbed_model::Event::Healed`], which scripts do not
    /// have.
    pub tick_mode: bool,
    /// A run ends after so many steps, with [`crate::End::StepLimit`].
    pub step_count_max: u64,
    /// Delays, losses, copies.
    pub network: Network,
    /// How long a record takes to become durable.
    pub disk: DiskTimes,
    /// How long a decision is open before it is taken.
    pub decisions: SpanRange,
    /// How long after a timer's end its firing arrives.
    pub lateness: SpanRange,
    /// How long a client thinks between an answer and its next operation.
    pub clients: SpanRange,
    /// Rates and offsets of clocks.
    pub clocks: ClockSettings,
    /// What steps, messages and records take at a node.
    pub costs: Costs,
    /// Which faults are drawn for a seed.
    pub faults: FaultMix,
    /// The plan of every seed, instead of one drawn for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            duration: Span::secs(600),
            quiet: Span::secs(300),
            tick_mode: false,
            step_count_max: 20_000_000,
            network: Network::default(),
            disk: DiskTimes::default(),
            decisions: SpanRange { min: Span::ZERO, max: Span::secs(10) },
            lateness: SpanRange { min: Span::ZERO, max: Span::millis(1) },
            clients: SpanRange { min: Span::ZERO, max: Span::secs(1) },
            clocks: ClockSettings::default(),
            costs: Costs::default(),
            faults: FaultMix::default(),
            plan: None,
        }
    }
}

/// How long a record takes from being written to being durable, uniformly drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DiskTimes {
    /// At least. At most `sync-max`.
    pub sync_min: Span,
    /// At most.
    pub sync_max: Span,
}

impl Default for DiskTimes {
    fn default() -> Self {
        DiskTimes { sync_min: Span::millis(1), sync_max: Span::millis(10) }
    }
}

/// What things take at a node. Each is a queue, served in the order of arrival: costs delay, they never change a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Costs {
    /// How long a step takes the node, one after the other; it happens, and what it sends leaves, at the end of that. Where the
    /// protocol says that a message is more work, as many times as long.
    /// The ends of timers cost nothing.
    pub step: Span,
    /// Bytes a second that a node sends on all its links together; without limit if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink: Option<u64>,
    /// Bytes a second that a node's disk writes, before the time that `disk` says; without limit if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<u64>,
    /// How long a node's disk takes to force what was written, before the time that `disk` says: one flush at a time, and what is
    /// written meanwhile goes together with the next one (group commit).
    #[serde(skip_serializing_if = "is_zero")]
    pub flush: Span,
}

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

impl Costs {
    /// Whether nothing costs anything.
    pub fn are_none(&self) -> bool {
        *self == Costs::default()
    }
}

/// A span drawn uniformly, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SpanRange {
    /// At least. At most `max`.
    pub min: Span,
    /// At most.
    pub max: Span,
}

impl SpanRange {
    /// Always this span.
    pub const fn exactly(span: Span) -> Self {
        SpanRange { min: span, max: span }
    }

    /// The same in ticks, rounded outward: what happens within milliseconds may take a tick or none.
    pub(crate) fn ticks(self) -> (u64, u64) {
        (self.min.0 / Span::TICK.0, self.max.0.div_ceil(Span::TICK.0))
    }
}

impl Settings {
    /// Whether the settings make sense together.
    ///
    /// # Errors
    /// Which do not, and what would be right.
    pub fn check(&self) -> Result<(), String> {
        let (network, disk, faults) = (&self.network, &self.disk, &self.faults);
        let ranges = [
            ("network delay", network.delay_min, network.delay_max),
            ("disk sync", disk.sync_min, disk.sync_max),
            ("decisions", self.decisions.min, self.decisions.max),
            ("lateness", self.lateness.min, self.lateness.max),
            ("clients", self.clients.min, self.clients.max),
            ("faults restart", faults.restart_min, faults.restart_max),
            ("faults pause", faults.pause_min, faults.pause_max),
            ("faults partition", faults.partition_min, faults.partition_max),
            ("faults spell", faults.spell_min, faults.spell_max),
        ];
        for (name, min, max) in ranges {
            if min > max {
                return Err(format!("{name}: the least, {min}, is above the most, {max}; swap them"));
            }
        }
        let ratios = [
            ("network loss", network.loss),
            ("network duplicate", network.duplicate),
            ("clocks rates", self.clocks.rates),
            ("clocks offsets", self.clocks.offsets),
            ("faults never-restart", faults.never_restart),
            ("faults one-way", faults.one_way),
            ("faults torn", faults.torn),
        ];
        for (name, ratio) in ratios {
            if ratio.num > ratio.den {
                return Err(format!("{name}: {ratio} is above 1; write a part of the whole, such as 0.05"));
            }
        }
        let rates = [
            ("network bandwidth", network.bandwidth),
            ("costs uplink", self.costs.uplink),
            ("costs disk", self.costs.disk),
        ];
        for (name, rate) in rates {
            if rate == Some(0) {
                return Err(format!("{name}: at 0 bytes a second nothing arrives; write 1 or more, or leave it out"));
            }
        }
        if self.tick_mode && !(self.costs.are_none() && network.bandwidth.is_none()) {
            return Err("tick-mode: queues take no whole ticks; leave out costs and network bandwidth".into());
        }
        faults.check()?;
        self.clocks.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_make_sense_and_survive_a_file() {
        let settings = Settings::default();
        assert_eq!(settings.check(), Ok(()));
        let text = toml::to_string(&settings).unwrap();
        assert_eq!(toml::from_str::<Settings>(&text).unwrap(), settings);
    }

    #[test]
    fn unknown_fields_and_backward_ranges_are_refused() {
        assert!(toml::from_str::<Settings>("duraton = \"1s\"").is_err());
        let settings: Settings = toml::from_str("network = { delay-min = \"2s\", delay-max = \"1s\" }").unwrap();
        assert!(settings.check().unwrap_err().starts_with("network delay"));
        let settings: Settings = toml::from_str("network = { loss = 1.5 }").unwrap();
        assert!(settings.check().unwrap_err().starts_with("network loss"));
        let settings: Settings = toml::from_str("faults = { crashes = 4294967295 }").unwrap();
        assert!(settings.check().unwrap_err().starts_with("faults crashes: 4294967295 are too many"));
    }
}
