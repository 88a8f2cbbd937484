//! Drawing a plan: which faults a seed has, where and when.

use seedbed_model::{NodeId, Protocol, Ratio, Span};

use seedbed_model::NodeClock;

use crate::clock;
use crate::faults::{Fault, NamedClock, Plan, TimedFault, Ways};
use crate::mix::FaultMix;
use crate::seed::Seed;
use crate::settings::Settings;
use crate::stream::{Draws, Label, Streams};

/// The plan of a seed: the settings' own, or one drawn.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn plan<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Plan {
    let names = protocol.nodes();
    draw_plan(protocol, settings, &names, &mut Streams::new(seed, names.len()))
}

/// The plan of the seed that the streams are of, for nodes of these names.
pub(crate) fn draw_plan<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    names: &[String],
    streams: &mut Streams,
) -> Plan {
    if let Some(plan) = &settings.plan {
        return plan.clone();
    }
    let mut targets = targets(&settings.faults, names);
    targets.retain(|index| protocol.stands_for(NodeId(*index as u16)).is_none());
    Drawing { mix: &settings.faults, settings, targets, names }.plan(protocol, streams)
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
    Flap = 5,
    SlowLinks = 6,
    Jump = 7,
    EmptyDisk = 8,
    Corruption = 9,
    SlowDisk = 10,
    FullDisk = 11,
    Torn = 12,
}

/// The kinds whose options are drawn first, and those after them: a draw is never moved by a kind that came later.
const FIRST: [Kind; 3] = [Kind::Crash, Kind::Pause, Kind::Partition];
const LATER: [Kind; 7] =
    [Kind::Flap, Kind::SlowLinks, Kind::Jump, Kind::EmptyDisk, Kind::Corruption, Kind::SlowDisk, Kind::FullDisk];
