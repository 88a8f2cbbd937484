//! Result files as JSON.

use serde::Serialize;

/// The record, indented, with a line end. Keys come in the order of the type's fields.
///
/// # Panics
/// Never for the types of [`seedbed_model::record`]: their keys are strings and their numbers finite.
pub fn text<T: Serialize>(record: &T) -> String {
    let mut text = serde_json::to_string_pretty(record).expect("records have string keys and finite numbers");
    text.push('\n');
    text
}
