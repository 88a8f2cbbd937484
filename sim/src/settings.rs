//! What a simulation is told: how long, how fast, how hostile. Every span is virtual time.

use seedbed_model::Span;
use serde::{Deserialize, Serialize};

pub use crate::clock::ClockSettings;
pub use crate::faults::FaultMix;
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
    /// Which faults are drawn for a seed.
    pub faults: FaultMix,
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
            faults: FaultMix::default(),
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
        ];
        for (name, ratio) in ratios {
            if ratio.num > ratio.den {
                return Err(format!("{name}: {ratio} is above 1; write a part of the whole, such as 0.05"));
            }
        }
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
    }
}
