//! Which faults are drawn for a seed, how often and how bad.

use seedbed_model::{Ratio, Span};
use serde::{Deserialize, Serialize};

/// A plan of more faults of one kind than this is no plan: it would only fill the memory.
const FAULT_COUNT_MAX: u32 = 100_000;

/// Which faults are drawn. Counts are maxima: a seed has fewer, or none of a kind. What is not named does not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FaultMix {
    /// Whether each seed enables a random subset of the kinds (crashes, torn records, empty disks, corruptions,
    /// pauses, partitions, flaps, slow links, losses, copies, slow disks, full disks, jumps), each with a chance of
    /// three in four. Otherwise every seed has each kind, as often as it may.
    pub swarm: bool,
    /// At most so many crashes.
    pub crashes: u32,
    /// A crashed node restarts after at least this. At most `restart-max`.
    pub restart_min: Span,
    /// A crashed node restarts after at most this, and by the end of the active phase.
    pub restart_max: Span,
    /// Which part of the crashes is for ever.
    pub never_restart: Ratio,
    /// Which part of the crashes may tear the last record that they keep of a stream.
    pub torn: Ratio,
    /// Says that synced records may be lost, which is what protocols rely on: without it neither empty disks nor
    /// corruptions are accepted.
    pub breaks_durability: bool,
    /// At most so many crashes after which the node finds an empty disk.
    pub empty_disks: u32,
    /// At most so many crashes after which the node finds one of its durable records corrupt.
    pub corruptions: u32,
    /// At most so many pauses.
    pub pauses: u32,
    /// A pause lasts at least this. At most `pause-max`.
    pub pause_min: Span,
    /// A pause lasts at most this, and no longer than the active phase.
    pub pause_max: Span,
    /// At most so many partitions.
    pub partitions: u32,
    /// A partition lasts at least this. At most `partition-max`.
    pub partition_min: Span,
    /// A partition lasts at most this, and no longer than the active phase.
    pub partition_max: Span,
    /// Which part of the partitions, flaps and slow links has one direction alone.
    pub one_way: Ratio,
    /// At most so many times links go off and on for a while.
    pub flaps: u32,
    /// They are off, and then on, for at most this; at least a tenth of it.
    pub flap_max: Span,
    /// At most so many times links are slow for a while.
    pub slow_links: u32,
    /// A slow link's delays are so many times as long. At least 1.
    pub slow_link_factor: Ratio,
    /// And at most so much longer.
    pub slow_link_added: Span,
    /// At most so many times a disk is slow for a while.
    pub slow_disks: u32,
    /// A slow disk's records take so many times as long. At least 1.
    pub slow_disk_factor: Ratio,
    /// And at most so much longer.
    pub slow_disk_added: Span,
    /// At most so many times a disk is full for a while.
    pub full_disks: u32,
    /// Flaps, slow links, slow disks and full disks last at least this. At most `spell-max`.
    pub spell_min: Span,
    /// They last at most this, and no longer than the active phase.
    pub spell_max: Span,
    /// At most so many jumps of clocks.
    pub jumps: u32,
    /// A clock jumps by at most this, either way. Stamps stay within what is assumed of them, unless the settings of
    /// clocks have `jump-beyond`.
    pub jump_max: Span,
    /// The nodes that all of this happens to: names, or beginnings of names followed by `*`. Empty: all.
    pub nodes: Vec<String>,
}

impl Default for FaultMix {
    fn default() -> Self {
        FaultMix {
            swarm: true,
            crashes: 0,
            restart_min: Span::secs(1),
            restart_max: Span::secs(30),
            never_restart: Ratio::ZERO,
            torn: Ratio::ZERO,
            breaks_durability: false,
            empty_disks: 0,
            corruptions: 0,
            pauses: 0,
            pause_min: Span::secs(1),
            pause_max: Span::secs(30),
            partitions: 0,
            partition_min: Span::secs(1),
            partition_max: Span::secs(60),
            one_way: Ratio { num: 1, den: 3 },
            flaps: 0,
            flap_max: Span::secs(2),
            slow_links: 0,
            slow_link_factor: Ratio { num: 10, den: 1 },
            slow_link_added: Span::ZERO,
            slow_disks: 0,
            slow_disk_factor: Ratio { num: 10, den: 1 },
            slow_disk_added: Span::ZERO,
            full_disks: 0,
            spell_min: Span::secs(1),
            spell_max: Span::secs(30),
            jumps: 0,
            jump_max: Span::secs(1),
            nodes: Vec::new(),
        }
    }
}

impl FaultMix {
    /// See [`crate::Settings::check`].
    pub(crate) fn check(&self) -> Result<(), String> {
        let counts = [
            ("crashes", self.crashes),
            ("empty-disks", self.empty_disks),
            ("corruptions", self.corruptions),
            ("pauses", self.pauses),
            ("partitions", self.partitions),
            ("flaps", self.flaps),
            ("slow-links", self.slow_links),
            ("slow-disks", self.slow_disks),
            ("full-disks", self.full_disks),
            ("jumps", self.jumps),
        ];
        if let Some((name, count)) = counts.into_iter().find(|(_, count)| *count > FAULT_COUNT_MAX) {
            return Err(format!("faults {name}: {count} are too many; write at most {FAULT_COUNT_MAX}"));
        }
        for (name, count) in [("empty-disks", self.empty_disks), ("corruptions", self.corruptions)] {
            if count > 0 && !self.breaks_durability {
                return Err(format!(
                    "faults {name}: synced records are lost, which breaks an assumption; say breaks-durability = true"
                ));
            }
        }
        if self.flaps > 0 && self.flap_max == Span::ZERO {
            return Err("faults flap-max: links cannot go off and on in no time; write more than 0s".into());
        }
        for (name, factor) in [("slow-link-factor", self.slow_link_factor), ("slow-disk-factor", self.slow_disk_factor)]
        {
            if factor.num < factor.den {
                return Err(format!("faults {name}: {factor} is below 1, which is no slowness; write 1 or more"));
            }
        }
        Ok(())
    }
}
