//! How long messages and records are in measurements (§5): "each request consists of a read or write of 1K of data".

use super::Params;
use super::embedded::Record;
use super::message::{Ask, Forwarded, Message, ToClient, ToServer};
use super::txn::{Answer, Write};

/// What a message has beside data [bytes].
const HEADER: u64 = 64;

/// On a link [bytes].
pub(super) fn size(message: &Message, params: &Params) -> u64 {
    let count = match message {
        Message::ToServer { packet: ToServer::Ask(Ask::Write(write)), .. } => of_write(write),
        Message::ToClient { packet: ToClient::Answer(_, Answer::Data { .. }), .. } => 1,
        Message::Forward { what: Forwarded::Write(_, write, _), .. } => of_write(write),
        Message::Zab(carried) => {
            let requests = carried.proposals.iter().filter_map(|proposal| proposal.request.as_ref());
            requests.map(|request| of_write(&request.write)).sum()
        }
        Message::Deliver { .. } | Message::Propose { .. } => 1,
        _ => 0,
    };
    HEADER + count * u64::from(params.data)
}

/// On a disk that has a speed [bytes].
pub(super) fn record_size(record: &Record, params: &Params) -> u64 {
    let write = match record {
        Record::Zab(written) => written.request().map(|request| &request.write),
        Record::Snapshot(_) => None,
    };
    HEADER + write.map_or(0, of_write) * u64::from(params.data)
}

fn of_write(write: &Write) -> u64 {
    u64::from(matches!(write, Write::Create(_) | Write::SetData { .. }))
}
