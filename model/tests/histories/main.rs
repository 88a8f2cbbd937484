//! The judge against a checker that tries every order, on random small histories of every shipped specification.

mod brute;
mod closure;
mod differential;
mod draw;
mod live;
mod pieces;
