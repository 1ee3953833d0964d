//! Answers that a call has had, for a call that may be sent anew.

use std::collections::BTreeMap;
use std::fmt;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use sterna_client::PausedCall;
use sterna_protocol::input::{InputRequest, InputRequests, InputResponses};
use sterna_protocol::json::{JsonObject, RawJson};

use super::UpstreamCall;

/// Answers to the questions of a call so far. Each belongs to the fingerprint of the
/// exact question: a question that has changed is asked again.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct AnswerRecord {
    /// Fingerprints of the open questions, by their keys.
    #[serde(rename = "q")]
    asked: BTreeMap<String, String>,
    /// Fingerprints with their answers, in the order of the rounds.
    #[serde(rename = "a")]
    answered: Vec<(String, RawJson)>,
}

impl AnswerRecord {
    /// The same record when `questions` are open.
    pub(super) fn asking(&self, questions: &InputRequests) -> Self {
        let asked = questions.iter();
        Self {
            asked: asked
                .map(|(key, question)| (key.to_owned(), fingerprint(question)))
                .collect(),
            answered: self.answered.clone(),
        }
    }

    /// Notes the answers to the open questions.
    pub(super) fn note(&mut self, answers: &InputResponses) {
        for (key, question) in std::mem::take(&mut self.asked) {
            if let Some(answer) = answers.get(&key) {
                self.answered.push((question, answer.clone()));
            }
        }
    }

    /// Gives a paused call the recorded answers to its questions, and removes them
    /// from the record. Returns `true` if no question is left open.
    pub(super) fn answer<T: UpstreamCall>(&mut self, paused: &mut PausedCall<T>) -> bool {
        let open = super::older::open_questions(paused);
        for (key, question) in open.iter() {
            let question_print = fingerprint(question);
            let mut is_open = true;
            // An answer that did not fit was followed by another one to the same question.
            self.answered.retain(|(print, answer)| {
                if !is_open || *print != question_print {
                    return true;
                }
                let mut answers = JsonObject::new();
                answers.insert(key, answer.clone());
                let answers = InputResponses::from(answers);
                let response = question.response_in(&answers, key);
                let given = response.ok().flatten();
                is_open = given.is_none_or(|given| paused.answer(key, given).is_err());
                false
            });
        }
        paused.open().next().is_none()
    }
}

impl fmt::Debug for AnswerRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerRecord")
            .field("answered", &self.answered.len())
            .finish_non_exhaustive()
    }
}

/// Digest of a question, as its server wrote it.
fn fingerprint(question: &InputRequest) -> String {
    let written = serde_json::to_vec(question).expect("wire types have string keys only");
    let digest = digest(&SHA256, &written);
    let bytes = digest.as_ref()[..16].iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
