//! More at once than there is room for.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::client::Client;
use super::{PATIENCE, runtime};
use crate::good::{Post, call, weather};
use crate::subject::Subject;

/// What became of too many calls.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Overload {
    /// Those for which there was room, and which got their result.
    pub served: usize,
    /// Those which were told to come again later.
    pub sent_away: usize,
    /// How long the slowest of them took to hear it.
    pub slowest: Duration,
}

impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            served,
            sent_away,
            slowest,
        } = self;
        write!(
            f,
            "{served} served, {sent_away} sent away within {slowest:.0?}, the next one served"
        )
    }
}

/// Sends `clients` calls at once to a server of `program` that has room for
/// `room` of them, and lets those end when all others have been sent away. Then
/// one more must be served.
///
/// # Errors
///
/// An answer that is neither a result nor a `503` that says when to come
/// again, or one that was waited for in vain.
pub fn overload(program: &Path, room: usize, clients: usize) -> Result<Overload> {
    let mut subject = Subject::start(program, &["--calls", &room.to_string()])?;
    let came_of_it = runtime()?.block_on(async {
        let crowd = timeout(PATIENCE, crowd(&mut subject, room, clients));
        crowd.await.context("somebody waits in vain")?
    })?;
    let served = came_of_it.served;
    ensure!(served == room, "{served} served where {room} have room");
    Ok(came_of_it)
}

async fn crowd(subject: &mut Subject, room: usize, clients: usize) -> Result<Overload> {
    let hold = Post::of(&call("hold", "hold", &json!({}))).to_bytes();
    let mut calls = JoinSet::new();
    for _ in 0..clients {
        let mut client = Client::connect(subject).await?;
        let hold = hold.clone();
        calls.spawn(async move {
            let start = Instant::now();
            let answer = client.call(&hold).await?;
            anyhow::Ok((answer, start.elapsed()))
        });
    }
    let (mut served, mut sent_away, mut slowest) = (0, 0, Duration::ZERO);
    while let Some(ended) = calls.join_next().await {
        let (answer, took) = ended??;
        if answer.status == 503 {
            ensure!(answer.head.contains("retry-after: "), "{}", answer.head);
            sent_away += 1;
            slowest = slowest.max(took);
            // So nobody who is sent away waits for those who are served.
            if sent_away + room == clients {
                subject.release()?;
            }
        } else {
            answer.must_be(200)?;
            served += 1;
        }
    }
    let mut next = Client::connect(subject).await?;
    next.call(&weather().to_bytes()).await?.must_be(200)?;
    Ok(Overload {
        served,
        sent_away,
        slowest,
    })
}
