//! A run in the Trace Event Format, which Chrome's and Perfetto's trace viewers read: a track for each node, an arrow for each
//! message, an interval for each timer and for what is wrong.

use serde_json::{Value, json};

use super::Picture;
use super::scene::{Stretch, scene};

/// The trace as JSON. Instants are in microseconds, as the format has them.
pub fn text(picture: &Picture<'_>) -> String {
    let mut events: Vec<Value> = Vec::new();
    events.push(json!({ "ph": "M", "pid": 0, "name": "process_name", "args": { "name": picture.title } }));
    for (lane, name) in picture.names.iter().enumerate() {
        events.push(json!({ "ph": "M", "pid": 0, "tid": lane, "name": "thread_name", "args": { "name": name } }));
    }
    for (row, step) in picture.steps.iter().enumerate() {
        let args = json!({ "step": step.step, "effects": step.effects, "among the causes": picture.is_culprit(row) });
        // A step takes no time: a nanosecond of it can be seen.
        events.push(json!({
            "ph": "X", "pid": 0, "tid": step.node.unwrap_or(0), "ts": micros(step.at_ns), "dur": 0.001,
            "name": step.what, "cat": step.kind, "args": args,
        }));
    }
    let scene = scene(picture);
    let at = |row: usize| picture.steps.get(row).or(picture.steps.last()).map_or(0.0, |step| micros(step.at_ns));
    for (id, arrow) in scene.arrows.iter().enumerate() {
        let (Some(sent), Some(arrived)) = (arrow.sent, arrow.arrived) else { continue };
        let name = &arrow.message;
        events.push(json!({
            "ph": "s", "id": id, "pid": 0, "tid": arrow.from, "ts": at(sent), "name": name, "cat": "message",
        }));
        events.push(json!({
            "ph": "f", "bp": "e", "id": id, "pid": 0, "tid": arrow.to, "ts": at(arrived), "name": name,
            "cat": "message",
        }));
    }
    let interval = |id: usize, stretch: &Stretch, category: &str| {
        let common = |phase: &str, row: usize| {
            json!({
                "ph": phase, "id": id, "pid": 0, "tid": stretch.lane, "ts": at(row), "name": stretch.what,
                "cat": category,
            })
        };
        [common("b", stretch.from), common("e", stretch.to.unwrap_or(usize::MAX))]
    };
    for (id, bar) in scene.bars.iter().enumerate() {
        events.extend(interval(id, bar, "timer"));
    }
    for (id, band) in scene.bands.iter().enumerate() {
        events.extend(interval(id, band, "fault"));
    }
    format!("{:#}\n", json!({ "displayTimeUnit": "ns", "traceEvents": events }))
}

#[expect(clippy::float_arithmetic, reason = "the format has microseconds, and nothing is decided by them")]
fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::super::tests::{picture, run};
    use super::*;

    #[test]
    fn tracks_steps_arrows_and_intervals_are_told() {
        let (names, steps) = run();
        let trace: Value = serde_json::from_str(&text(&picture(&names, &steps))).expect("it is JSON");
        let events = trace["traceEvents"].as_array().expect("a list");
        let count = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
        assert_eq!([count("M"), count("X"), count("s"), count("f"), count("b"), count("e")], [3, 6, 3, 3, 2, 2]);
        let crash = events.iter().find(|event| event["cat"] == "crash").expect("a crash");
        assert_eq!(crash["ts"], json!(3_000.0));
    }
}