const KIND_COUNT: usize = 13;

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
        let (enabled, counts) = match self.is_calm() {
            true => ([true; KIND_COUNT], [0; KIND_COUNT]),
            false => self.options(&mut streams.draws(Label::OPTIONS)),
        };
        let mut faults = Vec::new();
        for kind in FIRST.into_iter().chain(LATER) {
            if enabled[kind as usize] && !self.targets.is_empty() {
                let torn = enabled[Kind::Torn as usize];
                faults.extend((0..counts[kind as usize]).filter_map(|index| self.fault(streams, kind, index, torn)));
            }
        }
        in_time(&mut faults);
        let ratio = |kind: Kind, ratio| if enabled[kind as usize] { ratio } else { Ratio::ZERO };
        Plan {
            loss: ratio(Kind::Loss, self.settings.network.loss),
            duplicate: ratio(Kind::Duplicate, self.settings.network.duplicate),
            faults,
            clocks: self.clocks(protocol, streams),
            turns: Vec::new(),
        }
    }

    /// Whether there is nothing to enable.
    fn is_calm(&self) -> bool {
        let network = &self.settings.network;
        let has_faults = FIRST.into_iter().chain(LATER).any(|kind| self.most(kind) > 0);
        !has_faults && network.loss.num == 0 && network.duplicate.num == 0
    }

    /// Which kinds the seed has, and how many faults of each.
    fn options(&self, options: &mut Draws<'_>) -> ([bool; KIND_COUNT], [u32; KIND_COUNT]) {
        let swarm = self.mix.swarm;
        let (mut enabled, mut counts) = ([true; KIND_COUNT], [0; KIND_COUNT]);
        let mut enable = |options: &mut Draws<'_>, kinds: std::ops::Range<usize>| {
            for kind in kinds {
                enabled[kind] = options.below(4) < ENABLED_OF_FOUR || !swarm;
            }
        };
        let mut count = |options: &mut Draws<'_>, kinds: &[Kind]| {
            for kind in kinds {
                let most = self.most(*kind);
                counts[*kind as usize] = if swarm { 1 + options.below(most.max(1)) } else { most }.min(most);
            }
        };
        enable(options, 0..5);
        count(options, &FIRST);
        if self.mix.torn.num > 0 || LATER.iter().any(|kind| self.most(*kind) > 0) {
            enable(options, 5..KIND_COUNT);
            count(options, &LATER);
        }
        (enabled, counts)
    }

    /// At most so many faults of the kind.
    fn most(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Crash => self.mix.crashes,
            Kind::Pause => self.mix.pauses,
            Kind::Partition => self.mix.partitions,
            Kind::Flap => self.mix.flaps,
            Kind::SlowLinks => self.mix.slow_links,
            Kind::Jump => self.mix.jumps,
            Kind::EmptyDisk => self.mix.empty_disks,
            Kind::Corruption => self.mix.corruptions,
            Kind::SlowDisk => self.mix.slow_disks,
            Kind::FullDisk => self.mix.full_disks,
            Kind::Loss | Kind::Duplicate | Kind::Torn => 0,
        }
    }

    /// None where the world is too small for the fault.
    fn fault(&self, streams: &mut Streams, kind: Kind, index: u32, torn: bool) -> Option<TimedFault> {
        let mut draws = streams.draws(Label::fault(kind as u16, index as u16));
        let draws = &mut draws;
        let last = Span(self.settings.duration.0.saturating_sub(1));
        let at = self.aligned(draws.span(Span::ZERO, last));
        let fault = match kind {
            Kind::Crash => self.crash(draws, at, torn),
            Kind::Pause => self.pause(draws, at),
            Kind::Partition => self.partition(draws, at)?,
            Kind::Flap => self.flap(draws, at)?,
            Kind::SlowLinks => self.slow_links(draws, at)?,
            Kind::Jump => self.jump(draws),
            Kind::EmptyDisk => Fault::EmptyDisk { node: self.target(draws), restart: self.restart(draws, at) },
            Kind::Corruption => self.corruption(draws, at),
            Kind::SlowDisk => self.slow_disk(draws, at),
            Kind::FullDisk => Fault::FullDisk { node: self.target(draws), end: self.spell(draws, at) },
            Kind::Loss | Kind::Duplicate | Kind::Torn => return None,
        };
        Some(TimedFault { at, fault })
    }

    fn crash(&self, draws: &mut Draws<'_>, at: Span, torn: bool) -> Fault {
        let node = self.target(draws);
        let keeps = draws.word();
        let restart = self.restart(draws, at);
        let never = draws.chance(self.mix.never_restart);
        let torn = draws.chance(self.mix.torn) && torn;
        Fault::Crash { node, keeps, torn, restart: (!never).then_some(restart) }
    }

    fn corruption(&self, draws: &mut Draws<'_>, at: Span) -> Fault {
        let node = self.target(draws);
        let (keeps, record) = (draws.word(), draws.word());
        Fault::Corruption { node, keeps, record, restart: self.restart(draws, at) }
    }

    fn restart(&self, draws: &mut Draws<'_>, at: Span) -> Span {
        self.end(draws, at, self.mix.restart_min, self.mix.restart_max)
    }

    fn spell(&self, draws: &mut Draws<'_>, at: Span) -> Span {
        self.end(draws, at, self.mix.spell_min, self.mix.spell_max)
    }

    fn flap(&self, draws: &mut Draws<'_>, at: Span) -> Option<Fault> {
        let end = self.spell(draws, at);
        let most = self.mix.flap_max;
        let least = Span((most.0 / 10).max(1));
        let (down, up) = (draws.span(least, most), draws.span(least, most));
        let (side, ways) = self.side(draws)?;
        Some(Fault::Flap { side, ways, down: self.whole(down), up: self.whole(up), end })
    }

    fn slow_links(&self, draws: &mut Draws<'_>, at: Span) -> Option<Fault> {
        let end = self.spell(draws, at);
        let added = draws.span(Span::ZERO, self.mix.slow_link_added);
        let (side, ways) = self.side(draws)?;
        Some(Fault::SlowLinks { side, ways, factor: self.mix.slow_link_factor, added: self.whole(added), end })
    }

    fn slow_disk(&self, draws: &mut Draws<'_>, at: Span) -> Fault {
        let node = self.target(draws);
        let added = draws.span(Span::ZERO, self.mix.slow_disk_added);
        let added = self.whole(added);
        Fault::SlowDisk { node, factor: self.mix.slow_disk_factor, added, end: self.spell(draws, at) }
    }

    fn jump(&self, draws: &mut Draws<'_>) -> Fault {
        let node = self.target(draws);
        let by_ns = draws.span(Span::ZERO, self.mix.jump_max).0 as i64;
        Fault::Jump { node, by_ns: if draws.below(2) == 0 { by_ns } else { -by_ns } }
    }

    fn pause(&self, draws: &mut Draws<'_>, at: Span) -> Fault {
        Fault::Pause { node: self.target(draws), resume: self.end(draws, at, self.mix.pause_min, self.mix.pause_max) }
    }

    fn partition(&self, draws: &mut Draws<'_>, at: Span) -> Option<Fault> {
        let heal = self.end(draws, at, self.mix.partition_min, self.mix.partition_max);
        let (side, ways) = self.side(draws)?;
        Some(Fault::Partition { side, ways, heal })
    }

    /// Some nodes, and in which directions. None in a world of one node.
    fn side(&self, draws: &mut Draws<'_>) -> Option<(Vec<String>, Ways)> {
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
        Some((side, if one_way { way } else { Ways::Both }))
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

    /// In tick mode the next whole tick, otherwise the span itself.
    fn whole(&self, span: Span) -> Span {
        if self.settings.tick_mode { Span(span.0.div_ceil(Span::TICK.0) * Span::TICK.0) } else { span }
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

/// Stable: of faults at one instant the first drawn comes first.
fn in_time(faults: &mut [TimedFault]) {
    faults.sort_by_key(|timed| timed.at);
}
