//! Connections to the other nodes: one for each direction, over TCP, or datagrams over UDP.
//!
//! A link loses what does not arrive in time, as the world's network does; it alters nothing, and over TCP it neither doubles
//! nor reorders. Nobody waits for a peer: what finds a link's queue full is lost, and counted. What arrives waits for the node
//! in a queue of bounded length, and while that is full nothing more is read.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use seedbed_model::{Data, NodeId, Renaming, decoding};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::wire::{BadFrame, Frame, HEADER, Header, Hello};

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A connection for each direction; what is under way is lost with it.
    #[default]
    Tcp,
    /// A datagram for each message: each may be lost, doubled or overtaken.
    Udp,
}

/// What happened on a node's links so far.
#[derive(Debug, Default)]
pub struct Counts {
    /// Messages handed to a link.
    pub sent: AtomicU64,
    /// Messages that arrived.
    pub received: AtomicU64,
    /// Messages lost here: a queue was full, a connection broke.
    pub lost: AtomicU64,
    /// Messages of an earlier incarnation or connection of their sender, which come too late.
    pub outdated: AtomicU64,
    /// Frames that were not right; each closed its connection.
    pub bad_frames: AtomicU64,
    /// Connections made.
    pub connections: AtomicU64,
}

/// Which of a sender's connections: later ones are larger.
pub type Age = (u64, u64);

/// A message that arrived.
#[derive(Debug)]
pub struct Arrival<M> {
    /// Its sender.
    pub from: NodeId,
    /// The connection that it came by.
    pub age: Age,
    /// What it says.
    pub message: M,
}

/// Where the links of a node lead.
#[derive(Debug, Clone)]
pub struct Route {
    /// As of [`Hello`].
    pub cluster: u64,
    /// This node.
    pub node: NodeId,
    /// How often it has started.
    pub incarnation: u64,
    /// `addresses[i]` is node `i`'s.
    pub addresses: Vec<SocketAddr>,
    /// How messages travel.
    pub transport: Transport,
    /// How many messages wait, in each queue, at most.
    pub queue: usize,
}

