//! The same models, written against stateright's traits, on its checkers and on our explorer.

mod common;
mod rules;
mod sizes;
mod symmetry;
