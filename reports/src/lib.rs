//! From recorded results to a page.
//!
//! Everything here takes [`seedbed_model::record`] types, or text, and returns a string. Nothing here runs a protocol,
//! opens a file or prints.
//!
//! - [`table`]: columns of text, aligned.
//! - [`trace`]: the steps of a run, one event a line.
//! - [`failure`]: the block that a failure prints, ending in what to paste and where it came from.
//! - [`campaign`], [`check`], [`kills`]: what `run`, `check` and `mutants` say at their end.
//! - [`experiment`], [`plot`]: what was measured beside what a paper measured.
//! - [`statistics`]: what a campaign says of the seeds that it did not run, and what it exercised.
//! - [`plan`], [`manifest`]: a campaign cut into shards, for a person and for an engine that runs them.
//! - [`history`]: judged client histories, in words and as pictures.
//! - [`spacetime`]: a run as a picture, or as what other tools read; [`page`]: pages that need nothing else.
//! - [`github`]: a campaign as annotations and as the summary of a step.
//! - [`json`]: result files.
//! - [`junit`]: what continuous integration reads.

pub mod campaign;
pub mod check;
pub mod experiment;
pub mod failure;
pub mod github;
pub mod history;
pub mod json;
pub mod junit;
pub mod kills;
pub mod manifest;
pub mod number;
pub mod page;
pub mod plan;
pub mod plot;
pub mod shrunk;
pub mod spacetime;
pub mod statistics;
pub mod svg;
pub mod table;
pub mod trace;
