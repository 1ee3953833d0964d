//! The engine as an author sees it, in small stories.
#![cfg(test)]

mod backends;
mod combinators;
mod cost;
mod diagnostics;
mod effects;
mod examples;
mod kit;
mod live;
mod parts;
mod questions;
mod steps;
mod time;
mod upgrades;
