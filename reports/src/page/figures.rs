//! A scenario's figures on its page: how likely a seed fails, what was reached and how soon, what each fault met.

#![expect(
    clippy::float_arithmetic,
    reason = "shares and places in a picture, for a reader; nothing is decided by them"
)]

use std::collections::BTreeSet;
use std::fmt::Write;

use seedbed_model::record::{Chance, Reach, ScenarioRecord};

use crate::number;
use crate::statistics::{clean, percent, runs_until, saturation};
use crate::svg::escaped;

/// The picture of what was first reached when [px].
const CURVE_WIDTH: f64 = 640.0;
const CURVE_HEIGHT: f64 = 150.0;
/// Around it, for what stands beside its axes [px].
const CURVE_MARGIN: f64 = 34.0;

/// What was reached, how soon, and what each fault met.
pub(super) fn figures(scenario: &ScenarioRecord, body: &mut String) {
    if scenario.reached.is_empty() && scenario.missed.is_empty() {
        return;
    }
    let missed = match scenario.missed.len() {
        0 => String::new(),
        count => format!(", {count} missed"),
    };
    let count = goals_and_marks(scenario.reached.len());
    let open = if scenario.missed.is_empty() { "" } else { " open" };
    let _ = writeln!(body, "<details{open}><summary>{count} reached{missed}</summary>");
    coverage(scenario, body);
    curve(scenario, body);
    body.push_str("</details>\n");
    exercised(scenario, body);
}

/// How likely a seed makes each property fall; where nothing fell, how unlikely it is that one does.
pub(super) fn chances(scenario: &ScenarioRecord, body: &mut String) {
    if let Some(bound) = clean(scenario) {
        let _ = writeln!(body, "<p>{}</p>", escaped(&bound));
    }
    if scenario.chances.is_empty() {
        return;
    }
    body.push_str(
        "<div class=\"wide\"><table><tr><th>property</th><th class=\"number\">runs in which it fell</th>\
         <th class=\"number\">chance a seed</th><th class=\"number\">interval of 95 %</th>\
         <th class=\"number\">seeds for a detection at 95 %</th></tr>\n",
    );
    for (chance, fall) in scenario.chances.iter().zip(&scenario.falls) {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td></tr>",
            escaped(&chance.property),
            number::grouped(fall.count),
            percent(chance.share),
            interval(chance),
            chance.seeds_to_detect.map_or("unknown".into(), number::grouped)
        );
    }
    body.push_str("</table></div>\n");
}

fn interval(chance: &Chance) -> String {
    format!("{} to {}", percent(chance.low), percent(chance.high))
}

fn goals_and_marks(count: usize) -> String {
    if count == 1 { "1 goal or mark".into() } else { format!("{count} goals and marks") }
}

/// Goals and marks, each with how often and since when.
fn coverage(scenario: &ScenarioRecord, body: &mut String) {
    body.push_str(
        "<div class=\"wide\"><table><tr><th>goal or mark</th><th class=\"number\">runs</th><th></th>\
         <th class=\"number\">of all</th><th class=\"number\">times</th><th class=\"number\">first seed</th></tr>\n",
    );
    for missed in &scenario.missed {
        let _ = writeln!(
            body,
            "<tr><td class=\"bad\">{} <span class=\"soft\">goal</span></td><td class=\"number bad\">never</td><td></td>\
             <td></td><td></td><td></td></tr>",
            escaped(missed)
        );
    }
    for (name, times) in &scenario.reached {
        let goal = if scenario.demand.goals.contains(name) { " <span class=\"soft\">goal</span>" } else { "" };
        let _ = writeln!(
            body,
            "<tr><td>{}{goal}</td>{}<td class=\"number\">{}</td>{}</tr>",
            escaped(name),
            in_runs(scenario, scenario.coverage.get(name)),
            number::grouped(*times),
            scenario.coverage.get(name).map_or("<td></td>".into(), first_seed)
        );
    }
    body.push_str("</table></div>\n");
}

