//! A Lookup: it knows where to look, and tells its application of every loss (Centrifuge §2.2; PRS §2.1, §4.2).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, Nonce, Relevance, Serial};

use super::message::{Assignment, Change, Edition, Generation, Message, News, PollNumber, RangeId};
use super::params::{NO_CONTACT_TIMEOUT, NO_SNAPSHOT_DIFF};
use super::{Leasing, MANAGER, Observation, Timer};

type Cx<'a> = Context<'a, Leasing>;

/// A Lookup's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Lookup {
    /// The latest poll.
    poll: Serial<PollNumber>,
    /// Whether its answer is awaited.
    awaits: bool,
    /// Its copy of the lease table; `None` while it has no contact to the Manager.
    copy: Option<Known>,
}

/// A copy of the lease table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Known {
    edition: Edition,
    /// `[i]` belongs to range `i`.
    table: Vec<Assignment>,
}

impl Lookup {
    pub(super) fn start(leasing: &Leasing, nonce: Nonce, cx: &mut Cx<'_>) -> Self {
        let mut lookup = Lookup { poll: Serial::before_first(nonce, cx.node().0), awaits: false, copy: None };
        lookup.poll(leasing, cx);
        lookup
    }

    /// "Each Lookup contacts the Manager once every 30 seconds" (§2.2.1).
    pub(super) fn poll(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.poll = self.poll.next();
        self.awaits = true;
        cx.set(Timer::Poll, leasing.params.poll);
        // Contact counts from the sending of a poll that is answered: the table was right then or later.
        cx.set(Timer::Asked, leasing.params.contact);
        let known = self.copy.as_ref().map(|copy| copy.edition);
        cx.send(MANAGER, Message::LookupRequest { poll: self.poll, known });
    }

    pub(super) fn on_response(
        &mut self,
        poll: Serial<PollNumber>,
        edition: Edition,
        news: News,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        if !self.awaits || poll != self.poll {
            return cx.mark("stale-news");
        }
        // §4.2: the Manager's nonce tells an answer of an earlier incarnation.
        if self.copy.as_ref().is_some_and(|copy| edition < copy.edition) {
            return cx.mark("news of an earlier Manager");
        }
        self.awaits = false;
        cx.copy(Timer::Asked, Timer::Contact);
        match (self.copy.take(), news) {
            (Some(copy), News::Changes(changes)) => self.copy = Some(copy.change(edition, &changes, cx)),
            (before, News::Snapshot(table)) => {
                self.copy = Some(replace(before, edition, table, leasing, cx));
            }
            (None, News::Changes(_)) => cx.mark("changes of no table"),
        }
    }

    /// PRS §2.1: a frontend that loses contact to the Manager declares everything lost; its clients go elsewhere.
    pub(super) fn on_contact_end(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        if leasing.mutants.has(NO_CONTACT_TIMEOUT) || self.copy.is_none() {
            return;
        }
        cx.mark("contact-lost");
        self.copy = None;
        cx.observe(Observation::Disconnected);
    }

    /// What a response in flight can still do here.
    pub(super) fn relevance(&self, poll: Serial<PollNumber>) -> Relevance<Message> {
        if self.awaits && poll == self.poll { Relevance::Live } else { Relevance::Dead }
    }
}

impl Known {
    /// "It applies them in order", and every change of generation is a loss (PRS §4.2).
    fn change(mut self, edition: Edition, changes: &[Change], cx: &mut Cx<'_>) -> Known {
        for change in changes {
            let line = &mut self.table[usize::from(change.range.0)];
            if line.generation != change.assignment.generation {
                cx.mark("notified");
                cx.observe(Observation::Notified { range: change.range, generation: change.assignment.generation });
            }
            *line = change.assignment;
        }
        Known { edition, ..self }
    }
}

/// "The Lookup library has to diff the snapshot in the message with the existing copy" (PRS §4.2).
fn replace(
    before: Option<Known>,
    edition: Edition,
    table: Vec<Assignment>,
    leasing: &Leasing,
    cx: &mut Cx<'_>,
) -> Known {
    let Some(before) = before else {
        cx.observe(Observation::Connected(generations(&table)));
        return Known { edition, table };
    };
    cx.mark("snapshot");
    for (range, (old, new)) in (0..).map(RangeId).zip(before.table.iter().zip(&table)) {
        if old.generation != new.generation && !leasing.mutants.has(NO_SNAPSHOT_DIFF) {
            cx.mark("notified");
            cx.observe(Observation::Notified { range, generation: new.generation });
        }
    }
    Known { edition, table }
}

fn generations(table: &[Assignment]) -> BTreeMap<RangeId, Generation> {
    (0..).map(RangeId).zip(table.iter().map(|line| line.generation)).collect()
}
