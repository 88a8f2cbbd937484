//! The block that a failure prints: the property and the culprits, where, how far shrunk, why, what to paste, whence.

use seedbed_model::record::Failure;

use crate::{number, table, trace};

const WIDTH: usize = 110;

/// The block. Its order is part of the product: readers and scripts look for `replay:` at its place.
pub fn block(failure: &Failure) -> String {
    let mut text = format!("{} fell: {}\n", failure.property, failure.words);
    text.push_str(&table::wrapped(&failure.detail, 4, WIDTH));
    text.push_str(&format!("  at:       {}\n", place(failure)));
    text.push_str(&format!("  shrunk:   {}\n", failure.shrunk));
    if !failure.why.is_empty() {
        text.push_str("  why:      the last steps before it\n");
        text.push_str(&trace::excerpt(&failure.why));
    }
    text.push_str(&format!("  replay:   {}\n", failure.paste));
    if !failure.shrink.is_empty() {
        text.push_str(&format!("  shrink:   {}\n", failure.shrink));
    }
    text.push_str(&format!("  revision: {}\n", failure.revision));
    text.push_str(&format!("  digest:   {}\n", failure.digest));
    text
}

fn place(failure: &Failure) -> String {
    let seed = failure.seed.as_ref().map(|seed| format!(", seed {seed}")).unwrap_or_default();
    let decimals = number::decimals([failure.at_ns]);
    format!("{}{seed}, step {}, {}", failure.place, failure.step, number::seconds(failure.at_ns, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_keeps_its_order() {
        let failure = Failure {
            property: "single-copy".into(),
            words: "no two Owners hold a range at one instant".into(),
            detail: "owner-1 and owner-2 hold range 0".into(),
            place: "leasing/race".into(),
            seed: Some("7".into()),
            step: 12,
            at_ns: 3_000_000_000,
            shrunk: "not shrunk".into(),
            why: Vec::new(),
            paste: "seedbed replay leasing/race --seed 7".into(),
            shrink: "seedbed shrink leasing/race --seed 7".into(),
            revision: "unknown".into(),
            digest: "00000000000000ff".into(),
        };
        let expected = "single-copy fell: no two Owners hold a range at one instant
    owner-1 and owner-2 hold range 0
  at:       leasing/race, seed 7, step 12, 3s
  shrunk:   not shrunk
  replay:   seedbed replay leasing/race --seed 7
  shrink:   seedbed shrink leasing/race --seed 7
  revision: unknown
  digest:   00000000000000ff
";
        assert_eq!(block(&failure), expected);
    }
}
