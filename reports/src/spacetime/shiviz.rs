//! A run as a log for ShiViz: each event with its node and vector clock.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Picture;
use super::scene::scene;

/// What tells ShiViz how to read the log.
pub const PARSER: &str = r"(?<host>\S+) (?<clock>{.*})\n(?<event>.*)";

/// The log: the expression that reads it, an empty line, and two lines for each event at a node.
pub fn text(picture: &Picture<'_>) -> String {
    let scene = scene(picture);
    let mut text = format!("{PARSER}\n\n");
    // A node's clock before anything happened there is empty.
    let mut clocks: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); picture.names.len()];
    let mut sent: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
    for (row, step) in picture.steps.iter().enumerate() {
        let at_node = step.kind != "lose" && step.kind != "cut" && step.kind != "heal";
        let Some(lane) = step.node.map(usize::from).filter(|lane| at_node && *lane < clocks.len()) else { continue };
        for arrow in scene.arrows.iter().filter(|arrow| arrow.arrived == Some(row)) {
            let heard = arrow.sent.and_then(|row| sent.get(&row)).cloned().unwrap_or_default();
            for (node, count) in heard {
                let known = clocks[lane].entry(node).or_insert(0);
                *known = (*known).max(count);
            }
        }
        *clocks[lane].entry(lane).or_insert(0) += 1;
        sent.insert(row, clocks[lane].clone());
        let clock: Vec<String> =
            clocks[lane].iter().map(|(node, count)| format!("\"{}\":{count}", picture.names[*node])).collect();
        let _ = writeln!(text, "{} {{{}}}\n{}", picture.names[lane], clock.join(","), step.what.replace('\n', " "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::{picture, run};
    use super::*;

    #[test]
    fn clocks_grow_along_messages() {
        let (names, steps) = run();
        let log = text(&picture(&names, &steps));
        let events: Vec<&str> = log.lines().skip(2).collect();
        assert_eq!(
            events[..6],
            [
                "owner-1 {\"owner-1\":1}",
                "owner-1 starts",
                "manager {\"manager\":1,\"owner-1\":1}",
                "manager receives Ask from owner-1",
                "owner-1 {\"manager\":1,\"owner-1\":2}",
                "owner-1 receives Grant from manager"
            ]
        );
        assert_eq!(events.len(), 10, "a loss happens at no node");
    }
}
