//! What an experiment says at its end: a table for each quantity, and whether it shows what it is said to.

use std::collections::BTreeSet;

use seedbed_model::record::{Curve, ExperimentRecord, Milli, Plot};

use crate::number;
use crate::table::{Side, Table};

/// The tables of an experiment, the paper's own numbers in columns of their own, and what it shows.
pub fn summary(record: &ExperimentRecord) -> String {
    let seeds = number::counted(record.seeds, "seed");
    let mut text = format!("{}: {}\n{}; {seeds} a point\n{}\n", record.name, record.title, record.source, record.story);
    for plot in &record.plots {
        text.push_str(&format!("\n{}\n{}", heading(plot), table(plot, &record.label)));
    }
    if !record.shown.is_empty() {
        text.push('\n');
    }
    for shown in &record.shown {
        let sign = if shown.holds { "shows" } else { "DOES NOT SHOW" };
        text.push_str(&format!("{sign}: {} ({})\n", shown.what, shown.found));
    }
    text
}

/// What is plotted, with its unit.
pub(crate) fn heading(plot: &Plot) -> String {
    if plot.unit.is_empty() { plot.title.clone() } else { format!("{} [{}]", plot.title, plot.unit) }
}

/// Columns that a terminal has room for.
const WIDTH_MAX: usize = 100;

/// Where the headings would make it too wide, they are numbered and said above it.
fn table(plot: &Plot, label: &str) -> String {
    let mut rows = table_cells(plot, label);
    let mut text = String::new();
    if rows[0].iter().map(|heading| heading.chars().count() + 2).sum::<usize>() > WIDTH_MAX {
        for (index, heading) in rows[0].iter_mut().enumerate() {
            let short = if index == 0 { "at".to_owned() } else { format!("({index})") };
            text.push_str(&format!("{short:>5}  {heading}\n"));
            *heading = short;
        }
    }
    let mut table = Table::bare(&vec![Side::Right; rows[0].len()], 0);
    rows.into_iter().for_each(|row| table.row(row));
    text + &table.text()
}

/// The headings, and a row for each value of what varies.
pub(crate) fn table_cells(plot: &Plot, label: &str) -> Vec<Vec<String>> {
    let curves: Vec<&Curve> = plot.curves.iter().chain(&plot.paper).collect();
    let ours = plot.curves.iter().map(|curve| curve.name.clone());
    let theirs = plot.paper.iter().map(|curve| format!("paper: {}", curve.name));
    let mut rows = vec![std::iter::once(label.to_owned()).chain(ours).chain(theirs).collect()];
    let places: BTreeSet<Milli> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.at).collect();
    for at in places {
        let cell = |curve: &&Curve| {
            curve.points.iter().find(|point| point.at == at).map_or("-".to_owned(), |point| decimal(point.mean))
        };
        rows.push(std::iter::once(decimal(at)).chain(curves.iter().map(cell)).collect());
    }
    rows
}

/// With one decimal, if it is not whole.
pub(crate) fn decimal(number: Milli) -> String {
    let whole = number::grouped(number.0 / 1_000);
    match number.0 % 1_000 / 100 {
        0 => whole,
        tenths => format!("{whole}.{tenths}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{Header, Point, Shown};

    #[test]
    fn a_table_has_the_paper_s_numbers_beside_ours() {
        let point =
            |at: u64, mean: u64| Point { at: Milli(at), mean: Milli(mean), least: Milli(mean), most: Milli(mean) };
        let curve = |name: &str, points: &[(u64, u64)]| Curve {
            name: name.into(),
            points: points.iter().map(|(at, mean)| point(*at, *mean)).collect(),
        };
        let plot = Plot {
            name: "duration".into(),
            title: "duration".into(),
            unit: "ms".into(),
            is_logarithmic: false,
            curves: vec![curve("ours", &[(1_000, 110_250), (2_000, 1_110_000)])],
            paper: vec![curve("theirs", &[(2_000, 112_000)])],
        };
        let mut record = ExperimentRecord {
            header: Header::new("experiment", "unknown"),
            name: "parking/gates".into(),
            title: "How long?".into(),
            source: "Parking §1".into(),
            story: "Gates in a row.".into(),
            seeds: 2,
            label: "gates".into(),
            is_logarithmic: false,
            plots: vec![plot],
            shown: vec![Shown {
                what: "it is flat".into(),
                found: "0.0 to 2.0 ms; wanted at most 1 ms".into(),
                holds: false,
            }],
            code: 19,
        };
        let expected = "\
parking/gates: How long?
Parking §1; 2 seeds a point
Gates in a row.

duration [ms]
gates   ours  paper: theirs
    1  110.2              -
    2  1,110            112

DOES NOT SHOW: it is flat (0.0 to 2.0 ms; wanted at most 1 ms)
";
        assert_eq!(summary(&record), expected);
        record.plots[0].curves[0].name =
            "a name that is as long as a line of the paper, and says all that is to be said".into();
        let wide = "\
duration [ms]
   at  gates
  (1)  a name that is as long as a line of the paper, and says all that is to be said
  (2)  paper: theirs
at    (1)  (2)
 1  110.2    -
 2  1,110  112
";
        assert!(summary(&record).contains(wide), "{}", summary(&record));
    }
}
