//! The rules for a task: which operation is allowed to whom, and when.

use std::time::Duration;

use crate::{Error, ErrorKind, Event, Fence, Passivation, Status, UnixMillis};

/// The part of a task that decides what may happen to it.
///
/// ```
/// use std::time::Duration;
/// use sterna_store::machine::Control;
/// use sterna_store::{Outcome, Status, UnixMillis};
///
/// let now = UnixMillis::new(0);
/// let mut task = Control::created(0, now);
/// let first = task.claim(now, Duration::from_secs(30));
/// let later = now + Duration::from_secs(31);
/// let second = task.claim(later, Duration::from_secs(30));
///
/// assert!(task.check(first).is_err(), "the first worker lost its lease");
/// task.finish(second, Outcome::Cancelled.event())?;
/// assert_eq!(task.status, Status::Cancelled);
/// # Ok::<(), sterna_store::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Control {
    /// The status that the client sees.
    pub status: Status,
    /// The number of the latest claim.
    pub fence: Fence,
    /// `true` until that claim's lease is given back.
    pub held: bool,
    /// When a worker may claim the task: the end of a lease that is held, a
    /// timer, or nothing while only an answer can wake it.
    pub due_at: Option<UnixMillis>,
    /// Claims since the task last made progress.
    pub attempts: u32,
    /// Entries in the journal.
    pub entries: u32,
    /// Questions that wait for an answer.
    pub open: u32,
    /// Answers that no worker has taken.
    pub unread: u32,
}

impl Control {
    /// A task that begins with `entries` entries and wants a worker at once.
    pub fn created(entries: u32, now: UnixMillis) -> Self {
        Self {
            status: Status::Working,
            fence: Fence::default(),
            held: false,
            due_at: Some(now),
            attempts: 0,
            entries,
            open: 0,
            unread: 0,
        }
    }

    /// Returns whether a worker may claim the task.
    pub fn is_due(&self, now: UnixMillis) -> bool {
        self.due_at.is_some_and(|due| due <= now)
    }

    /// Returns whether the task has ended and nothing is left to undo.
    pub fn is_done(&self) -> bool {
        self.status.is_final() && self.due_at.is_none()
    }

    /// Gives the task to a worker and shuts out the one before.
    ///
    /// The caller has made sure that it [is due](Self::is_due).
    pub fn claim(&mut self, now: UnixMillis, length: Duration) -> Fence {
        self.fence = self.fence.next();
        self.held = true;
        self.due_at = Some(now + length);
        self.attempts = self.attempts.saturating_add(1);
        self.fence
    }

    /// Makes sure that the claim number `fence` still holds the task.
    ///
    /// A lease that has run out holds until another worker takes the task over.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Fenced`]: the worker must stop.
    pub fn check(&self, fence: Fence) -> Result<(), Error> {
        if self.held && self.fence == fence {
            Ok(())
        } else {
            Err(fenced())
        }
    }

    /// Lets the lease end `length` from now.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn renew(&mut self, fence: Fence, now: UnixMillis, length: Duration) -> Result<(), Error> {
        self.check(fence)?;
        self.due_at = Some(now + length);
        Ok(())
    }

    /// Gives the task back, unless there is a reason to go on: then it says
    /// `false` and the lease is kept.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Fenced`] as [`check`](Self::check), and
    /// [`ErrorKind::Misuse`] if nothing would ever wake the task.
    pub fn rest(
        &mut self,
        fence: Fence,
        now: UnixMillis,
        rest: Passivation,
    ) -> Result<bool, Error> {
        self.check(fence)?;
        let due_at = match rest {
            Passivation::Retry(after) => {
                self.held = false;
                self.due_at = Some(now + after);
                return Ok(true);
            }
            Passivation::HandOver => Some(now),
            // The inbox is looked at under the same lock that an answer takes,
            // so an answer is either seen here or finds the task parked.
            Passivation::For(_) | Passivation::ForAnswers
                if self.unread > 0 || self.status.is_final() =>
            {
                self.attempts = 0;
                return Ok(false);
            }
            Passivation::For(duration) => Some(now + duration),
            Passivation::ForAnswers if self.open == 0 => {
                return Err(Error::new(
                    ErrorKind::Misuse,
                    "a task without open questions would rest forever",
                ));
            }
            Passivation::ForAnswers => None,
        };
        self.held = false;
        self.attempts = 0;
        self.due_at = due_at;
        Ok(true)
    }

    /// Ends the task from outside: it was cancelled or ran out of time. Says
    /// whether it had not ended before.
    ///
    /// A task that has begun goes to a worker once more, to undo what it did.
    pub fn end(&mut self, event: Event, now: UnixMillis) -> bool {
        let Some(status) = self.status.after(event) else {
            return false;
        };
        self.status = status;
        if !self.was_claimed() && self.entries == 0 {
            self.due_at = None;
        } else {
            self.wake(now);
        }
        true
    }

    /// Ends the task from inside and gives it back. Says whether this end is
    /// the one that stands: a task that was cancelled stays cancelled.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check). The claim that finished a task may say so
    /// again.
    pub fn finish(&mut self, fence: Fence, event: Event) -> Result<bool, Error> {
        if self.is_done() && self.was_claimed() && self.fence == fence {
            return Ok(false);
        }
        self.check(fence)?;
        self.held = false;
        self.due_at = None;
        let ended = self.status.after(event);
        self.status = ended.unwrap_or(self.status);
        Ok(ended.is_some())
    }

    fn was_claimed(&self) -> bool {
        self.fence != Fence::default()
    }

    /// Sets how many questions are open.
    pub(super) fn asks(&mut self, open: u32) {
        self.open = open;
        let event = match open {
            0 => Event::Resumed,
            _ => Event::Asked,
        };
        self.status = self.status.after(event).unwrap_or(self.status);
    }

    /// Lets a worker have the task now, if none has it.
    pub(super) fn wake(&mut self, now: UnixMillis) {
        if !self.held {
            self.due_at = Some(self.due_at.map_or(now, |due| due.min(now)));
        }
    }
}

/// The refusal of a task whose owner has `quota` unfinished tasks already.
pub fn over_quota(quota: u32) -> Error {
    Error::new(
        ErrorKind::Quota,
        format!(
            "the owner has {quota} unfinished tasks, which is all it may have: \
             wait until some have ended, or cancel some"
        ),
    )
    .with_code("MR0411")
}

fn fenced() -> Error {
    Error::new(
        ErrorKind::Fenced,
        "the lease was given back or taken over by another worker",
    )
}
