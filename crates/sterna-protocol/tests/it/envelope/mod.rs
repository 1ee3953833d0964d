//! Reading and writing JSON-RPC messages.

mod agreement;
mod calls;
mod reading;
mod reference;
mod writing;
