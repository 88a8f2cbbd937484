//! The kill table: what each engine found of each mutant.

use seedbed_model::record::{CleanRecord, Detection, Kill, KillRecord, Measured};

use crate::number;
use crate::table::{Side, Table};

/// A row for each mutant, how soon each engine kills it if that was measured, and what fell of the whole protocols.
pub fn tables(record: &KillRecord) -> String {
    let mut table = Table::new(&[
        ("protocol", Side::Left),
        ("mutant", Side::Left),
        ("declared", Side::Left),
        ("explorer", Side::Left),
        ("simulator", Side::Left),
        ("verdict", Side::Left),
    ]);
    for kill in &record.rows {
        table.row([
            kill.protocol.clone(),
            kill.mutant.clone(),
            declared(kill).to_owned(),
            detection(&kill.explorer, "state"),
            detection(&kill.simulator, "seed"),
            kill.verdict.clone(),
        ]);
    }
    let reasons: String = record.rows.iter().filter_map(reason).collect();
    let measured = measured(record);
    let kills = if record.rows.is_empty() { String::new() } else { table.text() };
    format!("{kills}{reasons}{measured}{}", cleanliness(record))
}

/// Whether each mutant is as declared and nothing fell that must hold.
pub fn is_as_declared(record: &KillRecord) -> bool {
    record.rows.iter().all(|kill| kill.as_declared) && false_alarms(record).0 == 0
}

/// Of how many runs of whole protocols how many fell: the former second.
pub(crate) fn false_alarms(record: &KillRecord) -> (u64, u64) {
    let beside = record.rows.iter().flat_map(|kill| &kill.engines).map(|engine| (engine.false_alarms, engine.clean));
    let alone = record.clean.iter().map(|clean| (clean.false_alarms, clean.runs));
    beside.chain(alone).fold((0, 0), |(falls, runs), (more, count)| (falls + more, runs + count))
}

/// The columns of what is measured.
pub(crate) const MEASURED: [&str; 9] =
    ["mutant", "engine", "at", "killed", "median", "quartiles", "shrunk to", "whole protocol", "CPU"];

/// One engine's cells, the mutant's name aside.
pub(crate) fn cells(engine: &Measured) -> [String; 8] {
    let middle = |num, den| engine.quantile(num, den).map_or_else(|| "-".to_owned(), number::grouped);
    let shrunk = match (engine.before, engine.after) {
        (Some(before), Some(after)) => {
            let minimal = if engine.is_minimal { "" } else { ", not minimal yet" };
            format!(
                "{} of {} steps{minimal}",
                number::grouped(after.steps as u64),
                number::grouped(before.steps as u64)
            )
        }
        _ => "-".into(),
    };
    let clean = match engine.false_alarms {
        0 => format!("holds in {}", number::grouped(engine.clean)),
        falls => format!("{} in {}", number::counted(falls, "false alarm"), number::grouped(engine.clean)),
    };
    [
        engine.engine.clone(),
        engine.place.clone(),
        killed(engine),
        match engine.median() {
            Some(median) => number::counted(median, &engine.unit),
            None => format!("over {}", number::counted(engine.limit, &engine.unit)),
        },
        if engine.restarts > 1 { format!("{} to {}", middle(1, 4), middle(3, 4)) } else { String::new() },
        shrunk,
        clean,
        number::elapsed(engine.cpu_seconds),
    ]
}

/// How many restarts killed, and what fell.
fn killed(engine: &Measured) -> String {
    let of = format!("{}/{}", engine.efforts.len(), engine.restarts);
    if engine.found.is_empty() { of } else { format!("{of} {}", engine.found.join(", ")) }
}

fn measured(record: &KillRecord) -> String {
    if record.rows.iter().all(|kill| kill.engines.is_empty()) {
        return String::new();
    }
    let mut table = Table::new(&MEASURED.map(|heading| (heading, Side::Left)));
    for kill in &record.rows {
        for engine in &kill.engines {
            let mutant = format!("{}/{}", kill.protocol, kill.mutant);
            table.row(std::iter::once(mutant).chain(cells(engine)));
        }
    }
    format!("\n{}\n", table.text())
}

fn cleanliness(record: &KillRecord) -> String {
    let line = |clean: &CleanRecord| {
        let runs = number::counted(clean.runs, "seed");
        let among = number::counted(clean.scenarios, "scenario");
        let first = clean.paste.as_ref().map(|paste| format!(": {paste}")).unwrap_or_default();
        let falls = number::counted(clean.false_alarms, "false alarm");
        format!("{}: {falls} in {runs} of {among}{first}\n", clean.protocol)
    };
    record.clean.iter().map(line).collect()
}

/// In the table, without the reason that may follow a colon.
fn declared(kill: &Kill) -> &str {
    kill.declared.split(':').next().unwrap_or_default()
}

fn reason(kill: &Kill) -> Option<String> {
    let (what, why) = kill.declared.split_once(": ")?;
    Some(format!("{}/{} is {what}: {why}\n", kill.protocol, kill.mutant))
}

/// What an engine came to, in words.
pub(crate) fn detection(detection: &Detection, unit: &str) -> String {
    let effort = number::counted(detection.effort, unit);
    match (&detection.place, &detection.found) {
        (Some(place), Some(found)) => format!("{found} at {place} after {effort}"),
        _ if detection.tried == 0 => "not tried".into(),
        _ if detection.unknown => format!("unknown after {effort}: a budget ran out"),
        _ => format!("nothing in {effort}"),
    }
}

/// Whether all is as declared, in a line.
pub fn verdict(record: &KillRecord) -> String {
    let mutants = number::counted(record.rows.len() as u64, "mutant");
    let wrong = record.rows.iter().filter(|kill| !kill.as_declared).count();
    let outcome = match wrong {
        0 => format!("{mutants}: all as declared"),
        wrong => format!("{mutants}: {wrong} not as declared (exit {})", record.code),
    };
    match false_alarms(record) {
        (_, 0) => outcome,
        (0, _) => format!("{outcome}; no false alarm"),
        (falls, _) => format!("{outcome}; {} (exit {})", number::counted(falls, "false alarm"), record.code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::Header;

    #[test]
    fn a_row_tells_where_and_after_how_much_each_engine_found_it() {
        let explorer = Detection {
            place: Some("race".into()),
            found: Some("single-copy".into()),
            effort: 1_200,
            tried: 1,
            unknown: false,
        };
        let simulator = Detection { effort: 200, tried: 2, ..Detection::default() };
        let kill = Kill {
            protocol: "leasing".into(),
            mutant: "no-margin".into(),
            removes: "the margin".into(),
            declared: "single-copy falls".into(),
            explorer,
            simulator,
            verdict: "killed".into(),
            as_declared: true,
            engines: Vec::new(),
        };
        let harmless = Kill {
            mutant: "slow".into(),
            declared: "harmless: nobody waits".into(),
            explorer: Detection::default(),
            verdict: "harmless as declared".into(),
            ..kill.clone()
        };
        let rows = vec![kill, harmless];
        let record = KillRecord {
            header: Header::new("kills", "unknown"),
            timings: Vec::new(),
            rows,
            clean: Vec::new(),
            code: 0,
        };
        let expected = "\
protocol  mutant     declared           explorer                                simulator             verdict
leasing   no-margin  single-copy falls  single-copy at race after 1,200 states  nothing in 200 seeds  killed
leasing   slow       harmless           not tried                               nothing in 200 seeds  harmless as declared
leasing/slow is harmless: nobody waits
";
        assert_eq!(tables(&record), expected);
        assert_eq!(verdict(&record), "2 mutants: all as declared");
    }
}
