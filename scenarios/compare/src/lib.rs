//! Seedbed beside its peers: the same work, in one sitting.
//!
//! - [`exploring`]: exhaustive search of one model, by stateright, by our explorer on its model, and on our contract
//! - [`ours`]: models in the ordinary contract
//! - [`messages`]: a simulated closed loop
//! - [`peers`]: contenders that are programs of their own: madsim, turmoil, Spin
//! - [`meter`]: what a program takes
//! - [`contest`]: contenders in turns, and the table
//! - [`sitting`]: what is compared, with whom
//!
//! `cargo run --release` in this folder measures all of it and prints the ratios.

pub mod contest;
pub mod exploring;
pub mod messages;
pub mod meter;
pub mod ours;
pub mod peers;
pub mod sitting;
