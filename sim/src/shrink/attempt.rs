//! One try: some pieces, played from the start, or on from where an earlier try was when it had played the same ones.

use std::collections::BTreeMap;
use std::rc::Rc;

use derive_where::derive_where;
use seedbed_model::exact::Origin;
use seedbed_model::signature::{Shape, Signature};
use seedbed_model::{Choice, ExactScript, ExactStep, Local, Move, NodeClock, NodeId, Playback, Protocol, Span};

use super::Found;
use super::limits::{Limits, note_disk};
use super::measure::{Size, roughness};
use super::pieces::{self, Piece, Pieces};

/// So many beginnings of the smallest run so far are kept, evenly spread.
const KEPT_COUNT: usize = 24;

/// Beginnings of fewer pieces are played again.
const KEPT_MIN: usize = 32;

/// What tries have in common.
pub(crate) struct Attempt<'a, P: Protocol> {
    protocol: &'a P,
    names: Vec<String>,
    untimed: bool,
    clocks: Vec<NodeClock>,
    /// What the world keeps to; nothing, where that is still to be found out.
    limits: Option<Limits>,
    /// What must go wrong; anything, if nothing is said.
    wanted: Option<Signature>,
    /// Where what the world owes and no piece brings happens by itself, at the latest moment: until so many pieces have happened.
    carried_max: Option<usize>,
    kept: Kept<P>,
}

/// Beginnings of a run, as they were played: most tries leave out little of the smallest run so far, and begin as it does.
struct Kept<P: Protocol> {
    run: Pieces<P>,
    /// By how many pieces have been played.
    plays: BTreeMap<usize, Play<P>>,
}

impl<P: Protocol> Kept<P> {
    fn new() -> Self {
        Kept { run: Vec::new(), plays: BTreeMap::new() }
    }

    /// With how many of the run's pieces those begin.
    fn common(&self, pieces: &[Rc<Piece<P>>]) -> usize {
        self.run.iter().zip(pieces).take_while(|(ours, theirs)| Rc::ptr_eq(ours, theirs)).count()
    }

    /// How many pieces lie between two that are kept.
    fn stride(&self) -> usize {
        (self.run.len() / KEPT_COUNT).max(KEPT_MIN)
    }
}

/// A try under way.
#[derive_where(Clone)]
struct Play<P: Protocol> {
    playback: Playback<P>,
    /// `numbers[id]` is the number of the step that the piece became; 0 for none.
    numbers: Vec<u32>,
    /// `ids[number]` is the piece that became the step of this number.
    ids: Vec<u32>,
    done: Pieces<P>,
    /// The next id for time that passes by itself.
    next: u32,
}

impl<'a, P: Protocol> Attempt<'a, P> {
    pub(crate) fn new(
        protocol: &'a P,
        script: &ExactScript<P>,
        limits: Option<Limits>,
        wanted: Option<Signature>,
    ) -> Self {
        let names = protocol.nodes();
        Attempt {
            protocol,
            names,
            untimed: script.untimed,
            clocks: script.clocks.clone(),
            limits,
            wanted,
            carried_max: None,
            kept: Kept::new(),
        }
    }

    pub(crate) fn clocks(&self) -> &[NodeClock] {
        &self.clocks
    }

    pub(crate) fn set_clock(&mut self, index: usize, clock: NodeClock) {
        self.clocks[index] = clock;
        self.kept.plays.clear();
    }

    /// Lets what is owed happen by itself from the next try on, in runs of at most so many pieces; or no more.
    pub(crate) fn set_carried_max(&mut self, carried_max: Option<usize>) {
        if self.carried_max.is_some() != carried_max.is_some() {
            self.kept.plays.clear();
        }
        self.carried_max = carried_max;
    }

    pub(crate) fn carries_on(&self) -> bool {
        self.carried_max.is_some()
    }

    /// Most tries from here on begin as this run does.
    pub(crate) fn expect_like(&mut self, run: &Pieces<P>) {
        let common = self.kept.common(run);
        self.kept.plays.retain(|count, _| *count <= common);
        self.kept.run.clone_from(run);
    }

