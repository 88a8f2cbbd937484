//! Flags about the order of a search.

use std::fmt::Write;

use seedbed_model::explore::{Order, Sampling, Walks};

use crate::exit::BadInput;

/// Which states come first, and what the order needs to know.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OrderFlags {
    /// Which states come first: bfs (shortest counterexamples), dfs (least memory), bit-state (dfs in given memory, misses
    /// states), walks (random), pct (random by priority)
    #[arg(long, value_name = "ORDER", value_parser = name, default_value = "bfs")]
    order: Name,
    /// The table of bit-state, in MiB (256 if not given)
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    memory: Option<u32>,
    /// How many walks (10000 if not given)
    #[arg(long, value_name = "COUNT")]
    walks: Option<u64>,
    /// Steps of each walk (1000 if not given)
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..))]
    walk_steps: Option<u32>,
    /// How many times the highest priority of a pct walk falls (3 if not given)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=1000))]
    changes: Option<u32>,
    /// What walks are drawn from (0 if not given)
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Bfs,
    Dfs,
    BitState,
    Walks,
    Pct,
}

fn name(text: &str) -> Result<Name, String> {
    match text {
        "bfs" => Ok(Name::Bfs),
        "dfs" => Ok(Name::Dfs),
        "bit-state" => Ok(Name::BitState),
        "walks" => Ok(Name::Walks),
        "pct" => Ok(Name::Pct),
        _ => Err("expected bfs, dfs, bit-state, walks or pct".into()),
    }
}

impl OrderFlags {
    /// The order asked for.
    ///
    /// # Errors
    /// If a flag is about another order.
    pub(crate) fn order(&self) -> Result<Order, BadInput> {
        let about = |given: bool, flag: &str, orders: &[Name], words: &str| match given && !orders.contains(&self.order)
        {
            true => Err(BadInput::flag(format!("--{flag}: only with --order {words}"))),
            false => Ok(()),
        };
        const WALKS: &[Name] = &[Name::Walks, Name::Pct];
        about(self.memory.is_some(), "memory", &[Name::BitState], "bit-state")?;
        about(self.walks.is_some(), "walks", WALKS, "walks or pct")?;
        about(self.walk_steps.is_some(), "walk-steps", WALKS, "walks or pct")?;
        about(self.seed.is_some(), "seed", WALKS, "walks or pct")?;
        about(self.changes.is_some(), "changes", &[Name::Pct], "pct")?;
        Ok(match self.order {
            Name::Bfs => Order::BreadthFirst,
            Name::Dfs => Order::DepthFirst,
            Name::BitState => Order::BitState { mebibytes: self.memory.unwrap_or(256) },
            Name::Walks => Order::Walks(self.sampled(Sampling::Uniform)),
            Name::Pct => Order::Walks(self.sampled(Sampling::Pct { changes: self.changes.unwrap_or(3) })),
        })
    }

    fn sampled(&self, sampling: Sampling) -> Walks {
        Walks {
            count: self.walks.unwrap_or(10_000),
            steps: self.walk_steps.unwrap_or(1_000),
            sampling,
            seed: self.seed.unwrap_or(0),
        }
    }

    /// The flags as a line to paste repeats them.
    pub(crate) fn pasted(&self) -> String {
        let mut flags = match self.order {
            Name::Bfs => String::new(),
            Name::Dfs => " --order dfs".to_owned(),
            Name::BitState => " --order bit-state".to_owned(),
            Name::Walks => " --order walks".to_owned(),
            Name::Pct => " --order pct".to_owned(),
        };
        let given = [
            ("memory", self.memory.map(u64::from)),
            ("walks", self.walks),
            ("walk-steps", self.walk_steps.map(u64::from)),
            ("changes", self.changes.map(u64::from)),
            ("seed", self.seed),
        ];
        for (flag, value) in given {
            if let Some(value) = value {
                // A string takes whatever is written to it.
                let _ = write!(flags, " --{flag} {value}");
            }
        }
        flags
    }
}
