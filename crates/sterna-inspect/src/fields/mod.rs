//! A JSON Schema as the fields of an HTML form, and the form as JSON.

mod read;
mod schema;
mod template;

pub(crate) use read::{Errors, in_row, read, row_count};
pub(crate) use schema::{Choice, Field, Kind, fields_of, of_texts};
pub(crate) use template::{expand, variables};
