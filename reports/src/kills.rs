//! The kill table: what each engine found of each mutant.

use seedbed_model::record::{Detection, Kill, KillRecord};

use crate::number;
use crate::table::{Side, Table};

/// A row for each mutant, and whether all are as declared.
pub fn summary(record: &KillRecord) -> String {
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
    format!("{}{reasons}{}\n", table.text(), verdict(record))
}

/// In the table, without the reason that may follow a colon.
fn declared(kill: &Kill) -> &str {
    kill.declared.split(':').next().unwrap_or_default()
}

fn reason(kill: &Kill) -> Option<String> {
    let (what, why) = kill.declared.split_once(": ")?;
    Some(format!("{}/{} is {what}: {why}\n", kill.protocol, kill.mutant))
}

fn detection(detection: &Detection, unit: &str) -> String {
    let effort = number::counted(detection.effort, unit);
    match (&detection.place, &detection.found) {
        (Some(place), Some(found)) => format!("{found} at {place} after {effort}"),
        _ if detection.tried == 0 => "not tried".into(),
        _ if detection.unknown => format!("unknown after {effort}: a budget ran out"),
        _ => format!("nothing in {effort}"),
    }
}

fn verdict(record: &KillRecord) -> String {
    let mutants = number::counted(record.rows.len() as u64, "mutant");
    let wrong = record.rows.iter().filter(|kill| !kill.as_declared).count();
    match wrong {
        0 => format!("{mutants}: all as declared"),
        wrong => format!("{mutants}: {wrong} not as declared (exit {})", record.code),
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
        };
        let harmless = Kill {
            mutant: "slow".into(),
            declared: "harmless: nobody waits".into(),
            explorer: Detection::default(),
            verdict: "harmless as declared".into(),
            ..kill.clone()
        };
        let rows = vec![kill, harmless];
        let record = KillRecord { header: Header::new("kills", "unknown"), rows, code: 0 };
        let expected = "\
protocol  mutant     declared           explorer                                simulator             verdict
leasing   no-margin  single-copy falls  single-copy at race after 1,200 states  nothing in 200 seeds  killed
leasing   slow       harmless           not tried                               nothing in 200 seeds  harmless as declared
leasing/slow is harmless: nobody waits
2 mutants: all as declared
";
        assert_eq!(summary(&record), expected);
    }
}
