//! A moment of a run, to explore from.
//!
//! A run passes time by nanoseconds, the explorer by steps. From a moment on, time passes *by events*: to the next end of a
//! timer, of a deadline or of what a message may take, whichever comes first. Nothing happens between two such instants, so
//! that a state is a finite thing although ends lie at any nanosecond; every instant at which something must happen is met
//! exactly. That is a part of what a plain world may do: what is found happens, what is not found may happen in between. A
//! stride makes the steps finer.
//!
//! Ends, deadlines and stamps are taken relative to the moment. A timer that is set later runs for whole ticks within what is
//! assumed of its clock, whatever its clock did before.

use derive_where::derive_where;

use crate::canonical::Canonical;
use crate::exact::{ExactScript, ExactStep, Move, Playback};
use crate::host::Host;
use crate::name::NodeId;
use crate::plain::{Driver, Envelope};
use crate::protocol::Protocol;
use crate::script::Script;
use crate::time::{Shifting, Span, Timers};

/// How time passes in an exploration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// How far from the start of the run the exploration begins.
    pub since: Span,
    /// Whether time passes to the next end of something; otherwise by ticks.
    pub is_by_events: bool,
    /// Between events, time passes by no more than this at once; without it, it does not stop there.
    pub stride: Option<Span>,
    /// How long a message may take, in place of the bounds' ticks.
    pub delay: Option<Span>,
}

impl Pace {
    /// From the start, by ticks.
    pub(super) const TICKS: Pace = Pace { since: Span::ZERO, is_by_events: false, stride: None, delay: None };
}

/// A world as a run left it, with all its times relative to then.
#[derive_where(Debug, Clone)]
pub struct Moment<P: Protocol> {
    /// How time passes from here on.
    pub pace: Pace,
    /// The run so far: it replays to this moment.
    before: ExactScript<P>,
    /// `hosts[i]` is node `i`.
    pub(super) hosts: Vec<Host<P>>,
    /// `timers[i]` are node `i`'s; what is due ends at 0.
    pub(super) timers: Vec<Timers<P::Timer>>,
    pub(super) monitor: P::Monitor,
    pub(super) deadlines: Timers<u32>,
    pub(super) cuts: std::collections::BTreeSet<(NodeId, NodeId)>,
    /// In the order sent.
    pub(super) flights: Vec<Envelope<P::Message>>,
    /// `offsets[i]`: how far node `i`'s clock is ahead now [ns].
    pub(super) offsets: Vec<i64>,
    /// Whether some clock has a rate of its own.
    has_rates: bool,
}

impl<P: Protocol> Moment<P> {
    /// The world after the steps of `before`, from which time passes by events. Of `pace`, [`Pace::since`] and
    /// [`Pace::is_by_events`] are set here.
    ///
    /// # Errors
    /// If a step cannot happen (which, from 1), or if a property falls before the moment.
    pub fn after(protocol: &P, before: ExactScript<P>, pace: Pace) -> Result<Self, String> {
        if before.untimed {
            return Err("the run is one without time, which has no moment to search from".into());
        }
        let mut playback = Playback::new(protocol, false, &before.clocks);
        for (index, step) in before.steps.iter().enumerate() {
            playback.take(step).map_err(|refused| format!("step {}: {refused}", index + 1))?;
            if let Some(fell) = playback.world.violations.first() {
                return Err(format!("{} falls at step {}, before the moment", fell.property, index + 1));
            }
        }
        Ok(Moment::of(playback, before, pace))
    }

    fn of(mut playback: Playback<P>, before: ExactScript<P>, pace: Pace) -> Self {
        let world = &mut playback.world;
        let now = world.driver.now;
        let mut shifting = Shifting { span: now as i64, floor: i64::MIN };
        let mut hosts = world.hosts.clone();
        hosts.iter_mut().for_each(|host| host.rename(&mut shifting));
        let mut monitor = world.monitor.clone();
        monitor.rename(&mut shifting);
        let mut flights: Vec<_> = world.driver.flight.values().map(|flying| flying.envelope.clone()).collect();
        flights.iter_mut().for_each(|envelope| envelope.rename(&mut shifting));
        let offsets = world.nodes().map(|node| world.driver.clock(node).nanos().wrapping_sub(now as i64)).collect();
        // A deadline that has passed says nothing more.
        let deadlines = relative(&world.deadlines, now, false);
        Moment {
            pace: Pace { since: Span(now), is_by_events: true, ..pace },
            hosts,
            timers: world.timers.iter().map(|timers| relative(timers, now, true)).collect(),
            monitor,
            deadlines,
            cuts: world.cuts.clone(),
            flights,
            offsets,
            has_rates: before.clocks.iter().any(|clock| clock.rate != crate::Ratio::ONE),
            before,
        }
    }

    /// What the explorer's steps from here on really are, behind those before. `script` as an exploration from this moment
    /// found it. It replays in a plain world, but where a stamp hangs on a clock with a rate of its own.
    ///
    /// # Errors
    /// If it does not happen: at which step, from 1, and why.
    pub fn exact(&self, protocol: &P, script: &Script<P>) -> Result<ExactScript<P>, String> {
        let mut playback = Playback::new(protocol, false, &self.before.clocks);
        for (index, step) in self.before.steps.iter().enumerate() {
            playback.take(step).map_err(|refused| format!("step {}: {refused}", index + 1))?;
        }
        let mut whole = self.before.clone();
        playback.world.driver.tick = Some(script.tick);
        for step in &script.steps {
            let what = Move::Choice(step.choice.clone());
            let step = ExactStep { what, answers: step.answers.clone(), lengths: Vec::new() };
            let number = whole.steps.len() + 1;
            playback.take(&step).map_err(|refused| format!("step {number}: {refused}"))?;
            whole.steps.push(playback.taken(step.what));
            if !playback.world.violations.is_empty() {
                break;
            }
        }
        Ok(whole)
    }

    /// What is abstracted beside what any exploration does, in words.
    pub fn abstractions(&self) -> Vec<String> {
        let Pace { since, stride, .. } = self.pace;
        let mut all = vec![match stride {
            None => format!(
                "from {since} on, time passes from end to end of timers, deadlines and delays: nothing happens in between"
            ),
            Some(stride) => format!(
                "from {since} on, time passes from end to end of timers, deadlines and delays, and by {stride} at most: \
                 nothing happens in between"
            ),
        }];
        all.push("what the plan of the run would do later does not happen; the budgets of faults begin anew".into());
        all.extend(self.pace.delay.map(|delay| format!("a message takes {delay} at most")));
        if !self.flights.is_empty() {
            all.push("a message in flight then may take as long as one that is sent then".into());
        }
        if self.has_rates {
            all.push(
                "clocks lose their rates: stamps stay as far off as they are then, timers run as any of the node may"
                    .into(),
            );
        }
        all
    }
}

/// The ends as they lie ahead of `now`; those that have passed at 0, if they are wanted.
fn relative<T: Ord + Clone + std::hash::Hash>(timers: &Timers<T>, now: u64, with_due: bool) -> Timers<T> {
    let mut ahead = Timers::default();
    for (timer, end) in timers.iter().filter(|(_, end)| with_due || *end > now) {
        ahead.set(timer.clone(), end.saturating_sub(now));
    }
    ahead
}
