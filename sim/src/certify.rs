//! Whether the explorer takes the path of a run, and if not, why.

use seedbed_model::Span;

use crate::faults::{Fault, Plan};
use crate::settings::Settings;

/// What a run with these settings and this plan has that the explorer abstracts, each in words. Empty: the run is
/// certifiable, which means that the explorer accepts its script wherever its bounds allow as many faults and delays as
/// long ([`seedbed_model::explore::accepts`]).
pub fn uncertifiable(settings: &Settings, plan: &Plan) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    let mut note = |holds: bool, why| {
        if holds {
            reasons.push(why);
        }
    };
    note(!settings.tick_mode, "time passes by nanoseconds, not by whole ticks (tick-mode is off)");
    note(settings.network.bandwidth.is_some(), "links have a bandwidth: the explorer's messages have no size");
    note(settings.costs.step > Span::ZERO, "steps take time");
    note(settings.costs.uplink.is_some(), "uplinks have a bandwidth: the explorer's messages have no size");
    note(settings.costs.disk.is_some(), "disks have a speed: the explorer's records have no size");
    note(
        settings.costs.flush > Span::ZERO,
        "disks force one flush after the other: the explorer's records wait for none",
    );
    let has = |wanted: fn(&Fault) -> bool| plan.faults.iter().any(|timed| wanted(&timed.fault));
    note(has(|fault| matches!(fault, Fault::Jump { .. })), "clocks jump: the explorer's have fixed offsets");
    note(
        has(|fault| matches!(fault, Fault::EmptyDisk { .. })),
        "a disk is emptied: the explorer's disks keep their records",
    );
    note(
        has(|fault| matches!(fault, Fault::Corruption { .. })),
        "a record is corrupted: the explorer's disks keep their records",
    );
    reasons
}
