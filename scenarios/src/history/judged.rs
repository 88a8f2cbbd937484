//! Runs whose clients' history is judged, as a scenario's `history` demands.
//!
//! Where real time counts, a run is judged while it happens, and ends in the step whose answer has no place, as it would
//! at a property of the protocol. Where it does not, an answer may be explained by what is invoked later, so the whole
//! run is judged at its end; so is one in which more may be true at once than [`Configurations`] keeps.

use std::collections::BTreeMap;

use seedbed_model::history::specifications::{Shipped, Work};
use seedbed_model::history::{
    Call, Configurations, Contradiction, Exhausted, Interval, NEVER, Options, Standing, Value, Verdict, judge,
};
use seedbed_model::{NodeId, OpId, Protocol, UNKNOWN, Violation};
use seedbed_reports::history::described;
use seedbed_reports::number;
use seedbed_sim::{End, Found, Run, Seed, Settings};

use super::assembly::{Assembled, Fail, Meaning, Nil, assemble};
use super::claim::{Claim, PROPERTY, key, read};
use super::events::{Event, Type};
use super::recorder::{ClientRecorder, Seen};

/// More operations of a contradiction than these are not listed.
const LISTED_COUNT_MAX: usize = 12;

/// One seed's run, whatever its protocol: the judges are compiled once, not once for each.
pub(crate) trait Rerun {
    /// `names()[i]` is node `i`'s.
    fn names(&self) -> Vec<String>;
    /// Runs the seed, at most so many steps of it if they are said. What the clients see goes to `sink`.
    fn run(&self, steps: Option<u64>, sink: Option<&mut dyn FnMut(Seen)>) -> Run;
}

/// A seed of a protocol.
pub(crate) struct Seeded<'a, P: Protocol> {
    pub(crate) protocol: &'a P,
    pub(crate) settings: &'a Settings,
    pub(crate) seed: Seed,
}

impl<P: Protocol> Rerun for Seeded<'_, P> {
    fn names(&self) -> Vec<String> {
        self.protocol.nodes()
    }

    fn run(&self, steps: Option<u64>, sink: Option<&mut dyn FnMut(Seen)>) -> Run {
        let cut = steps.map(|step_count_max| Settings { step_count_max, ..self.settings.clone() });
        let settings = cut.as_ref().unwrap_or(self.settings);
        match sink {
            None => seedbed_sim::simulate(self.protocol, settings, self.seed, None),
            Some(sink) => {
                let mut recorder = ClientRecorder::new(self.protocol, sink);
                seedbed_sim::simulate(self.protocol, settings, self.seed, Some(&mut recorder))
            }
        }
    }
}

/// One seed to be run and judged.
pub(crate) struct Judged<'a> {
    pub(crate) seed: &'a dyn Rerun,
    pub(crate) claim: &'a Claim,
    /// Whether a fall is told by the smallest contradicting piece, which needs the history once more.
    pub(crate) piece: bool,
}

impl Judged<'_> {
    /// The run, up to the step in which something falls.
    ///
    /// # Errors
    /// On a claim that its [`Claim::check`] refuses.
    pub(crate) fn run(&self) -> Result<Run, String> {
        self.claim.with(self)
    }

    /// The run up to a fall.
    fn up_to(&self, fall: Fall) -> Run {
        let mut run = self.seed.run(Some(fall.step), None);
        run.end = End::Violated;
        run.violations.push(Found { violation: fall.violation, at_ns: fall.at_ns, step: fall.step });
        run
    }
}

impl Work for &Judged<'_> {
    type Result = Run;

    fn on<S: Shipped>(self, specification: &S) -> Run {
        if !self.claim.judge.judgement().is_real_time() {
            return self.whole(specification);
        }
        let mut stream = Stream::new(specification);
        let run = self.seed.run(None, Some(&mut |seen| stream.see(&seen)));
        match stream.end {
            None => run,
            Some(StreamEnd::GivenUp) => self.whole(specification),
            Some(StreamEnd::Fell(fall)) if self.piece => {
                let mut kept = Kept::default();
                self.seed.run(Some(fall.step), Some(&mut |seen| kept.see(seen)));
                let detail = self.verdict(specification, &kept).map(|fall| fall.violation.detail);
                let detail = detail.unwrap_or(fall.violation.detail);
                self.up_to(Fall { violation: Violation { detail, ..fall.violation }, ..fall })
            }
            Some(StreamEnd::Fell(fall)) => self.up_to(fall),
        }
    }
}

