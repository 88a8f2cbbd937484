//! What happens in an exact script as text: `deliver owner-1 -> manager: LeaseRequest { … }`.

use crate::canonical::Canonical;
use crate::exact::Move;
use crate::host::Local;
use crate::name::{NodeId, OpId};
use crate::plain::Envelope;
use crate::protocol::{Effect, Event, Protocol};
use crate::text::{TextReader, TextWriter, Unreadable};
use crate::time::Span;
use crate::world::{Choice, Named};

const HEALED: &str = "healed";
const VERBS: [&str; 20] = [
    HEALED,
    "deliver",
    "duplicate",
    "lose",
    "cut",
    "heal",
    "elapse",
    "start",
    "fire",
    "sync",
    "invoke",
    "decide",
    "crash",
    "tear",
    "erase",
    "corrupt",
    "restart",
    "pause",
    "resume",
    "jump",
];

/// The text of a move. `names[i]` is node `i`'s.
pub fn text_of<P: Protocol>(what: &Move<P>, names: &[String]) -> String {
    let mut out = TextWriter::new(names);
    match what {
        Move::Choice(choice) => write_choice::<P>(choice, &mut out),
        Move::Healed => out.push(HEALED),
    }
    out.finish()
}

fn write_choice<P: Protocol>(choice: &Named<P>, out: &mut TextWriter<'_>) {
    let sent = |verb: &str, envelope: &Envelope<P::Message>, out: &mut TextWriter<'_>| {
        link(verb, envelope.from, envelope.to, out);
        out.push(": ");
        envelope.message.write(out);
    };
    match choice {
        Choice::Deliver(envelope) => sent("deliver ", envelope, out),
        Choice::Duplicate(envelope) => sent("duplicate ", envelope, out),
        Choice::Lose(envelope) => sent("lose ", envelope, out),
        Choice::Cut(from, to) => link("cut ", *from, *to, out),
        Choice::Heal(from, to) => link("heal ", *from, *to, out),
        Choice::Elapse(span) => {
            out.push("elapse ");
            span.write(out);
        }
        Choice::At(node, local) => {
            out.push(local.name());
            out.push(" ");
            node.write(out);
            write_local(local, out);
        }
    }
}

fn link(verb: &str, from: NodeId, to: NodeId, out: &mut TextWriter<'_>) {
    out.push(verb);
    from.write(out);
    out.push(" -> ");
    to.write(out);
}

fn write_local<P: Protocol>(local: &Local<P>, out: &mut TextWriter<'_>) {
    fn detail(value: &impl Canonical, out: &mut TextWriter<'_>) {
        out.push(": ");
        value.write(out);
    }
    match local {
        Local::Fire(timer) | Local::Lapse(timer) => detail(timer, out),
        Local::Decide(decision) => detail(decision, out),
        Local::Sync(stream) => detail(stream, out),
        Local::Crash(kept) => detail(kept, out),
        Local::Tear(kept, torn) => detail(&(kept.clone(), torn.clone()), out),
        Local::Corrupt(stream, back) => detail(&(*stream, *back), out),
        Local::Jump(by_ns) => detail(by_ns, out),
        Local::Deliver(from, message) => {
            detail(from, out);
            detail(message, out);
        }
        Local::Start | Local::Invoke | Local::Restart | Local::Pause | Local::Resume | Local::Erase => {}
    }
}

/// The text of an effect, at a node that is named unless it is `at`: `send manager: LeaseRequest { .. }`. Nobody reads it
/// back; it is compared.
pub fn effect_text<P: Protocol>(names: &[String], at: Option<NodeId>, node: NodeId, effect: &Effect<P>) -> String {
    let mut out = TextWriter::new(names);
    if at != Some(node) {
        node.write(&mut out);
        out.push(": ");
    }
    write_effect(effect, &mut out);
    out.finish()
}

fn write_effect<P: Protocol>(effect: &Effect<P>, out: &mut TextWriter<'_>) {
    fn words(verb: &str, what: &impl Canonical, join: &str, rest: &impl Canonical, out: &mut TextWriter<'_>) {
        out.push(verb);
        what.write(out);
        out.push(join);
        rest.write(out);
    }
    match effect {
        Effect::Send { to, message, .. } => words("send ", to, ": ", message, out),
        Effect::Persist { stream, record } => words("persist ", &stream.0, ": ", record, out),
        Effect::Set { timer, span } => words("set ", timer, " for ", span, out),
        Effect::Copy { to, from } => words("copy ", from, " to ", to, out),
        Effect::RespondAfter { op, answer, .. } => words("respond later ", &op.0, ": ", answer, out),
        Effect::Cancel(timer) => {
            out.push("cancel ");
            timer.write(out);
        }
        Effect::Unarm => out.push("unarm"),
        Effect::Mark(what) => {
            out.push("mark ");
            out.push(what);
        }
        Effect::Happened(event) => write_event(event, out),
    }
}