/// In how many runs, as a number, a bar and a share.
fn in_runs(scenario: &ScenarioRecord, reach: Option<&Reach>) -> String {
    let Some(reach) = reach else { return "<td></td><td></td><td></td>".into() };
    let share = reach.runs as f64 / scenario.runs.max(1) as f64;
    format!(
        "<td class=\"number\">{}</td><td class=\"bar\"><span class=\"meter\" style=\"width:{:.1}%\"></span></td>\
         <td class=\"number\">{}</td>",
        number::grouped(reach.runs),
        share * 100.0,
        percent(share)
    )
}

fn first_seed(reach: &Reach) -> String {
    format!("<td class=\"number\">{}</td>", number::grouped(reach.first))
}

/// How many goals and marks were reached after how many runs: where the line is flat, more seeds find little that is new.
fn curve(scenario: &ScenarioRecord, body: &mut String) {
    let Some(words) = saturation(scenario) else { return };
    let mut after: Vec<u64> =
        scenario.coverage.values().map(|reach| runs_until(scenario, reach.first).max(1)).collect();
    after.sort_unstable();
    // Most is reached by the first few runs: the axis is logarithmic.
    let runs = scenario.runs.max(2) as f64;
    let across = |run: f64| CURVE_MARGIN + CURVE_WIDTH * run.ln() / runs.ln();
    let up = |count: usize| 10.0 + CURVE_HEIGHT * (1.0 - count as f64 / after.len() as f64);
    let mut line = format!("M{:.1} {:.1}", across(1.0), up(0));
    for (index, run) in after.iter().enumerate() {
        let _ = write!(line, "H{:.1}V{:.1}", across(*run as f64), up(index + 1));
    }
    let _ = write!(line, "H{:.1}", across(runs));
    let (width, height) = (CURVE_WIDTH + 2.0 * CURVE_MARGIN, CURVE_HEIGHT + CURVE_MARGIN + 10.0);
    let _ = writeln!(
        body,
        "<p>{}</p>\n<div class=\"wide\"><svg class=\"curve\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\"><title>goals and marks reached, by runs</title>\
         <path class=\"axis\" d=\"M{CURVE_MARGIN} 10V{bottom}H{right}\"/><path class=\"line\" d=\"{line}\"/>\
         <text x=\"{x}\" y=\"18\" text-anchor=\"end\">{}</text>{}</svg></div>",
        escaped(&words),
        after.len(),
        ticks(scenario.runs, &across),
        bottom = up(0),
        right = across(runs),
        x = CURVE_MARGIN - 6.0,
    );
}

/// A label at each power of ten, and at the end where there is room for it.
fn ticks(runs: u64, across: &dyn Fn(f64) -> f64) -> String {
    let y = CURVE_HEIGHT + CURVE_MARGIN - 6.0;
    let label = |run: u64, anchor: &str| {
        let x = across(run as f64);
        format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", number::grouped(run))
    };
    let powers = (0..20).map(|power| 10_u64.pow(power)).take_while(|run| run.saturating_mul(2) < runs);
    let labels: String = powers.map(|run| label(run, "middle")).collect();
    format!("{labels}{}", label(runs.max(2), "middle").replace("</text>", " runs</text>"))
}