impl Judged<'_> {
    /// Judges the run at its end.
    fn whole<S: Shipped>(&self, specification: &S) -> Run {
        let mut kept = Kept::default();
        let run = self.seed.run(None, Some(&mut |seen| kept.see(seen)));
        let is_real_time = self.claim.judge.judgement().is_real_time();
        // Without real time a run that ended early says nothing: what is missing might explain what is there.
        if !is_real_time && run.end != End::Quiet {
            return run;
        }
        match self.verdict(specification, &kept) {
            None => run,
            Some(fall) if is_real_time => self.up_to(fall),
            Some(Fall { violation, .. }) => self.up_to(Fall { violation, step: run.steps, at_ns: run.now_ns }),
        }
    }

    /// What falls in a kept history.
    fn verdict<S: Shipped>(&self, specification: &S, kept: &Kept) -> Option<Fall> {
        let judgement = self.claim.judge.judgement();
        let meaning = Meaning { fail: Fail::MeansNotApplied, nil: Nil::Value };
        let last = kept.places.last().copied()?;
        let assembled = match assemble(specification, &kept.events, meaning, judgement) {
            Ok(assembled) => assembled,
            Err(fault) => return Some(Fall::unknown(last, &fault.why)),
        };
        let options = Options { judgement, piece: self.piece, ..Options::default() };
        match judge(specification, &assembled.history, &options, &mut |_| true) {
            Verdict::Ordered(_) => None,
            Verdict::Unknown(Exhausted::Steps(count)) => {
                Some(Fall::unknown(last, &format!("{count} configurations were searched")))
            }
            Verdict::Unknown(_) => Some(Fall::unknown(last, "the memory for the search ran out")),
            Verdict::Violated(found) => {
                let place = kept.places.get(found.end as usize).copied().unwrap_or(last);
                Some(Fall::new(place, PROPERTY.name, self.words(kept, &assembled, &found)))
            }
        }
    }

    fn words(&self, kept: &Kept, assembled: &Assembled, found: &Contradiction) -> String {
        let names = self.seed.names();
        let intervals = assembled.history.intervals();
        let told = |index: &usize| operation(&names, kept, &intervals[*index]);
        let count = found.piece.len();
        let within = found.within.as_ref().map(|within| format!("in {within}: ")).unwrap_or_default();
        if count == 0 {
            return format!("{within}no order explains the answers of all {} operations", intervals.len());
        }
        let mut listed: Vec<String> = found.piece.iter().take(LISTED_COUNT_MAX).map(told).collect();
        if count > LISTED_COUNT_MAX {
            listed.push(format!("and {} more", count - LISTED_COUNT_MAX));
        }
        let have = if count == 1 { "this one has".to_owned() } else { format!("these {count} have") };
        let needed = match (found.is_minimal, count) {
            (true, 1) => "",
            (true, _) => ", each of them needed",
            (false, _) => ", perhaps not all of them needed",
        };
        format!("{within}{have} no order, whatever came of all others{needed}: {}", listed.join("; "))
    }
}

/// An operation with who asked, what came back, and when.
fn operation(names: &[String], kept: &Kept, interval: &Interval<Call, Value>) -> String {
    let node = &names[(interval.process % names.len() as u64) as usize];
    let at = |event: u64| {
        let ns = kept.places.get(event as usize).map_or(0, |place| place.at_ns);
        number::seconds(ns, number::decimals([ns]))
    };
    let until =
        if interval.returned == NEVER { "never answered".into() } else { format!("to {}", at(interval.returned)) };
    format!("{node} {}, {} {until}", described(interval), at(interval.invoked))
}

/// Something that fell, and where.
#[derive(Debug)]
struct Fall {
    violation: Violation,
    step: u64,
    at_ns: u64,
}

