//! What stands on leasing: services whose state is soft, and their frontends (PRS §2, §3; Centrifuge §3, §4).
//!
//! An Owner is a server of the service, and asks its own library alone: `check_lease_now`, `check_lease_continuous`, and
//! the upcalls that say what was granted and revoked. A frontend has a Lookup, which says where to ask and what was lost.
//! Everything here is between those two and their clients; the Manager knows nothing of it.
//!
//! - `api`: the two calls and the upcalls of the Owner library, and `lookup`
//! - `task`: a periodic task, spread over a pool that links only the Owner library (PRS §3.4)
//! - `template`: the five steps (PRS Figure 4, Centrifuge Figure 10) around what is done to the state under a key
//! - `topics`: subscription lists, and what is published to who is on them (Centrifuge Figure 10)
//! - `frontend`: a client's operation on its way to the Owner, again and again
//! - `replicas`: one value under several keys, and the cap on what is outstanding (PRS §2.4, §3.3)
//! - `message`: keys, values, operations, what frontends and servers send each other
//! - `queues`: clients' queues, and the notices in them (Centrifuge §4.3, PRS §3.2)
//! - `documents`: versions, sections, times to live (PRS §3, §3.4)
//! - `calls`: what a server exposes to frontends and to the servers of other pools (Centrifuge Figure 11)
//! - `watched`: what must hold of all this; `deliveries`: of what is published; `soft`: sequential specifications
//!
//! Every step of the template is needed. Step 1 is there not only "to avoid wasted work", as PRS Figure 4 says: where stale
//! state is found by the number of step 1, as in Centrifuge Figure 10, a request that comes late or to the wrong Owner would
//! discard what is valid (`no-first-check`; then `stored-unchecked`, `no-final-check`, `continuous-by-range`).
//!
//! Decisions where the papers are open:
//! - *a loss is a delete at its instant*, neither earlier nor later, and the demonic client of PRS §2.4 issues no other: what is
//!   found after a loss is nothing, until it is put anew. A clean migration deletes nothing;
//! - *steps 3 and 4 are one instant*, at the end of the time that an operation takes: what is stored is stored under a lease
//!   that is held, and a put that was overtaken by a loss leaves nothing behind. Figure 4 stores and then checks, which can
//!   put an old value over a newer one of a later lease;
//! - *one operation at a time works on a key*; another is refused meanwhile, and comes again. Else one could see what
//!   another did and then failed to finish;
//! - *a request names the lease that its frontend looked up, and is served under that one alone* (after the last paragraph
//!   of Centrifuge §3.2, and stricter): what was sent before a loss does nothing after it (`any-lease-number`);
//! - *an item remembers the latest request of each frontend that changed it*, so that one that comes twice is done once. It
//!   moves with the state and is lost with it (`done-again`);
//! - *a put whose lease was lost while its frontend waited for the answer fails*: it was done before the loss, or not at
//!   all, and nobody can know. Figure 4 returns false; whether to put anew is the client's to say, as a new operation
//!   (`put-again`);
//! - *an answer counts only while nothing was lost since its lease*, as far as the frontend knows: one that was overtaken
//!   by the news of the loss would let its client believe that the loss was an earlier one's (`answer-after-news`);
//! - *a publication is accepted once all who are on the list have it*. A server that answered before would have to keep what
//!   is not taken, and be a queue (`published-at-once`). A publication under a lease finds everybody on the list, or whoever
//!   is not on it lost a list before, and hears of that within `notice`;
//! - *a publication without checks* (PRS §3.1) goes to the list that is there, from whichever lease, and is refused where
//!   none is. That is right where a list is written once: a topic has one subscriber for ever (`fixed-subscriptions`). Where
//!   subscriptions change, a list of an earlier lease leaves out who subscribed since (`publish-unchecked`);
//! - *each pool has a namespace of its own at the one Manager service*: Owners, ranges and keys are dealt out to the pools by
//!   turns, and a Lookup that links several namespaces knows them by one table and one log;
//! - *an address is put, then published, then enqueued, and only then is the client answered*: each server waits for the
//!   next, and asks again. What is stored is stored before it is exposed;
//! - *an entry leaves a queue when its client asks for the next* (`dequeued-at-once`). A queue that was lost is made anew by
//!   its client alone; since a request is served under the lease that it names, its frontend has heard of the loss then;
//! - *a queue remembers under which lease its client subscribed*, so that whichever server has the queue finds whether that
//!   was lost: by the news, when the client connects, and when the queue came from another server (`notice-not-queued`);
//! - *a document's version is what was written last*, so that no version comes again after a loss (`version-unchecked`);
//! - *a frontend that ends its retries says that nothing came of it, not that nothing was done*: what it asked may be under
//!   way still (`retries-for-ever`);
//! - *an asynchronous check answers for the moment of its upcall*, and what it covers is exposed in that step. An answer for the
//!   moment of the call would cover what is exposed after the lease (`answer-of-the-call`);
//! - *a value, a subscription or a queue lives on with each put, subscription, connection or taking out that its client asks
//!   for*; who does not ask in time has left, and is owed nothing (`refresh-forgotten`);
//! - *a document expires its time to live after its server last did an update or a refresh* (`refresh-forgotten`), and
//!   after a move, which counts anew. To its clients that is one more delete of the demonic client's;
//! - the task first runs a whole period after a grant: who had the range before may have run it just now (`task-at-grant`).

