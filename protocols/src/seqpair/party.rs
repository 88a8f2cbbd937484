//! A party: what it does with a message, by the link's verdict.

use seedbed_model::{Canonical, Context, Nonce};

use super::link::{Link, Verdict};
use super::params::NO_BACK_OFF;
use super::{Message, Observation, SeqPair, Sequence, Timer, Word, other};

/// A party's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Party {
    /// Its end of the link.
    pub link: Link<Sequence, Sequence>,
}

impl Party {
    pub(super) fn start(nonce: Nonce, cx: &mut Context<'_, SeqPair>) -> Self {
        let mut party = Party { link: Link::new(nonce, cx.node().0) };
        party.send(Word::Tell, cx);
        party
    }

    /// Sends, and leaves nothing to be sent anew.
    pub(super) fn send(&mut self, word: Word, cx: &mut Context<'_, SeqPair>) {
        let pair = self.link.outgoing();
        cx.cancel(Timer::BackOff);
        cx.observe(Observation::Sent(pair));
        cx.send(other(cx.node()), Message { pair, word });
    }

    pub(super) fn on_message(&mut self, message: Message, seqpair: &SeqPair, cx: &mut Context<'_, SeqPair>) {
        match self.link.admit(message.pair, seqpair.checks()) {
            Verdict::Stale => cx.mark("stale-dropped"),
            Verdict::NewSession => {
                cx.mark("new-session");
                self.send(Word::Answer, cx);
            }
            Verdict::Race => self.on_race(seqpair, cx),
            Verdict::Fresh => self.on_fresh(message, cx),
        }
    }

    /// The message is in context. What waits to be sent anew need not wait: the race is over.
    fn on_fresh(&mut self, message: Message, cx: &mut Context<'_, SeqPair>) {
        cx.mark("acted");
        cx.observe(Observation::Acted(message.pair));
        if message.word == Word::Tell || cx.is_armed(&Timer::BackOff) {
            self.send(Word::Answer, cx);
        }
    }

    /// "After either party drops a racing message, it waits for a random backoff, and then resends its message."
    fn on_race(&mut self, seqpair: &SeqPair, cx: &mut Context<'_, SeqPair>) {
        cx.mark("race");
        if seqpair.mutants.has(NO_BACK_OFF) {
            return self.send(Word::Tell, cx);
        }
        let slot = cx.choose(seqpair.params.back_off_slots);
        cx.set(Timer::BackOff, seqpair.params.back_off * u64::from(slot));
    }

    pub(super) fn on_back_off(&mut self, cx: &mut Context<'_, SeqPair>) {
        cx.mark("resend");
        self.send(Word::Tell, cx);
    }
}
