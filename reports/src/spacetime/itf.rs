//! A run in the Informal Trace Format, as Apalache writes it and its viewers read it: a state after each step.

use serde_json::{Value, json};

use super::Picture;

/// The trace as JSON. Integers that JSON readers might round are written as the format says, `{"#bigint": "..."}`.
pub fn text(picture: &Picture<'_>) -> String {
    let states: Vec<Value> = picture
        .steps
        .iter()
        .enumerate()
        .map(|(row, step)| {
            json!({
                "#meta": { "index": row },
                "step": step.step,
                "at_ns": { "#bigint": step.at_ns.to_string() },
                "node": step.node.and_then(|node| picture.names.get(usize::from(node))).cloned().unwrap_or_default(),
                "kind": step.kind,
                "what": step.what,
                "effects": step.effects,
            })
        })
        .collect();
    let trace = json!({
        "#meta": { "format": "ITF", "description": picture.title },
        "vars": ["step", "at_ns", "node", "kind", "what", "effects"],
        "states": states,
    });
    format!("{trace:#}\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{picture, run};
    use super::*;

    #[test]
    fn every_state_has_every_variable() {
        let (names, steps) = run();
        let trace: Value = serde_json::from_str(&text(&picture(&names, &steps))).expect("it is JSON");
        let vars: Vec<&str> = trace["vars"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        let states = trace["states"].as_array().expect("a list");
        assert_eq!(states.len(), steps.len());
        assert!(states.iter().all(|state| vars.iter().all(|var| !state[var].is_null())));
        assert_eq!(states[1]["at_ns"]["#bigint"], "1000000");
    }
}
