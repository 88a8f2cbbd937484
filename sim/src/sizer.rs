//! How long messages, records and nodes are.

use seedbed_model::{Canonical, Encoder, Host, Protocol};

/// Says how long messages, records and nodes are: as the protocol states, else as their canonical encodings are [bytes].
pub struct Sizer<P> {
    protocol: P,
    encoder: Encoder,
}

impl<P: Protocol> Sizer<P> {
    /// For messages and records of `protocol`.
    pub fn new(protocol: P) -> Self {
        Sizer { protocol, encoder: Encoder::whole() }
    }

    /// What a message takes on a link [bytes].
    pub fn message(&mut self, message: &P::Message) -> u64 {
        let stated = self.protocol.message_size(message);
        stated.unwrap_or_else(|| self.length(message))
    }

    /// What a record takes on a disk [bytes].
    pub fn record(&mut self, record: &P::Record) -> u64 {
        let stated = self.protocol.record_size(record);
        stated.unwrap_or_else(|| self.length(record))
    }

    /// What a node holds, volatile state and what is on its disk, as its canonical encoding is long [bytes].
    pub fn host(&mut self, host: &Host<P>) -> u64 {
        self.length(host)
    }

    fn length(&mut self, value: &impl Canonical) -> u64 {
        self.encoder.clear();
        value.encode(&mut self.encoder);
        self.encoder.bytes().len() as u64
    }
}
