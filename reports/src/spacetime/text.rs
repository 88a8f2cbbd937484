//! A run as a picture for a terminal: a column for each node, a line for each step.

use super::Picture;
use super::scene::{Scene, scene};
use crate::number;

/// Signs for each node's column.
const COLUMN: usize = 14;

/// The picture. A message is a line from the sender's column to its arrival, told beside it.
pub fn text(picture: &Picture<'_>) -> String {
    let scene = scene(picture);
    let decimals = number::decimals(picture.steps.iter().map(|step| step.at_ns));
    let times: Vec<String> = picture.steps.iter().map(|step| number::seconds(step.at_ns, decimals)).collect();
    let width = times.iter().map(String::len).max().unwrap_or(0).max(4);
    let mut text = format!("{:>width$}  ", "time");
    for name in picture.names {
        text.push_str(&format!("{name:<COLUMN$}"));
    }
    text = text.trim_end().to_owned() + "\n";
    for (row, step) in picture.steps.iter().enumerate() {
        let line = lanes(picture, &scene, row);
        let mark = if picture.is_culprit(row) { ">" } else { " " };
        text.push_str(format!("{:>width$}  {line}{mark} {}", times[row], step.what).trim_end());
        text.push('\n');
    }
    text
}

fn lanes(picture: &Picture<'_>, scene: &Scene, row: usize) -> String {
    let mut signs: Vec<char> = vec![' '; picture.names.len() * COLUMN];
    for lane in 0..picture.names.len() {
        let is_within = |from: usize, to: Option<usize>| from < row && to.is_none_or(|to| row < to);
        let wrong =
            scene.bands.iter().find(|band| band.lane == lane && band.other.is_none() && is_within(band.from, band.to));
        signs[lane * COLUMN] = match wrong.map(|band| band.what.as_str()) {
            Some("down") => ' ',
            Some(_) => ':',
            None => '|',
        };
    }
    let step = &picture.steps[row];
    let Some(at) = step.node.map(|node| usize::from(node) * COLUMN).filter(|at| *at < signs.len()) else {
        return signs.into_iter().collect();
    };
    if let Some(from) = step.from.map(|from| usize::from(from) * COLUMN).filter(|from| *from < signs.len()) {
        let is_message = step.message.is_some();
        let line = if is_message { '-' } else { '/' };
        let (low, high) = (at.min(from), at.max(from));
        signs[low + 1..high].iter_mut().for_each(|sign| *sign = line);
        if is_message && at != from {
            signs[from] = '+';
            let (tip, place) = if at > from { ('>', at - 1) } else { ('<', at + 1) };
            signs[place] = tip;
        }
    }
    signs[at] = match step.kind.as_str() {
        "crash" | "tear" | "lose" => 'x',
        _ => 'o',
    };
    signs.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{picture, run};
    use super::*;

    #[test]
    fn a_line_for_each_step() {
        let (names, steps) = run();
        let head = "  time  manager       owner-1\n";
        let expected = "\
0.000s  |             o               owner-1 starts
0.001s  o<------------+               manager receives Ask from owner-1
0.002s  +------------>o             > owner-1 receives Grant from manager
0.002s  +------------>x               the network loses Grant from manager to owner-1
0.003s  |             x               owner-1 crashes
0.009s  |             o               owner-1 restarts
";
        assert_eq!(text(&picture(&names, &steps)), head.to_owned() + expected);
    }
}
