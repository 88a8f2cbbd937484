//! Plans in words: a line for each thing that goes wrong.

use std::fmt;

use seedbed_model::Span;

use crate::faults::{Fault, NamedClock, Plan, Ways};

/// One line for each fault and each clock.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.loss.num > 0 {
            writeln!(f, "{} of the messages are lost", self.loss)?;
        }
        if self.duplicate.num > 0 {
            writeln!(f, "{} of the messages arrive twice", self.duplicate)?;
        }
        for NamedClock { node, clock } in &self.clocks {
            writeln!(f, "the clock of {node}: {clock}")?;
        }
        self.faults.iter().try_for_each(|timed| writeln!(f, "{}: {}", timed.at, timed.fault))?;
        self.turns.iter().try_for_each(|turn| {
            writeln!(
                f,
                "{}: from here on the draws are {}those of seed {}",
                turn.at,
                if turn.sharp { "sharp, and " } else { "" },
                turn.seed
            )
        })
    }
}

/// A span with its sign [ns].
struct Signed(i64);

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "+" };
        write!(f, "{sign}{}", Span(self.0.unsigned_abs()))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Crash { node, keeps, torn, restart } => {
                let torn = if *torn { ", the last perhaps torn" } else { "" };
                let then = restart.map_or("never restarts".into(), |at| format!("restarts at {at}"));
                write!(f, "{node} crashes, keeps {} of its unsynced records{torn}, {then}", Kept(*keeps))
            }
            Fault::EmptyDisk { node, restart } => {
                write!(f, "{node} crashes and restarts with an empty disk at {restart}")
            }
            Fault::Corruption { node, keeps, record, restart } => {
                write!(f, "{node} crashes, keeps {} of its unsynced records; one of the durable ones ", Kept(*keeps))?;
                write!(f, "({record}) is corrupt when it restarts at {restart}")
            }
            Fault::Pause { node, resume } => write!(f, "{node} is paused until {resume}"),
            Fault::Partition { side, ways, heal } => write!(f, "{} until {heal}", Cut(side, *ways)),
            Fault::Flap { side, ways, down, up, end } => {
                write!(f, "{} for {down} and work for {up} in turn until {end}", Cut(side, *ways))
            }
            Fault::SlowLinks { side, ways, factor, added, end } => {
                let how = match ways {
                    Ways::Both => "to and from",
                    Ways::Out => "from",
                    Ways::In => "to",
                };
                write!(f, "messages {how} {} take {factor} times as long and {added} until {end}", side.join(", "))
            }
            Fault::SlowDisk { node, factor, added, end } => {
                write!(f, "the disk of {node} takes {factor} times as long and {added} until {end}")
            }
            Fault::FullDisk { node, end } => write!(f, "the disk of {node} is full until {end}"),
            Fault::Jump { node, by_ns } => write!(f, "the clock of {node} jumps by {}", Signed(*by_ns)),
        }
    }
}

/// What a crash keeps.
struct Kept(u32);

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("none"),
            u32::MAX => f.write_str("all"),
            some => write!(f, "some ({some})"),
        }
    }
}

/// Who is cut off, and how.
struct Cut<'a>(&'a [String], Ways);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.1 {
            Ways::Both => "are cut off",
            Ways::Out => "are not heard",
            Ways::In => "hear nothing",
        };
        write!(f, "{} {how}", self.0.join(", "))
    }
}
