//! Names of queues, as workers discover them (§3.6, §4): "queues representing a particular stage are named in a predictable way".

use regex::Regex;

use super::TaskMaster;
use super::message::{Listing, Request};
use super::task::Queue;
use super::update::names;

impl TaskMaster {
    /// "The queue name is a pair of (consistency group, name)" (§2), written as in Program 1.
    pub fn name_of(&self, queue: Queue) -> String {
        format!("{}#{}", self.group_of(queue), queue.0)
    }

    /// The consistency group of a queue.
    pub fn group_of(&self, queue: Queue) -> u16 {
        queue.0 % self.params.groups
    }

    /// "Updates are not allowed to cross consistency group boundaries" (§5.7); nor are leases, which are atomic as they are (§3.4).
    pub(super) fn crosses_groups(&self, request: &Request) -> bool {
        let queues: Vec<Queue> = match request {
            Request::Update(update) => names(update).map(|(queue, _)| queue).collect(),
            Request::Lease { queues, .. } => queues.iter().copied().collect(),
            _ => Vec::new(),
        };
        queues.windows(2).any(|two| self.group_of(two[0]) != self.group_of(two[1]))
    }

    /// Of these queues and their sizes, those that are asked for.
    pub(super) fn listed(&self, listing: &Listing, sizes: impl Iterator<Item = (Queue, i64)>) -> Vec<Queue> {
        // One that cannot be read fits nothing.
        let pattern = listing.pattern.as_deref().map(pattern);
        let fits = |queue: Queue| match &pattern {
            None => true,
            Some(pattern) => pattern.as_ref().is_ok_and(|pattern| pattern.is_match(&self.name_of(queue))),
        };
        let least = i64::from(listing.least.max(1));
        let most = if listing.most == 0 { usize::MAX } else { listing.most as usize };
        sizes.filter(|(queue, size)| *size >= least && fits(*queue)).map(|(queue, _)| queue).take(most).collect()
    }
}

/// Fits the whole name.
///
/// # Errors
/// What is no regular expression.
pub fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(&format!("^(?:{text})$")).map_err(|_| format!("`{text}` is no regular expression"))
}
