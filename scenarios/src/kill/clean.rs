//! That nothing falls where nothing is removed.

use std::ops::ControlFlow;

use seedbed_model::record::CleanRecord;

use super::Trial;
use crate::campaign::Paste;
use crate::console::Console;
use crate::exit::BadInput;

/// Runs `count` seeds of the whole protocol, shared evenly among its quick scenarios.
///
/// # Errors
/// What the protocol refuses.
pub(crate) fn clean(
    trial: &Trial<'_>,
    count: u64,
    paste: &Paste,
    console: &Console<'_>,
) -> Result<CleanRecord, BadInput> {
    let among = trial.scenarios.len() as u64;
    let mut record = CleanRecord { protocol: trial.face.name().to_owned(), scenarios: among, ..CleanRecord::default() };
    for (index, scenario) in trial.scenarios.iter().enumerate() {
        let edge = |index: u64| (u128::from(count) * u128::from(index) / u128::from(among)) as u64;
        let share = edge(index as u64 + 1) - edge(index as u64);
        let meter = console.meter(&scenario.name, Some(share));
        let from = trial.seeds.from;
        let mut done = 0;
        let swept = trial.face.sweep(&scenario.setup, &scenario.settings, from..from + share, trial.jobs, &mut |run| {
            done += 1;
            meter.at(done);
            if !run.violations.is_empty() {
                record.false_alarms += 1;
                record.paste.get_or_insert_with(|| paste.replay(&scenario.name, run.seed));
            }
            ControlFlow::Continue(())
        });
        swept.map_err(|why| BadInput::file(&scenario.name, why))?;
        record.runs += done;
    }
    Ok(record)
}
