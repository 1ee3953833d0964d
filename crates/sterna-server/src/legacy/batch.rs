//! Several messages in one POST, which 2025-03-26 alone has.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::{Message, RequestId};

use super::dispatch::{self, Post, Work};
use super::live::Answered;
use super::session::Session;
use super::{FromClient, refuse};
use crate::core::Core;
use crate::edge::{EdgeBody, Inbound, reply};
use crate::modern::Answer;
use crate::tasks::store_failed;

/// Answers a batch: all of its requests run at once and share one stream.
pub(super) async fn answer(
    core: Arc<Core>,
    inbound: Inbound,
    session: Session,
) -> Response<EdgeBody> {
    let body = inbound.body.clone();
    let messages = match serde_json::from_slice::<Vec<&RawValue>>(&body) {
        Ok(messages) if (1..=MOST_MESSAGES).contains(&messages.len()) => messages,
        _ => return refuse(StatusCode::BAD_REQUEST, "Invalid batch"),
    };
    let accepts = inbound.accepts;
    let (outbox, inbox) = inbound.outbox();
    let patience = inbound.patience;
    let post = Post::new(core, inbound, session, outbox);
    let mut work = Vec::new();
    for message in messages {
        work.extend(one(&post, message.get().as_bytes()).await);
    }
    if work.is_empty() {
        return reply::accepted();
    }
    drop(post);
    let work = Box::pin(all(work));
    if !accepts.events() {
        return document(work.await);
    }
    reply::running(work, inbox, patience, document, events).await
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
async fn answered(post: &Post, id: &RequestId, answer: Answered) {
    let caller = post.pass.caller();
    let taken = dispatch::response(&post.core, caller, &post.session, id, answer).await;
    if let Err(error) = taken {
        store_failed(&error);
    }
}

/// Waits for all of them.
async fn all(mut work: Vec<Work>) -> Vec<Answer> {
    let mut answers = Vec::new();
    poll_fn(|cx| {
        work.retain_mut(|one| match one.as_mut().poll(cx) {
            Poll::Ready(answer) => {
                answers.extend(answer);
                false
            }
            Poll::Pending => true,
        });
        if work.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    answers
}

fn document(answers: Vec<Answer>) -> Response<EdgeBody> {
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

fn events(answers: Vec<Answer>) -> Bytes {
    let events: Vec<_> = answers.into_iter().map(Answer::event).collect();
    events.concat().into()
}

/// As many calls as one POST may start.
const MOST_MESSAGES: usize = 32;
