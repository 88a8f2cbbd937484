//! What a distributed system is, what may happen to it, and what must hold.

// The derive macro names this crate from outside.
extern crate self as seedbed_model;

pub mod canonical;
pub mod clock;
pub mod effects;
pub mod exact;
pub mod explore;
pub mod family;
pub mod history;
pub mod host;
pub mod journal;
pub mod moves;
pub mod name;
pub mod part;
pub mod plain;
pub mod player;
pub mod property;
pub mod protocol;
pub mod record;
pub mod script;
pub mod serial;
pub mod signature;
pub mod tape;
pub mod text;
pub mod time;
pub mod trace;
pub mod world;

pub use canonical::{Canonical, Decoder, Encoder, Malformed, Renaming, SplitPart, decoding, encoding, hash};
pub use clock::{Clock, NodeClock};
pub use effects::{Acts, Effects};
pub use exact::{ExactReplayed, ExactScript, ExactStep, Move, Playback, exact, replay_exact};
pub use family::Family;
pub use host::{Client, Disk, Host, Kept, Local, Phase};
pub use journal::Journal;
pub use name::{Incarnation, Never, NodeId, NodeSet, Nonce, OpId, Stream, Tag, TagKind, TagSpace};
pub use part::{Part, Trail};
pub use plain::{Driver, Envelope, Plain};
pub use player::Player;
pub use property::{Kind, Property, UNKNOWN, Violation, Watch};
pub use protocol::{
    Context, Data, Effect, Embedding, Event, Input, Mutant, Mutants, Offers, Outcome, Protocol, Relevance,
    Surroundings, Ticket,
};
pub use script::{Replayed, Script, ScriptStep, Scripted, replay};
pub use seedbed_derive::Canonical;
pub use serial::{NumberKind, Serial};
pub use signature::Signature;
pub use text::{TextReader, TextWriter, Unreadable, text_of, value_of};
pub use time::{ClockBound, Ratio, Span, Stamp, Timers};
pub use trace::{Sent, TimerChange, TraceStep};
pub use world::{Applied, Choice, Named, Refused, Store, apply};
