//! Time in a flow: the current time, sleeps and checkpoints.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sterna_types::UnixMillis;

use crate::journal::Entry;
use crate::journal::v1::read_time;
use crate::shared::{Permission, WaiterHandle};

/// The time. Made by [`FlowCx::now`](crate::FlowCx::now).
#[must_use = "the time is taken when it is awaited"]
pub struct Now<'a>(WaiterHandle<'a>);

impl<'a> Now<'a> {
    pub(super) const fn new(handle: WaiterHandle<'a>) -> Self {
        Self(handle)
    }
}

impl Future for Now<'_> {
    type Output = UnixMillis;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<UnixMillis> {
        let entry = ready!(wait(&mut self.get_mut().0, cx));
        Poll::Ready(read_time(&entry.value).unwrap_or_default())
    }
}

/// A pause. Made by [`FlowCx::sleep`](crate::FlowCx::sleep).
#[must_use = "a sleep begins when it is awaited"]
pub struct Sleep<'a>(WaiterHandle<'a>);

impl<'a> Sleep<'a> {
    pub(super) fn new(handle: WaiterHandle<'a>, duration: Duration) -> Self {
        handle.lasts(duration);
        Self(handle)
    }
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        wait(&mut self.get_mut().0, cx).map(drop)
    }
}

/// A point where a run may be shed. Made by
/// [`FlowCx::checkpoint`](crate::FlowCx::checkpoint).
#[must_use = "a checkpoint is one only when it is awaited"]
pub struct Checkpoint<'a>(WaiterHandle<'a>);

impl<'a> Checkpoint<'a> {
    pub(super) const fn new(handle: WaiterHandle<'a>) -> Self {
        Self(handle)
    }
}

impl Future for Checkpoint<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        wait(&mut self.get_mut().0, cx).map(drop)
    }
}

/// Waits for an entry that the driver makes by itself.
fn wait(handle: &mut WaiterHandle<'_>, cx: &Context<'_>) -> Poll<Entry> {
    match handle.poll(cx) {
        Permission::Told(entry) => {
            handle.finish();
            Poll::Ready(entry)
        }
        Permission::Ask(_) | Permission::Start | Permission::Wait => Poll::Pending,
    }
}

impl fmt::Debug for Now<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Now({})", self.0.key())
    }
}

impl fmt::Debug for Sleep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sleep({})", self.0.key())
    }
}

impl fmt::Debug for Checkpoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checkpoint({})", self.0.key())
    }
}
