//! One node as a machine: what comes in, what goes out, and the tape of both. It knows no socket, file or clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use seedbed_model::tape::TapeLine;
use seedbed_model::{
    Choice, Client, Effect, Effects, Envelope, Host, Local, Move, NodeId, Nonce, Protocol, Stamp, Surroundings, Timers,
    exact, moves,
};

/// A node that runs.
pub struct Machine<P: Protocol> {
    protocol: P,
    node: NodeId,
    names: Arc<[String]>,
    host: Host<P>,
    timers: Timers<P::Timer>,
    stamps_ahead: i64,
    draws: ChaCha8Rng,
    is_taped: bool,
    is_hasty: bool,
}

/// What a step came to.
pub struct Step<P: Protocol> {
    /// What the node did, in order. Effects that wait for a record are not among them.
    pub effects: Effects<P>,
    /// The step's line, if there is a tape.
    pub line: Option<TapeLine>,
    /// What an assertion of the protocol that broke says: the node is of no use then.
    pub panic: Option<String>,
}

/// What a node is made from.
pub struct Birth<P: Protocol> {
    /// What runs.
    pub protocol: P,
    /// Which node.
    pub node: NodeId,
    /// What its disk holds.
    pub durable: P::Durable,
    /// How far its client is.
    pub client: Client<P>,
    /// How often it has started, this time included: from 1.
    pub incarnation: u64,
    /// What its stamps are ahead of the times it is given [ns].
    pub stamps_ahead: i64,
    /// What it draws is a function of this.
    pub seed: u64,
    /// Whether steps have lines.
    pub is_taped: bool,
    /// Whether timers end after nine tenths of their spans: see [`crate::driver::Planted::TimerEarly`].
    pub is_hasty: bool,
}

impl<P: Protocol> Machine<P> {
    /// A node that has not started: the first thing to take is [`Local::Start`].
    pub fn new(birth: Birth<P>) -> Self {
        let mut host = Host::new();
        host.disk.durable = birth.durable;
        *host.client = birth.client;
        for _ in 1..birth.incarnation {
            host.nonce = Some(host.nonce.map_or_else(|| Nonce::first(birth.node.0), Nonce::next));
        }
        Machine {
            names: birth.protocol.nodes().into(),
            protocol: birth.protocol,
            node: birth.node,
            host,
            timers: Timers::default(),
            stamps_ahead: birth.stamps_ahead,
            draws: ChaCha8Rng::seed_from_u64(birth.seed),
            is_taped: birth.is_taped,
            is_hasty: birth.is_hasty,
        }
    }

    /// What `local` comes to at `now` [ns], which never goes back.
    pub fn take(&mut self, now: u64, local: Local<P>) -> Step<P> {
        let what = self.is_taped.then(|| self.named(&local));
        if let Local::Fire(timer) = &local {
            self.timers.cancel(timer);
        }
        let mut effects = Effects::new();
        let mut around = Around {
            timers: &self.timers,
            now,
            stamp: Stamp::of_clock(self.stamps_ahead.saturating_add_unsigned(now)),
            draws: &mut self.draws,
            answers: Vec::new(),
        };
        let (host, protocol, node) = (&mut self.host, &self.protocol, self.node);
        // After a panic nothing of the node is used again.
        let fed = catch_unwind(AssertUnwindSafe(|| host.feed(protocol, node, local, &mut around, &mut effects)));
        let answers = around.answers;
        self.rearm(now, &effects);
        let does = |effect| moves::effect_text(&self.names, Some(self.node), self.node, effect);
        let line =
            what.map(|step| TapeLine { at: now, step, answers, does: effects.iter().map(does).collect(), found: None });
        Step { effects, line, panic: fed.err().map(|payload| exact::words(&*payload)) }
    }

    fn named(&self, local: &Local<P>) -> String {
        let choice = match local.clone() {
            Local::Deliver(from, message) => Choice::Deliver(Envelope { from, to: self.node, message }),
            local => Choice::At(self.node, local),
        };
        moves::text_of(&Move::<P>::Choice(choice), &self.names)
    }

    fn rearm(&mut self, now: u64, effects: &[Effect<P>]) {
        for effect in effects {
            match effect {
                Effect::Set { timer, span } => {
                    let haste = if self.is_hasty { span.0 / 10 } else { 0 };
                    self.timers.set(timer.clone(), now + span.0 - haste);
                }
                Effect::Copy { to, from } => {
                    self.timers.copy(from, to, now);
                }
                Effect::Cancel(timer) => self.timers.cancel(timer),
                _ => {}
            }
        }
    }

    /// The timer that is due at `now` and ended first.
    pub fn due(&self, now: u64) -> Option<P::Timer> {
        let due = self.timers.iter().filter(|(_, end)| *end <= now);
        due.min_by_key(|(_, end)| *end).map(|(timer, _)| timer.clone())
    }

    /// When the next timer ends [ns].
    pub fn next_end(&self) -> Option<u64> {
        self.timers.iter().map(|(_, end)| end).min()
    }

    /// The decisions open at `now`.
    pub fn decisions(&mut self, now: u64) -> Vec<P::Decision> {
        let mut around = Around {
            timers: &self.timers,
            now,
            stamp: Stamp::of_clock(self.stamps_ahead.saturating_add_unsigned(now)),
            draws: &mut self.draws,
            answers: Vec::new(),
        };
        self.host.decisions(&self.protocol, self.node, &mut around)
    }

    /// Whether the client here has an operation to invoke.
    pub fn can_invoke(&self) -> bool {
        self.host.can_invoke(&self.protocol, self.node)
    }

    /// The client here.
    pub fn client(&self) -> &Client<P> {
        &self.host.client
    }

    /// A number below `count`, for whoever drives the node. Not an answer to a step.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn draw(&mut self, count: u64) -> u64 {
        below(&mut self.draws, count)
    }
}

/// A number below `count`. A bias below one in 2^32 is of no matter here.
fn below(draws: &mut ChaCha8Rng, count: u64) -> u64 {
    ((u128::from(draws.next_u64()) * u128::from(count)) >> 64) as u64
}

/// What surrounds a step.
struct Around<'a, T: Ord> {
    timers: &'a Timers<T>,
    now: u64,
    stamp: Stamp,
    draws: &'a mut ChaCha8Rng,
    answers: Vec<u32>,
}

impl<T: Ord + Clone + std::hash::Hash> Surroundings<T> for Around<'_, T> {
    fn is_armed(&mut self, timer: &T) -> bool {
        self.timers.is_armed(timer, self.now)
    }
    fn clock(&mut self) -> Stamp {
        self.stamp
    }
    fn choose(&mut self, count: u32) -> u32 {
        let answer = below(self.draws, u64::from(count)) as u32;
        self.answers.push(answer);
        answer
    }
}