pub(super) mod api;
mod calls;
pub(super) mod deliveries;
#[cfg(test)]
mod delivery_tests;
mod documents;
pub(super) mod frontend;
pub(super) mod message;
mod queues;
mod replicas;
mod soft;
pub(super) mod task;
pub(super) mod template;
#[cfg(test)]
mod tests;
pub(super) mod topics;
pub(super) mod watched;

use seedbed_model::{Canonical, Context, NodeId, Nonce, OpId, Part, Span};
use serde::{Deserialize, Serialize};

use super::{Leasing, Lookup, Params, PartitionerKind, RangeId, Role};
use frontend::Frontend;

use message::{Answer, Entry, Key, Operation, Recipient, Update, Value};
use task::Task;
use template::Slot;

type Cx<'a> = Context<'a, Leasing>;

/// Which service runs on the Owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// None: leases are all there is.
    None,
    /// A task that is due once a period in each range (PRS §3.4).
    PeriodicTask,
    /// A hash table in memory (PRS Figure 4).
    HashTable,
    /// Subscription lists in memory, and what is published to who is on them (Centrifuge Figure 10).
    PublishSubscribe,
    /// Queues in memory, for clients that may be away (PRS §3, Centrifuge §4.3).
    Queue,
    /// Three services, each with a pool and a namespace of its own: device connectivity, publish-subscribe, queues
    /// (Centrifuge §4.1, Figure 11).
    LiveMesh,
    /// Documents with versions, sections and a time to live (PRS §3).
    SectionedDocument,
    /// A hash table of feeds, weakly consistent: "if an operation arrives at any middle-tier node, that node processes it
    /// without checking whether it is the owner" (PRS §3.1).
    RssProcessor,
}

impl Application {
    /// Whether it has frontends, and clients at them.
    pub(super) fn has_frontends(self) -> bool {
        !matches!(self, Application::None | Application::PeriodicTask)
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Application::None => "no application",
            Application::PeriodicTask => "a periodic task",
            Application::HashTable => "a hash table",
            Application::PublishSubscribe => "publish-subscribe",
            Application::Queue => "a queue service",
            Application::LiveMesh => "live-mesh",
            Application::SectionedDocument => "a sectioned document",
            Application::RssProcessor => "an RSS processor",
        }
    }
}

/// An Owner's part in the service.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Server {
    /// `[k]` belongs to key `k`. None without a hash table.
    pub(super) slots: Vec<Part<Slot>>,
    /// `[i]` belongs to range `i`. None without a task.
    pub(super) tasks: Vec<Part<Task>>,
    /// Where it links the Lookup library.
    pub(super) lookup: Option<Part<Lookup>>,
}

impl Server {
    pub(super) fn start(leasing: &Leasing, nonce: Nonce, cx: &mut Cx<'_>) -> Self {
        let is = |application| leasing.params.application == application;
        let keys = if leasing.has_frontends() { leasing.params.keys } else { 0 };
        let tasks = if is(Application::PeriodicTask) { leasing.params.ranges } else { 0 };
        Server {
            slots: (0..keys).map(|_| Part::new(Slot::default())).collect(),
            tasks: (0..tasks).map(|_| Part::new(Task::default())).collect(),
            lookup: leasing.servers_look_up().then(|| Part::new(Lookup::start(leasing, nonce, cx))),
        }
    }
}

impl Leasing {
    /// Which range a key is in.
    pub(super) fn range_of(&self, key: Key) -> RangeId {
        let Params { ranges, keys, partitioner, .. } = self.params;
        match partitioner {
            PartitionerKind::Ordered => RangeId((u32::from(key.0) * u32::from(ranges) / u32::from(keys)) as u8),
            _ => RangeId((key.0 % u16::from(ranges)) as u8),
        }
    }

