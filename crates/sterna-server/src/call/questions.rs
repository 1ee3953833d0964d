//! Questions that end a round, and their JSON.

use std::sync::Arc;

use sterna_form::Form;
use sterna_protocol::elicitation::ElicitRequestFormParams;
use sterna_protocol::input::{InputRequest, InputRequests, InputRequired, RequestState};

/// Content of a question on its way to the client.
pub(crate) enum QuestionContent {
    Form(FormQuestion),
    Whole(Box<InputRequest>),
}

/// Form of the program. Most are written straight from the text that their type
/// has.
pub(crate) struct FormQuestion {
    pub(crate) form: Arc<Form>,
    /// Name of the only field; empty if the form has names of its own.
    pub(crate) key: String,
    pub(crate) message: String,
}

impl FormQuestion {
    fn to_request(&self) -> InputRequest {
        let schema = self.form.schema(&self.key);
        InputRequest::elicit(ElicitRequestFormParams::new(&*self.message, schema))
    }

    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let Some(schema) = self.form.schema_text() else {
            return serde_json::to_writer(out, &self.to_request());
        };
        out.extend_from_slice(FORM_BEFORE);
        write_string(out, &self.message);
        out.extend_from_slice(SCHEMA_BEFORE);
        out.extend_from_slice(schema.as_bytes());
        out.extend_from_slice(FORM_AFTER);
        Ok(())
    }

    /// Bytes that are written if the message needs no escapes; `None` for a form
    /// that has no text of its own.
    fn size(&self) -> Option<usize> {
        let around = FORM_BEFORE.len() + 2 + SCHEMA_BEFORE.len() + FORM_AFTER.len();
        Some(around + self.message.len() + self.form.schema_text()?.len())
    }
}

const FORM_BEFORE: &[u8] = br#"{"method":"elicitation/create","params":{"mode":"form","message":"#;
const SCHEMA_BEFORE: &[u8] = br#","requestedSchema":"#;
const FORM_AFTER: &[u8] = b"}}";

impl QuestionContent {
    pub(crate) fn into_request(self) -> InputRequest {
        match self {
            Self::Form(question) => question.to_request(),
            Self::Whole(request) => *request,
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match self {
            Self::Form(question) => question.write(out),
            Self::Whole(request) => serde_json::to_writer(out, request),
        }
    }

    /// Bytes that are written, roughly unless it is a form without escapes.
    fn size(&self) -> usize {
        let size = match self {
            Self::Form(question) => question.size(),
            Self::Whole(_) => None,
        };
        size.unwrap_or(USUAL_SIZE)
    }
}

/// Bytes of most questions.
const USUAL_SIZE: usize = 512;

/// Questions of a round, in the order of their keys.
#[derive(Default)]
pub(crate) struct Questions(Vec<(String, QuestionContent)>);

impl Questions {
    /// Adds a question. Replaces an earlier one with the same key.
    pub(crate) fn insert(&mut self, key: &str, content: QuestionContent) {
        match self.0.binary_search_by(|(known, _)| (**known).cmp(key)) {
            Ok(at) => self.0[at].1 = content,
            Err(at) => {
                if self.0.is_empty() {
                    // Most rounds ask one question.
                    self.0.reserve_exact(1);
                }
                self.0.insert(at, (key.to_owned(), content));
            }
        }
    }
}

impl From<InputRequests> for Questions {
    fn from(requests: InputRequests) -> Self {
        let whole = |request| QuestionContent::Whole(Box::new(request));
        let requests = requests.into_iter();
        Self(
            requests
                .map(|(key, request)| (key, whole(request)))
                .collect(),
        )
    }
}

/// End of a round that a retry goes on from: its questions, and its sealed state.
pub(crate) struct AskedQuestions {
    questions: Questions,
    state: RequestState,
}

impl AskedQuestions {
    pub(crate) fn new(questions: Questions, state: RequestState) -> Self {
        Self { questions, state }
    }

    /// The result that it stands for.
    pub(crate) fn into_required(self) -> InputRequired {
        let questions = self.questions.0.into_iter();
        let requests = questions.map(|(key, content)| (key, content.into_request()));
        let required = InputRequired::new(requests.collect(), Some(self.state));
        let required = required.expect("there is a state");
        // Clients of the official Go SDK retry only if they see the member.
        required.spelling_out_none()
    }

    /// Returns `true` if nothing is asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.questions.0.is_empty()
    }

