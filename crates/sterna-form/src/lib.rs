//! A Rust type as a form that a person fills in.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use sterna_form::Form;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Approval {
//!     /// Why is it safe?
//!     reason: String,
//! }
//!
//! let form = Form::of::<Approval>()?;
//! assert!(form.schema("approval").requires("reason"));
//! # Ok::<(), sterna_form::NotAForm>(())
//! ```
//!
//! A form is flat: each of its fields is a text, a number, a truth value or a
//! choice. A type that no form can show is a [`NotAForm`], which names the
//! field and says what to do instead.
//!
//! [`TextCheck`] checks JSON text against the schema of a type without building a
//! tree of it, and names the errors of a tree.

mod form;
mod shape;

mod field;
mod text_check;

mod rules;
mod tree_check;

pub use form::{Form, NotAForm};
pub use text_check::TextCheck;
pub use tree_check::{BrokenRule, SchemaError};
