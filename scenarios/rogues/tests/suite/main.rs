//! The command, on protocols that break its rules or change under it.

mod endings;
#[path = "../../../tests/suite/folder.rs"]
mod folder;
mod histories;
mod pins;
