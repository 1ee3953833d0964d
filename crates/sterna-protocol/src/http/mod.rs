//! What Streamable HTTP repeats of a request's body in its headers.
//!
//! A client writes the headers with [`RequestHeaders::write`] and
//! [`ParamHeaders::write`]; a server checks them against the body with the
//! `check` of the same types before it believes either. The rules begin with
//! revision 2026-07-28.

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
