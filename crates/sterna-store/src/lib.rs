//! Storage of durable work: tasks that outlive a request, a ledger that keeps
//! effects from running twice, and blobs.
//!
//! A [`Store`] is the sum of three small traits, each usable alone: [`Tasks`],
//! [`Ledger`] and [`Blobs`]. It carries bytes and knows nothing of MCP, SQL or
//! HTTP. [`MemoryStore`] is one, for tests and for a single process; SQLite and
//! PostgreSQL have crates of their own. [`Shards`] are several stores that behave
//! as one. A [`Survey`] shows a store to its
//! operator. The rules for another implementation are
//! in [`machine`], and its tests are in `contract`, with the feature of that
//! name.
//!
//! # How a task is worked on
//!
//! Any number of workers claim tasks. A claim is a [`Lease`]: it ends by itself,
//! and then another worker may take the task over. The claim's number is a
//! [`Fence`], and the store refuses every write under an older one, so a worker
//! that was stopped for longer than its lease can do no harm when it wakes.
//!
//! The progress of a flow is a journal of [`Entry`]s. A worker commits an entry
//! before it acts upon it; one that takes over begins with the same journal.
//! Questions to the client are asked with [`Tasks::append`] or together with
//! [`Tasks::passivate`], which gives the task back unless an answer came in the
//! meantime. A task that rests costs no memory anywhere.
//!
//! # Example
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use sterna_store::{
//!     Answer, Claim, Commit, Entry, FlowId, MemoryLimits, MemoryStore, Name, NewTask, Outcome,
//!     Owner, Question, Passivation, Status, TaskId, Tasks, UnixMillis,
//! };
//!
//! let store = MemoryStore::with_clock(MemoryLimits::default(), || UnixMillis::new(0));
//!
//! // A client calls a tool. In earnest both ids are random.
//! let (id, alice) = (TaskId::from_bytes([7; 16]), Owner::from_digest([1; 32]));
//! let flow = FlowId::from_bytes([9; 16]);
//! store.create(NewTask::new(id, alice, flow, Name::new("deploy")?, "{}".into())).await?;
//!
//! // A worker takes the task, runs a step, asks, and forgets about it.
//! let wish = Claim::new(Name::new("worker-1")?, Duration::from_secs(30));
//! let claimed = store.claim(wish.clone()).await?.remove(0);
//! let commit = Commit::of([Entry::new(Name::new("plan")?, "3 hosts".into())])
//!     .asking([Question::new(Name::new("approval")?, [0; 16], "Deploy to 3 hosts?".into())]);
//! store.passivate(claimed.lease, commit, Passivation::ForAnswers).await?;
//!
//! // The client looks and answers.
//! let task = store.read(alice, id).await?.ok_or("no such task")?;
//! assert_eq!(task.summary.status, Status::InputRequired);
//! let answers = vec![Answer::new(task.questions[0].key.clone(), "yes".into())];
//! store.answer(alice, id, answers).await?;
//!
//! // Any worker, on any machine, goes on where the first one stopped.
//! let claimed = store.claim(wish).await?.remove(0);
//! assert_eq!(claimed.journal[0].value, "3 hosts");
//! assert_eq!(claimed.answers[0].response, "yes");
//! let status = store.finish(claimed.lease, Outcome::Completed("done".into())).await?;
//! assert_eq!(status, Status::Completed);
//! # Ok(())
//! # }
//! ```

mod backoff;
mod error;
mod id;
mod intercept;
mod lease;
mod ledger;
mod list;
mod mailbox;
mod memory;
mod question;
mod shards;
mod status;
mod store;
mod store_usage;
mod survey;
mod task;
mod tasks;
mod text;
mod wakeups;

#[cfg(any(test, feature = "contract"))]
pub mod contract;
pub mod machine;

pub use backoff::Backoff;
pub use error::{BoxFuture, Error, ErrorKind};
pub use id::{Claimant, Owner, ParseIdError, TaskId};
pub use intercept::Intercept;
pub use lease::{
    Claim, Claimed, Commit, Fence, Lease, Passivated, Passivation, Targets, TaskUpdate,
};
pub use ledger::{Effect, EffectClaim, Ledger, OnceClaim, Round, RoundClaim, RoundEntry};
pub use list::{Cursor, Listing, Page};
pub use mailbox::Mailbox;
pub use memory::{MemoryLimits, MemoryStore};
pub use question::{Answer, Answered, Asked, Phase, Question};
pub use shards::{Rings, Shard, Shards, ShardsSurvey};
pub use status::{Event, Status};
pub use sterna_types::{BlobId, FlowId, UnixMillis};
pub use store::{Blobs, Store};
pub use store_usage::{KeptRows, StoreUsage};
pub use survey::{
    EffectQuery, EffectSurvey, EntrySize, StoredValue, Survey, SurveyedEffect, SurveyedQuestion,
    SurveyedTask, TaskDetails, TaskQuery, TaskSurvey,
};
pub use task::{Entry, NewTask, Outcome, Summary, Task};
pub use tasks::{Sweep, Swept, Tasks};
pub use text::{Name, NameError, Note};
pub use wakeups::{Wakeup, WakeupSender, Wakeups};
