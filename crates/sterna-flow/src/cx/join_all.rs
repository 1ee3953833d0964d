//! Several futures at once, without an executor of their own.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Several futures at once. Made by [`FlowCx::join_all`](crate::FlowCx::join_all).
#[must_use = "futures do nothing unless awaited"]
pub struct JoinAll<F: Future> {
    arms: Vec<Arm<F>>,
}

enum Arm<F: Future> {
    Running(Pin<Box<F>>),
    Done(Option<F::Output>),
}

impl<F: Future> JoinAll<F> {
    pub(super) fn new(futures: impl IntoIterator<Item = F>) -> Self {
        Self {
            arms: futures
                .into_iter()
                .map(|future| Arm::Running(Box::pin(future)))
                .collect(),
        }
    }
}

impl<F: Future> Future for JoinAll<F> {
    type Output = Vec<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let arms = &mut self.get_mut().arms;
        let mut all_done = true;
        for arm in arms.iter_mut() {
            if let Arm::Running(future) = arm {
                match future.as_mut().poll(cx) {
                    Poll::Ready(output) => *arm = Arm::Done(Some(output)),
                    Poll::Pending => all_done = false,
                }
            }
        }
        if !all_done {
            return Poll::Pending;
        }
        let outputs = arms.drain(..).filter_map(|arm| match arm {
            Arm::Running(_) => None,
            Arm::Done(output) => output,
        });
        Poll::Ready(outputs.collect())
    }
}

// Every future is in a box, and an output is only moved out.
impl<F: Future> Unpin for JoinAll<F> {}

impl<F: Future> fmt::Debug for JoinAll<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinAll({})", self.arms.len())
    }
}
