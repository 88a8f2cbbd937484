//! Drawing a plan: which faults a seed has, where and when.

use seedbed_model::{NodeId, Protocol, Ratio, Span};

use crate::clock::{self, NodeClock};
use crate::faults::{Fault, FaultMix, NamedClock, Plan, TimedFault, Ways};
use crate::seed::Seed;
use crate::settings::Settings;
use crate::stream::{Draws, Label, Streams};

/// The plan of a seed.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn plan<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Plan {
    let names = protocol.nodes();
    let mut streams = Streams::new(seed, names.len());
    let drawing =
        Drawing { mix: &settings.faults, settings, targets: targets(&settings.faults, &names), names: &names };
    drawing.plan(protocol, &mut streams)
}

/// Indexes of the nodes that faults may hit.
fn targets(mix: &FaultMix, names: &[String]) -> Vec<usize> {
    let fits = |name: &String, pattern: &String| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    let hit = |name: &String| mix.nodes.is_empty() || mix.nodes.iter().any(|pattern| fits(name, pattern));
    (0..names.len()).filter(|index| hit(&names[*index])).collect()
}

/// The kinds of fault that a seed enables or not. Their numbers are part of what a seed means.
#[derive(Clone, Copy)]
enum Kind {
    Crash = 0,
    Pause = 1,
    Partition = 2,
    Loss = 3,
    Duplicate = 4,
}

/// At most so many nodes are cut off together: a cut costs a step for each link.
const SIDE_COUNT_MAX: usize = 32;

/// The chance that a swarm enables a kind: three in four, out of 4.
const ENABLED_OF_FOUR: u32 = 3;

struct Drawing<'a> {
    mix: &'a FaultMix,
    settings: &'a Settings,
    targets: Vec<usize>,
    names: &'a [String],
}

impl Drawing<'_> {
    fn plan<P: Protocol>(&self, protocol: &P, streams: &mut Streams) -> Plan {
        let mut options = streams.draws(Label::Options);
        let enabled: Vec<bool> = (0..5).map(|_| options.below(4) < ENABLED_OF_FOUR || !self.mix.swarm).collect();
        let counts: Vec<u32> = [self.mix.crashes, self.mix.pauses, self.mix.partitions]
            .map(|most| if self.mix.swarm { 1 + options.below(most.max(1)) } else { most }.min(most))
            .to_vec();
        let mut faults = Vec::new();
        for kind in [Kind::Crash, Kind::Pause, Kind::Partition] {
            if enabled[kind as usize] && !self.targets.is_empty() {
                faults.extend((0..counts[kind as usize]).filter_map(|index| self.fault(streams, kind, index)));
            }
        }
        faults.sort_by_key(|timed: &TimedFault| timed.at);
        let ratio = |kind: Kind, ratio| if enabled[kind as usize] { ratio } else { Ratio::ZERO };
        Plan {
            loss: ratio(Kind::Loss, self.settings.network.loss),
            duplicate: ratio(Kind::Duplicate, self.settings.network.duplicate),
            faults,
            clocks: self.clocks(protocol, streams),
        }
    }

    /// None where the world is too small for the fault.
    fn fault(&self, streams: &mut Streams, kind: Kind, index: u32) -> Option<TimedFault> {
        let mut draws = streams.draws(Label::Fault(kind as u16, index as u16));
        let draws = &mut draws;
        let last = Span(self.settings.duration.0.saturating_sub(1));
        let at = self.aligned(draws.span(Span::ZERO, last));
        let fault = match kind {
            Kind::Crash => self.crash(draws, at),
            Kind::Pause => self.pause(draws, at),
            Kind::Partition => self.partition(draws, at)?,
            Kind::Loss | Kind::Duplicate => return None,
        };
        Some(TimedFault { at, fault })
    }

    fn crash(&self, draws: &mut Draws<'_>, at: Span) -> Fault {
        let node = self.target(draws);
        let keeps = draws.word();
        let restart = self.end(draws, at, self.mix.restart_min, self.mix.restart_max);
        let never = draws.chance(self.mix.never_restart);
        Fault::Crash { node, keeps, restart: (!never).then_some(restart) }
    }

    fn pause(&self, draws: &mut Draws<'_>, at: Span) -> Fault {
        Fault::Pause { node: self.target(draws), resume: self.end(draws, at, self.mix.pause_min, self.mix.pause_max) }
    }

    fn partition(&self, draws: &mut Draws<'_>, at: Span) -> Option<Fault> {
        let heal = self.end(draws, at, self.mix.partition_min, self.mix.partition_max);
        let one_way = draws.chance(self.mix.one_way);
        let way = if draws.below(2) == 0 { Ways::Out } else { Ways::In };
        let side_max = self.targets.len().min(self.names.len() - 1).min(SIDE_COUNT_MAX);
        if side_max == 0 {
            return None;
        }
        let count = 1 + draws.below(side_max as u32) as usize;
        let mut left = self.targets.clone();
        let mut side: Vec<usize> =
            (0..count).map(|_| left.swap_remove(draws.below(left.len() as u32) as usize)).collect();
        side.sort_unstable();
        let side = side.into_iter().map(|index| self.names[index].clone()).collect();
        Some(Fault::Partition { side, ways: if one_way { way } else { Ways::Both }, heal })
    }

    fn target(&self, draws: &mut Draws<'_>) -> String {
        self.names[self.targets[draws.below(self.targets.len() as u32) as usize]].clone()
    }

    /// The end of a fault that begins at `at`: within the active phase.
    fn end(&self, draws: &mut Draws<'_>, at: Span, least: Span, most: Span) -> Span {
        let length = draws.span(least, most);
        let length = if self.settings.tick_mode { self.aligned(length).max(Span::TICK) } else { length };
        (at + length).min(self.settings.duration)
    }

    /// In tick mode the tick before, otherwise the instant itself.
    fn aligned(&self, at: Span) -> Span {
        if self.settings.tick_mode { Span(at.0 / Span::TICK.0 * Span::TICK.0) } else { at }
    }

    fn clocks<P: Protocol>(&self, protocol: &P, streams: &mut Streams) -> Vec<NamedClock> {
        if self.settings.tick_mode {
            return Vec::new();
        }
        let mut clocks = Vec::new();
        for (index, name) in self.names.iter().enumerate() {
            let clock = clock::draw(protocol, &self.settings.clocks, streams, NodeId(index as u16));
            if clock != NodeClock::EXACT {
                clocks.push(NamedClock { node: name.clone(), clock });
            }
        }
        clocks
    }
}
