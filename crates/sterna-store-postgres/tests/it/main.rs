#![cfg(test)]
//! The store on a real PostgreSQL.

mod contract;
mod damage;
mod dead_shard;
mod failover;
mod failures;
mod group;
mod hints;
mod pgbouncer;
mod pooler;
mod restart;
mod schema;
mod server;
