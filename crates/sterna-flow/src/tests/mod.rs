//! Random programs: the specification of the engine.

mod forks;
mod harness;
mod interpret;
mod live;
mod oracle;
mod program;
mod programs;
mod rng;
mod round_trips;
mod world;

use sha2::Digest as _;

pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = sha2::Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// The flow that every program runs as.
const FLOW: [u8; 16] = [7; 16];
