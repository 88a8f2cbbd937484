//! What a campaign found, as a page.

use std::fmt::Write;

use seedbed_model::TraceStep;
use seedbed_model::record::{CampaignRecord, FailureGroup, ScenarioRecord, ShrinkRecord};

use super::failure::{FILTER, Shown, part};
use super::figures::{chances, figures};
use super::page;
use crate::campaign::{outcome, result};
use crate::spacetime::Picture;
use crate::svg::escaped;
use crate::{number, shrunk};

/// Steps that are shown of a failure, the last ones.
const STEP_COUNT_MAX: usize = 400;

/// A run that fell, made small.
#[derive(Debug, Clone, Default)]
pub struct Example {
    /// The scenario's name.
    pub scenario: String,
    /// The property that fell.
    pub property: String,
    /// `names[i]` is node `i`'s.
    pub names: Vec<String>,
    /// What happened, to the fall.
    pub steps: Vec<TraceStep>,
    /// `chain[i]`: whether the fall hangs on step `i`.
    pub chain: Vec<bool>,
    /// How it was made small, in a line.
    pub shrunk: String,
    /// The same, and what it shows.
    pub notes: String,
}

impl Example {
    /// A fall of the scenario.
    pub fn of(scenario: &str, small: ShrinkRecord) -> Self {
        Example {
            scenario: scenario.to_owned(),
            property: small.failure.property.clone(),
            notes: shrunk::text(&small),
            shrunk: small.failure.shrunk,
            names: small.nodes,
            steps: small.trace,
            chain: small.chain,
        }
    }
}

/// The page. `examples` are shown with the failures they belong to.
pub fn html(record: &CampaignRecord, examples: &[Example]) -> String {
    let runs: u64 = record.scenarios.iter().map(|scenario| scenario.runs).sum();
    let title = format!("Campaign: {}", outcome(record));
    let class = if record.code == 0 { "good" } else { "bad" };
    let mut body = format!(
        "<h1 class=\"{class}\">{title}</h1>\n<p class=\"soft\">{} of {}, revision {}, exit {}</p>\n",
        number::counted(runs, "run"),
        number::counted(record.scenarios.len() as u64, "scenario"),
        escaped(&record.header.revision),
        record.code
    );
    overview(record, &mut body);
    pins(record, &mut body);
    for (index, scenario) in record.scenarios.iter().enumerate() {
        self::scenario(index, scenario, examples, &mut body);
    }
    page(&title, &body, FILTER)
}

fn overview(record: &CampaignRecord, body: &mut String) {
    body.push_str(
        "<div class=\"wide\"><table><tr><th>scenario</th><th>seeds</th><th class=\"number\">runs</th>\
         <th class=\"number\">steps</th><th class=\"number\">messages</th><th class=\"number\">virtual</th>\
         <th class=\"number\">time</th><th>result</th></tr>\n",
    );
    for (index, scenario) in record.scenarios.iter().enumerate() {
        let class = if scenario.code == 0 { "good" } else { "bad" };
        let _ = writeln!(
            body,
            "<tr><td><a href=\"#scenario-{index}\">{}</a></td><td>{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{} s</td>\
             <td class=\"number\">{}</td><td class=\"{class}\">{}</td></tr>",
            escaped(&scenario.name),
            escaped(&scenario.seeds),
            number::grouped(scenario.runs),
            number::grouped(scenario.steps),
            number::grouped(scenario.messages),
            number::grouped(scenario.virtual_seconds),
            number::elapsed(scenario.seconds),
            escaped(&result(scenario))
        );
    }
    body.push_str("</table></div>\n");
}

fn pins(record: &CampaignRecord, body: &mut String) {
    if record.pins.is_empty() {
        return;
    }
    body.push_str("<h2>Pinned runs</h2>\n<div class=\"wide\"><table><tr><th>pin</th><th>verdict</th><th></th></tr>\n");
    for pin in &record.pins {
        let class = if pin.code == 0 { "good" } else { "bad" };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"{class}\">{}</td><td>{}</td></tr>",
            escaped(&pin.name),
            escaped(&pin.verdict),
            escaped(&pin.words)
        );
    }
    body.push_str("</table></div>\n");
}

