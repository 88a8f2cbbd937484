//! A Lookup: it knows where to look, and tells its application of every loss (Centrifuge §2.2; PRS §2.1, §4.2).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, NodeId, Nonce, Part, Relevance, Serial};

use super::apps::frontend::Frontend;
use super::message::{Assignment, Change, Edition, Generation, Message, News, PollNumber, RangeId};
use super::mutants::{FLAG_OF_LAST_CHANGE, NEWS_HOWEVER_LATE, NO_CONTACT_TIMEOUT, NO_SNAPSHOT_DIFF, STICK_TO_LEADER};
use super::{Feature, Leasing, Observation, Timer};

type Cx<'a> = Context<'a, Leasing>;

/// A Lookup's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Lookup {
    /// The latest poll.
    poll: Serial<PollNumber>,
    /// Whether its answer is awaited.
    awaits: bool,
    /// Which Manager server answered it, if one did. The only one, where there is one.
    leader: Option<NodeId>,
    /// Its copy of the lease table; `None` while it has no contact to the Manager.
    copy: Option<Known>,
    /// Whom it serves, where the application has frontends.
    pub(super) frontend: Option<Part<Frontend>>,
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
        let mut lookup = Lookup {
            poll: Serial::before_first(nonce, cx.node().0),
            awaits: false,
            leader: leasing.only_manager(),
            copy: None,
            frontend: leasing.new_frontend(cx.node()),
        };
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
        leasing.send_to_manager(self.leader, Message::LookupRequest { poll: self.poll, known }, cx);
        if !leasing.mutants.has(STICK_TO_LEADER) {
            self.leader = leasing.only_manager();
        }
    }

    pub(super) fn on_response(
        &mut self,
        from: NodeId,
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
        self.find_out(cx);
        // It stood still meanwhile. To count no contact from there would be to have none that ends.
        if !cx.is_armed(&Timer::Asked) && !leasing.mutants.has(NEWS_HOWEVER_LATE) {
            return cx.mark("news-too-late");
        }
        self.awaits = false;
        self.leader = Some(from);
        cx.copy(Timer::Asked, Timer::Contact);
        match (self.copy.take(), news) {
            (Some(copy), News::Changes(changes)) => self.copy = Some(copy.change(edition, &changes, leasing, cx)),
            (before, News::Snapshot(table)) => {
                self.copy = Some(replace(before, edition, table, leasing, cx));
            }
            (None, News::Changes(_)) => cx.mark("changes of no table"),
        }
    }

    /// PRS §2.1: a frontend that loses contact to the Manager declares everything lost; its clients go elsewhere.
    pub(super) fn on_contact_end(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.find_out(cx);
        if leasing.mutants.has(NO_CONTACT_TIMEOUT) || self.copy.is_none() {
            return;
        }
        cx.mark("contact-lost");
        self.copy = None;
        cx.observe(Observation::Disconnected);
    }

    /// Shows that it runs, if its contact has ended: what it has yet to tell it could not while it stood still.
    fn find_out(&self, cx: &mut Cx<'_>) {
        if self.copy.is_some() && !cx.is_armed(&Timer::Contact) {
            cx.observe(Observation::FoundOut);
        }
    }

    /// What the end of the `Contact` timer shows.
    pub(super) fn lapsed(&self) -> Option<Observation> {
        self.copy.is_some().then_some(Observation::OutOfContact)
    }

    /// What it knows of a range.
    pub(super) fn line(&self, range: RangeId) -> Option<Assignment> {
        self.copy.as_ref().map(|copy| copy.table[usize::from(range.0)])
    }

    /// What a response in flight can still do here.
    pub(super) fn relevance(&self, poll: Serial<PollNumber>) -> Relevance<Message> {
        if self.awaits && poll == self.poll { Relevance::Live } else { Relevance::Dead }
    }
}

impl Known {
    /// "It applies them in order" (PRS §4.2).
    fn change(mut self, edition: Edition, changes: &[Change], leasing: &Leasing, cx: &mut Cx<'_>) -> Known {
        for change in changes {
            let line = &mut self.table[usize::from(change.range.0)];
            compare(change.range, line.generation, change.assignment, leasing, cx);
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
    if before.edition.nonce == edition.nonce {
        leasing.show(Feature::LogCap, cx);
    }
    for (range, (old, new)) in (0..).map(RangeId).zip(before.table.iter().zip(&table)) {
        if !leasing.mutants.has(NO_SNAPSHOT_DIFF) {
            compare(range, old.generation, *new, leasing, cx);
        }
    }
    Known { edition, table }
}

/// "When the lease generation number on a range changes, the Lookup library signals a loss notification unless there is a
/// flag set stating that the state was cleanly migrated to another Owner" (Centrifuge §2.2): from what this Lookup knew.
fn compare(range: RangeId, known: Generation, line: Assignment, leasing: &Leasing, cx: &mut Cx<'_>) {
    let Assignment { generation, since, .. } = line;
    if generation == known {
        return;
    }
    let migrated = if leasing.mutants.has(FLAG_OF_LAST_CHANGE) { since != generation } else { since <= known };
    if migrated {
        cx.mark("kept");
        cx.observe(Observation::Kept { range, generation });
    } else {
        if since != generation {
            cx.mark("loss-before-move");
            leasing.show(Feature::LossMigration, cx);
        }
        cx.mark("notified");
        cx.observe(Observation::Notified { range, generation });
    }
}

fn generations(table: &[Assignment]) -> BTreeMap<RangeId, Generation> {
    (0..).map(RangeId).zip(table.iter().map(|line| line.generation)).collect()
}
