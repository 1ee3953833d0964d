//! State that a client carries but cannot read, forge, move or
//! prolong.
//!
//! A server that forgets everything between two requests of one flow gives its
//! memory to the client, as a token. This crate makes that token: encrypted,
//! tied to the caller and the request it was made for, valid for a limited
//! time, sealed with a key that a fleet can rotate without losing one. It does
//! not know the meaning of the payload, reads no clock and takes random bytes
//! only from the source it is given.
//!
//! ```
//! use sterna_seal::{
//!     Binding, SealRequest, Flow, Keyring, OpenError, Principal, Realm, Target, ThreadEntropy, UnixMillis,
//!     mint_flow_id,
//! };
//!
//! // Once, when the server starts.
//! let ring = Keyring::generate(&mut ThreadEntropy)?;
//! let realm = Realm::new("https://tools.example", None);
//! let deploy = Target::new("tools/call", "deploy");
//!
//! // A request arrives, and the tool has a question: the state goes out.
//! let now = UnixMillis::new(1_785_196_800_000);
//! let alice = Principal::named("https://login.example", "alice");
//! let binding = Binding::new(&realm, &alice, &deploy, Some(r#"{"service":"billing"}"#))?;
//! let flow = Flow::begin(mint_flow_id(&binding, now, &mut ThreadEntropy)?, now);
//! let draft = SealRequest::new(flow, b"what the tool knows so far");
//! let token = ring.seal(&draft, &binding, now, &mut ThreadEntropy)?.token;
//!
//! // The client comes back, here or on another replica: the state comes in.
//! let claims = ring.open(&token, &binding, now)?;
//! assert_eq!(claims.content.inline(), Some(&b"what the tool knows so far"[..]));
//! assert_eq!(claims.flow.next_round().round, 2);
//!
//! // Mallory has found the token in a log.
//! let mallory = Principal::named("https://login.example", "mallory");
//! let stolen = Binding::new(&realm, &mallory, &deploy, Some(r#"{"service":"billing"}"#))?;
//! let refused = ring.open(&token, &stolen, now).unwrap_err();
//! assert_eq!(refused, OpenError::OtherPrincipal); // for the log
//! assert_eq!(OpenError::WIRE_MESSAGE, "Invalid or expired requestState"); // for Mallory
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Keyring`] holds the keys; [`SharedKeyring`] lets them be reloaded.
//! - [`Binding`] says what a token is tied to.
//! - [`Keyring::seal`] and [`Keyring::open`] are the two verbs;
//!   [`Keyring::seal_or_spill`] is for state too large to be carried.
//!
//! The attack that each check stops, the bytes of a token and key rotation are
//! described in `docs/request-state.md`.

mod entropy;
mod key;
mod key_text;
mod keyring;
mod secret;
mod shared;
mod source;

mod binding;
mod canonical;

mod budget;
mod flow;
mod inspect;
mod open;
mod open_error;
mod seal;
mod spill;

mod cipher;
mod hedge;
mod keyed;
mod subkeys;
mod v1;

pub use binding::{Binding, Realm, Target, TargetDigest};
pub use budget::{Budget, OverBudget, Part};
pub use canonical::CanonicalError;
pub use entropy::{Entropy, EntropyError, OsEntropy, ThreadEntropy};
pub use flow::{Flow, mint_flow_id, mint_flow_id_for};
pub use inspect::Inspection;
pub use key::{Key, KeyId};
pub use key_text::{KeyTextError, KeyTextFault};
pub use keyring::{Keyring, KeyringError, RotateError};
pub use open::{Claims, Content};
pub use open_error::OpenError;
pub use seal::{Lifetimes, SealError, SealRequest, Sealed};
pub use secret::{SecretError, SecretKey, SecretText};
pub use shared::{Reloaded, SharedKeyring};
pub use source::{KeyFile, KeySource, KeySourceError, KeyVariable, ReloadError};
pub use spill::{BlobError, BlobFuture, LoadError, Payload, Spill, Spilled};
pub use sterna_types::{BlobId, FlowId, ParseTimeError, Principal, UnixMillis};