    /// The number of bytes that [`write_open`](Self::write_open) appends, exactly
    /// if all questions are forms and nothing needs escapes.
    pub(crate) fn size(&self) -> usize {
        let questions = self.questions.0.iter();
        let question = |(key, content): &(String, QuestionContent)| key.len() + 3 + content.size();
        let commas = self.questions.0.len().saturating_sub(1);
        let around = ASKED_BEFORE.len() + commas + STATE_BEFORE.len() + 2;
        around + questions.map(question).sum::<usize>() + self.state.as_str().len()
    }

    /// Appends the result as JSON, without its closing brace.
    pub(crate) fn write_open(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        out.extend_from_slice(ASKED_BEFORE);
        for (at, (key, content)) in self.questions.0.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(out, key);
            out.push(b':');
            content.write(out)?;
        }
        out.extend_from_slice(STATE_BEFORE);
        write_string(out, self.state.as_str());
        Ok(())
    }
}

const ASKED_BEFORE: &[u8] = br#"{"resultType":"input_required","inputRequests":{"#;
const STATE_BEFORE: &[u8] = br#"},"requestState":"#;

/// Appends `text` as a JSON string. Most need no escapes, and are copied.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    if !is_plain(text) {
        return serde_json::to_writer(out, text).expect("a text is JSON");
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Returns `true` if `text` needs no escapes in a JSON string.
fn is_plain(text: &str) -> bool {
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // No early exit, so that the loop vectorises.
    !text.bytes().fold(false, |any, byte| any | is_escaped(byte))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    struct Profile {
        /// "Quoted" \ name
        #[expect(dead_code, reason = "a form is made of it")]
        name: String,
        #[expect(dead_code, reason = "a form is made of it")]
        age: Option<u8>,
    }

    fn form<T: JsonSchema + 'static>(key: &str, message: &str) -> QuestionContent {
        let form = Form::known::<T>().unwrap();
        let key = if form.needs_key() { key } else { "" };
        QuestionContent::Form(FormQuestion {
            form,
            key: key.to_owned(),
            message: message.to_owned(),
        })
    }

    #[test]
    fn forms_without_escapes_have_their_exact_size() {
        for keys in [&["name"][..], &["a", "b", "third"]] {
            let mut questions = Questions::default();
            for key in keys {
                questions.insert(key, form::<Profile>(key, "Who is it?"));
            }
            let asked = AskedQuestions::new(questions, RequestState::new("s1.abc"));
            let mut written = Vec::new();
            asked.write_open(&mut written).unwrap();
            assert_eq!(written.len(), asked.size());
        }
    }

    #[test]
    fn a_string_is_written_as_the_general_writer_writes_it() {
        for character in ('\0'..='\u{100}').chain(['\u{2028}', '😀']) {
            for place in 0..20 {
                let text = format!("{}{character}b", "a".repeat(place));
                let mut written = Vec::new();
                write_string(&mut written, &text);
                assert_eq!(written, serde_json::to_vec(&text).unwrap(), "{text:?}");
            }
        }
    }

    /// Compares what is written straight with what the wire types write.
    #[track_caller]
    fn check(fill: impl Fn(&mut Questions), state: &str) {
        let asked = || {
            let mut questions = Questions::default();
            fill(&mut questions);
            AskedQuestions::new(questions, RequestState::new(state))
        };
        let mut written = Vec::new();
        asked().write_open(&mut written).unwrap();
        written.push(b'}');
        let required = asked().into_required();
        let expected = serde_json::to_string(&required).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), expected);
        let (requests, state) = required.into_parts();
        let again = AskedQuestions::new(requests.into(), state.unwrap());
        let mut written = Vec::new();
        again.write_open(&mut written).unwrap();
        written.push(b'}');
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn questions_are_written_as_the_wire_types_write_them() {
        check(|_| {}, "s1.nothing");
        check(
            |all| all.insert("p", form::<Profile>("p", "Who \"are\" you?\n\u{1f600}")),
            "s1.abc-_",
        );
        check(
            |all| {
                all.insert("z/\"", form::<Profile>("z", ""));
                all.insert("a", form::<String>("a", "One field"));
                let roots = InputRequest::list_roots();
                all.insert("m", QuestionContent::Whole(Box::new(roots)));
                all.insert("a", form::<bool>("a", "Another"));
            },
            "not \"plain\"",
        );
    }
}
