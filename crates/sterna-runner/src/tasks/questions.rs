//! The open questions of a task.

use std::collections::BTreeMap;

use bytes::Bytes;
use sterna_store::{Asked, Claimed, Phase, Question};

/// Questions that the client is asked, as the store is to know them.
pub(super) struct Questions {
    open: BTreeMap<String, (Question, Origin)>,
    /// The store does not know them yet.
    changed: bool,
}

/// Run that has asked a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// An earlier one, and this one has not been seen without it.
    Earlier,
    /// An earlier one. This one has been at rest without asking it: it has not
    /// come to the question yet, or asks it no more.
    Unreached,
    ThisRun,
}

impl Questions {
    /// Returns the questions of earlier runs that are open. The store keeps their
    /// first wording, so that it need not be repeated.
    pub(super) fn of(claimed: &Claimed) -> Self {
        let open = claimed.asked.iter();
        let open = open.filter(|asked| asked.phase == Phase::Open);
        let question = |asked: &Asked| {
            let question = Question::new(asked.key.clone(), asked.fingerprint, Bytes::new());
            let key = asked.key.as_str().to_owned();
            (key, (question, Origin::Earlier))
        };
        Self {
            open: open.map(question).collect(),
            changed: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns `true` if the store does not know the questions yet.
    pub(super) fn have_changed(&self) -> bool {
        self.changed
    }

    pub(super) fn ask(&mut self, key: &str, question: Question) {
        let asked = (question, Origin::ThisRun);
        // A question of an earlier run is in the store.
        self.changed |= self.open.insert(key.to_owned(), asked).is_none();
    }

    /// Takes a question back; one of an earlier run not before the flow is
    /// idle. A replay that is held up comes to it later, and an answer that
    /// the client gives meanwhile must count.
    pub(super) fn withdraw(&mut self, key: &str) {
        match self.open.get_mut(key) {
            Some((_, Origin::ThisRun)) => {
                self.open.remove(key);
                self.changed = true;
            }
            Some((_, origin)) => *origin = Origin::Unreached,
            None => {}
        }
    }

    /// Takes back the questions that an idle flow does not ask.
    pub(super) fn settle(&mut self) {
        let before = self.open.len();
        self.open
            .retain(|_, (_, origin)| *origin != Origin::Unreached);
        self.changed |= self.open.len() < before;
    }

    pub(super) fn answered(&mut self, key: &str) {
        self.open.remove(key);
    }

    /// Returns the questions for a commit that makes them known.
    pub(super) fn write(&mut self) -> Vec<Question> {
        self.changed = false;
        let open = self.open.values();
        open.map(|(question, _)| question.clone()).collect()
    }
}
