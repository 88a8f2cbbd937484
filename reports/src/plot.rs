//! A plot of curves, as SVG: what was measured in full lines, what a paper measured in broken ones.

#![expect(clippy::float_arithmetic, reason = "places in a picture, for a reader; nothing is decided by them")]

use std::fmt::Write;

use seedbed_model::record::{Curve, Milli, Plot};

use crate::experiment::{decimal, heading};
use crate::svg::escaped;

/// Of the picture, and of the room for numbers, labels and the legend [px].
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 36.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
/// Of a line of the legend [px].
const LEGEND: f64 = 18.0;

/// Colours that differ for most eyes, in light and dark.
const COLOURS: [&str; 6] = ["#2f7ed8", "#d9662c", "#2a9d6f", "#a15bc7", "#b08a1d", "#d1477e"];

/// The plot, over what `label` names.
pub fn svg(plot: &Plot, label: &str, is_logarithmic: bool) -> String {
    let curves: Vec<(&Curve, bool)> =
        plot.curves.iter().map(|curve| (curve, false)).chain(plot.paper.iter().map(|curve| (curve, true))).collect();
    let points = || curves.iter().flat_map(|(curve, _)| &curve.points);
    let across = Axis::new(points().map(|point| point.at), is_logarithmic, LEFT, WIDTH - RIGHT);
    let up = Axis::new(points().map(|point| point.most), plot.is_logarithmic, HEIGHT - BOTTOM, TOP);
    let tall = HEIGHT + LEGEND * curves.len() as f64 + 6.0;
    let mut out = format!(
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {tall}\" width=\"{WIDTH}\" \
         role=\"img\" aria-label=\"{}\">\n",
        escaped(&heading(plot))
    );
    axes(&across, &up, label, &plot.unit, &mut out);
    for (index, (curve, is_paper)) in curves.iter().enumerate() {
        // A paper's curve has the colour of the measured one at its place, where there is one.
        let place = if *is_paper { index - plot.curves.len() } else { index };
        let colour = COLOURS[place % COLOURS.len()];
        draw(curve, *is_paper, colour, &across, &up, &mut out);
        let y = HEIGHT + LEGEND * index as f64 + 8.0;
        let name = if *is_paper { format!("paper: {}", curve.name) } else { curve.name.clone() };
        // What is not joined is a ring, here as there.
        let sign = match is_joined(curve, *is_paper) {
            false => format!("<circle cx=\"{}\" cy=\"{y}\" r=\"3\" fill=\"none\" stroke=\"{colour}\"/>", LEFT + 13.0),
            true => format!(
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2\"{}/>",
                LEFT + 26.0,
                dashes(*is_paper)
            ),
        };
        let _ = writeln!(out, "{sign}<text x=\"{}\" y=\"{}\">{}</text>", LEFT + 34.0, y + 4.0, escaped(&name));
    }
    out.push_str("</svg>\n");
    out
}

/// Whether a line joins the points: one or two numbers of a paper are of a table, or of its text, and no curve.
fn is_joined(curve: &Curve, is_paper: bool) -> bool {
    !is_paper || curve.points.len() > 2
}

fn dashes(is_paper: bool) -> &'static str {
    if is_paper { " stroke-dasharray=\"5 4\"" } else { "" }
}

/// Where numbers lie on one side of the picture.
struct Axis {
    least: f64,
    most: f64,
    is_logarithmic: bool,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = Milli>, is_logarithmic: bool, start: f64, end: f64) -> Self {
        let values: Vec<f64> = values.map(|value| value.0 as f64 / 1000.0).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let positive = values.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        if is_logarithmic && positive.is_finite() {
            let least = 10_f64.powf(positive.log10().floor());
            let most = 10_f64.powf(most.log10().ceil()).max(least * 10.0);
            return Axis { least, most, is_logarithmic, start, end };
        }
        let step = step(most.max(1.0));
        Axis { least: 0.0, most: (most.max(1.0) / step).ceil() * step, is_logarithmic: false, start, end }
    }

    fn place(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value.max(self.least) / self.least).log10() / (self.most / self.least).log10()
        } else {
            (value - self.least) / (self.most - self.least)
        };
        self.start + share * (self.end - self.start)
    }

    fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        if self.is_logarithmic {
            let mut tick = self.least;
            while tick <= self.most * 1.001 {
                ticks.push(tick);
                tick *= 10.0;
            }
        } else {
            let step = step(self.most);
            let count = (self.most / step).round() as u32;
            ticks.extend((0..=count).map(|number| f64::from(number) * step));
        }
        ticks
    }
}

/// A round number of which four to ten make `most`.
fn step(most: f64) -> f64 {
    let power = 10_f64.powf((most / 4.0).log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|factor| factor * power).find(|step| most / step >= 4.0).unwrap_or(power)
}

fn axes(across: &Axis, up: &Axis, label: &str, unit: &str, out: &mut String) {
    for tick in up.ticks() {
        let y = up.place(tick);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            told(tick)
        );
    }
    let base = HEIGHT - BOTTOM;
    for tick in across.ticks() {
        let x = across.place(tick);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{base}\" y2=\"{}\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            base + 5.0,
            base + 19.0,
            told(tick)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text><text x=\"6\" y=\"12\">{}</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0,
        escaped(label),
        escaped(unit)
    );
}

fn told(number: f64) -> String {
    decimal(Milli((number * 1000.0).round() as u64))
}

fn draw(curve: &Curve, is_paper: bool, colour: &str, across: &Axis, up: &Axis, out: &mut String) {
    let value = |milli: Milli| milli.0 as f64 / 1000.0;
    let places: Vec<(f64, f64)> =
        curve.points.iter().map(|point| (across.place(value(point.at)), up.place(value(point.mean)))).collect();
    if is_joined(curve, is_paper) {
        let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{}/>",
            line.join(" "),
            dashes(is_paper)
        );
    }
    for (point, (x, y)) in curve.points.iter().zip(&places) {
        let fill = if is_paper { "none" } else { colour };
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{fill}\" stroke=\"{colour}\"><title>{}: {}</title></circle>",
            decimal(point.at),
            decimal(point.mean)
        );
        if point.least < point.most {
            let (low, high) = (up.place(value(point.least)), up.place(value(point.most)));
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\" stroke=\"{colour}\"/>"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::Point;

    fn curve(points: u64) -> Curve {
        let point = |at: u64| {
            let value = Milli(1000 * (at + 1));
            Point { at: value, mean: value, least: value, most: value }
        };
        Curve { name: "writes".into(), points: (0..points).map(point).collect() }
    }

    #[test]
    fn two_numbers_of_a_paper_are_no_curve() {
        let lines = |paper: u64| {
            let plot = Plot {
                name: "rate".into(),
                title: "Writes".into(),
                unit: "/s".into(),
                is_logarithmic: false,
                curves: vec![curve(3)],
                paper: vec![curve(paper)],
            };
            svg(&plot, "servers", false).matches("<polyline").count()
        };
        assert_eq!([2, 3].map(lines), [1, 2]);
    }
}
