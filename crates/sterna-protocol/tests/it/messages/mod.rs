//! Messages against the official examples and schemas, and against a corpus
//! of our own.

mod catalog;
mod content;
mod conversations;
mod corpus;
mod examples;
mod forms;
mod instances;
mod judgement;
mod mutations;
mod rounds;
mod schema;
mod spec;
