//! A campaign cut into shards: a row for each, then the lines that run them.

use seedbed_model::record::{PlanRecord, ShardPlan};

use crate::number;
use crate::table::{Side, Table};

/// The table, and the lines to paste.
pub fn text(record: &PlanRecord) -> String {
    let mut table =
        Table::new(&[("shard", Side::Right), ("scenario", Side::Left), ("seeds", Side::Left), ("runs", Side::Right)]);
    for shard in &record.shards {
        for part in &shard.scenarios {
            let runs = number::grouped(part.seeds.count());
            table.row([shard.index.to_string(), part.name.clone(), part.seeds.to_string(), runs]);
        }
    }
    let line = |shard: &ShardPlan| format!("  {}\n", shard.command);
    let lines: String = record.shards.iter().map(line).collect();
    format!("{}on each machine one of\n{lines}and where their files are\n  {}\n", table.text(), record.merge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbed_model::record::{Header, SeedSpan, ShardSeeds};

    #[test]
    fn a_plan_shows_who_runs_what_and_how() {
        let scenarios = vec![ShardSeeds { name: "a/b".into(), seeds: SeedSpan { from: 0, to: 1_500 } }];
        let shards = vec![ShardPlan { index: 1, scenarios, command: "seedbed run a/b --shard 1/1".into() }];
        let merge = "seedbed merge shard-1.json".to_owned();
        let record = PlanRecord { header: Header::new("plan", "r1"), shards, merge };
        let expected = "\
shard  scenario  seeds     runs
    1  a/b       0..1500  1,500
on each machine one of
  seedbed run a/b --shard 1/1
and where their files are
  seedbed merge shard-1.json
";
        assert_eq!(text(&record), expected);
    }
}
