#![cfg(test)]
//! The store on a real PostgreSQL.

mod contract;
mod damage;
mod dead_shard;
mod failures;
mod group;
mod hints;
mod pooler;
mod restart;
mod schema;
mod server;
