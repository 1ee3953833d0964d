//! Questions to the client.

use std::fmt;

use bytes::Bytes;

use crate::fingerprint::{Digest, Fingerprint};

/// Something that can be put to a client, and how its answer is read.
///
/// The engine knows neither the request nor the answer; it keeps them apart and
/// remembers which answer was given to which question.
pub trait Question {
    /// The value of a valid answer.
    type Answer;

    /// The fingerprint that the answer is pinned to: with [`Pin::Exact`] that of
    /// everything the client is shown, with [`Pin::Schema`] that of the answer's
    /// schema only.
    ///
    /// The reason for asking again is no part of it.
    fn fingerprint(&self, pin: Pin, digest: &dyn Digest) -> Fingerprint;

    /// The request in the form in which it goes to the client. `rejected` is the
    /// reason for which [`read`](Self::read) refused the last answer.
    fn request(&self, rejected: Option<&str>) -> Bytes;

    /// Reads an answer. Must say the same about the same bytes every time.
    ///
    /// # Errors
    ///
    /// [`Rejected`] makes the engine ask again, with its reason.
    fn read(&self, answer: &Bytes) -> Result<Self::Answer, Rejected>;
}

/// The part of a question that must be unchanged for its answer to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pin {
    /// All of it. A yes to one plan is never a yes to another.
    #[default]
    Exact,
    /// Only its schema. For questions whose text does not matter.
    Schema,
}

/// The reason an answer was not accepted, in words for the user who is asked
/// again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected(String);

impl Rejected {
    /// Rejects an answer because of `reason`. Long reasons are cut: they are
    /// kept in the journal.
    #[must_use]
    pub fn new(reason: impl fmt::Display) -> Self {
        let mut reason = reason.to_string();
        reason.truncate(reason.floor_char_boundary(LONGEST_REASON));
        Self(reason)
    }

    /// The reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0
    }
}

const LONGEST_REASON: usize = 300;

/// A question that is nothing but bytes, and takes any answer.
#[derive(Clone, Debug)]
pub struct Opaque(Bytes);

impl Opaque {
    /// Asks `request` as it is.
    #[must_use]
    pub fn new(request: impl Into<Bytes>) -> Self {
        Self(request.into())
    }
}

impl Question for Opaque {
    type Answer = Bytes;

    fn fingerprint(&self, _: Pin, digest: &dyn Digest) -> Fingerprint {
        Fingerprint::of(digest, &[&self.0])
    }

    fn request(&self, _: Option<&str>) -> Bytes {
        self.0.clone()
    }

    fn read(&self, answer: &Bytes) -> Result<Bytes, Rejected> {
        Ok(answer.clone())
    }
}
