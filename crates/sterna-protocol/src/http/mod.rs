//! Streamable HTTP: request headers that repeat parts of the body.
//!
//! A client writes the headers with [`RequestHeaders::write`] and
//! [`ParamHeaders::write`]. A server compares them with the body, with `check`
//! of the same types, before it uses either. The rules begin with revision
//! 2026-07-28.

mod field;
mod mismatch;
mod params;
mod standard;
mod value;

pub use mismatch::{HeaderMismatch, Unmirrorable};
pub use params::{AnnotationError, ParamHeaders};
pub use standard::{
    MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, RequestHeaders, mirrored_name, name_member,
};
pub use value::{MalformedValue, decode_value, encode_value};
