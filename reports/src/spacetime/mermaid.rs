//! A run as a Mermaid sequence diagram, which many places that show Markdown draw.

use std::fmt::Write;

use super::Picture;
use super::scene::{Arrow, scene};
use crate::svg::shortened;

/// Beyond so many letters a line is cut: the diagram gives it no room.
const LETTERS: usize = 70;

/// The diagram.
pub fn text(picture: &Picture<'_>) -> String {
    let mut text = String::from("sequenceDiagram\n");
    for (lane, name) in picture.names.iter().enumerate() {
        let _ = writeln!(text, "    participant n{lane} as {}", plain(name));
    }
    let scene = scene(picture);
    for (row, step) in picture.steps.iter().enumerate() {
        let arrived = scene.arrows.iter().find(|arrow| arrow.arrived == Some(row));
        let line = match (arrived, step.node) {
            (Some(arrow), _) => message(arrow),
            (None, Some(node)) => format!("Note over n{node}: {}", plain(&step.what)),
            (None, None) if !picture.names.is_empty() => {
                format!("Note over n0,n{}: {}", picture.names.len() - 1, plain(&step.what))
            }
            (None, None) => continue,
        };
        let _ = writeln!(text, "    {line}");
        if picture.is_culprit(row) {
            let node = step.node.unwrap_or(0);
            let _ = writeln!(text, "    Note over n{node}: step {} is among the causes", step.step);
        }
    }
    text
}

fn message(arrow: &Arrow) -> String {
    let (tip, what) = match (arrow.is_lost, arrow.is_copy) {
        (true, _) => ("--x", "lost: "),
        (false, true) => ("-->>", "a copy of "),
        (false, false) => ("->>", ""),
    };
    format!("n{}{tip}n{}: {what}{}", arrow.from, arrow.to, plain(&arrow.message))
}

/// Without the signs that mean something to Mermaid.
fn plain(text: &str) -> String {
    let safe = |sign: char| match sign {
        ';' => ',',
        '#' => ' ',
        sign if sign.is_control() => ' ',
        sign => sign,
    };
    shortened(&text.chars().map(safe).collect::<String>(), LETTERS)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{picture, run};
    use super::*;

    #[test]
    fn messages_are_arrows_and_the_rest_are_notes() {
        let (names, steps) = run();
        let expected = "sequenceDiagram
    participant n0 as manager
    participant n1 as owner-1
    Note over n1: owner-1 starts
    n1->>n0: Ask
    n0->>n1: Grant
    Note over n1: step 3 is among the causes
    n0--xn1: lost: Grant
    Note over n1: owner-1 crashes
    Note over n1: owner-1 restarts
";
        assert_eq!(text(&picture(&names, &steps)), expected);
    }
}
