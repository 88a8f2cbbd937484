//! What goes over a connection: frames with a version, a length and a checksum.
//!
//! A connection carries frames one way. It begins with a [`Hello`], then come messages. Nothing that a peer sends is trusted:
//! a frame that is not right closes the connection, and is counted. No more is allocated than [`FRAME_MAX`], nor before the
//! header is read.
//!
//! ```text
//! offset  0   2        3     4       8         16
//!         Sb  version  kind  length  checksum  payload …
//! ```
//! Numbers are little-endian; the checksum is XXH3 over kind and payload.

use seedbed_model::hash;

/// The version of the frames. Raised whenever their meaning changes; a peer of another is refused.
pub const VERSION: u8 = 1;
/// The longest payload [B].
pub const FRAME_MAX: u32 = 1 << 20;
/// The length of a header [B].
pub const HEADER: usize = 16;

const MAGIC: [u8; 2] = *b"Sb";
const HELLO: u8 = 1;
const MESSAGE: u8 = 2;
const HELLO_LENGTH: usize = 28;

/// Who speaks, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Tells clusters apart: protocol, parameters, mutants and names, hashed.
    pub cluster: u64,
    /// The sender's index.
    pub from: u16,
    /// The receiver's index.
    pub to: u16,
    /// How often the sender has started.
    pub incarnation: u64,
    /// How many connections to this receiver it had before in this incarnation.
    pub connection: u64,
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The first of a connection.
    Hello(Hello),
    /// A message, encoded.
    Message(Vec<u8>),
    /// Both in one, of a datagram.
    Datagram(Hello, Vec<u8>),
}

const DATAGRAM: u8 = 3;

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// They do not begin as a frame does.
    #[error("no frame begins so")]
    Magic,
    /// Of another version.
    #[error("version {0}; this is {VERSION}")]
    Version(u8),
    /// Of no kind known.
    #[error("a frame of kind {0}, which there is not")]
    Kind(u8),
    /// Longer than may be.
    #[error("a frame of {0} B; at most {FRAME_MAX} are taken")]
    Long(u32),
    /// Not what was sent.
    #[error("the checksum does not match")]
    Checksum,
    /// A message about a node that the cluster has not.
    #[error("a message about node {0}, which there is not")]
    Node(u16),
    /// Shorter than its kind is, or than it says.
    #[error("the frame ends too soon")]
    Short,
}

/// A header that is right: what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    kind: u8,
    /// The payload's length [B]: at most [`FRAME_MAX`].
    pub length: u32,
    checksum: u64,
}

