//! Intervals as text.

use super::Told;
use super::layout::{Bar, Layout};

/// A row for each client, a bar for each operation: `[` its invocation, `]` its answer, `…` none.
pub fn diagram(told: &Told<'_>) -> String {
    let layout = Layout::new(told);
    let margin = layout.lanes.iter().map(|lane| lane.name.len()).max().unwrap_or(0) + 2;
    let mut text = format!("  {}\n", layout.caption);
    for lane in &layout.lanes {
        let mut row = vec![' '; layout.width];
        lane.bars.iter().for_each(|bar| draw(&mut row, bar));
        let row: String = row.into_iter().collect();
        text.push_str(&format!("  {:margin$}{}\n", lane.name, row.trim_end()));
    }
    text
}

fn draw(row: &mut [char], bar: &Bar) {
    let end = bar.to.unwrap_or(row.len() - 1);
    row[bar.from..=end].fill('-');
    row[bar.from] = '[';
    row[end] = if bar.to.is_some() { ']' } else { '…' };
    for (place, sign) in row[bar.from + 1..end].iter_mut().zip(bar.label.chars()) {
        *place = sign;
    }
}
