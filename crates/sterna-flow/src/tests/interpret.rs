//! A program as a handler.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde::{Deserialize, Serialize};

use super::program::{Id, Joining, Node, Selecting, StepKind, StepNode};
use super::rng::combine;
use super::world::{World, wake_self};
use crate::{Digest, Fingerprint, FlowCx, Key, Pin as Pinning, Question, Rejected, Retry};

/// The program decided to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stop;

pub(super) type Eval = Result<u64, Stop>;

type Evaluation<'b> = Pin<Box<dyn Future<Output = Eval> + Send + 'b>>;

pub(super) fn eval<'a: 'b, 'b>(
    cx: &'b FlowCx<'a>,
    world: &'b World,
    node: &'b Node,
    acc: u64,
) -> Evaluation<'b> {
    Box::pin(async move {
        match node {
            Node::Pure => Ok(combine(acc, 1)),
            Node::Fail => Err(Stop),
            Node::Ask(id, patience) => Ok(ask(cx, *id, *patience, acc).await),
            Node::Step(id, step) => Ok(run_step(cx, world, *id, *step, acc).await),
            Node::Sleep(id, millis) => {
                let lasts = Duration::from_millis(*millis);
                cx.sleep(&format!("z{id}"), lasts).await;
                Ok(combine(acc, 2))
            }
            Node::Now(id) => Ok(combine(
                acc,
                cx.now(&format!("n{id}")).await.get().unsigned_abs(),
            )),
            Node::Checkpoint(id) => {
                cx.checkpoint(&format!("c{id}")).await;
                Ok(combine(acc, 3))
            }
            Node::Random(id) => Ok(combine(acc, cx.random(&format!("r{id}")).number())),
            Node::Yield(count) => {
                wake_self(*count).await;
                Ok(acc)
            }
            Node::Undo(id) => {
                let (world, key) = (world.clone(), Key::new(&format!("u{id}")));
                cx.undo(&format!("u{id}"), move |_| async move {
                    wake_self(1).await;
                    world.undo(key);
                });
                Ok(acc)
            }
            Node::Seq(items) => {
                let mut acc = acc;
                for item in items {
                    acc = eval(cx, world, item, acc).await?;
                }
                Ok(acc)
            }
            Node::Loop(times, body) => {
                let mut acc = acc;
                for _ in 0..*times {
                    acc = eval(cx, world, body, acc).await?;
                }
                Ok(acc)
            }
            Node::If(condition, then, otherwise) => {
                let value = eval(cx, world, condition, acc).await?;
                let next = if value % 2 == 0 { then } else { otherwise };
                eval(cx, world, next, value).await
            }
            Node::Scope(id, body) => {
                let scoped = cx.scope(format!("scope-{id}"));
                eval(&scoped, world, body, acc).await
            }
            Node::Memo(id, body) => {
                cx.memo(&format!("m{id}"), |scoped| async move {
                    eval(&scoped, world, body, acc).await
                })
                .await
            }
            Node::Race(id, arms) => {
                let arms: Vec<_> = arms.iter().map(|arm| eval(cx, world, arm, acc)).collect();
                cx.race(&format!("w{id}"), arms).await
            }
            Node::Join(joining, arms) => join(cx, world, *joining, arms, acc).await,
            Node::Unordered(arms) => {
                let mut running: FuturesUnordered<_> =
                    arms.iter().map(|arm| eval(cx, world, arm, acc)).collect();
                let mut total = acc;
                while let Some(value) = running.next().await {
                    total = combine(total, value?);
                }
                Ok(total)
            }
            Node::Select(selecting, a, b) => {
                let a = eval(cx, world, a, acc);
                let b = eval(cx, world, b, acc);
                match selecting {
                    Selecting::Random => tokio::select! {
                        value = a => value.map(|value| combine(value, 10)),
                        value = b => value.map(|value| combine(value, 20)),
                    },
                    Selecting::Biased => tokio::select! {
                        biased;
                        value = a => value.map(|value| combine(value, 10)),
                        value = b => value.map(|value| combine(value, 20)),
                    },
                }
            }
            Node::Prefetch(first, second) => {
                let mut first = eval(cx, world, first, acc);
                let early = futures::poll!(&mut first);
                let second = eval(cx, world, second, acc).await?;
                let first = match early {
                    std::task::Poll::Ready(value) => value?,
                    std::task::Poll::Pending => first.await?,
                };
                Ok(combine(first, second))
            }
            Node::Channel(a, b) => {
                let (sender, receiver) = tokio::sync::oneshot::channel();
                let (a, b) = tokio::join!(
                    async {
                        let value = eval(cx, world, a, acc).await?;
                        sender.send(value).ok();
                        Ok(value)
                    },
                    async {
                        let value = receiver.await.map_err(|_| Stop)?;
                        eval(cx, world, b, combine(acc, value)).await
                    }
                );
                Ok(combine(a?, b?))
            }
            Node::Dropped(inner, polled) => {
                let mut inner = eval(cx, world, inner, acc);
                if *polled {
                    let _ = futures::poll!(&mut inner);
                }
                drop(inner);
                Ok(acc)
            }
        }
    })
}

