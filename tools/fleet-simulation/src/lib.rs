//! A fleet of real servers on a simulated network, and what must be true of it.
//!
//! A seed decides everything: how many instances there are, whose clock is
//! wrong and by how much, which requests and responses get lost, arrive late or
//! arrive twice, when an instance is cut off, crashes, or comes back with
//! another build of the handler, when the keys are rotated. [`simulate`] plays
//! it on one thread in simulated time and judges what the clients, the handlers
//! and the instances saw:
//!
//! - every flow whose client kept answering has ended with the right result;
//! - no request state was of use to anybody but its owner, nor after its time;
//! - nothing was paid for twice;
//! - no instance keeps anything of a flow that has ended or waits.
//!
//! ```
//! use fleet_simulation::{Fault, simulate};
//!
//! let report = simulate(7, Fault::None);
//! assert_eq!(report.violations, Vec::<String>::new());
//!
//! let caught = (0..20).any(|seed| !simulate(seed, Fault::WrongKey).violations.is_empty());
//! assert!(caught);
//! ```
//!
//! The instances are `sterna-server` behind hyper on turmoil's network. Clients
//! are small ones of our own: the HTTP transport of `sterna-client` opens real
//! sockets and cannot be put on a simulated network.

mod simulate;

mod dice;
mod fault;
mod plan;

mod clock;
mod exchange;
mod world;

mod auditor;
mod balancer;
mod client;
mod instance;
mod intruder;
mod message;
mod tool;

pub use fault::Fault;
pub use simulate::{Report, simulate};
