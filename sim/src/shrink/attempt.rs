//! One try: some pieces, played from the start, or from where it was before with the same pieces.

use std::rc::Rc;

use derive_where::derive_where;
use seedbed_model::exact::Origin;
use seedbed_model::signature::{Shape, Signature};
use seedbed_model::{Choice, ExactScript, ExactStep, Local, Move, NodeClock, NodeId, Playback, Protocol, Span};

use super::Found;
use super::limits::{Limits, note_disk};
use super::measure::{Size, roughness};
use super::pieces::{Piece, Pieces};

/// A save is so many pieces behind the one before, at least; what is played again is cheaper than what is kept.
const SAVE_EVERY_MIN: usize = 32;

/// So many saves are kept, about; each is a world.
const SAVE_COUNT_MAX: usize = 64;

/// What tries have in common.
pub(crate) struct Attempt<'a, P: Protocol> {
    protocol: &'a P,
    names: Vec<String>,
    untimed: bool,
    pub(crate) clocks: Vec<NodeClock>,
    /// What the world keeps to; nothing, where that is still to be found out.
    limits: Option<Limits>,
    /// What must go wrong; anything, if nothing is said.
    wanted: Option<Signature>,
}

/// A try under way.
#[derive_where(Clone)]
struct Play<P: Protocol> {
    playback: Playback<P>,
    /// How many pieces were played.
    count: usize,
    /// `numbers[id]` is the number of the step that the piece became; 0 for none.
    numbers: Vec<u32>,
    done: Pieces<P>,
    /// The next id for time that passes by itself.
    next: u32,
}

/// Tries under way along the smallest run so far: another that begins with the same pieces goes on from one of them.
#[derive_where(Default)]
pub(crate) struct Saves<P: Protocol> {
    /// In the order of their counts.
    plays: Vec<Play<P>>,
}

impl<P: Protocol> Saves<P> {
    /// Forgets those that another run does not go through, which has only its first `common` pieces in common with the
    /// one so far. Time that passes at the end of these may pass longer now.
    pub(crate) fn keep(&mut self, common: usize) {
        self.plays.retain(|play| play.count < common);
    }
}

impl<'a, P: Protocol> Attempt<'a, P> {
    pub(crate) fn new(
        protocol: &'a P,
        script: &ExactScript<P>,
        limits: Option<Limits>,
        wanted: Option<Signature>,
    ) -> Self {
        let names = protocol.nodes();
        Attempt { protocol, names, untimed: script.untimed, clocks: script.clocks.clone(), limits, wanted }
    }

    /// Plays the pieces. The run as it happened, if it falls as it should.
    pub(crate) fn run(&self, pieces: &[Rc<Piece<P>>]) -> Option<Found<P>> {
        self.run_like(&mut Saves::default(), pieces, 0)
    }

    /// The same, where the first `common` pieces are those of the run that the saves are of.
    pub(crate) fn run_like(&self, saves: &mut Saves<P>, pieces: &[Rc<Piece<P>>], common: usize) -> Option<Found<P>> {
        let mut play = self.resumed(saves, pieces, common);
        for piece in &pieces[play.count..] {
            self.piece(&mut play, piece);
            if !play.playback.world.violations.is_empty() {
                return self.judged(play);
            }
        }
        self.await_deadlines(&mut play);
        if play.playback.world.violations.is_empty() { None } else { self.judged(play) }
    }

    /// Where the first pieces lead: some of the first `common`.
    fn resumed(&self, saves: &mut Saves<P>, pieces: &[Rc<Piece<P>>], common: usize) -> Play<P> {
        let known = saves.plays.iter().rposition(|play| play.count <= common);
        let mut play = known.map_or_else(|| self.begun(), |known| saves.plays[known].clone());
        let stride = SAVE_EVERY_MIN.max(pieces.len() / SAVE_COUNT_MAX);
        while play.count + stride <= common {
            for piece in &pieces[play.count..play.count + stride] {
                self.piece(&mut play, piece);
            }
            play.count += stride;
            saves.plays.push(play.clone());
            saves.plays.sort_by_key(|play| play.count);
        }
        let most = pieces.iter().map(|piece| piece.id).max().unwrap_or(0);
        play.numbers.resize(play.numbers.len().max(most as usize + 1), 0);
        play.next = play.next.max(most + 1);
        play
    }

    fn begun(&self) -> Play<P> {
        let playback = Playback::new(self.protocol, self.untimed, &self.clocks);
        Play { playback, count: 0, numbers: Vec::new(), done: Vec::new(), next: 0 }
    }

    /// What is owed by an instant falls if time goes on until then.
    fn await_deadlines(&self, play: &mut Play<P>) {
        while let Some(end) = play.playback.world.deadlines.iter().map(|(_, end)| end).min() {
            let span = Span(end.saturating_sub(play.playback.world.driver.now));
            let id = play.fresh();
            if span.0 == 0 || !self.elapse(play, id, span) || !play.playback.world.violations.is_empty() {
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
        self.elapse(play, id, span) && play.playback.world.violations.is_empty()
    }

    /// Lets time pass, if it may. Two spans in a row are one.
    fn elapse(&self, play: &mut Play<P>, id: u32, span: Span) -> bool {
        if span.0 == 0 || self.limits.is_some_and(|limits| !limits.allow(&play.playback, span)) {
            return false;
        }
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
        let place = piece.id as usize;
        self.numbers.resize(self.numbers.len().max(place + 1), 0);
        self.numbers[place] = number;
        let step = self.playback.taken(step.what.clone());
        let same = step == piece.step;
        self.done.push(if same { Rc::clone(piece) } else { Rc::new(Piece { step, ..Piece::clone(piece) }) });
    }
}