impl Frame {
    /// The frame's bytes.
    ///
    /// # Errors
    /// If its payload is longer than [`FRAME_MAX`].
    pub fn bytes(&self) -> Result<Vec<u8>, BadFrame> {
        let (kind, hello, rest): (u8, Option<&Hello>, &[u8]) = match self {
            Frame::Hello(hello) => (HELLO, Some(hello), &[]),
            Frame::Message(message) => (MESSAGE, None, message),
            Frame::Datagram(hello, message) => (DATAGRAM, Some(hello), message),
        };
        let mut bytes = vec![0; HEADER];
        if let Some(hello) = hello {
            bytes.extend(hello.cluster.to_le_bytes());
            bytes.extend(hello.from.to_le_bytes());
            bytes.extend(hello.to.to_le_bytes());
            bytes.extend(hello.incarnation.to_le_bytes());
            bytes.extend(hello.connection.to_le_bytes());
        }
        bytes.extend(rest);
        let length = u32::try_from(bytes.len() - HEADER).unwrap_or(u32::MAX);
        if length > FRAME_MAX {
            return Err(BadFrame::Long(length));
        }
        let checksum = hash(u64::from(kind), &bytes[HEADER..]);
        bytes[..2].copy_from_slice(&MAGIC);
        bytes[2] = VERSION;
        bytes[3] = kind;
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// What a header and its payload say.
    ///
    /// # Errors
    /// If the payload is not what was sent.
    pub fn of(header: Header, payload: Vec<u8>) -> Result<Frame, BadFrame> {
        if payload.len() != header.length as usize {
            return Err(BadFrame::Short);
        }
        if hash(u64::from(header.kind), &payload) != header.checksum {
            return Err(BadFrame::Checksum);
        }
        match header.kind {
            HELLO if payload.len() > HELLO_LENGTH => Err(BadFrame::Long(header.length)),
            HELLO => Ok(Frame::Hello(hello(&payload)?)),
            MESSAGE => Ok(Frame::Message(payload)),
            DATAGRAM => Ok(Frame::Datagram(hello(&payload)?, payload[HELLO_LENGTH..].to_vec())),
            kind => Err(BadFrame::Kind(kind)),
        }
    }

    /// The frame that the bytes of a datagram are.
    ///
    /// # Errors
    /// If they are none, or more than one.
    pub fn of_datagram(bytes: &[u8]) -> Result<Frame, BadFrame> {
        let (start, rest) = bytes.split_at_checked(HEADER).ok_or(BadFrame::Short)?;
        Frame::of(Header::of(start.try_into().map_err(|_| BadFrame::Short)?)?, rest.to_vec())
    }
}

impl Header {
    /// What a frame's first bytes say.
    ///
    /// # Errors
    /// If no frame begins so.
    pub fn of(bytes: &[u8; HEADER]) -> Result<Header, BadFrame> {
        if bytes[..2] != MAGIC {
            return Err(BadFrame::Magic);
        }
        if bytes[2] != VERSION {
            return Err(BadFrame::Version(bytes[2]));
        }
        if !(HELLO..=DATAGRAM).contains(&bytes[3]) {
            return Err(BadFrame::Kind(bytes[3]));
        }
        let length = u32::from_le_bytes(array(&bytes[4..8]));
        if length > FRAME_MAX {
            return Err(BadFrame::Long(length));
        }
        Ok(Header { kind: bytes[3], length, checksum: u64::from_le_bytes(array(&bytes[8..16])) })
    }
}

fn hello(payload: &[u8]) -> Result<Hello, BadFrame> {
    if payload.len() < HELLO_LENGTH {
        return Err(BadFrame::Short);
    }
    Ok(Hello {
        cluster: u64::from_le_bytes(array(&payload[..8])),
        from: u16::from_le_bytes(array(&payload[8..10])),
        to: u16::from_le_bytes(array(&payload[10..12])),
        incarnation: u64::from_le_bytes(array(&payload[12..20])),
        connection: u64::from_le_bytes(array(&payload[20..28])),
    })
}

/// # Panics
/// If the slice has another length.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("a slice of this length")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Frame> {
        let hello = Hello { cluster: 7, from: 1, to: 2, incarnation: 3, connection: 4 };
        vec![
            Frame::Hello(hello),
            Frame::Message(vec![1, 2, 3]),
            Frame::Message(Vec::new()),
            Frame::Datagram(hello, vec![9; 100]),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for frame in frames() {
            assert_eq!(Frame::of_datagram(&frame.bytes().unwrap()), Ok(frame));
        }
    }

    #[test]
    fn each_changed_byte_is_refused() {
        for frame in frames() {
            let bytes = frame.bytes().unwrap();
            for place in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[place] ^= 0x20;
                assert!(Frame::of_datagram(&changed).is_err(), "byte {place} of {frame:?}");
            }
        }
    }

    #[test]
    fn what_is_too_long_is_neither_written_nor_read() {
        let long = Frame::Message(vec![0; FRAME_MAX as usize + 1]);
        assert_eq!(long.bytes(), Err(BadFrame::Long(FRAME_MAX + 1)));
        let mut header = array::<HEADER>(&Frame::Message(Vec::new()).bytes().unwrap());
        header[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Header::of(&header), Err(BadFrame::Long(u32::MAX)));
    }
}
