//! JSON values: raw text, objects with unknown members, exact numbers.

#[macro_use]
mod members;
#[macro_use]
mod names;
#[macro_use]
mod tagged;
mod key;
mod mismatch;
mod number;
mod object;
mod raw;
mod raw_object;

pub(crate) use key::Key;
pub(crate) use members::{Members, Slot, read_object, write_object};
pub use mismatch::mismatch;
pub use names::OtherName;
pub(crate) use names::read_name;
pub use number::{NotFinite, Number};
pub use object::JsonObject;
pub use raw::RawJson;
pub use raw_object::{NotAnObject, RawObject};
pub(crate) use tagged::{Tagged, Without, read_tagged};