fn scenario(index: usize, scenario: &ScenarioRecord, examples: &[Example], body: &mut String) {
    let mutants = match scenario.subject.mutants.as_slice() {
        [] => String::new(),
        mutants => format!(" with {}", mutants.join(", ")),
    };
    let _ = writeln!(
        body,
        "<h2 id=\"scenario-{index}\">{}{}</h2>\n<p>{}</p>\n<p class=\"soft\">expects: {}; digest <code>{}</code></p>",
        escaped(&scenario.name),
        escaped(&mutants),
        escaped(&scenario.story),
        escaped(&scenario.expect),
        escaped(&scenario.digest)
    );
    for remark in &scenario.remarks {
        let _ = writeln!(body, "<p class=\"bad\">{}</p>", escaped(remark));
    }
    chances(scenario, body);
    for fall in &scenario.falls {
        let expected = if fall.expected { " as expected" } else { "" };
        let _ = writeln!(
            body,
            "<h3>{} fell{expected} in {}</h3>",
            escaped(&fall.property),
            number::counted(fall.count, "run")
        );
        groups(&fall.groups, body);
        let example = examples.iter().find(|other| other.scenario == scenario.name && other.property == fall.property);
        let title = format!("{}, seed {}", scenario.name, fall.first.seed.as_deref().unwrap_or("none"));
        let nothing = Example::default();
        let example = example.unwrap_or(&nothing);
        let picture = Picture { title: &title, names: &example.names, steps: &example.steps, culprits: &example.chain };
        let mut failure = fall.first.clone();
        if !example.shrunk.is_empty() {
            failure.shrunk = format!("shown below: {}", example.shrunk);
        }
        let shown = Shown {
            failure: Some(&failure),
            picture: picture.tail(STEP_COUNT_MAX),
            notes: &example.notes,
            is_alone: false,
        };
        body.push_str(&part(&shown));
    }
    figures(scenario, body);
}

fn groups(groups: &[FailureGroup], body: &mut String) {
    if groups.is_empty() {
        return;
    }
    body.push_str(
        "<div class=\"wide\"><table><tr><th>kind of failure</th><th class=\"number\">runs</th>\
         <th class=\"number\">first seed</th><th class=\"number\">smallest seed</th><th class=\"number\">steps</th></tr>\n",
    );
    for group in groups {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td></tr>",
            escaped(&group.signature.to_string()),
            number::grouped(group.count),
            escaped(&group.first),
            escaped(&group.smallest),
            number::grouped(group.steps)
        );
    }
    body.push_str("</table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{Failure, Fall, Header, PinRecord};

    #[test]
    fn falls_are_shown_with_their_groups_and_runs() {
        let fall = Fall {
            property: "single-copy".into(),
            count: 3,
            expected: false,
            first: Failure { property: "single-copy".into(), seed: Some("7".into()), ..Failure::default() },
            groups: Vec::new(),
        };
        let scenario = ScenarioRecord {
            name: "leasing/race".into(),
            runs: 10,
            falls: vec![fall],
            code: 10,
            reached: [("renewed".to_owned(), 9)].into(),
            ..ScenarioRecord::default()
        };
        let record = CampaignRecord {
            header: Header::new("campaign", "unknown"),
            pins: Vec::new(),
            scenarios: vec![scenario],
            code: 10,
        };
        let (names, steps) = crate::spacetime::tests::run();
        let example = Example {
            scenario: "leasing/race".into(),
            property: "single-copy".into(),
            names,
            steps,
            ..Example::default()
        };
        let text = html(&record, &[example]);
        assert!(text.contains("single-copy fell in 3 runs") && text.contains("1 not as expected"));
        assert!(text.contains("class=\"spacetime\"") && text.contains("renewed"));
        assert!(!html(&record, &[]).contains("class=\"spacetime\""), "nothing is drawn of a run that is not known");
    }

    #[test]
    fn a_pin_that_drifted_is_in_the_title() {
        let pin = PinRecord { name: "leasing/crisscross".into(), code: 18, ..PinRecord::default() };
        let record = CampaignRecord {
            header: Header::new("campaign", "unknown"),
            pins: vec![pin],
            scenarios: vec![ScenarioRecord::default()],
            code: 18,
        };
        let title = "<h1 class=\"bad\">Campaign: each as expected, but 1 pinned run not as before (exit 18)</h1>";
        assert!(html(&record, &[]).contains(title));
    }
}
