//! The questions of a paused call.

use std::collections::{BTreeMap, BTreeSet};

use sterna_protocol::elicitation::ElicitRequestParams;
use sterna_protocol::input::{InputRequest, InputRequests};
use sterna_protocol::jsonrpc::RequestId;

use crate::error::{Error, Fault};

/// Questions that a server has asked in the middle of a call.
#[derive(Debug)]
pub(crate) struct AskedQuestions {
    open: Vec<AskedQuestion>,
    /// Those that were answered or withdrawn, so that a replay does not ask again.
    settled: BTreeSet<RequestId>,
    bytes: usize,
    most_bytes: usize,
}

/// One open question.
#[derive(Debug)]
pub(crate) struct AskedQuestion {
    pub(crate) id: RequestId,
    pub(crate) request: InputRequest,
    /// Id of the event to resume after, so that it is asked again.
    pub(crate) resume_point: Option<String>,
    /// It came outside of the call's stream.
    pub(crate) outside: bool,
}

impl AskedQuestions {
    /// No questions yet, and never more than `most_bytes` of them.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            open: Vec::new(),
            settled: BTreeSet::new(),
            bytes: 0,
            most_bytes,
        }
    }

    /// Adds a question. Returns false if it is known: a replay asks again what was
    /// asked before.
    ///
    /// # Errors
    ///
    /// A person cannot have been meant: there are too many questions, or they are
    /// too large.
    pub(super) fn add(&mut self, question: AskedQuestion, bytes: usize) -> Result<bool, Error> {
        if self.settled.contains(&question.id) || self.get(&question.id).is_some() {
            return Ok(false);
        }
        if self.open.len() + self.settled.len() >= MOST_QUESTIONS {
            let (what, limit) = ("questions in one call", MOST_QUESTIONS);
            return Err(Fault::TooMany { what, limit }.into());
        }
        let limit = self.most_bytes;
        if bytes > limit.saturating_sub(self.bytes) {
            let what = "questions";
            return Err(Fault::TooLarge { what, limit }.into());
        }
        self.bytes += bytes;
        self.open.push(question);
        Ok(true)
    }

    /// Takes note of questions that were answered or withdrawn on an earlier
    /// connection.
    pub(super) fn settle_all(&mut self, settled: BTreeSet<RequestId>) {
        self.settled.extend(settled);
    }

    /// The open question with this id.
    pub(crate) fn get(&self, id: &RequestId) -> Option<&AskedQuestion> {
        self.open.iter().find(|open| open.id == *id)
    }

    /// Ids of the questions that were answered or withdrawn.
    pub(crate) fn settled(&self) -> &BTreeSet<RequestId> {
        &self.settled
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The open questions, in the order in which they were asked.
    pub(crate) fn open(&self) -> &[AskedQuestion] {
        &self.open
    }

    /// Returns true if the question was asked, whether or not it is open.
    pub(crate) fn was_asked(&self, id: &RequestId) -> bool {
        self.settled.contains(id) || self.get(id).is_some()
    }

    /// Takes note of a question that was answered or withdrawn. A question that
    /// was not asked, or not yet, is no question of this call.
    pub(crate) fn settle(&mut self, id: &RequestId) {
        if let Some(at) = self.open.iter().position(|open| open.id == *id) {
            self.open.remove(at);
            self.settled.insert(id.clone());
        }
    }

    /// The open questions under names, and the id of each.
    pub(crate) fn named(&self) -> (InputRequests, BTreeMap<String, RequestId>) {
        let mut requests = InputRequests::new();
        let mut ids = BTreeMap::new();
        for question in &self.open {
            let name = question_name(&question.request);
            let others = (2..).map(|number| format!("{name}#{number}"));
            let mut names = std::iter::once(name.to_owned()).chain(others);
            let free = names.find(|name| !ids.contains_key(name));
            let key = free.unwrap_or_else(|| question.id.to_string());
            requests.insert(&key, question.request.clone());
            ids.insert(key, question.id.clone());
        }
        (requests, ids)
    }
}

/// Name of a question that its server does not name: the only field of a form, or
/// its kind.
pub(crate) fn question_name(request: &InputRequest) -> &str {
    match request {
        InputRequest::CreateMessage(_) => "sample",
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Form(params) => {
                let mut fields = params.requested_schema.properties.iter();
                match (fields.next(), fields.next()) {
                    (Some((only, _)), None) => only,
                    _ => "form",
                }
            }
            _ => "url",
        },
        _ => "roots",
    }
}

/// A server that asks more than this in one call is not asking people.
const MOST_QUESTIONS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: i64) -> AskedQuestion {
        AskedQuestion {
            id: id.into(),
            request: InputRequest::list_roots(),
            resume_point: None,
            outside: false,
        }
    }

    #[test]
    fn a_question_is_asked_once_however_often_it_is_replayed() {
        let mut asked = AskedQuestions::new(100);
        asked.settle_all(BTreeSet::from([9.into()]));
        assert!(!asked.add(question(9), 10).unwrap(), "answered before");
        assert!(asked.add(question(0), 10).unwrap());
        assert!(!asked.add(question(0), 1000).unwrap(), "already open");
        asked.settle(&0.into());
        assert!(!asked.add(question(0), 10).unwrap(), "already answered");
        assert!(asked.is_empty() && asked.was_asked(&0.into()));
        asked.settle(&7.into());
        assert!(asked.add(question(7), 10).unwrap(), "not asked before");
    }

    #[test]
    fn questions_of_one_kind_get_names_of_their_own() {
        let mut asked = AskedQuestions::new(100);
        for id in 0..3 {
            asked.add(question(id), 1).unwrap();
        }
        let (questions, ids) = asked.named();
        let names: Vec<_> = questions.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["roots", "roots#2", "roots#3"]);
        assert_eq!(ids["roots#3"], 2.into());
    }

    #[test]
    fn questions_are_bounded_in_number_and_size() {
        let mut asked = AskedQuestions::new(100);
        assert!(asked.add(question(0), 101).is_err());
        for id in 0..64 {
            asked.add(question(id), 1).unwrap();
            asked.settle(&id.into());
        }
        assert!(asked.add(question(64), 1).is_err());
    }
}
