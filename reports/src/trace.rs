//! The steps of a run as text: one event a line, the columns aligned, what the node did below it, indented.

use seedbed_model::TraceStep;

use crate::number;
use crate::table::{Side, Table};

/// A trace with a heading: step, time, node, what happened. `names[i]` is node `i`'s.
pub fn text(names: &[String], steps: &[TraceStep]) -> String {
    let decimals = number::decimals(steps.iter().map(|step| step.at_ns));
    let mut table =
        Table::new(&[("step", Side::Right), ("time", Side::Right), ("node", Side::Left), ("what", Side::Left)]);
    for step in steps {
        let node = step.node.and_then(|node| names.get(usize::from(node))).map_or("", String::as_str);
        table.row([
            &step.step.to_string(),
            &number::seconds(step.at_ns, decimals),
            node,
            without_name(node, &step.what),
        ]);
        for effect in &step.effects {
            table.row(["", "", "", &format!("  {effect}")]);
        }
    }
    table.text()
}

/// The node stands in its own column: its name need not open the sentence again.
fn without_name<'a>(node: &str, what: &'a str) -> &'a str {
    what.strip_prefix(node).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(what)
}

/// The steps without headings, four spaces in: why something happened.
pub fn excerpt(steps: &[TraceStep]) -> String {
    let decimals = number::decimals(steps.iter().map(|step| step.at_ns));
    let mut table = Table::bare(&[Side::Right, Side::Right, Side::Left], 4);
    for step in steps {
        table.row([step.step.to_string(), number::seconds(step.at_ns, decimals), sentence(step)]);
    }
    table.text()
}

fn sentence(step: &TraceStep) -> String {
    match step.effects.as_slice() {
        [] => step.what.clone(),
        effects => format!("{}: {}", step.what, effects.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(step: u64, at_ns: u64, node: Option<u16>, what: &str, effects: &[&str]) -> TraceStep {
        let effects = effects.iter().map(|effect| (*effect).to_owned()).collect();
        TraceStep { step, at_ns, node, kind: "deliver".into(), what: what.into(), effects, ..TraceStep::default() }
    }

    #[test]
    fn a_trace_has_one_event_a_line_with_its_effects_below() {
        let names = ["manager".to_owned(), "owner-1".to_owned()];
        let steps = [
            step(9, 1_500_000, Some(1), "owner-1 receives Grant from manager", &["sets Lease for 60s"]),
            step(10, 2_000_000_000, None, "1s pass", &[]),
        ];
        let expected = "step       time  node     what\n   \
                        9  0.001500s  owner-1  receives Grant from manager\n                            \
                        sets Lease for 60s\n  \
                        10  2.000000s           1s pass\n";
        assert_eq!(text(&names, &steps), expected);
    }

    #[test]
    fn an_excerpt_tells_each_step_in_a_sentence() {
        let steps = [step(9, 1_000_000_000, Some(1), "owner-1 crashes", &["loses its timers", "loses its state"])];
        assert_eq!(excerpt(&steps), "    9  1s  owner-1 crashes: loses its timers; loses its state\n");
    }
}