    /// The keys of a range.
    pub(super) fn keys_of(&self, range: RangeId) -> impl Iterator<Item = Key> + use<> {
        let Params { ranges, keys, partitioner, .. } = self.params;
        let first_of = |range: u32| (range * u32::from(keys)).div_ceil(u32::from(ranges)) as u16;
        let range = u16::from(range.0);
        let (keys, step) = match partitioner {
            PartitionerKind::Ordered => (first_of(u32::from(range))..first_of(u32::from(range) + 1), 1),
            _ => (range..keys, ranges),
        };
        keys.step_by(usize::from(step)).map(Key)
    }

    /// Whether the service has frontends, and clients at them.
    pub(super) fn has_frontends(&self) -> bool {
        self.params.application.has_frontends()
    }

    pub(super) fn new_frontend(&self, node: NodeId) -> Option<Part<Frontend>> {
        (self.has_frontends() && self.is_frontend(node)).then(|| Part::new(Frontend::default()))
    }

    fn is_frontend(&self, node: NodeId) -> bool {
        self.role(node) == Role::Lookup
    }

    /// Which service a key belongs to: each has a namespace of its own.
    fn service_of(&self, key: Key) -> Application {
        let services = [Application::HashTable, Application::PublishSubscribe, Application::Queue];
        match self.params.application {
            Application::LiveMesh => services[usize::from(key.0 % 3)],
            other => other,
        }
    }

    /// Whether an operation is exposed to others than its client before it returns.
    fn exposes(&self, operation: Operation) -> bool {
        let puts_on = matches!(operation, Operation::Put(..)) && self.params.application == Application::LiveMesh;
        puts_on || matches!(operation, Operation::Publish(..))
    }

    /// Whether the news of the loss of what is stored under the key is passed along to the client. That of a subscription is
    /// put into the client's queue, where it has one.
    fn tells_client_of(&self, key: Key) -> bool {
        matches!(self.service_of(key), Application::Queue) || self.params.application == Application::PublishSubscribe
    }

    /// Whether its frontend ends its retries: not where it waits for something to happen.
    fn is_limited(&self, operation: Operation) -> bool {
        let waits = matches!(operation, Operation::Await(_));
        self.params.retry_limit > Span::ZERO && !waits
    }

    /// Whether clients are owed what is published.
    fn delivers(&self) -> bool {
        matches!(self.params.application, Application::PublishSubscribe | Application::LiveMesh)
    }

    /// Where what is published goes to the client of this frontend.
    fn recipient(&self, frontend: NodeId) -> Recipient {
        match self.params.application {
            Application::LiveMesh => Recipient::Service(self.queue_of(frontend)),
            _ => Recipient::Frontend(frontend),
        }
    }

    /// The queue of the client at this frontend.
    fn queue_of(&self, frontend: NodeId) -> Key {
        let client = frontend.0 - self.params.owners - 1;
        match self.params.application {
            Application::LiveMesh => Key(client * 3 + 2),
            _ => Key(client % self.params.keys),
        }
    }

    /// The topic of a device, to which the client at this frontend subscribes.
    fn topic_of(&self, frontend: NodeId) -> Key {
        let Params { owners, writers, keys, .. } = self.params;
        let subscriber = frontend.0 - owners - 1 - writers;
        match self.params.application {
            Application::LiveMesh => Key((subscriber % writers.max(1)) * 3 + 1),
            _ => Key(subscriber % keys),
        }
    }

    /// A client puts and gets by turns, and at every other frontend it begins with a get; or it puts, and puts anew whenever
    /// that is lost; or it only gets. Every value is put once.
    pub(super) fn client_operation(
        &self,
        node: NodeId,
        op: OpId,
        last: Option<&Answer>,
        draw: &mut dyn FnMut(u32) -> u32,
    ) -> Operation {
        let Params { owners, lookups, keys, writers, republish, .. } = self.params;
        let client = node.0 - owners - 1;
        let value = Value(op.0 * u32::from(lookups) + u32::from(client) + 1);
        match self.params.application {
            Application::SectionedDocument => return self.document_operation(op, value, last, draw),
            Application::PublishSubscribe => return self.subscriber_operation(node, op, value, last, draw),
            Application::Queue if writers == 0 => return self.own_queue_operation(node, op, value),
            Application::Queue | Application::LiveMesh if client >= writers => return self.queue_operation(node, last),
            Application::LiveMesh => return Operation::Put(Key(client * 3), value),
            Application::Queue => return Operation::Enqueue(Key(draw(u32::from(keys)) as u16), value),
            _ => {}
        }
        let writes = writers == 0 || client < writers;
        if writes && republish {
            let own = Key(client % keys);
            return if op.0.is_multiple_of(2) { Operation::Put(own, value) } else { Operation::Await(own) };
        }
        let names = keys / self.params.replicas;
        let key = Key(if names == 1 { 0 } else { draw(u32::from(names)) as u16 } * self.params.replicas);
        match writes && (op.0 + u32::from(client)).is_multiple_of(2) {
            true => Operation::Put(key, value),
            false => Operation::Get(key),
        }
    }
}

