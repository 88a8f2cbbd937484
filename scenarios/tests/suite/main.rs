//! The command under test: its verbs, its endings, and what it says of broken input.

mod bad_input;
mod certify;
mod checkpoints;
mod claims;
mod command;
mod documents;
mod emitted;
mod experiments;
mod folder;
mod histories;
mod net;
mod orders;
mod pages;
mod promises;
mod recordings;
mod second_opinion;
mod shards;
mod shrinking;
mod slurm;
mod sockets;
