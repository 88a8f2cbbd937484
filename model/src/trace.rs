//! What happened, in words: the steps of a trace, for people and for reports.

use serde::{Deserialize, Serialize};

use crate::canonical::{Canonical, Encoder};
use crate::host::Local;
use crate::name::NodeId;
use crate::protocol::{Effect, Event, Protocol};
use crate::time::Span;
use crate::world::{Choice, Named};

/// One step of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStep {
    /// From 1.
    pub step: u64,
    /// Reference time [ns].
    pub at_ns: u64,
    /// Index of the node it happened at; `None` for the passing of time and for the network.
    pub node: Option<u16>,
    /// The kind: deliver, lose, duplicate, fire, lapse, sync, invoke, decide, crash, tear, erase, corrupt, restart,
    /// pause, resume, jump, cut, heal, elapse.
    pub kind: String,
    /// For a message: its sender's index.
    pub from: Option<u16>,
    /// What happened, in words.
    pub what: String,
    /// What the node did, in order, in words.
    pub effects: Vec<String>,
    /// For a message: what it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Messages sent, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sends: Vec<Sent>,
    /// What became of timers, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timers: Vec<TimerChange>,
}

/// A message sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Its receiver's index.
    pub to: u16,
    /// What it says.
    pub message: String,
}

/// What became of a timer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerChange {
    /// The timer; empty for all of the node's.
    pub timer: String,
    /// `set`, `copied`, `cancelled`, `lapsed`, `fired` or `lost`.
    pub became: String,
}

impl TraceStep {
    /// The step in words. `names[i]` is node `i`'s.
    pub fn of<P: Protocol>(
        names: &[String],
        step: u64,
        at_ns: u64,
        choice: &Named<P>,
        effects: &[(NodeId, Effect<P>)],
    ) -> Self {
        let (kind, node, from) = ends(choice);
        TraceStep {
            step,
            at_ns,
            node: node.map(|node| node.0),
            kind: kind.to_owned(),
            from: from.map(|node| node.0),
            what: describe_choice(names, choice),
            effects: effects
                .iter()
                .map(|(node, effect)| describe_effect(names, node_if_other(*node, choice), effect))
                .collect(),
            message: message_of(choice).map(|message| with_names(names, &message)),
            sends: effects.iter().filter_map(|(_, effect)| sent(names, effect)).collect(),
            timers: told(choice)
                .into_iter()
                .chain(effects.iter().filter_map(|(_, effect)| timer_change(effect)))
                .map(|(timer, became)| TimerChange { timer: with_names(names, &timer), became: became.to_owned() })
                .collect(),
        }
    }
}

fn message_of<P: Protocol>(choice: &Named<P>) -> Option<String> {
    match choice {
        Choice::Deliver(envelope) | Choice::Duplicate(envelope) | Choice::Lose(envelope) => {
            Some(format!("{:?}", envelope.message))
        }
        _ => None,
    }
}

fn sent<P: Protocol>(names: &[String], effect: &Effect<P>) -> Option<Sent> {
    let Effect::Send { to, message, .. } = effect else { return None };
    Some(Sent { to: to.0, message: with_names(names, &format!("{message:?}")) })
}

/// The timer that a choice is about, and what becomes of it.
fn told<P: Protocol>(choice: &Named<P>) -> Option<(String, &'static str)> {
    match choice {
        Choice::At(_, Local::Fire(timer)) => Some((format!("{timer:?}"), "fired")),
        Choice::At(_, Local::Lapse(timer)) => Some((format!("{timer:?}"), "lapsed")),
        _ => None,
    }
}

fn timer_change<P: Protocol>(effect: &Effect<P>) -> Option<(String, &'static str)> {
    match effect {
        Effect::Set { timer, .. } => Some((format!("{timer:?}"), "set")),
        Effect::Copy { to, .. } => Some((format!("{to:?}"), "copied")),
        Effect::Cancel(timer) => Some((format!("{timer:?}"), "cancelled")),
        Effect::Unarm => Some((String::new(), "lost")),
        _ => None,
    }
}

