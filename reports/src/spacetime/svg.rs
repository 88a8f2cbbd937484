//! A run as SVG. Colours are classes, so that a page can show it light or dark; alone it is light.

use std::fmt::Write;

use super::Picture;
use super::scene::{Arrow, Scene, Stretch, scene};
use crate::number;
use crate::svg::{escaped, shortened};

/// All in pixels.
/// Lanes share this, each at least and at most so wide: the fewer there are, the more of their steps' words is shown.
const LANES: usize = 1140;
const LANE: std::ops::RangeInclusive<usize> = 250..=570;
const ROW: usize = 24;
const LEFT: usize = 190;
const TOP: usize = 64;
/// Bars of timers lie beside their lane, so far apart.
const BAR_STEP: usize = 7;
/// Beyond so many side by side, bars share a place.
const BAR_COUNT_MAX: usize = 8;
/// A letter takes about so much. Of a step's words as many are shown as fit before the next lane; the whole is told by a tooltip.
const LETTER: usize = 7;

/// The styles that the picture needs.
pub const STYLE: &str = "
.st-lane { stroke: var(--line, #c9ced6); }
.st-name { font-weight: 600; fill: var(--text, #1d2430); }
.st-time, .st-what { fill: var(--soft, #5b6574); }
.st-what { paint-order: stroke; stroke: var(--back, #ffffff); stroke-width: 3px; stroke-linejoin: round; }
.st-step { fill: var(--node, #3b6fb5); }
.st-step.culprit { fill: var(--bad, #c0362c); }
.st-row:hover .st-what { fill: var(--text, #1d2430); }
.st-culprit { fill: var(--bad-soft, #fdeceb); }
.st-message { stroke: var(--node, #3b6fb5); fill: none; }
.st-message.lost { stroke: var(--bad, #c0362c); stroke-dasharray: 4 3; }
.st-message.open { stroke-dasharray: 2 3; opacity: 0.6; }
.st-label { fill: var(--node, #3b6fb5); font-size: 10px; }
.st-band { fill: var(--bad, #c0362c); opacity: 0.16; }
.st-band-name { fill: var(--bad, #c0362c); font-size: 10px; }
.st-bar { fill: var(--bar, #8fb98a); }
";

/// The picture.
pub fn svg(picture: &Picture<'_>) -> String {
    let scene = scene(picture);
    let width = LEFT + picture.names.len() * lane_width(picture) + 40;
    let height = TOP + picture.steps.len() * ROW + 20;
    let mut text = String::new();
    let _ = write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"spacetime\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" font-size=\"11\" role=\"img\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" style=\"fill: var(--node, #3b6fb5)\"/></marker></defs>\n",
        escaped(picture.title)
    );
    marks(picture, width, &mut text);
    lanes(picture, height, &mut text);
    scene.bands.iter().for_each(|band| self::band(picture, band, &mut text));
    bars(picture, &scene, &mut text);
    scene.arrows.iter().for_each(|arrow| message(picture, arrow, &mut text));
    rows(picture, &mut text);
    text.push_str("</svg>\n");
    text
}

fn lane_width(picture: &Picture<'_>) -> usize {
    (LANES / picture.names.len().max(1)).clamp(*LANE.start(), *LANE.end())
}

fn x(picture: &Picture<'_>, lane: usize) -> usize {
    LEFT + lane * lane_width(picture) + 20
}

fn y(row: usize) -> usize {
    TOP + row * ROW + ROW / 2
}

fn marks(picture: &Picture<'_>, width: usize, text: &mut String) {
    for row in (0..picture.steps.len()).filter(|row| picture.is_culprit(*row)) {
        let top = y(row) - ROW / 2;
        let _ = writeln!(text, "<rect class=\"st-culprit\" x=\"0\" y=\"{top}\" width=\"{width}\" height=\"{ROW}\"/>");
    }
}

fn lanes(picture: &Picture<'_>, height: usize, text: &mut String) {
    for (lane, name) in picture.names.iter().enumerate() {
        let (at, bottom) = (x(picture, lane), height - 10);
        let _ = writeln!(
            text,
            "<text class=\"st-name\" x=\"{at}\" y=\"30\" text-anchor=\"middle\">{}</text>\
             <line class=\"st-lane\" x1=\"{at}\" y1=\"40\" x2=\"{at}\" y2=\"{bottom}\"/>",
            escaped(name)
        );
    }
}

fn band(picture: &Picture<'_>, band: &Stretch, text: &mut String) {
    let (top, bottom) = (y(band.from), y(band.to.unwrap_or(picture.steps.len())));
    let name = match band.other.and_then(|other| picture.names.get(other)) {
        Some(other) => format!("{} from {other}", band.what),
        None => band.what.clone(),
    };
    // A link's band lies beside the receiver's lane, on the side of the sender.
    let left = match band.other {
        Some(other) if other < band.lane => x(picture, band.lane) - 16,
        Some(_) => x(picture, band.lane) + 8,
        None => x(picture, band.lane) - 7,
    };
    let width = if band.other.is_some() { 8 } else { 14 };
    let _ = writeln!(
        text,
        "<rect class=\"st-band\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{}\"><title>{}</title></rect>\
         <text class=\"st-band-name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        bottom.saturating_sub(top).max(6),
        escaped(&name),
        left.saturating_sub(3),
        top + 12,
        escaped(&name)
    );
}

fn bars(picture: &Picture<'_>, scene: &Scene, text: &mut String) {
    // Each bar takes the first place beside its lane that is free where it begins.
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); picture.names.len()];
    for bar in &scene.bars {
        let (from, to) = (bar.from, bar.to.unwrap_or(picture.steps.len()));
        let Some(ends) = places.get_mut(bar.lane) else { continue };
        let place = ends.iter().position(|end| *end <= from).unwrap_or(ends.len()).min(BAR_COUNT_MAX - 1);
        match ends.get_mut(place) {
            Some(end) => *end = (*end).max(to),
            None => ends.push(to),
        }
        let left = x(picture, bar.lane).saturating_sub(14 + place * BAR_STEP);
        let _ = writeln!(
            text,
            "<rect class=\"st-bar\" x=\"{left}\" y=\"{}\" width=\"4\" height=\"{}\" rx=\"2\"><title>{} is set</title></rect>",
            y(from),
            (y(to) - y(from)).max(4),
            escaped(&bar.what)
        );
    }
}

fn message(picture: &Picture<'_>, arrow: &Arrow, text: &mut String) {
    let last = picture.steps.len();
    let (from, to) = (x(picture, arrow.from), x(picture, arrow.to));
    let top = arrow.sent.map_or(TOP - 8, y);
    let bottom = arrow.arrived.map_or(y(last.saturating_sub(1)) + ROW / 2, y);
    // What never arrives ends on the way, and not at the lane of a node in between.
    let end = if arrow.is_lost || arrow.arrived.is_none() { (3 * from + 5 * to) / 8 } else { to };
    let class = match (arrow.is_lost, arrow.arrived) {
        (true, _) => " lost",
        (false, None) => " open",
        (false, Some(_)) => "",
    };
    let (tip, what) = match (arrow.is_lost, arrow.is_copy) {
        (true, _) => ("", "lost: "),
        (false, true) => (" marker-end=\"url(#tip)\"", "a copy of "),
        (false, false) => (" marker-end=\"url(#tip)\"", ""),
    };
    let side = if from == to { from + 26 } else { end };
    let path = match from == to {
        true => format!("M{from} {top} C{side} {top} {side} {bottom} {end} {bottom}"),
        false => format!("M{from} {top} L{end} {bottom}"),
    };
    let _ = writeln!(
        text,
        "<path class=\"st-message{class}\" d=\"{path}\"{tip}><title>{what}{} from {} to {}</title></path>",
        escaped(&arrow.message),
        escaped(name(picture, arrow.from)),
        escaped(name(picture, arrow.to)),
    );
    if arrow.is_lost {
        let _ = writeln!(
            text,
            "<text class=\"st-band-name\" x=\"{end}\" y=\"{}\" text-anchor=\"middle\">\u{d7}</text>",
            bottom + 4
        );
    }
}

fn name<'a>(picture: &'a Picture<'_>, lane: usize) -> &'a str {
    picture.names.get(lane).map_or("", String::as_str)
}

fn rows(picture: &Picture<'_>, text: &mut String) {
    let decimals = number::decimals(picture.steps.iter().map(|step| step.at_ns));
    let letters = (lane_width(picture) - 12) / LETTER;
    for (row, step) in picture.steps.iter().enumerate() {
        let at = y(row);
        let lane = step.node.map(usize::from).filter(|lane| *lane < picture.names.len());
        let what = lane.map_or(step.what.as_str(), |lane| without_name(&step.what, &picture.names[lane]));
        let whole = format!("{}\n{}", step.what, step.effects.join("\n"));
        let culprit = if picture.is_culprit(row) { " culprit" } else { "" };
        let _ = write!(
            text,
            "<g class=\"st-row\" id=\"step-{}\" data-node=\"{}\"><title>{}</title>\
             <text class=\"st-time\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            step.step,
            lane.map_or("", |lane| picture.names[lane].as_str()),
            escaped_lines(&whole),
            LEFT - 72,
            at + 4,
            number::seconds(step.at_ns, decimals)
        );
        let place = match lane {
            Some(lane) => {
                let _ = write!(
                    text,
                    "<circle class=\"st-step{culprit}\" cx=\"{}\" cy=\"{at}\" r=\"4\"/>",
                    x(picture, lane)
                );
                x(picture, lane) + 9
            }
            None => LEFT - 62,
        };
        let _ = writeln!(
            text,
            "<text class=\"st-what\" x=\"{place}\" y=\"{}\">{}</text></g>",
            at + 4,
            escaped(&shortened(what, letters))
        );
    }
}

fn without_name<'a>(what: &'a str, name: &str) -> &'a str {
    what.strip_prefix(name).map_or(what, str::trim_start)
}

fn escaped_lines(text: &str) -> String {
    text.trim_end().lines().map(escaped).collect::<Vec<_>>().join("&#10;")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{picture, run};
    use super::*;

    #[test]
    fn every_step_message_fault_and_timer_is_drawn() {
        let (names, steps) = run();
        let text = svg(&picture(&names, &steps));
        assert_eq!(text.matches("class=\"st-row\"").count(), steps.len());
        assert_eq!(text.matches("class=\"st-message").count(), 3);
        assert_eq!(text.matches("class=\"st-message lost\"").count(), 1);
        assert_eq!(text.matches("class=\"st-band\"").count(), 1);
        assert_eq!(text.matches("class=\"st-bar\"").count(), 1);
        assert_eq!(text.matches("class=\"st-culprit\"").count(), 1);
        assert!(text.contains("a grant &amp; a crash"));
    }
}
