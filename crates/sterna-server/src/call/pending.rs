//! Questions of a handler that have not been sent yet.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::questions::QuestionContent;

/// A question as its handler put it.
pub(crate) struct PendingQuestion {
    pub(crate) content: QuestionContent,
    /// `true` if the handler can go on when the client cannot be asked.
    pub(crate) has_fallback: bool,
}

/// Questions that the handler of a request has asked and that were not sent.
///
/// A flow carries questions as bytes that it does not look into. The bytes are
/// a number under which the question lies here, so that it
/// need not be decoded again.
#[derive(Default)]
pub(crate) struct PendingQuestions(Mutex<Table>);

#[derive(Default)]
struct Table {
    count: u64,
    /// The last one is the next to be taken, as a rule.
    waiting: Vec<(u64, PendingQuestion)>,
}

impl PendingQuestions {
    /// Keeps `envelope` and gives the bytes it is known by.
    pub(crate) fn put(&self, envelope: PendingQuestion) -> Bytes {
        let mut table = self.table();
        let number = table.count;
        table.count += 1;
        if table.waiting.is_empty() {
            // Most handlers wait for one question at a time.
            table.waiting.reserve_exact(1);
        }
        table.waiting.push((number, envelope));
        match usize::try_from(number).ok().and_then(|at| FIRST.get(at)) {
            Some(byte) => Bytes::from_static(std::slice::from_ref(byte)),
            None => Bytes::copy_from_slice(&number.to_be_bytes()),
        }
    }

    /// The question known by `bytes`, once.
    pub(crate) fn take(&self, bytes: &[u8]) -> Option<PendingQuestion> {
        let number = match bytes {
            [byte] => u64::from(*byte),
            bytes => u64::from_be_bytes(bytes.try_into().ok()?),
        };
        let waiting = &mut self.table().waiting;
        let at = waiting.iter().rposition(|(known, _)| *known == number)?;
        Some(waiting.swap_remove(at).1)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of the first numbers, which need no allocation.
static FIRST: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

#[cfg(test)]
mod tests {
    use sterna_protocol::input::InputRequest;

    use super::*;

    fn roots() -> QuestionContent {
        QuestionContent::Whole(Box::new(InputRequest::list_roots()))
    }

    #[test]
    fn a_question_is_taken_once_and_leaves_nothing_behind() {
        let posed = PendingQuestions::default();
        let envelope = |has_fallback| PendingQuestion {
            content: roots(),
            has_fallback,
        };
        let (one, other) = (posed.put(envelope(true)), posed.put(envelope(false)));
        assert!(!posed.take(&other).unwrap().has_fallback);
        assert!(posed.take(&one).unwrap().has_fallback);
        assert!(posed.take(&one).is_none());
        assert!(posed.take(b"!").is_none());
        assert!(posed.table().waiting.is_empty());
    }

    #[test]
    fn a_question_is_known_by_its_own_bytes_however_many_there_are() {
        let posed = PendingQuestions::default();
        let envelope = |number: usize| PendingQuestion {
            content: roots(),
            has_fallback: number.is_multiple_of(2),
        };
        let known: Vec<_> = (0..600).map(|number| posed.put(envelope(number))).collect();
        for (number, bytes) in known.iter().enumerate() {
            assert_eq!(
                posed.take(bytes).unwrap().has_fallback,
                number.is_multiple_of(2)
            );
        }
        assert!(posed.table().waiting.is_empty());
    }
}