fn write_event<P: Protocol>(event: &Event<P>, out: &mut TextWriter<'_>) {
    match event {
        Event::Started => out.push("started"),
        Event::Crashed => out.push("crashed"),
        Event::Healed => out.push(HEALED),
        Event::Invoked(op, operation) => {
            out.push(&format!("invoked {}: ", op.0));
            operation.write(out);
        }
        Event::Responded(op, answer) => {
            out.push(&format!("responded {}: ", op.0));
            answer.write(out);
        }
        Event::Observed(observation) => {
            out.push("observed ");
            observation.write(out);
        }
        Event::Deadline(id) => out.push(&format!("deadline {id}")),
    }
}

/// The move whose text it is.
///
/// # Errors
/// If it is none's: a message that has another name now, say.
pub fn move_of<P: Protocol>(text: &str, names: &[String]) -> Result<Move<P>, Unreadable> {
    let mut input = TextReader::new(text, names);
    let what = read(&mut input)?;
    if input.is_done() { Ok(what) } else { Err(input.unreadable("expected nothing more")) }
}

fn read<P: Protocol>(input: &mut TextReader<'_>) -> Result<Move<P>, Unreadable> {
    let verb = input.word()?;
    Ok(Move::Choice(match verb {
        HEALED => return Ok(Move::Healed),
        "deliver" => Choice::Deliver(envelope(input)?),
        "duplicate" => Choice::Duplicate(envelope(input)?),
        "lose" => Choice::Lose(envelope(input)?),
        "cut" | "heal" => {
            let (from, to) = ends(input)?;
            if verb == "cut" { Choice::Cut(from, to) } else { Choice::Heal(from, to) }
        }
        "elapse" => Choice::Elapse(Span::read(input)?),
        _ => {
            let node = NodeId::read(input)?;
            Choice::At(node, local(verb, input)?)
        }
    }))
}

/// The event whose text it is, as [`effect_text`] writes what a node shows: `started`, `crashed`, `healed`, `observed X`,
/// `invoked 0: X`, `responded 0: X`. The end of a deadline is no event of a node's.
///
/// # Errors
/// If it is none's.
pub fn event_of<P: Protocol>(text: &str, names: &[String]) -> Result<Event<P>, Unreadable> {
    let mut input = TextReader::new(text, names);
    let event = event(&mut input)?;
    if input.is_done() { Ok(event) } else { Err(input.unreadable("expected nothing more")) }
}

const EVENTS: [&str; 6] = ["started", "crashed", HEALED, "observed", "invoked", "responded"];

fn event<P: Protocol>(input: &mut TextReader<'_>) -> Result<Event<P>, Unreadable> {
    Ok(match input.word()? {
        "started" => Event::Started,
        "crashed" => Event::Crashed,
        HEALED => Event::Healed,
        "observed" => Event::Observed(P::Observation::read(input)?),
        "invoked" => Event::Invoked(OpId(input.number()?), detail(input)?),
        "responded" => Event::Responded(OpId(input.number()?), detail(input)?),
        other => return Err(input.unknown("event", other, &EVENTS)),
    })
}

fn ends(input: &mut TextReader<'_>) -> Result<(NodeId, NodeId), Unreadable> {
    let from = NodeId::read(input)?;
    input.expect("->")?;
    Ok((from, NodeId::read(input)?))
}

fn envelope<M: Canonical>(input: &mut TextReader<'_>) -> Result<Envelope<M>, Unreadable> {
    let (from, to) = ends(input)?;
    Ok(Envelope { from, to, message: detail(input)? })
}

fn detail<T: Canonical>(input: &mut TextReader<'_>) -> Result<T, Unreadable> {
    input.expect(":")?;
    T::read(input)
}

fn local<P: Protocol>(verb: &str, input: &mut TextReader<'_>) -> Result<Local<P>, Unreadable> {
    Ok(match verb {
        "start" => Local::Start,
        "fire" => Local::Fire(detail(input)?),
        "sync" => Local::Sync(detail(input)?),
        "invoke" => Local::Invoke,
        "decide" => Local::Decide(detail(input)?),
        "crash" => Local::Crash(detail(input)?),
        "tear" => {
            let (kept, torn) = detail(input)?;
            Local::Tear(kept, torn)
        }
        "erase" => Local::Erase,
        "corrupt" => {
            let (stream, back) = detail(input)?;
            Local::Corrupt(stream, back)
        }
        "restart" => Local::Restart,
        "pause" => Local::Pause,
        "resume" => Local::Resume,
        "jump" => Local::Jump(detail(input)?),
        other => return Err(input.unknown("step", other, &VERBS)),
    })
}
