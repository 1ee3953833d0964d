//! Rows and what happens to them. Everything here runs inside a transaction
//! of the thread that owns the connection.

mod codec;
mod head;

pub(crate) mod blob;
pub(crate) mod claim;
pub(crate) mod commit;
pub(crate) mod create;
pub(crate) mod damage;
pub(crate) mod effect;
pub(crate) mod end;
pub(crate) mod inbox;
pub(crate) mod read;
pub(crate) mod round;
pub(crate) mod survey;
pub(crate) mod usage;
