//! Moments in a flow: what time it is, when time has passed, where to stop.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::journal::Entry;
use crate::journal::v1::read_number;
use crate::shared::{Ticket, Turn};
use crate::time::UnixMillis;

/// The time. Made by [`Cx::now`](crate::Cx::now).
#[must_use = "the time is taken when it is awaited"]
pub struct Now<'a>(Ticket<'a>);

impl<'a> Now<'a> {
    pub(super) const fn new(ticket: Ticket<'a>) -> Self {
        Self(ticket)
    }
}

impl Future for Now<'_> {
    type Output = UnixMillis;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<UnixMillis> {
        let entry = ready!(wait(&mut self.get_mut().0, cx));
        let (millis, _) = read_number(&entry.value).unwrap_or_default();
        Poll::Ready(UnixMillis::new(millis))
    }
}

/// A pause. Made by [`Cx::sleep`](crate::Cx::sleep).
#[must_use = "a sleep begins when it is awaited"]
pub struct Sleep<'a>(Ticket<'a>);

impl<'a> Sleep<'a> {
    pub(super) fn new(ticket: Ticket<'a>, duration: Duration) -> Self {
        ticket.lasts(duration);
        Self(ticket)
    }
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        wait(&mut self.get_mut().0, cx).map(drop)
    }
}

/// A point where a run may be shed. Made by
/// [`Cx::checkpoint`](crate::Cx::checkpoint).
#[must_use = "a checkpoint is one only when it is awaited"]
pub struct Checkpoint<'a>(Ticket<'a>);

impl<'a> Checkpoint<'a> {
    pub(super) const fn new(ticket: Ticket<'a>) -> Self {
        Self(ticket)
    }
}

impl Future for Checkpoint<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        wait(&mut self.get_mut().0, cx).map(drop)
    }
}

/// Waits for an entry that the driver makes by itself.
fn wait(ticket: &mut Ticket<'_>, cx: &Context<'_>) -> Poll<Entry> {
    match ticket.poll(cx) {
        Turn::Told(entry) => {
            ticket.finish();
            Poll::Ready(entry)
        }
        Turn::Ask(_) | Turn::Start | Turn::Wait => Poll::Pending,
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