/// A node's links. They end when this is dropped.
pub struct Links {
    queues: Vec<Option<mpsc::Sender<Vec<u8>>>>,
    counts: Arc<Counts>,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Links {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Links {
    /// Listens at the node's own address, and connects to the others as there is something to send.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub async fn open<M: Data>(
        route: &Route,
        counts: Arc<Counts>,
        inbox: mpsc::Sender<Arrival<M>>,
    ) -> io::Result<Links> {
        let route = Arc::new(route.clone());
        let own = route.addresses[route.node.index()];
        let mut links = Links { queues: Vec::new(), counts: counts.clone(), tasks: Vec::new() };
        let mut outgoing = Vec::new();
        for to in 0..route.addresses.len() as u16 {
            let (sender, receiver) = mpsc::channel(route.queue);
            let is_own = NodeId(to) == route.node;
            links.queues.push((!is_own).then_some(sender));
            outgoing.extend((!is_own).then_some((NodeId(to), receiver)));
        }
        let listening = Listening { route: route.clone(), counts: counts.clone(), inbox };
        match route.transport {
            Transport::Tcp => {
                let listener = TcpListener::bind(own).await?;
                links.tasks.push(tokio::spawn(listening.accept(listener)));
                for (to, queue) in outgoing {
                    let writing = Writing { route: route.clone(), counts: counts.clone(), to };
                    links.tasks.push(tokio::spawn(writing.connect(queue)));
                }
            }
            Transport::Udp => {
                let socket = Arc::new(UdpSocket::bind(own).await?);
                links.tasks.push(tokio::spawn(listening.hear(socket.clone())));
                for (to, queue) in outgoing {
                    let writing = Writing { route: route.clone(), counts: counts.clone(), to };
                    links.tasks.push(tokio::spawn(writing.throw(socket.clone(), queue)));
                }
            }
        }
        Ok(links)
    }

    /// Hands a message to the link, which loses it if too many wait there.
    pub fn send(&self, to: NodeId, message: Vec<u8>) {
        self.counts.sent.fetch_add(1, Relaxed);
        let taken = self.queues.get(to.index()).and_then(Option::as_ref).map(|queue| queue.try_send(message));
        if !matches!(taken, Some(Ok(()))) {
            self.counts.lost.fetch_add(1, Relaxed);
        }
    }
}

/// The receiving side of a node.
struct Listening<M> {
    route: Arc<Route>,
    counts: Arc<Counts>,
    inbox: mpsc::Sender<Arrival<M>>,
}

impl<M> Clone for Listening<M> {
    fn clone(&self) -> Self {
        Listening { route: self.route.clone(), counts: self.counts.clone(), inbox: self.inbox.clone() }
    }
}

/// A peer that connects says who it is within this time.
const HELLO_WAIT: Duration = Duration::from_secs(5);
/// Between attempts to accept, where the system refuses (no descriptors are left, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The connections that a listener reads. They end with it.
#[derive(Default)]
struct Readers(Vec<JoinHandle<()>>);

impl Drop for Readers {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// The highest of the node ids in a value.
#[derive(Default)]
struct Highest(Option<u16>);

impl Renaming for Highest {
    fn node(&mut self, node: &mut NodeId) {
        self.0 = self.0.max(Some(node.0));
    }
}

impl<M: Data> Listening<M> {
    async fn accept(self, listener: TcpListener) {
        let mut readers = Readers::default();
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let listening = self.clone();
                    readers.0.retain(|reader| !reader.is_finished());
                    readers.0.push(tokio::spawn(async move {
                        if listening.read(stream).await.is_err() {
                            listening.counts.bad_frames.fetch_add(1, Relaxed);
                        }
                    }));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    /// Reads a connection to its end. `Err` if it was closed for a frame that is not right.
    async fn read(&self, mut stream: TcpStream) -> Result<(), BadFrame> {
        let first = match tokio::time::timeout(HELLO_WAIT, frame(&mut stream)).await {
            Ok(first) => first?,
            // A peer that says nothing.
            Err(_) => return Ok(()),
        };
        let hello = match first {
            Some(Frame::Hello(hello)) => self.known(hello)?,
            Some(_) => return Err(BadFrame::Short),
            None => return Ok(()),
        };
        while let Some(next) = frame(&mut stream).await? {
            let Frame::Message(bytes) = next else { return Err(BadFrame::Short) };
            let arrival = self.arrival(&hello, &bytes)?;
            if self.inbox.send(arrival).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    async fn hear(self, socket: Arc<UdpSocket>) {
        let mut bytes = vec![0; 1 << 16];
        loop {
            let Ok((length, _)) = socket.recv_from(&mut bytes).await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            match self.heard(&bytes[..length]) {
                // A datagram that finds no room is lost, as by any socket.
                Ok(arrival) => {
                    if self.inbox.try_send(arrival).is_err() {
                        self.counts.lost.fetch_add(1, Relaxed);
                    }
                }
                Err(_) => {
                    self.counts.bad_frames.fetch_add(1, Relaxed);
                }
            }
        }
    }

    fn heard(&self, bytes: &[u8]) -> Result<Arrival<M>, BadFrame> {
        match Frame::of_datagram(bytes)? {
            Frame::Datagram(hello, message) => self.arrival(&self.known(hello)?, &message),
            _ => Err(BadFrame::Short),
        }
    }

    /// A peer of this cluster, which means this node.
    fn known(&self, hello: Hello) -> Result<Hello, BadFrame> {
        let is_here = hello.cluster == self.route.cluster && hello.to == self.route.node.0;
        let is_peer = usize::from(hello.from) < self.route.addresses.len() && hello.from != self.route.node.0;
        if is_here && is_peer { Ok(hello) } else { Err(BadFrame::Magic) }
    }

    /// The message, if it speaks of nodes of this cluster alone: a protocol takes every id in it for one that there is.
    fn arrival(&self, hello: &Hello, bytes: &[u8]) -> Result<Arrival<M>, BadFrame> {
        let mut message: M = decoding(bytes).map_err(|_| BadFrame::Short)?;
        let mut highest = Highest::default();
        message.rename(&mut highest);
        match highest.0 {
            Some(node) if usize::from(node) >= self.route.addresses.len() => Err(BadFrame::Node(node)),
            _ => Ok(Arrival { from: NodeId(hello.from), age: (hello.incarnation, hello.connection), message }),
        }
    }
}

/// The next frame of a connection; none at its end, even if that is in the midst of a frame.
async fn frame(stream: &mut TcpStream) -> Result<Option<Frame>, BadFrame> {
    let mut start = [0; HEADER];
    if stream.read_exact(&mut start).await.is_err() {
        return Ok(None);
    }
    let header = Header::of(&start)?;
    let mut payload = vec![0; header.length as usize];
    if stream.read_exact(&mut payload).await.is_err() {
        return Ok(None);
    }
    Frame::of(header, payload).map(Some)
}

/// The sending side of one link.
struct Writing {
    route: Arc<Route>,
    counts: Arc<Counts>,
    to: NodeId,
}

/// Between attempts to connect: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(640));

impl Writing {
    fn hello(&self, connection: u64) -> Hello {
        let Route { cluster, node, incarnation, .. } = *self.route;
        Hello { cluster, from: node.0, to: self.to.0, incarnation, connection }
    }

    async fn connect(self, mut queue: mpsc::Receiver<Vec<u8>>) {
        let mut retry = RETRY.0;
        for connection in 0.. {
            // Not before there is something to say: nodes that never talk need no connection.
            let Some(first) = queue.recv().await else { return };
            let stream = loop {
                match TcpStream::connect(self.route.addresses[self.to.index()]).await {
                    Ok(stream) => break stream,
                    Err(_) => tokio::time::sleep(retry).await,
                }
                retry = (retry * 2).min(RETRY.1);
            };
            retry = RETRY.0;
            self.counts.connections.fetch_add(1, Relaxed);
            // What was being written when the connection broke is lost.
            if self.write(stream, connection, first, &mut queue).await.is_err() {
                self.counts.lost.fetch_add(1, Relaxed);
            }
        }
    }

    async fn write(
        &self,
        mut stream: TcpStream,
        connection: u64,
        first: Vec<u8>,
        queue: &mut mpsc::Receiver<Vec<u8>>,
    ) -> io::Result<()> {
        // Messages are small and wait for answers.
        stream.set_nodelay(true)?;
        let mut bytes = framed(Frame::Hello(self.hello(connection)));
        bytes.extend(framed(Frame::Message(first)));
        loop {
            // What waits goes in one write.
            while let Ok(message) = queue.try_recv() {
                bytes.extend(framed(Frame::Message(message)));
            }
            stream.write_all(&bytes).await?;
            stream.flush().await?;
            let Some(message) = queue.recv().await else { return Ok(()) };
            bytes = framed(Frame::Message(message));
        }
    }

    async fn throw(self, socket: Arc<UdpSocket>, mut queue: mpsc::Receiver<Vec<u8>>) {
        while let Some(message) = queue.recv().await {
            let bytes = framed(Frame::Datagram(self.hello(0), message));
            if throw(&socket, &bytes, self.route.addresses[self.to.index()]).await.is_err() {
                self.counts.lost.fetch_add(1, Relaxed);
            }
        }
    }
}

#[cfg(not(madsim))]
async fn throw(socket: &UdpSocket, bytes: &[u8], to: SocketAddr) -> io::Result<()> {
    socket.send_to(bytes, to).await.map(|_| ())
}

/// madsim's socket takes them the other way round.
#[cfg(madsim)]
async fn throw(socket: &UdpSocket, bytes: &[u8], to: SocketAddr) -> io::Result<()> {
    socket.send_to(to, bytes).await
}

/// A frame's bytes; none of one that is too long, whose message is lost.
fn framed(frame: Frame) -> Vec<u8> {
    frame.bytes().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use seedbed_model::encoding;

    use super::*;

    #[test]
    fn a_message_about_nodes_that_there_are_not_is_no_message() {
        let addresses = vec![SocketAddr::from(([127, 0, 0, 1], 1)); 3];
        let (cluster, node, incarnation) = (7, NodeId(0), 1);
        let route = Route { cluster, node, incarnation, addresses, transport: Transport::Udp, queue: 1 };
        let (inbox, _arrivals) = mpsc::channel(1);
        let listening = Listening::<Vec<NodeId>> { route: Arc::new(route), counts: Arc::default(), inbox };
        let heard = |message: Vec<NodeId>| {
            let hello = Hello { cluster, from: 1, to: 0, incarnation, connection: 0 };
            let datagram = Frame::Datagram(hello, encoding(&message)).bytes().expect("a short one");
            listening.heard(&datagram).map(|arrival| arrival.message)
        };
        let known = vec![NodeId(2), NodeId(0)];
        assert_eq!(heard(known.clone()), Ok(known));
        assert_eq!(heard(vec![NodeId(2), NodeId(3), NodeId(1)]), Err(BadFrame::Node(3)));
    }
}
