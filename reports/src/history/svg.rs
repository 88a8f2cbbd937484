//! Intervals as SVG.

use super::Told;
use super::layout::{Bar, Layout};
use crate::svg::escaped;

/// All in pixels.
const COLUMN: usize = 8;
const ROW: usize = 30;
const BAR: usize = 22;
const MARGIN: usize = 110;
const TOP: usize = 34;

/// The same picture as [`super::diagram`].
pub fn svg(told: &Told<'_>) -> String {
    let layout = Layout::new(told);
    let (width, height) = (MARGIN + layout.width * COLUMN + 20, TOP + layout.lanes.len() * ROW + 10);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, monospace\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"10\" y=\"20\" fill=\"#555555\">{}</text>\n",
        escaped(&layout.caption)
    );
    for (index, lane) in layout.lanes.iter().enumerate() {
        let y = TOP + index * ROW;
        text.push_str(&format!(
            "<text x=\"10\" y=\"{}\" fill=\"#222222\">{}</text>\n\
             <line x1=\"{MARGIN}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#dddddd\"/>\n",
            y + 15,
            escaped(&lane.name),
            y + BAR / 2,
            width - 10,
            y + BAR / 2
        ));
        lane.bars.iter().for_each(|bar| text.push_str(&rectangle(bar, y, layout.width)));
    }
    text.push_str("</svg>\n");
    text
}

fn rectangle(bar: &Bar, y: usize, width: usize) -> String {
    let x = MARGIN + bar.from * COLUMN;
    let end = bar.to.map_or(width + 1, |to| to + 1);
    let (fill, stroke) = if bar.is_culprit { ("#fde2e0", "#c0362c") } else { ("#e3eefb", "#3b6fb5") };
    // Nobody knows where an operation ends that was never answered.
    let dashes = if bar.to.is_some() { "" } else { " stroke-dasharray=\"4 3\"" };
    let label = escaped(&bar.label);
    format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{BAR}\" rx=\"3\" fill=\"{fill}\" stroke=\"{stroke}\"{dashes}>\
         <title>{label}</title></rect>\n<text x=\"{}\" y=\"{}\" fill=\"#111111\">{label}</text>\n",
        (end - bar.from) * COLUMN,
        x + 6,
        y + 15
    )
}
