//! Reading of request state that one of our own servers sealed: the checks that
//! a server makes, and the state inside.
//!
//! # Examples
//!
//! ```
//! use sterna_inspect::token::{Circumstances, checks};
//! use sterna_seal::{
//!     Binding, Flow, Keyring, Principal, Realm, SealRequest, Target, ThreadEntropy, UnixMillis, mint_flow_id,
//! };
//!
//! let ring = Keyring::generate(&mut ThreadEntropy)?;
//! let realm = Realm::new("desk", None);
//! let now = UnixMillis::new(1_785_196_800_000);
//! let deploy = Target::new("tools/call", "deploy");
//! let binding = Binding::new(&realm, &Principal::anonymous(), &deploy, Some("{}"))?;
//! let flow = Flow::begin(mint_flow_id(&binding, now, &mut ThreadEntropy)?, now);
//! let token = ring.seal(&SealRequest::new(flow, b"state"), &binding, now, &mut ThreadEntropy)?.token;
//!
//! let seen = ring.inspect(&token, &realm)?;
//! let mut other_tool = Circumstances::at(now);
//! other_tool.target = Some(Target::new("tools/call", "destroy"));
//! let made = checks(&seen, &realm, &other_tool)?;
//! assert_eq!(made[0].refusal.as_ref().unwrap().label, "other_target");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checks;
mod state;

pub use checks::{CheckError, Circumstance, Circumstances, Refusal, TokenCheck, checks};
pub use state::{asked, entry_kind, entry_value, hex, trace};
