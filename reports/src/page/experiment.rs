//! An experiment as a page: its plots, its numbers, and what it shows.

use std::fmt::Write;

use seedbed_model::record::ExperimentRecord;

use super::page;
use crate::experiment::{heading, table_cells};
use crate::number;
use crate::plot;
use crate::svg::escaped;

/// The page of an experiment.
pub fn html(record: &ExperimentRecord) -> String {
    let mut body = format!(
        "<h1>{}</h1>\n<p class=\"soft\">{} · {} · {} a point · revision {}</p>\n<p>{}</p>\n",
        escaped(&record.title),
        escaped(&record.name),
        escaped(&record.source),
        number::counted(record.seeds, "seed"),
        escaped(&record.header.revision),
        escaped(&record.story)
    );
    if !record.shown.is_empty() {
        body.push_str("<div class=\"card\">\n");
        for shown in &record.shown {
            let (class, sign) = if shown.holds { ("good", "shows") } else { ("bad", "does not show") };
            let _ = writeln!(
                body,
                "<p><span class=\"{class}\">{sign}</span> {} <span class=\"soft\">{}</span></p>",
                escaped(&shown.what),
                escaped(&shown.found)
            );
        }
        body.push_str("</div>\n");
    }
    for shape in &record.plots {
        let _ = writeln!(
            body,
            "<h2>{}</h2>\n<div class=\"picture\">{}</div>\n<details><summary>numbers</summary><div class=\"wide\"><table>",
            escaped(&heading(shape)),
            plot::svg(shape, &record.label, record.is_logarithmic)
        );
        for (index, row) in table_cells(shape, &record.label).iter().enumerate() {
            let tag = if index == 0 { "th" } else { "td" };
            let cells: String =
                row.iter().map(|cell| format!("<{tag} class=\"number\">{}</{tag}>", escaped(cell))).collect();
            let _ = writeln!(body, "<tr>{cells}</tr>");
        }
        body.push_str("</table></div></details>\n");
    }
    page(&record.title, &body, "")
}