/// For each goal and mark, in how many of the runs in which a kind of fault was in force it was reached.
fn exercised(scenario: &ScenarioRecord, body: &mut String) {
    let kinds = &scenario.exercised;
    let names: BTreeSet<&str> = kinds.values().flat_map(|it| it.reached.keys().map(String::as_str)).collect();
    if names.is_empty() || kinds.keys().all(|kind| kind == "none") {
        return;
    }
    body.push_str(
        "<details><summary>What each fault met</summary><p class=\"soft\">Runs in which the fault was in force, and in \
         how many of them each goal or mark was reached. A 0 is a meeting that no seed has tried.</p>\
         <div class=\"wide\"><table class=\"met\"><tr><th></th>",
    );
    for kind in kinds.keys() {
        let _ = write!(body, "<th class=\"number\">{}</th>", escaped(kind));
    }
    body.push_str("</tr>\n<tr><th>runs</th>");
    for exercise in kinds.values() {
        let _ = write!(body, "<th class=\"number\">{}</th>", number::grouped(exercise.runs));
    }
    body.push_str("</tr>\n");
    for name in names {
        let _ = write!(body, "<tr><td>{}</td>", escaped(name));
        for exercise in kinds.values() {
            body.push_str(&met(exercise.reached.get(name).copied().unwrap_or(0), exercise.runs));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table></div></details>\n");
}

/// The more of the runs, the deeper the cell's colour.
fn met(count: u64, runs: u64) -> String {
    if count == 0 {
        return "<td class=\"number bad\">0</td>".into();
    }
    let depth = 10.0 + 35.0 * count as f64 / runs.max(1) as f64;
    format!("<td class=\"number heat\" style=\"--heat:{depth:.0}%\">{}</td>", number::grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{Demand, Exercise, Fall, SeedSpan};

    fn record() -> ScenarioRecord {
        let mut record = ScenarioRecord {
            runs: 1_000,
            done: vec![SeedSpan { from: 0, to: 1_000 }],
            demand: Demand { goals: vec!["renewal".into()], ..Demand::default() },
            ..ScenarioRecord::default()
        };
        for (name, runs, first) in [("renewal", 900, 0), ("stale answer", 5, 149)] {
            record.coverage.insert(name.into(), Reach { times: runs * 3, runs, first });
            record.reached.insert(name.into(), runs * 3);
        }
        let met = |runs, reached: &[(&str, u64)]| Exercise {
            runs,
            reached: reached.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        };
        record.exercised.insert("crash".into(), met(100, &[("renewal", 80)]));
        record.exercised.insert("loss".into(), met(400, &[("renewal", 300), ("stale answer", 5)]));
        record
    }

    fn shown(record: &ScenarioRecord) -> String {
        let mut body = String::new();
        chances(record, &mut body);
        figures(record, &mut body);
        body
    }

    #[test]
    fn a_fall_has_its_chance_its_interval_and_the_seeds_that_find_it() {
        let mut record = record();
        let property = "safe".to_owned();
        record.falls = vec![Fall {
            property: property.clone(),
            count: 20,
            expected: false,
            first: Default::default(),
            groups: Vec::new(),
        }];
        record.chances = vec![Chance { property, share: 0.02, low: 0.013, high: 0.0307, seeds_to_detect: Some(149) }];
        let text = shown(&record);
        for words in [">20<", ">2.0 %<", ">1.3 % to 3.1 %<", ">149<"] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }

    #[test]
    fn a_clean_scenario_is_bounded_by_the_rule_of_three() {
        let record = ScenarioRecord { clean_bound: Some(0.003), ..record() };
        assert!(shown(&record).contains("fewer than 0.30 % of all seeds do (95 %, rule of three)"));
    }

    #[test]
    fn goals_are_told_with_how_often_and_since_when() {
        let text = shown(&record());
        assert!(
            text.contains("<td>renewal <span class=\"soft\">goal</span></td><td class=\"number\">900</td>"),
            "{text}"
        );
        assert!(text.contains("<td class=\"number\">15</td><td class=\"number\">149</td>"), "{text}");
        let missed = ScenarioRecord { missed: vec!["recall".into()], ..record() };
        let text = shown(&missed);
        assert!(text.contains("recall") && text.contains(">never<") && text.contains("<details open>"), "{text}");
    }

    /// From 1 run to 1,000 on a logarithmic axis 640 wide: the first mark at its beginning, the second after 150 runs.
    #[test]
    fn the_curve_rises_where_something_was_first_reached() {
        let text = shown(&record());
        assert!(text.contains("d=\"M34.0 160.0H34.0V85.0H498.2V10.0H674.0\""), "{text}");
        assert!(text.contains(">1,000 runs<") && text.contains(">100<"), "{text}");
    }

    #[test]
    fn what_no_seed_has_tried_under_a_fault_is_a_zero() {
        let text = shown(&record());
        let row = text.lines().rfind(|line| line.starts_with("<tr><td>stale answer")).expect("it has a row");
        assert!(row.contains("<td class=\"number bad\">0</td>") && row.contains("--heat:10%\">5<"), "{row}");
        assert!(!shown(&ScenarioRecord { exercised: Default::default(), ..record() }).contains("fault met"));
    }
}
