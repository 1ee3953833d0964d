//! Fingerprints of questions that have been put before.
//!
//! Most questions are put in the same words every time, and once more in every
//! replay. Comparing a few words is cheaper than hashing them.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use sterna_flow::Fingerprint;

/// The last few questions that a form was put with.
#[derive(Default)]
pub(super) struct Worded(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    questions: Vec<Question>,
    /// Which one makes room for the next.
    oldest: usize,
}

struct Question {
    message: String,
    field: String,
    fingerprint: Fingerprint,
}

impl Worded {
    /// The fingerprint of a question, made with `make` if it is not at hand.
    pub(super) fn fingerprint(
        &self,
        message: &str,
        field: &str,
        make: impl FnOnce() -> Fingerprint,
    ) -> Fingerprint {
        if message.len() > LONGEST {
            return make();
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &&Question| known.message == message && known.field == field;
        if let Some(known) = kept.questions.iter().find(is_same) {
            return known.fingerprint;
        }
        let fingerprint = make();
        let question = Question {
            message: message.to_owned(),
            field: field.to_owned(),
            fingerprint,
        };
        if kept.questions.len() < MOST {
            kept.questions.push(question);
        } else {
            let at = kept.oldest;
            kept.questions[at] = question;
            kept.oldest = (at + 1) % MOST;
        }
        fingerprint
    }
}

impl fmt::Debug for Worded {
    /// Words may be about the caller, and stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worded(..)")
    }
}

/// Enough for a type that a few tools ask for, and no more to look through than
/// one hash costs.
const MOST: usize = 4;

/// Longer words are made for the call at hand, and do not come back.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_known_by_all_its_words_as_long_as_it_is_kept() {
        let worded = Worded::default();
        let print = |number: u8| Fingerprint::new([number; 16]);
        let made = |message: &str, field: &str, number: u8| {
            worded.fingerprint(message, field, || print(number)) == print(number)
        };
        assert!(made("a", "", 1));
        assert!(made("b", "", 2));
        assert!(made("a", "x", 3));
        assert!(made("a", "y", 4));
        assert!(!made("a", "x", 9), "known");
        assert!(made("c", "", 5), "takes the place of the first");
        assert!(made("a", "", 6), "forgotten");
        assert!(!made("a", "y", 9), "known");
        let long = "a".repeat(LONGEST + 1);
        assert!(made(&long, "", 7));
        assert!(made(&long, "", 8), "too long to be kept");
    }
}
