//! One end of a link that drops messages which crossed another: two `<sequence number, nonce>` pairs in each message.
//!
//! "The sender of a message includes both its own sequence number and the most recent sequence number it heard from the
//! remote node" (Centrifuge §2.3.2). A message that does not name the receiver's latest was sent before its sender had
//! received that one: the two crossed, and the receiver drops it. The nonces "allow recognizing crashes and discarding
//! stale messages" (PRS §4.3).
//!
//! Where the papers leave room, this link differs or decides:
//! - the number of a *dropped* message is heard too. Figure 7 shows it, the text does not say it; without it the next
//!   message names an old number again, and so for ever;
//! - nonces are ordered, so that a late message of an earlier incarnation is told from a new session at once;
//! - the message that opens a session says that nothing was heard; it is answered and never acted on, so that both ends
//!   know each other's incarnation before anything counts.

use std::cmp::Ordering;

use seedbed_model::{Canonical, Nonce, NumberKind, Relevance, Serial};

/// What every message on a link carries. `Own` numbers the sender's messages, `Remote` the receiver's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
#[canonical(unbounded)]
pub struct Pair<Own: NumberKind, Remote: NumberKind> {
    /// The message itself.
    pub own: Serial<Own>,
    /// The latest message that its sender heard from the receiver.
    pub heard: Heard<Remote>,
}

/// What a message names of its receiver's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
#[canonical(unbounded)]
pub enum Heard<K: NumberKind> {
    /// None was heard.
    Nothing,
    /// This one was the latest heard.
    Latest(Serial<K>),
    /// One that is no longer the receiver's latest, so that it does not matter which. Never sent: the explorer puts it in
    /// a message in flight (see [`Link::relevance`]).
    Gone,
}

/// One end of a link.
///
/// 1. `own` is the largest number this incarnation gave to a message on this link; it never goes back;
/// 2. `heard` is the largest serial received from the remote, acted on or not; it never goes back;
/// 3. `sent` says whether `own` was sent within the session, that is, to the remote's incarnation in `heard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
#[canonical(unbounded)]
pub struct Link<Own: NumberKind, Remote: NumberKind> {
    own: Serial<Own>,
    sent: bool,
    heard: Option<Serial<Remote>>,
}

/// What a receiver must do with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Act on it: its sender had heard the receiver's latest message.
    Fresh,
    /// Drop it, wait for a random back-off, send anew: it crossed the receiver's latest message.
    Race,
    /// Drop it: an old copy, or of an earlier incarnation of either end. Nothing was recorded.
    Stale,
    /// Answer it and do not act on it: the remote's incarnation is new here.
    NewSession,
}

/// Which checks an end makes. All, unless a mutant says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks {
    /// That a message is later than every one heard before.
    pub later: bool,
    /// That it names the receiver's latest.
    pub race: bool,
    /// That both nonces are the present ones.
    pub nonce: bool,
    /// That the number of a dropped message is heard.
    pub hear_dropped: bool,
}

impl Checks {
    /// The whole layer.
    pub const ALL: Checks = Checks { later: true, race: true, nonce: true, hear_dropped: true };

    /// These, less every comparison of numbers if `without`.
    #[must_use]
    pub fn without_numbers_if(self, without: bool) -> Checks {
        Checks { later: self.later && !without, race: self.race && !without, ..self }
    }
}

impl<Own: NumberKind, Remote: NumberKind> Link<Own, Remote> {
    /// The end of an incarnation that just started. `scope` is that of its numbers: distinct for each of a node's links.
    pub fn new(nonce: Nonce, scope: u16) -> Self {
        Link { own: Serial::before_first(nonce, scope), sent: false, heard: None }
    }

    /// The pairs of a message that leaves now.
    pub fn outgoing(&mut self) -> Pair<Own, Remote> {
        self.own = self.own.next();
        self.sent = true;
        Pair { own: self.own, heard: self.heard.map_or(Heard::Nothing, Heard::Latest) }
    }

    /// Whether the remote was heard since this end started.
    pub fn has_heard(&self) -> bool {
        self.heard.is_some()
    }

    /// What to do with a message that arrives. Notes what it tells, as invariant 2 says.
    pub fn admit(&mut self, pair: Pair<Remote, Own>, checks: Checks) -> Verdict {
        if self.is_stale(pair, checks) {
            return Verdict::Stale;
        }
        if self.opens_session(pair, checks) {
            // What was sent to an earlier incarnation the new one drops. What was sent to none yet may reach this one.
            self.sent &= self.heard.is_none();
            self.heard = Some(pair.own);
            return Verdict::NewSession;
        }
        let races = checks.race && !self.is_latest(pair.heard, checks);
        if !races || checks.hear_dropped {
            self.heard = Some(pair.own);
        }
        if races { Verdict::Race } else { Verdict::Fresh }
    }

    /// An old copy, or of an incarnation that is gone, or meant for one. It stays so: serials heard never go back.
    fn is_stale(&self, pair: Pair<Remote, Own>, checks: Checks) -> bool {
        let Some(heard) = self.heard else { return false };
        if !checks.nonce {
            // Without nonces, what says that nothing was heard may open a session with any number.
            return checks.later && pair.own.number <= heard.number && pair.heard != Heard::Nothing;
        }
        match pair.own.nonce.cmp(&heard.nonce) {
            Ordering::Less => true,
            Ordering::Equal => self.names_gone(pair) || (checks.later && pair.own.number <= heard.number),
            Ordering::Greater => false,
        }
    }

    /// Whether the message is meant for an earlier incarnation of this end.
    fn names_gone(&self, pair: Pair<Remote, Own>) -> bool {
        matches!(pair.heard, Heard::Latest(named) if named.nonce != self.own.nonce)
    }

    /// Whether the sender's incarnation is new here. One that names an earlier incarnation of this end opens a session
    /// too: were it dropped, two ends that restarted would each name the other's past for ever.
    fn opens_session(&self, pair: Pair<Remote, Own>, checks: Checks) -> bool {
        match self.heard {
            _ if !checks.nonce => pair.heard == Heard::Nothing,
            None => pair.heard == Heard::Nothing || self.names_gone(pair),
            Some(heard) => pair.own.nonce > heard.nonce,
        }
    }

    /// Whether `named` is the latest message of this end, as far as the remote's incarnation can know.
    fn is_latest(&self, named: Heard<Own>, checks: Checks) -> bool {
        match named {
            Heard::Nothing => !self.sent,
            Heard::Latest(named) => named.number == self.own.number && (!checks.nonce || named.nonce == self.own.nonce),
            Heard::Gone => false,
        }
    }

    /// What a message in flight can still do here. See [`seedbed_model::Protocol::relevance`].
    pub fn relevance(&self, pair: Pair<Remote, Own>, checks: Checks) -> Relevance<Pair<Remote, Own>> {
        if !checks.nonce {
            // A restart takes back what was heard: nothing is settled for good.
            return Relevance::Live;
        }
        if self.is_stale(pair, checks) {
            return Relevance::Dead;
        }
        // Own numbers only grow: what does not name the latest now never will. All such act alike.
        let opened = self.heard.is_some_and(|heard| heard.nonce == pair.own.nonce);
        let too_late = match pair.heard {
            Heard::Nothing => opened && self.sent && checks.race,
            // Whether it opens a session hangs on what was heard until then.
            Heard::Latest(_) if self.names_gone(pair) => false,
            Heard::Latest(named) => named.number != self.own.number || !checks.race,
            Heard::Gone => false,
        };
        if too_late { Relevance::Same(Pair { heard: Heard::Gone, ..pair }) } else { Relevance::Live }
    }
}