impl Leasing {
    /// Who publishes does so to any topic. Who subscribes has one, subscribes to it and waits until told that something was
    /// missed, to subscribe anew. Where all clients do both, they subscribe and publish by turns.
    fn subscriber_operation(
        &self,
        node: NodeId,
        op: OpId,
        value: Value,
        last: Option<&Answer>,
        draw: &mut dyn FnMut(u32) -> u32,
    ) -> Operation {
        let Params { owners, keys, writers, .. } = self.params;
        let client = node.0 - owners - 1;
        if writers == 0 {
            let own = Key(client % keys);
            return if op.0.is_multiple_of(2) { Operation::Subscribe(own) } else { Operation::Publish(own, value) };
        }
        if client < writers {
            let key = Key(if keys == 1 { 0 } else { draw(u32::from(keys)) as u16 });
            return Operation::Publish(key, value);
        }
        let own = self.topic_of(node);
        // A subscription that has a time to live is asked for again and again.
        let waits = last == Some(&Answer::Subscribed) && self.params.ttl == Span::ZERO;
        if waits { Operation::Await(own) } else { Operation::Subscribe(own) }
    }

    /// A client reads a document, writes a section of it if it is still what it read, and refreshes it, by turns.
    fn document_operation(
        &self,
        op: OpId,
        value: Value,
        last: Option<&Answer>,
        draw: &mut dyn FnMut(u32) -> u32,
    ) -> Operation {
        let (round, turn) = (op.0 / 3, op.0 % 3);
        let key = Key((round % u32::from(self.params.keys)) as u16);
        let section = if turn == 2 { 0 } else { draw(2) as u8 };
        match (turn, last) {
            (0, _) => Operation::Read(key, section),
            (1, Some(Answer::Read { version, .. })) => {
                Operation::Update(Update { key, section, value, expected: *version })
            }
            (1, _) => Operation::Update(Update { key, section, value, expected: None }),
            _ => Operation::Refresh(key),
        }
    }

    /// Where all clients do everything, each connects, enqueues and dequeues by turns.
    fn own_queue_operation(&self, node: NodeId, op: OpId, value: Value) -> Operation {
        let own = self.queue_of(node);
        match op.0 % 3 {
            0 => Operation::Connect(own, None),
            1 => Operation::Enqueue(own, value),
            _ => Operation::Dequeue(own, None),
        }
    }

    /// It subscribes, where there is a topic to subscribe to, connects to its queue, and takes one entry after the other,
    /// until told that something was missed.
    fn queue_operation(&self, node: NodeId, last: Option<&Answer>) -> Operation {
        let own = self.queue_of(node);
        match last {
            Some(Answer::Dequeued(Some(Entry::Lost(topic)))) => Operation::Subscribe(*topic),
            Some(Answer::Dequeued(taken)) => Operation::Dequeue(own, *taken),
            Some(Answer::Connected) => Operation::Dequeue(own, None),
            Some(Answer::Subscribed) => Operation::Connect(own, None),
            _ if self.params.application == Application::LiveMesh => Operation::Subscribe(self.topic_of(node)),
            _ => Operation::Connect(own, None),
        }
    }
}

impl Operation {
    /// Which key it is about.
    pub fn key(self) -> Key {
        match self {
            Operation::Put(key, _) | Operation::Get(key) | Operation::Await(key) | Operation::Lose(key) => key,
            Operation::Subscribe(key) | Operation::Publish(key, _) | Operation::Connect(key, _) => key,
            Operation::Enqueue(key, _) | Operation::Dequeue(key, _) => key,
            Operation::Read(key, _) | Operation::Refresh(key) | Operation::Update(Update { key, .. }) => key,
        }
    }
}