impl Fall {
    fn new(place: Place, property: &str, detail: String) -> Self {
        let violation = Violation { property: property.to_owned(), detail };
        Fall { violation, step: place.step, at_ns: place.at_ns }
    }

    fn unknown(place: Place, why: &str) -> Self {
        Fall::new(place, UNKNOWN, format!("whether {} holds: {why}", PROPERTY.name))
    }
}

/// Where in a run something happens.
#[derive(Debug, Clone, Copy)]
struct Place {
    step: u64,
    at_ns: u64,
}

/// A history that is kept.
#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    /// `places[i]` is where event `i` happens.
    places: Vec<Place>,
}

impl Kept {
    fn see(&mut self, seen: Seen) {
        let position = self.events.len();
        let key = key(&seen.call);
        self.places.push(Place { step: seen.step, at_ns: seen.at_ns });
        self.events.push(Event {
            line: position + 1,
            process: seen.process,
            kind: seen.kind,
            name: seen.call.name,
            key,
            value: seen.answer.unwrap_or(seen.call.argument),
            position: position as u64,
        });
    }
}

/// A history judged while it happens: each part of the object by itself, since linearizability is local. A client of a
/// run has its operations one after the other, so A-linearizability demands the same.
struct Stream<'s, S: Shipped> {
    specification: &'s S,
    parts: BTreeMap<S::Part, Configurations<S::State, Call, Value>>,
    /// The operations in flight, as the specification has them.
    open: BTreeMap<(NodeId, OpId), Call>,
    end: Option<StreamEnd>,
}

enum StreamEnd {
    Fell(Fall),
    GivenUp,
}

impl<'s, S: Shipped> Stream<'s, S> {
    fn new(specification: &'s S) -> Self {
        Stream { specification, parts: BTreeMap::new(), open: BTreeMap::new(), end: None }
    }

    /// The next event; nothing counts after an end.
    fn see(&mut self, seen: &Seen) {
        if self.end.is_some() {
            return;
        }
        let done = match seen.kind {
            Type::Invoke => self.invoked(seen),
            Type::Ok => self.answered(seen),
            Type::Fail | Type::Info => {
                self.left_open(seen);
                Ok(())
            }
        };
        if let Err(why) = done {
            self.end = Some(StreamEnd::Fell(Fall::unknown(Place { step: seen.step, at_ns: seen.at_ns }, &why)));
        }
    }

    fn invoked(&mut self, seen: &Seen) -> Result<(), String> {
        let call = read(self.specification, &seen.call)?;
        let part = self.parts.entry(self.specification.part(&call)).or_default();
        part.invoked(self.specification, seen.node, seen.op, call.clone());
        self.open.insert((seen.node, seen.op), call);
        Ok(())
    }

    fn answered(&mut self, seen: &Seen) -> Result<(), String> {
        let Some(call) = self.open.remove(&(seen.node, seen.op)) else { return Ok(()) };
        let shapes = self.specification.shapes();
        let Some(shape) = shapes.iter().find(|shape| shape.name == call.name) else { return Ok(()) };
        let answer = shape.answer(&call, seen.answer.as_ref().unwrap_or(&Value::Nil))?;
        let part = self.parts.entry(self.specification.part(&call)).or_default();
        match part.responded(self.specification, seen.node, seen.op, &answer) {
            Standing::Ordered => {}
            Standing::GivenUp => self.end = Some(StreamEnd::GivenUp),
            Standing::Violated => {
                let detail = format!("{call} is answered {answer}, and no order of all operations explains it");
                let place = Place { step: seen.step, at_ns: seen.at_ns };
                self.end = Some(StreamEnd::Fell(Fall::new(place, PROPERTY.name, detail)));
            }
        }
        Ok(())
    }

    /// Nobody knows what comes of it: its client crashed, or is answered just that.
    fn left_open(&mut self, seen: &Seen) {
        if let Some(call) = self.open.remove(&(seen.node, seen.op)) {
            let part = self.parts.entry(self.specification.part(&call)).or_default();
            part.left_open(self.specification, seen.node, seen.op);
        }
    }
}