    /// Plays the pieces. The run as it happened, if it falls as it should.
    pub(crate) fn run(&mut self, pieces: &[Rc<Piece<P>>]) -> Option<Found<P>> {
        let most = pieces.iter().map(|piece| piece.id).max().unwrap_or(0);
        let common = self.kept.common(pieces);
        let longest = self.kept.plays.range(..=common).next_back();
        let (from, mut play) = longest.map_or_else(|| (0, self.play()), |(count, play)| (*count, play.clone()));
        play.next = play.next.max(most + 1);
        for (index, piece) in pieces.iter().enumerate().skip(from) {
            if index > from && index <= common && index.is_multiple_of(self.kept.stride()) {
                self.kept.plays.insert(index, play.clone());
            }
            self.piece(&mut play, piece);
            if play.has_fallen() {
                return self.judged(play);
            }
        }
        self.await_deadlines(&mut play);
        if play.has_fallen() { self.judged(play) } else { None }
    }

    /// Before the first piece.
    fn play(&self) -> Play<P> {
        let playback = Playback::new(self.protocol, self.untimed, &self.clocks);
        Play { playback, numbers: Vec::new(), ids: Vec::new(), done: Vec::new(), next: 1 }
    }

    /// The pieces of a run as whoever has its script alone reads them: of several messages alike, the one that arrives is the
    /// one sent first. The first run may have had it from a sender that is not needed for it.
    pub(crate) fn reread(&self, pieces: &[Rc<Piece<P>>]) -> Option<Pieces<P>> {
        let steps = pieces.iter().map(|piece| piece.step.clone()).collect();
        let script = ExactScript { untimed: self.untimed, clocks: self.clocks.clone(), steps };
        pieces::read(self.protocol, &script).ok().map(|(pieces, _)| pieces)
    }

    /// What is owed by an instant falls if time goes on until then.
    fn await_deadlines(&self, play: &mut Play<P>) {
        while let Some(end) = play.playback.world.deadlines.iter().map(|(_, end)| end).min() {
            let span = Span(end.saturating_sub(play.playback.world.driver.now));
            let id = play.fresh();
            if span.0 == 0 || !self.elapse(play, id, span) || play.has_fallen() {
                return;
            }
        }
    }

    fn judged(&self, play: Play<P>) -> Option<Found<P>> {
        let violation = play.playback.world.violations.first()?;
        let shapes: Vec<Shape> = play.done.iter().map(|piece| Shape::of(&self.names, &piece.step.what)).collect();
        let signature = Signature::of(&self.names, violation, &shapes);
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.is_like(&signature)) {
            return None;
        }
        let size = Size::of(&play.done, &self.clocks);
        let roughness =
            roughness(&play.done) + self.clocks.iter().map(|clock| u64::from(*clock != NodeClock::EXACT)).sum::<u64>();
        Some(Found { pieces: play.done, signature, size, roughness })
    }

    /// Lets the piece happen, if it can.
    fn piece(&self, play: &mut Play<P>, piece: &Rc<Piece<P>>) {
        match piece.step.choice() {
            Some(Choice::Elapse(span)) => drop(self.elapse(play, piece.id, *span)),
            Some(Choice::At(node, Local::Fire(timer))) => {
                if self.wait(play, *node, timer) {
                    play.take(piece, None, None);
                }
            }
            Some(Choice::Deliver(_) | Choice::Duplicate(_) | Choice::Lose(_)) => {
                if let Some((step, aim)) = play.aimed(piece) {
                    play.take(piece, Some(step), Some(aim));
                }
            }
            _ => play.take(piece, None, None),
        }
    }

    /// Whether the node can be told of its timer, once what is left of it has passed; `false` if a property fell meanwhile.
    fn wait(&self, play: &mut Play<P>, node: NodeId, timer: &P::Timer) -> bool {
        let world = &play.playback.world;
        let Some(end) = world.timers[node.index()].end(timer) else { return false };
        if self.untimed || end <= world.driver.now {
            return true;
        }
        let (span, id) = (Span(end - world.driver.now), play.fresh());
        self.elapse(play, id, span) && !play.has_fallen()
    }

    /// Lets time pass, if it may.
    fn elapse(&self, play: &mut Play<P>, id: u32, span: Span) -> bool {
        let until = play.playback.world.driver.now + span.0;
        let may_pass = self.limits.is_none_or(|limits| match self.carried_max {
            Some(most) => limits.are_up(&play.playback) && self.carry_on(play, limits, until, most),
            None => limits.allow(&play.playback, span),
        });
        if !may_pass {
            return false;
        }
        let span = play.until(until);
        span.0 > 0 && self.pass(play, id, span)
    }

    /// What is owed before `until` happens, each as late as it may; `false` if it cannot, or a property falls.
    fn carry_on(&self, play: &mut Play<P>, limits: Limits, until: u64, most: usize) -> bool {
        while let Some((latest, choice, aim)) = limits.next_due(&play.playback).filter(|(latest, ..)| *latest < until) {
            let (wait, id) = (play.until(latest), play.fresh());
            if play.done.len() > most || wait.0 > 0 && !self.pass(play, id, wait) {
                return false;
            }
            if play.has_fallen() {
                return false;
            }
            let sender = |aim: Origin| play.ids.get(aim.step as usize).map(|id| Origin { step: *id, nth: aim.nth });
            let origin = aim.and_then(sender);
            let (step, count) = (ExactStep::of(choice), play.done.len());
            let piece = Rc::new(Piece { id: play.fresh(), step, origin });
            play.take(&piece, None, aim);
            if play.done.len() == count || play.has_fallen() {
                return false;
            }
        }
        true
    }

    /// Lets time pass. Two spans in a row are one.
    fn pass(&self, play: &mut Play<P>, id: u32, span: Span) -> bool {
        let before = play.playback.world.driver.now;
        let step = ExactStep::of(Choice::Elapse(span));
        if play.playback.take(&step).is_err() {
            return false;
        }
        let passed = Span(play.playback.world.driver.now - before);
        let last = play.done.pop_if(|piece| piece.is_time());
        let (id, before) = match last.as_ref().map(|piece| (piece.id, piece.step.choice())) {
            Some((id, Some(Choice::Elapse(before)))) => (id, *before),
            _ => (id, Span::ZERO),
        };
        let step = ExactStep::of(Choice::Elapse(before + passed));
        play.done.push(Rc::new(Piece { id, step, origin: None }));
        true
    }
}

