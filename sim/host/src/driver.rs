//! The loop of one node: it waits for what comes next, hands it to the machine, and carries out what the machine did.
//!
//! The order within a step is the promise: the step's line is on the tape, then its records are appended, then its messages
//! leave. What waits for a record leaves when the sync that made it durable has ended. So a node killed at any moment has
//! told no one what its tape or its disk does not have.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use seedbed_model::tape::{Found, TapeLine};
use seedbed_model::{Client, Effect, Event, Local, NodeId, Protocol, Span, Stream, decoding, encoding, value_of};
use tokio::sync::{mpsc, watch};

use crate::clock;
use crate::links::{Age, Arrival, Counts, Links, Route};
use crate::machine::{Birth, Machine, Step};
use crate::streams::{self, Disk};

/// How a node is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pace {
    /// An open decision is taken after at most this time; which one, and when, is drawn.
    pub decisions: Span,
    /// The client here waits at most this time between an answer and its next operation.
    pub think: Span,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { decisions: Span::millis(200), think: Span::millis(50) }
    }
}

/// A host fault planted on purpose, to see that the promises' tests find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// What waits for a record leaves before the record is synced.
    ReplyBeforeSync,
    /// Timers fire when nine tenths of their span have passed.
    TimerEarly,
    /// The messages of a step leave in reverse order.
    ReorderedEffects,
    /// A record that was cut off counts as whole: the stream's bytes are not checked.
    TornTailAccepted,
    /// Messages of a sender's earlier incarnation are taken after those of a later one.
    EarlierIncarnation,
}

/// A node to be run.
pub struct Setup<P: Protocol, D> {
    /// What runs.
    pub protocol: P,
    /// Its links. The incarnation there is filled in by [`run`].
    pub route: Route,
    /// Its disk.
    pub disk: D,
    /// How it is driven.
    pub pace: Pace,
    /// What its draws come from, with the incarnation.
    pub seed: u64,
    /// What its stamps are ahead of [`clock::now`] [ns].
    pub stamps_ahead: i64,
    /// Where its tape goes: each line is out of this process's hands when the call returns.
    pub tape: Option<Tape>,
    /// The last line that is on the tape already: a node that was killed may not have noted what its client did then.
    pub last_line: Option<TapeLine>,
    /// A fault of the host itself.
    pub planted: Option<Planted>,
}

/// Writes a tape's lines.
pub type Tape = Box<dyn FnMut(&TapeLine) -> io::Result<()> + Send>;

/// What a node says of itself while it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Steps taken.
    pub steps: u64,
    /// Operations that its client invoked, and how many of them were answered.
    pub invoked: u64,
    /// Answers that its client got.
    pub answered: u64,
    /// Records that became durable.
    pub durable: u64,
    /// How often the protocol took each rare path.
    pub marks: BTreeMap<&'static str, u64>,
}

/// Runs a node until `stop` says so: records that were written become durable first.
///
/// # Errors
/// If its address, its disk or its tape fails, or what the disk holds is not the protocol's; and if an assertion of the
/// protocol breaks, which is on the tape then.
pub async fn run<P: Protocol, D: Disk>(
    mut setup: Setup<P, D>,
    counts: Arc<Counts>,
    status: watch::Sender<Status>,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let incarnation = setup.disk.incarnations()? + 1;
    setup.route.incarnation = incarnation;
    let names = setup.protocol.nodes();
    let client = client::<P>(&names, setup.disk.client()?, setup.last_line.take())?;
    let recovered = recover(&setup.protocol, &mut setup.disk, setup.planted)?;
    let node = setup.route.node;
    let (inbox, mut arrivals) = mpsc::channel(setup.route.queue);
    let links = Links::open::<P::Message>(&setup.route, counts.clone(), inbox).await?;
    let machine = Machine::new(Birth {
        protocol: setup.protocol,
        node,
        durable: recovered.durable,
        client,
        incarnation,
        stamps_ahead: setup.stamps_ahead,
        seed: setup.seed ^ incarnation.rotate_left(32) ^ u64::from(node.0),
        is_taped: setup.tape.is_some(),
        is_hasty: setup.planted == Some(Planted::TimerEarly),
    });
    let (synced, mut syncs) = mpsc::channel(1);
    let mut driver = Driver {
        machine,
        disk: setup.disk,
        tape: setup.tape,
        links,
        counts,
        status,
        pace: setup.pace,
        planted: setup.planted,
        number: recovered.number,
        written: Vec::new(),
        syncing: Vec::new(),
        synced,
        decide_at: None,
        invoke_at: None,
        newest: BTreeMap::new(),
    };
    let found = Found { incarnation, stamps_ahead: setup.stamps_ahead, records: recovered.records };
    driver.start(found, incarnation)?;
    while !*stop.borrow_and_update() {
        driver.act()?;
        driver.sync();
        tokio::select! {
            biased;
            changed = stop.changed() => if changed.is_err() { break },
            Some(done) = syncs.recv() => driver.durable(done)?,
            Some(arrival) = arrivals.recv() => driver.arrive(arrival)?,
            () = sleep_until(driver.wake()) => {}
        }
    }
    while !driver.syncing.is_empty() || !driver.written.is_empty() {
        driver.sync();
        if let Some(done) = syncs.recv().await {
            driver.durable(done)?;
        }
    }
    Ok(())
}

