#![cfg(test)]
//! The store on a real PostgreSQL.

mod contract;
mod damage;
mod failures;
mod group;
mod hints;
mod pooler;
mod restart;
mod schema;
mod server;