async fn join(cx: &FlowCx<'_>, world: &World, joining: Joining, arms: &[Node], acc: u64) -> Eval {
    let evals: Vec<_> = arms.iter().map(|arm| eval(cx, world, arm, acc)).collect();
    let values = match joining {
        Joining::CxAll => cx.join_all(evals).await,
        Joining::FuturesAll => futures::future::join_all(evals).await,
        Joining::Tokio => {
            let mut evals = evals.into_iter();
            match (evals.next(), evals.next(), evals.next(), evals.next()) {
                (Some(a), Some(b), Some(c), Some(d)) => {
                    let (a, b, c, d) = tokio::join!(a, b, c, d);
                    vec![a, b, c, d]
                }
                (Some(a), Some(b), Some(c), None) => {
                    let (a, b, c) = tokio::join!(a, b, c);
                    vec![a, b, c]
                }
                (Some(a), Some(b), None, None) => {
                    let (a, b) = tokio::join!(a, b);
                    vec![a, b]
                }
                (Some(a), ..) => vec![a.await],
                _ => Vec::new(),
            }
        }
    };
    let mut total = acc;
    for value in values {
        total = combine(total, value?);
    }
    Ok(total)
}

async fn ask(cx: &FlowCx<'_>, id: Id, patience: Option<u64>, acc: u64) -> u64 {
    let asking = cx.ask(&format!("q{id}"), Words(words(id, acc)));
    let answer = match patience {
        None => asking.await,
        Some(millis) => asking
            .deadline(Duration::from_millis(millis))
            .await
            .unwrap_or(ELAPSED),
    };
    combine(acc, answer)
}

async fn run_step(cx: &FlowCx<'_>, world: &World, id: Id, step: StepNode, acc: u64) -> u64 {
    let name = format!("s{id}");
    let once = step.kind == StepKind::Once;
    let mut tried = 0;
    let body = |key| {
        tried += 1;
        let fails = tried <= step.fails;
        let world = world.clone();
        async move {
            let result = world.clone().work(key, step, once, fails).await?;
            if once {
                world.made(result, acc);
            }
            Ok::<_, String>(result)
        }
    };
    let pause = Duration::from_millis(step.pause);
    let retry = Retry::times(step.tries).backoff(pause, pause);
    let timeout = step.timeout.map(Duration::from_millis);
    let result = match (step.kind, timeout) {
        (StepKind::Once, None) => cx.try_once(&name, body).await,
        (StepKind::Once, Some(timeout)) => cx.try_once(&name, body).timeout(timeout).await,
        (StepKind::ByRef, _) => cx.retry_effect(&name, retry, body).by_ref().await,
        (StepKind::Plain, None) if step.tries == 1 => cx.try_effect(&name, body).await,
        (StepKind::Plain, None) => cx.retry_effect(&name, retry, body).await,
        (StepKind::Plain, Some(timeout)) => {
            let running = cx.retry_effect(&name, retry, body);
            running.timeout(timeout).await
        }
    };
    if let (true, Ok(result)) = (once, &result) {
        world.hand_out(*result, acc);
    }
    combine(acc, result.unwrap_or(FAILED))
}

/// The text of a question: it depends on everything before it.
pub(super) fn words(id: Id, acc: u64) -> String {
    format!("{id}? {acc:x}")
}

pub(super) const ELAPSED: u64 = 77;
pub(super) const FAILED: u64 = 78;

/// A question that takes numbers.
struct Words(String);

impl Question for Words {
    type Answer = u64;

    fn fingerprint(&self, _: Pinning, digest: &dyn Digest) -> Fingerprint {
        Fingerprint::of(digest, &[self.0.as_bytes()])
    }

    fn request(&self, rejected: Option<&str>) -> Bytes {
        let reason = rejected.map_or_else(String::new, |reason| format!(" ({reason})"));
        Bytes::from(format!("{}{reason}", self.0))
    }

    fn read(&self, answer: &Bytes) -> Result<u64, Rejected> {
        read_answer(answer).ok_or_else(|| Rejected::new("not a number"))
    }
}

pub(super) fn read_answer(answer: &[u8]) -> Option<u64> {
    std::str::from_utf8(answer).ok()?.parse().ok()
}
