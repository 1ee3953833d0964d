//! Several messages in one POST, which 2025-03-26 alone has.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::value::RawValue;
use sterna_http::{Admission, Inbound, ResponseBody, Slot, Transport, clock, reply};
use sterna_protocol::jsonrpc::{Message, RequestId};

use super::dispatch::{self, Post, Work};
use super::session::Session;
use super::{FromClient, refuse};
use crate::core::Core;
use crate::reply::Answer;
use crate::session_table::ClientAnswer;
use crate::tasks::store_failed;

/// Answers a batch. Its requests share one stream, and run at once as far as
/// there are free places for calls: each takes one of its own.
pub(super) async fn answer(
    core: Arc<Core>,
    inbound: Inbound,
    session: Arc<Session>,
) -> Response<ResponseBody> {
    let body = inbound.body.clone();
    let most = MOST_MESSAGES.min(inbound.admission.largest_batch());
    let messages = match serde_json::from_slice::<Vec<&RawValue>>(&body) {
        Ok(messages) if (1..=most).contains(&messages.len()) => messages,
        _ => {
            let text = format!("Invalid batch: send an array of 1 to {most} messages");
            return refuse(StatusCode::BAD_REQUEST, &text);
        }
    };
    let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
    if let Err(refusal) = inbound.admission.charge_batch(count, clock::now()) {
        return crate::reply::refuse(refusal);
    }
    let (accepts, transport) = (inbound.accepts, inbound.transport);
    let (outbox, inbox) = inbound.outbox();
    let patience = inbound.patience;
    let admission = inbound.admission.clone();
    let post = Post::new(core, inbound, session, outbox);
    let mut work = VecDeque::new();
    for message in messages {
        work.extend(one(&post, message.get().as_bytes()).await);
    }
    if work.is_empty() {
        return reply::accepted();
    }
    drop(post);
    let work = Box::pin(all(work, admission));
    if !accepts.events() {
        return document(work.await);
    }
    let last = move |answers| framed(answers, transport);
    reply::respond_or_stream(work, inbox, patience, document, last).await
}

/// Takes one message of a batch in; `Some` if it is to be answered.
async fn one(post: &Post, message: &[u8]) -> Option<Work> {
    let (core, session) = (&*post.core, &*post.session);
    match FromClient::decode(message) {
        Ok(Message::Request(request)) => Some(Box::pin(dispatch::serve(
            post.clone(),
            request.id,
            request.params,
        ))),
        Ok(Message::Notification(notification)) => {
            dispatch::notification(core, session, notification.params);
            None
        }
        Ok(Message::Result(response)) => {
            let answer = Ok(response.result.get().to_owned());
            answered(post, &response.id, answer).await;
            None
        }
        Ok(Message::Error(response)) => {
            if let Some(id) = &response.id {
                answered(post, id, Err(response.error)).await;
            }
            None
        }
        Err(error) => {
            let id = error.request_id().cloned()?;
            let answer = Answer::refused(id, (&error).into());
            Some(Box::pin(std::future::ready(Some(answer))))
        }
    }
}

/// Brings an answer to who asked. If that fails, the rest of the batch is
/// served all the same, and the question goes unanswered.
async fn answered(post: &Post, id: &RequestId, answer: ClientAnswer) {
    let caller = post.admission.caller();
    let taken = dispatch::response(&post.core, caller, &post.session, id, answer).await;
    if let Err(error) = taken {
        store_failed(&error);
    }
}

/// Serves all requests, in as many places as there are: that of the POST, and
/// those that are free. A request that has ended leaves its place to one that
/// waits.
async fn all(mut waiting: VecDeque<Work>, admission: Admission) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut running: Vec<Running> = Vec::new();
    // The place of the POST is held by the HTTP server, to the end of the batch.
    let mut has_own = true;
    poll_fn(|cx| {
        loop {
            while let Some(place) = place(&mut has_own, &admission, &waiting) {
                running.extend(waiting.pop_front().map(|work| Running { work, place }));
            }
            let before = running.len();
            running.retain_mut(|one| match one.work.as_mut().poll(cx) {
                Poll::Ready(answer) => {
                    answers.extend(answer);
                    has_own |= one.place.is_own();
                    false
                }
                Poll::Pending => true,
            });
            if running.is_empty() && waiting.is_empty() {
                return Poll::Ready(());
            }
            if running.len() == before || waiting.is_empty() {
                return Poll::Pending;
            }
        }
    })
    .await;
    answers
}

/// A request at work, and the place it has.
struct Running {
    work: Work,
    place: BatchSlot,
}

/// A place among the running calls.
enum BatchSlot {
    /// That of the POST.
    Own,
    /// One more, given back when dropped; `None` where calls are not counted.
    More { _slot: Option<Slot> },
}

impl BatchSlot {
    fn is_own(&self) -> bool {
        matches!(self, Self::Own)
    }
}

/// A place for the next request that waits, if there is one.
fn place(has_own: &mut bool, admission: &Admission, waiting: &VecDeque<Work>) -> Option<BatchSlot> {
    if waiting.is_empty() {
        return None;
    }
    if std::mem::take(has_own) {
        return Some(BatchSlot::Own);
    }
    let _slot = admission.take_call().ok()?;
    Some(BatchSlot::More { _slot })
}

fn document(answers: Vec<Answer>) -> Response<ResponseBody> {
    let mut document = vec![b'['];
    for (at, answer) in answers.into_iter().enumerate() {
        if at > 0 {
            document.push(b',');
        }
        document.extend(answer.into_message());
    }
    document.push(b']');
    reply::json(StatusCode::OK, document)
}

fn framed(answers: Vec<Answer>, transport: Transport) -> Bytes {
    let answers = answers.into_iter();
    let messages: Vec<_> = answers.map(|answer| answer.last_of(transport)).collect();
    messages.concat().into()
}

/// As many calls as one POST may start.
const MOST_MESSAGES: usize = 32;
