//! What each mechanism is there for.

use seedbed_model::{Mutant, Outcome};

/// A transaction says "one more" instead of which version.
pub const RELATIVE_SET: &str = "relative-set";
/// The processor looks at the tree as it is.
pub const PRESENT_STATE: &str = "present-state";
/// Sequence numbers are how many children there are.
pub const SEQUENCE_FROM_CHILDREN: &str = "sequence-from-children";
/// A create is prepared in a session whose end is outstanding.
pub const ZK_1208_CREATE_AFTER_CLOSE: &str = "zk-1208-create-after-close";
/// A refused multi takes with it what was outstanding of its nodes.
pub const ZK_1624_LOST_ROLLBACK: &str = "zk-1624-lost-rollback";
/// A replayed delete of what is gone says nothing to its parent.
pub const ZK_3125_STALE_PZXID: &str = "zk-3125-stale-pzxid";
/// The end of a session deletes what the replica knows of, not what the leader did.
pub const ZK_3145_SESSION_WITHOUT_PATHS: &str = "zk-3145-session-without-paths";
/// A replayed create sets its parent's counts back.
pub const ZK_3249_REVERTED_COUNTS: &str = "zk-3249-reverted-counts";

/// See the module.
pub const MUTANTS: &[Mutant] = &[
    Mutant { name: RELATIVE_SET, removes: "", outcome: Outcome::Falls("") },
    Mutant { name: PRESENT_STATE, removes: "", outcome: Outcome::Falls("") },
    Mutant { name: SEQUENCE_FROM_CHILDREN, removes: "", outcome: Outcome::Falls("") },
    Mutant { name: ZK_1208_CREATE_AFTER_CLOSE, removes: "", outcome: Outcome::Falls("") },
    Mutant { name: ZK_1624_LOST_ROLLBACK, removes: "", outcome: Outcome::Falls("") },
    Mutant { name: ZK_3125_STALE_PZXID, removes: "", outcome: Outcome::Falls("") },
    Mutant { name: ZK_3145_SESSION_WITHOUT_PATHS, removes: "", outcome: Outcome::Falls("") },
    Mutant { name: ZK_3249_REVERTED_COUNTS, removes: "", outcome: Outcome::Harmless("") },
];