impl<P: Protocol> Play<P> {
    fn has_fallen(&self) -> bool {
        !self.playback.world.violations.is_empty()
    }

    /// How long it is until then [ns].
    fn until(&self, end: u64) -> Span {
        Span(end.saturating_sub(self.playback.world.driver.now))
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The step with the message that is meant, as it is this time.
    fn aimed(&self, piece: &Piece<P>) -> Option<(ExactStep<P>, Origin)> {
        let origin = piece.origin?;
        let step = *self.numbers.get(origin.step as usize).filter(|number| **number > 0)?;
        let aim = Origin { step, nth: origin.nth };
        let flying = self.playback.world.driver.flight.get(&aim)?;
        let (old, envelope) = (piece.step.choice()?, flying.envelope.clone());
        let choice = match old {
            // Another receiver's message is another one.
            Choice::Deliver(old) if old.to == envelope.to => Choice::Deliver(envelope),
            Choice::Duplicate(old) if old.to == envelope.to => Choice::Duplicate(envelope),
            Choice::Lose(old) if old.to == envelope.to => Choice::Lose(envelope),
            _ => return None,
        };
        Some((ExactStep { what: Move::Choice(choice), ..piece.step.clone() }, aim))
    }

    /// The piece happens, if it can: as the step that is given, or as its own.
    fn take(&mut self, piece: &Rc<Piece<P>>, step: Option<ExactStep<P>>, aim: Option<Origin>) {
        self.playback.world.driver.aim = aim;
        let step = step.as_ref().unwrap_or(&piece.step);
        let taken = self.playback.take(step);
        self.playback.world.driver.aim = None;
        let number = self.playback.world.driver.step;
        if taken.is_err() {
            return;
        }
        note_disk(&mut self.playback, step);
        let (id, place) = (piece.id as usize, number as usize);
        self.numbers.resize(self.numbers.len().max(id + 1), 0);
        self.numbers[id] = number;
        self.ids.resize(self.ids.len().max(place + 1), 0);
        self.ids[place] = piece.id;
        let step = self.playback.taken(step.what.clone());
        let same = step == piece.step;
        self.done.push(if same { Rc::clone(piece) } else { Rc::new(Piece { step, ..Piece::clone(piece) }) });
    }
}