/// The node that a choice happens at; `None` for the passing of time.
pub fn node_of<P: Protocol>(choice: &Named<P>) -> Option<NodeId> {
    ends(choice).1
}

/// The text with every node called by its name: `Grant(r0, n1)` becomes `Grant(r0, owner-1)`.
pub fn with_names(names: &[String], text: &str) -> String {
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('n') {
        let follows_word = rest[..at].chars().next_back().or_else(|| named.chars().next_back()).is_some_and(is_of_word);
        let digits: String = rest[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        let after = &rest[at + 1 + digits.len()..];
        let name = digits.parse().ok().and_then(|index: usize| names.get(index));
        named.push_str(&rest[..at]);
        match name {
            Some(name) if !follows_word && !after.starts_with(is_of_word) => named.push_str(name),
            _ => named.push_str(&rest[at..at + 1 + digits.len()]),
        }
        rest = after;
    }
    named + rest
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}

fn ends<P: Protocol>(choice: &Named<P>) -> (&'static str, Option<NodeId>, Option<NodeId>) {
    match choice {
        Choice::Deliver(envelope) => ("deliver", Some(envelope.to), Some(envelope.from)),
        Choice::Duplicate(envelope) => ("duplicate", Some(envelope.to), Some(envelope.from)),
        Choice::Lose(envelope) => ("lose", Some(envelope.to), Some(envelope.from)),
        Choice::At(node, local) => (local.name(), Some(*node), None),
        Choice::Cut(from, to) => ("cut", Some(*to), Some(*from)),
        Choice::Heal(from, to) => ("heal", Some(*to), Some(*from)),
        Choice::Elapse(_) => ("elapse", None, None),
    }
}

/// The node, unless it is the one that `choice` is about.
fn node_if_other<P: Protocol>(node: NodeId, choice: &Named<P>) -> Option<NodeId> {
    let (_, at, _) = ends(choice);
    (at != Some(node)).then_some(node)
}

/// A choice in words.
pub fn describe_choice<P: Protocol>(names: &[String], choice: &Named<P>) -> String {
    with_names(names, &raw_choice(names, choice))
}

fn raw_choice<P: Protocol>(names: &[String], choice: &Named<P>) -> String {
    let name = |node: NodeId| names[node.index()].as_str();
    match choice {
        Choice::Deliver(e) => format!("{} receives {:?} from {}", name(e.to), e.message, name(e.from)),
        Choice::Duplicate(e) => format!("{} receives a copy of {:?} from {}", name(e.to), e.message, name(e.from)),
        Choice::Lose(e) => format!("the network loses {:?} from {} to {}", e.message, name(e.from), name(e.to)),
        Choice::Cut(from, to) => format!("the link from {} to {} is cut", name(*from), name(*to)),
        Choice::Heal(from, to) => format!("the link from {} to {} works again", name(*from), name(*to)),
        Choice::Elapse(span) => format!("{span} pass"),
        Choice::At(node, local) => format!("{} {}", name(*node), describe_local(local)),
    }
}

fn describe_local<P: Protocol>(local: &Local<P>) -> String {
    match local {
        Local::Start => "starts".into(),
        Local::Deliver(_, message) => format!("receives {message:?}"),
        Local::Fire(timer) => format!("is told that {timer:?} fired"),
        Local::Lapse(timer) => format!("has {timer:?} lapse"),
        Local::Sync(stream) => format!("has a record of stream {} durable", stream.0),
        Local::Invoke => "is asked by its client".into(),
        Local::Decide(decision) => format!("decides {decision:?}"),
        Local::Crash(kept) if kept.iter().all(|(_, count)| *count == 0) => "crashes".into(),
        Local::Crash(kept) => {
            format!("crashes, keeping {} unsynced records", kept.iter().map(|(_, count)| count).sum::<u32>())
        }
        Local::Tear(kept, torn) => {
            let torn: Vec<String> = torn.iter().map(|stream| stream.0.to_string()).collect();
            format!(
                "crashes, keeping {} unsynced records, the last of stream {} torn",
                kept.iter().map(|(_, count)| count).sum::<u32>(),
                torn.join(", ")
            )
        }
        Local::Erase => "has an empty disk put in".into(),
        Local::Corrupt(stream, back) => {
            format!("has a record of stream {} corrupted, {back} before the last", stream.0)
        }
        Local::Jump(by_ns) => {
            let way = if *by_ns < 0 { "back" } else { "forward" };
            format!("has its clock jump {way} by {}", Span(by_ns.unsigned_abs()))
        }
        Local::Restart => "restarts".into(),
        Local::Pause => "is paused".into(),
        Local::Resume => "resumes".into(),
    }
}

/// An effect in words; `node` is named where it is not plain from the step.
pub fn describe_effect<P: Protocol>(names: &[String], node: Option<NodeId>, effect: &Effect<P>) -> String {
    let text = match effect {
        Effect::Send { to, message, .. } => format!("sends {message:?} to {}", names[to.index()]),
        Effect::Persist { stream, record } => format!("writes {record:?} to stream {}", stream.0),
        Effect::Set { timer, span } => format!("sets {timer:?} for {span}"),
        Effect::Copy { to, from } => format!("lets {to:?} end with {from:?}"),
        Effect::Cancel(timer) => format!("cancels {timer:?}"),
        Effect::Unarm => "loses its timers".into(),
        Effect::Mark(what) => format!("({what})"),
        Effect::RespondAfter { op, answer, .. } => format!("will answer operation {} with {answer:?}", op.0),
        Effect::Happened(Event::Started) => "begins a new incarnation".into(),
        Effect::Happened(Event::Crashed) => "loses its state".into(),
        Effect::Happened(Event::Invoked(op, operation)) => format!("client invokes operation {}: {operation:?}", op.0),
        Effect::Happened(Event::Responded(op, answer)) => format!("client gets {answer:?} for operation {}", op.0),
        Effect::Happened(Event::Observed(observation)) => format!("shows {observation:?}"),
        Effect::Happened(event) => format!("{event:?}"),
    };
    let text = with_names(names, &text);
    match node {
        Some(node) => format!("{} {text}", names[node.index()]),
        None => text,
    }
}

/// Appends the canonical encoding of an effect at a node: what digests are taken over.
pub fn encode_effect<P: Protocol>(node: NodeId, effect: &Effect<P>, out: &mut Encoder) {
    node.encode(out);
    match effect {
        Effect::Send { to, message, .. } => {
            out.byte(0);
            to.encode(out);
            message.encode(out);
        }
        Effect::Persist { stream, record } => {
            out.byte(1);
            stream.encode(out);
            record.encode(out);
        }
        Effect::Set { timer, span } => {
            out.byte(2);
            timer.encode(out);
            span.encode(out);
        }
        Effect::Copy { to, from } => {
            out.byte(3);
            to.encode(out);
            from.encode(out);
        }
        Effect::Cancel(timer) => {
            out.byte(4);
            timer.encode(out);
        }
        Effect::Unarm => out.byte(5),
        Effect::Happened(event) => {
            out.byte(6);
            event.encode(out);
        }
        Effect::RespondAfter { op, answer, .. } => {
            out.byte(7);
            op.encode(out);
            answer.encode(out);
        }
        Effect::Mark(what) => {
            out.byte(8);
            (*what).to_owned().encode(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_names;

    #[test]
    fn nodes_are_called_by_their_names_and_nothing_else_is() {
        let names = ["manager".to_owned(), "owner-1".to_owned()];
        assert_eq!(
            with_names(&names, "Grant(r0, n1), {n0, n1}: n1"),
            "Grant(r0, owner-1), {manager, owner-1}: owner-1"
        );
        assert_eq!(with_names(&names, "n2 n1x in1 nonce n-1 n"), "n2 n1x in1 nonce n-1 n");
    }
}