/// How far the client was at a moment [ns]: how many operations it invoked, and its latest answer.
type Note<A> = (u64, u32, Option<A>);

/// How far the client is: by the note, and by the step after it if that is on the tape.
fn client<P: Protocol>(names: &[String], note: Option<Vec<u8>>, last: Option<TapeLine>) -> io::Result<Client<P>> {
    let note: Option<Note<P::Answer>> = note
        .map(|bytes| decoding(&bytes))
        .transpose()
        .map_err(|why| io::Error::other(format!("the note of the client is none of this protocol's: {why:?}")))?;
    let (at, mut invoked, mut answer) = note.unwrap_or_default();
    if let Some(line) = last.filter(|line| line.at > at) {
        invoked += u32::from(line.step.starts_with("invoke "));
        let text = line.does.iter().find_map(|done| done.strip_prefix("responded ")?.split_once(": "));
        if let Some((_, text)) = text {
            answer = value_of(text, names).ok().or(answer);
        }
    }
    Ok(Client { invoked, open: None, last: answer })
}

/// What a disk held.
struct Recovered<P: Protocol> {
    durable: P::Durable,
    records: BTreeMap<u8, u64>,
    /// The number of the latest record.
    number: u64,
}

/// Reads all streams, cuts off what a crash cut short, and folds the rest in the order in which it was written.
fn recover<P: Protocol>(protocol: &P, disk: &mut impl Disk, planted: Option<Planted>) -> io::Result<Recovered<P>> {
    let mut all = Vec::new();
    let mut records = BTreeMap::new();
    for (stream, bytes) in disk.read()? {
        let contents = match planted {
            Some(Planted::TornTailAccepted) => streams::read_unchecked(&bytes),
            _ => streams::read(&bytes),
        };
        // Also where nothing is cut: what a start has read must outlive the next crash.
        disk.cut(stream, contents.length)?;
        if !contents.records.is_empty() {
            records.insert(stream, contents.records.len() as u64);
        }
        all.extend(contents.records.into_iter().map(|(number, bytes)| (number, stream, bytes)));
    }
    all.sort_unstable();
    let mut durable = P::Durable::default();
    for (number, stream, bytes) in &all {
        let record: P::Record = decoding(bytes).map_err(|why| {
            io::Error::other(format!("record {number} of stream {stream} is none of this protocol's: {why:?}"))
        })?;
        protocol.fold(&mut durable, Stream(*stream), &record);
    }
    Ok(Recovered { durable, records, number: all.last().map_or(0, |(number, ..)| *number) })
}

/// Waits until the moment has come [ns]: never less, whatever the timer below rounds to.
async fn sleep_until(moment: Option<u64>) {
    let Some(moment) = moment else { return std::future::pending().await };
    loop {
        match moment.checked_sub(clock::now()) {
            None | Some(0) => return,
            Some(left) => tokio::time::sleep(Duration::from_nanos(left)).await,
        }
    }
}

struct Driver<P: Protocol, D> {
    machine: Machine<P>,
    disk: D,
    tape: Option<Tape>,
    links: Links,
    counts: Arc<Counts>,
    status: watch::Sender<Status>,
    pace: Pace,
    planted: Option<Planted>,
    /// The number of the latest record.
    number: u64,
    /// The streams of records appended and in no sync yet, in order.
    written: Vec<Stream>,
    /// Those of the sync under way.
    syncing: Vec<Stream>,
    synced: mpsc::Sender<io::Result<()>>,
    /// When the appointed decision is taken, and the appointed operation invoked [ns].
    decide_at: Option<u64>,
    invoke_at: Option<u64>,
    /// The latest connection of each node from which a message came.
    newest: BTreeMap<NodeId, Age>,
}

impl<P: Protocol, D: Disk> Driver<P, D> {
    fn start(&mut self, found: Found, incarnation: u64) -> io::Result<()> {
        let mut step = self.machine.take(clock::now(), Local::Start);
        if let Some(line) = &mut step.line {
            line.found = Some(found);
        }
        self.tape(&step)?;
        // Only now does the start count: whoever was told of it by a message can rely on the number.
        self.disk.note_incarnation(incarnation)?;
        self.carry_out(step)
    }

    /// What is due now: firings, a decision, an operation.
    fn act(&mut self) -> io::Result<()> {
        if let Some(timer) = self.machine.due(clock::now()) {
            self.step(Local::Fire(timer))?;
        }
        if self.decide_at.is_some_and(|at| at <= clock::now()) {
            self.decide_at = None;
            let mut open = self.machine.decisions(clock::now());
            if !open.is_empty() {
                let which = self.machine.draw(open.len() as u64) as usize;
                self.step(Local::Decide(open.swap_remove(which)))?;
            }
        }
        if self.invoke_at.is_some_and(|at| at <= clock::now()) {
            self.invoke_at = None;
            if self.machine.can_invoke() {
                self.step(Local::Invoke)?;
            }
        }
        self.appoint();
        Ok(())
    }

