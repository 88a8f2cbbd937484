//! A moment of a simulated run, and the explorer set to work from there.

use std::fmt;
use std::str::FromStr;

use seedbed_model::explore::{self, Aids, Bounds, Moment, Pace, Progress, Strategy, Verdict};
use seedbed_model::{Choice, ExactScript, ExactStep, Protocol, Span, replay_exact};
use seedbed_reports::number;
use seedbed_sim::{Seed, Settings};

use crate::face::{Counterexample, Explored};
use crate::written;

/// When a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// At this instant, before anything that happens at it.
    Time(Span),
    /// After so many steps.
    Step(u64),
}

impl FromStr for At {
    type Err = String;
    /// `90s`, or a number of steps.
    fn from_str(text: &str) -> Result<At, String> {
        if let Ok(step) = text.parse() {
            return Ok(At::Step(step));
        }
        let time = text.parse().map(At::Time);
        time.map_err(|_| format!("`{text}` is no moment; write a time such as 90s, or a number of steps such as 1200"))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Time(time) => time.fmt(f),
            At::Step(step) => write!(f, "step {step}"),
        }
    }
}

/// The run to begin in, and the moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) seed: Seed,
    pub(crate) at: At,
    pub(crate) pace: Pace,
}

impl Origin<'_> {
    /// The run up to the moment.
    ///
    /// # Errors
    /// If it ends before.
    fn before<P: Protocol>(&self, protocol: &P) -> Result<ExactScript<P>, String> {
        match self.at {
            At::Step(count) => self.steps(protocol, count),
            At::Time(time) => self.until(protocol, time),
        }
    }

    fn steps<P: Protocol>(&self, protocol: &P, count: u64) -> Result<ExactScript<P>, String> {
        let settings = Settings { step_count_max: count.min(self.settings.step_count_max), ..self.settings.clone() };
        let (run, script) = seedbed_sim::record(protocol, &settings, self.seed)?;
        if run.steps < count && run.violations.is_empty() {
            return Err(format!("the run ends after {} steps; choose a step before", run.steps));
        }
        Ok(script)
    }

    fn until<P: Protocol>(&self, protocol: &P, time: Span) -> Result<ExactScript<P>, String> {
        let mut settings = self.settings.clone();
        if time < settings.duration && !settings.tick_mode {
            // What comes later need not be run: the plan is drawn as ever, and all of it that comes before happens.
            settings.plan = Some(seedbed_sim::plan(protocol, &settings, self.seed));
            (settings.duration, settings.quiet) = (time, Span::ZERO);
        }
        let (run, mut script) = seedbed_sim::record(protocol, &settings, self.seed)?;
        let mut now = Span::ZERO;
        for index in 0..script.steps.len() {
            let Some(Choice::Elapse(span)) = script.steps[index].choice() else { continue };
            let next = now + *span;
            if next >= time {
                script.steps.truncate(index);
                script.steps.push(ExactStep::of(Choice::Elapse(Span(time.0 - now.0))));
                return Ok(script);
            }
            now = next;
        }
        let ended = number::seconds(now.0, 3);
        Err(match run.violations.first() {
            Some(found) => format!("{} falls at {ended}, before the moment", found.violation.property),
            None => format!("the run ends at {ended}; choose a time before"),
        })
    }
}

/// Explores from the moment.
///
/// # Errors
/// If the run does not come to it, or the bounds do not fit.
pub(crate) fn explore<P: Protocol>(
    protocol: &P,
    origin: &Origin<'_>,
    bounds: &Bounds,
    strategy: &Strategy,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Explored, String> {
    let before = origin.before(protocol)?;
    let steps_before = before.steps.len();
    let moment = Moment::after(protocol, before, origin.pace)?;
    let found = explore::explore_from(protocol, bounds, strategy, Some(&moment), Aids::default(), watch)?;
    let mut verdict = found.verdict;
    let mut counterexample = None;
    if let (Verdict::Violated(fell), Some(script)) = (&verdict, &found.script) {
        let whole = moment.exact(protocol, script);
        match whole.and_then(|whole| certified(protocol, &whole, &fell.property)) {
            Ok(shown) => counterexample = Some(shown),
            // Never said to hold, and never said to fall either: only what a plain world does is a finding.
            Err(why) => {
                verdict = Verdict::Unknown(format!(
                    "{} falls in the explorer and not in a plain world: {why}",
                    fell.property
                ));
            }
        }
    }
    Ok(Explored {
        verdict,
        stats: found.stats,
        reached: found.reached,
        unexercised: found.unexercised,
        abstractions: found.abstractions,
        counterexample,
        repeats_from: None,
        steps_before,
    })
}

/// The whole run, from the start to the fall, if a plain world takes it.
fn certified<P: Protocol>(protocol: &P, whole: &ExactScript<P>, property: &str) -> Result<Counterexample, String> {
    let again = replay_exact(protocol, whole);
    if let Some((step, why)) = &again.replayed.drift {
        return Err(format!("step {}: {why}", step + 1));
    }
    if again.replayed.violations.iter().all(|fell| fell.property != property) {
        return Err("it replays without the fall".into());
    }
    let script = written::pinned(protocol, whole, &again);
    Ok(Counterexample { script, exact: again.replayed.clone(), replayed: again.replayed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_or_a_number_of_steps() {
        assert_eq!("90s".parse(), Ok(At::Time(Span::secs(90))));
        assert_eq!("1200".parse(), Ok(At::Step(1_200)));
        assert!("later".parse::<At>().is_err());
    }
}
