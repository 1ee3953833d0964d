//! Runs a flow to its outcome.
//!
//! A flow asks its client in one of three ways: the request ends with the
//! questions and a retry brings the answers, the client is asked while the
//! request is open, or a task waits for the answers in a store. [`run`] is the
//! one function that polls a [`Driver`](sterna_flow::Driver) for all three. It
//! checks every question before it is sent, ends a run whose handler was
//! misused, sets the timers of a flow and hands flows over. A [`Delivery`] is
//! the part that differs: how a question is sent and how an answer comes back.
//!
//! A handler that returns its questions is no flow. [`run_low_level`] runs one
//! turn of it, and [`ask_all`] sends its questions through the same [`Gate`].
//!
//! [`tasks`] are the workers of flows whose journal is in a store, [`effects`]
//! the effects and large results of any flow in a store.
//!
//! [`state`] is the sealed state between two rounds, a [`RoundLease`] the right to
//! answer one. A [`KeyReloader`] reads the keys again that seal it.
//!
//! The crate knows neither MCP nor HTTP.

mod delivery;
pub mod effects;
mod key_reload;
mod round_ledger;
mod run;
pub mod state;
pub mod tasks;

pub use delivery::{Admit, Delivery, Flow, Gate, HandlerErrors, Next};
pub use key_reload::KeyReloader;
pub use round_ledger::{EnteredRound, RoundError, RoundLease};
pub use run::{Running, ask_all, run, run_low_level};