    /// Appoints when an open decision is taken, and the next operation invoked.
    fn appoint(&mut self) {
        let now = clock::now();
        if self.decide_at.is_none() && !self.machine.decisions(now).is_empty() {
            self.decide_at = Some(now + self.machine.draw(self.pace.decisions.0 + 1));
        }
        if self.invoke_at.is_none() && self.machine.can_invoke() {
            self.invoke_at = Some(now + self.machine.draw(self.pace.think.0 + 1));
        }
    }

    fn wake(&self) -> Option<u64> {
        [self.machine.next_end(), self.decide_at, self.invoke_at].into_iter().flatten().min()
    }

    fn step(&mut self, local: Local<P>) -> io::Result<()> {
        let now = clock::now();
        let step = self.machine.take(now, local);
        self.tape(&step)?;
        let changes_client =
            |effect: &Effect<P>| matches!(effect, Effect::Happened(Event::Invoked(..) | Event::Responded(..)));
        if step.effects.iter().any(changes_client) {
            let Client { invoked, last, .. } = self.machine.client().clone();
            let note: Note<P::Answer> = (now, invoked, last);
            self.disk.note_client(&encoding(&note))?;
        }
        self.carry_out(step)
    }

    fn tape(&mut self, step: &Step<P>) -> io::Result<()> {
        match (&mut self.tape, &step.line) {
            (Some(tape), Some(line)) => tape(line),
            _ => Ok(()),
        }
    }

    fn carry_out(&mut self, step: Step<P>) -> io::Result<()> {
        if let Some(words) = step.panic {
            return Err(io::Error::other(format!("an assertion of the protocol broke: {words}")));
        }
        for effect in &step.effects {
            if let Effect::Persist { stream, record } = effect {
                self.number += 1;
                self.disk.append(stream.0, &streams::record(self.number, &encoding(record))?)?;
                self.written.push(*stream);
            }
        }
        let mut sends: Vec<(NodeId, Vec<u8>)> = Vec::new();
        let mut seen = Vec::new();
        for effect in step.effects {
            match effect {
                Effect::Send { to, message, .. } => sends.push((to, encoding(&message))),
                Effect::Mark(what) => seen.push(Seen::Mark(what)),
                Effect::Happened(Event::Invoked(..)) => seen.push(Seen::Invoked),
                Effect::Happened(Event::Responded(..)) => seen.push(Seen::Answered),
                _ => {}
            }
        }
        if self.planted == Some(Planted::ReorderedEffects) {
            sends.reverse();
        }
        for (to, message) in sends {
            self.links.send(to, message);
        }
        self.status.send_modify(|status| {
            status.steps += 1;
            for seen in seen {
                match seen {
                    Seen::Mark(what) => *status.marks.entry(what).or_insert(0) += 1,
                    Seen::Invoked => status.invoked += 1,
                    Seen::Answered => status.answered += 1,
                }
            }
        });
        Ok(())
    }

    fn arrive(&mut self, arrival: Arrival<P::Message>) -> io::Result<()> {
        let newest = self.newest.entry(arrival.from).or_insert(arrival.age);
        let is_outdated = arrival.age < *newest;
        *newest = arrival.age.max(*newest);
        if is_outdated && self.planted != Some(Planted::EarlierIncarnation) {
            self.counts.outdated.fetch_add(1, Relaxed);
            return Ok(());
        }
        self.counts.received.fetch_add(1, Relaxed);
        self.step(Local::Deliver(arrival.from, arrival.message))
    }

    /// Begins a sync of what was appended, if none is under way.
    fn sync(&mut self) {
        if self.written.is_empty() || !self.syncing.is_empty() {
            return;
        }
        self.syncing = std::mem::take(&mut self.written);
        let mut streams: Vec<u8> = self.syncing.iter().map(|stream| stream.0).collect();
        streams.sort_unstable();
        streams.dedup();
        let (sync, synced) = (self.disk.sync(&streams), self.synced.clone());
        if self.planted == Some(Planted::ReplyBeforeSync) {
            // There is room: no other sync is under way.
            let _ = self.synced.try_send(Ok(()));
            tokio::spawn(sync);
            return;
        }
        tokio::spawn(report(sync, synced));
    }

    fn durable(&mut self, done: io::Result<()>) -> io::Result<()> {
        done?;
        for stream in std::mem::take(&mut self.syncing) {
            self.status.send_modify(|status| status.durable += 1);
            self.step(Local::Sync(stream))?;
        }
        Ok(())
    }
}

/// What a step shows of itself outside.
enum Seen {
    Mark(&'static str),
    Invoked,
    Answered,
}

async fn report(sync: impl Future<Output = io::Result<()>>, synced: mpsc::Sender<io::Result<()>>) {
    let done = sync.await;
    // An error means that the node is gone.
    let _ = synced.send(done).await;
}
