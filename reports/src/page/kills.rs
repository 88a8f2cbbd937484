//! The kill table, as a page.

use std::fmt::Write;

use seedbed_model::record::{Kill, KillRecord, Measured};

use super::page;
use crate::kills::{MEASURED, cells, detection, false_alarms, is_as_declared, verdict};
use crate::number;
use crate::svg::escaped;

/// The longest bar [px].
const BAR_MAX: u64 = 160;

/// The page.
pub fn html(record: &KillRecord) -> String {
    let is_good = is_as_declared(record);
    let title = if is_good { "Mutants: all as declared" } else { "Mutants: not all as declared" };
    let (falls, runs) = false_alarms(record);
    let mut body = format!(
        "<h1 class=\"{}\">{title}</h1>\n<p class=\"soft\">{}, revision {}, exit {}</p>\n",
        if is_good { "good" } else { "bad" },
        escaped(&verdict(record)),
        escaped(&record.header.revision),
        record.code
    );
    if runs > 0 {
        let class = if falls == 0 { "good" } else { "bad" };
        let _ = writeln!(
            body,
            "<p>Whole protocols, in the same seeds, walks and states and in those asked for: <span class=\"{class}\">\
             {} in {}</span>.</p>",
            number::counted(falls, "false alarm"),
            number::grouped(runs)
        );
    }
    overview(record, &mut body);
    clean(record, &mut body);
    measured(record, &mut body);
    page(title, &body, "")
}

fn overview(record: &KillRecord, body: &mut String) {
    body.push_str(
        "<h2>What was declared, and what came</h2>\n<div class=\"wide\"><table><tr><th>mutant</th><th>removes</th>\
         <th>declared</th><th>explorer</th><th>simulator</th><th>verdict</th></tr>\n",
    );
    for kill in &record.rows {
        let _ = writeln!(
            body,
            "<tr><td>{}/{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td></tr>",
            escaped(&kill.protocol),
            escaped(&kill.mutant),
            escaped(&kill.removes),
            escaped(&kill.declared),
            escaped(&detection(&kill.explorer, "state")),
            escaped(&detection(&kill.simulator, "seed")),
            if kill.as_declared { "good" } else { "bad" },
            escaped(&kill.verdict)
        );
    }
    body.push_str("</table></div>\n");
}

fn clean(record: &KillRecord, body: &mut String) {
    if record.clean.is_empty() {
        return;
    }
    body.push_str(
        "<h2>Whole protocols alone</h2>\n<div class=\"wide\"><table><tr><th>protocol</th>\
         <th class=\"number\">quick scenarios</th><th class=\"number\">seeds</th>\
         <th class=\"number\">false alarms</th><th>first</th></tr>\n",
    );
    for clean in &record.clean {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number {}\">{}</td>\
             <td><code>{}</code></td></tr>",
            escaped(&clean.protocol),
            clean.scenarios,
            number::grouped(clean.runs),
            if clean.false_alarms == 0 { "good" } else { "bad" },
            number::grouped(clean.false_alarms),
            escaped(clean.paste.as_deref().unwrap_or_default())
        );
    }
    body.push_str("</table></div>\n");
}

/// A table for each mutant, with a bar for each engine: as long as the median has bits, among engines of one unit.
fn measured(record: &KillRecord, body: &mut String) {
    let kills: Vec<&Kill> = record.rows.iter().filter(|kill| !kill.engines.is_empty()).collect();
    if kills.is_empty() {
        return;
    }
    body.push_str(
        "<h2>How soon each engine kills</h2>\n<p class=\"soft\">The effort to the first kill, median over restarts that have \
         no seed or walk in common; a restart that gave up counts as longer than all others. CPU is this machine\u{2019}s. A bar \
         grows by the same length for each doubling.</p>\n",
    );
    for kill in kills {
        let _ = writeln!(body, "<h3>{}/{}</h3>", escaped(&kill.protocol), escaped(&kill.mutant));
        body.push_str("<div class=\"wide\"><table><tr>");
        for heading in &MEASURED[1..] {
            let _ = write!(body, "<th>{heading}</th>");
        }
        body.push_str("<th></th></tr>\n");
        for engine in &kill.engines {
            engine_row(engine, body);
        }
        body.push_str("</table></div>\n");
    }
}

fn engine_row(engine: &Measured, body: &mut String) {
    body.push_str("<tr>");
    for cell in cells(engine) {
        let _ = write!(body, "<td>{}</td>", escaped(&cell));
    }
    let bits = engine.median().map_or(0, |median| u64::from(median.max(1).ilog2()) + 1);
    let width = (bits * 7).min(BAR_MAX);
    let _ = writeln!(body, "<td><span class=\"meter\" style=\"width:{width}px\"></span></td></tr>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{CleanRecord, Detection, Header};

    fn record(false_alarms: u64) -> KillRecord {
        let engine = Measured {
            engine: "pct".into(),
            unit: "walk".into(),
            place: "race".into(),
            restarts: 3,
            efforts: vec![4, 9, 12],
            found: vec!["single-copy".into()],
            clean: 25,
            ..Measured::default()
        };
        let kill = Kill {
            protocol: "leasing".into(),
            mutant: "no-<margin>".into(),
            removes: "the margin".into(),
            declared: "single-copy falls".into(),
            explorer: Detection::default(),
            simulator: Detection::default(),
            verdict: "killed".into(),
            as_declared: true,
            engines: vec![engine],
        };
        let clean = CleanRecord { protocol: "leasing".into(), runs: 100, false_alarms, ..CleanRecord::default() };
        let header = Header::new("kills", "unknown");
        KillRecord { header, timings: Vec::new(), rows: vec![kill], clean: vec![clean], code: 0 }
    }

    #[test]
    fn each_engine_has_a_row_and_names_are_escaped() {
        let page = html(&record(0));
        assert!(
            page.contains("<td>pct</td>") && page.contains("<td>9 walks</td>") && page.contains("<td>4 to 12</td>")
        );
        assert!(page.contains("no-&lt;margin&gt;") && !page.contains("no-<margin>"));
        assert!(page.contains("0 false alarms in 125") && page.contains("all as declared"));
    }

    #[test]
    fn a_false_alarm_turns_the_page_red() {
        assert!(html(&record(1)).contains("<h1 class=\"bad\">Mutants: not all as declared"));
    }
}
