//! Questions as the flow knows them.

use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use sterna_flow::{Digest, Fingerprint, Pin, Rejected};
use sterna_form::Form;
use sterna_protocol::elicitation::{ElicitContent, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::mismatch;
use sterna_protocol::roots::{ListRootsResult, Root};
use sterna_protocol::sampling::CreateMessageResult;

use super::AskError;
use crate::call::{FormQuestion, PendingQuestion, QuestionContent, Request};

/// A question whose good answer becomes a `T`.
pub(crate) struct Question<T> {
    subject: Subject<T>,
    /// `true` if the handler can go on when the client cannot be asked.
    pub(super) has_fallback: bool,
    /// Of the handler that asks.
    request: Request,
}

/// Content of a question, and the reader of its answer.
pub(super) enum Subject<T> {
    /// A form of the program, which is put together when it is sent: in a
    /// replay that is never.
    Form {
        form: Arc<Form>,
        /// Empty if the form has names of its own.
        key: String,
        message: String,
        read: ReadForm<T>,
        read_accepted: ReadAccepted<T>,
    },
    /// Anything else; the type of its answer says all.
    Whole(Box<InputRequest>, ReadAnswer<T>),
}

type ReadForm<T> = fn(&Form, &str, &ElicitContent) -> serde_json::Result<T>;
type ReadAccepted<T> = fn(&Form, &str, &str) -> Option<T>;
type ReadAnswer<T> = fn(&[u8]) -> Read<T>;

/// An answer, a refusal, or nothing that answers the question.
type Read<T> = Result<Result<T, AskError>, Rejected>;

impl<T: DeserializeOwned> Subject<T> {
    /// Shows `form` under `key` and reads what is filled in.
    pub(super) fn form(form: Arc<Form>, key: &str, message: String) -> Self {
        let key = if form.needs_key() { key } else { "" };
        Self::Form {
            key: key.to_owned(),
            form,
            message,
            read: Form::read,
            read_accepted: Form::read_accepted,
        }
    }
}

impl<T> Subject<T> {
    pub(super) fn whole(request: InputRequest, read: ReadAnswer<T>) -> Self {
        Self::Whole(Box::new(request), read)
    }

    /// Returns the fingerprint that identifies the question.
    fn fingerprint(&self, pin: Pin, digest: &dyn Digest) -> Fingerprint {
        match self {
            Self::Form {
                form, key, message, ..
            } => {
                let message = match pin {
                    Pin::Schema => "",
                    _ => message,
                };
                let parts: [&[u8]; 3] = [form.digest(), message.as_bytes(), key.as_bytes()];
                // Where the form says all, nothing more is hashed.
                let count = if form.needs_key() { 3 } else { 2 };
                Fingerprint::of(digest, &parts[..count])
            }
            Self::Whole(request, _) => {
                // Our types write one value in one way, so their text will do.
                let text = match (pin, &**request) {
                    (Pin::Schema, InputRequest::Elicit(request)) => match &request.params {
                        ElicitRequestParams::Form(form) => text(&form.requested_schema),
                        _ => Vec::new(),
                    },
                    (Pin::Schema, _) => Vec::new(),
                    _ => text(&**request),
                };
                Fingerprint::of(digest, &[request.method().as_bytes(), &text])
            }
        }
    }

    /// The question as it is sent; `rejected` is the reason for which the last
    /// answer was refused.
    fn content(&self, rejected: Option<&str>) -> QuestionContent {
        match self {
            Self::Whole(request, _) => {
                let mut request = request.clone();
                if let Some(reason) = rejected {
                    explain(&mut request, reason);
                }
                QuestionContent::Whole(request)
            }
            Self::Form {
                form, key, message, ..
            } => QuestionContent::Form(FormQuestion {
                form: Arc::clone(form),
                key: key.clone(),
                message: match rejected {
                    None => message.clone(),
                    Some(reason) => explained(message, reason),
                },
            }),
        }
    }
}

pub(super) fn confirmed(answer: &[u8]) -> Read<bool> {
    let result: ElicitResult = decode(answer)?;
    Ok(match action(&result)? {
        Ok(()) => Ok(true),
        Err(AskError::Declined) => Ok(false),
        Err(refused) => Err(refused),
    })
}

pub(super) fn visited(answer: &[u8]) -> Read<()> {
    action(&decode(answer)?)
}

pub(super) fn sampled(answer: &[u8]) -> Read<CreateMessageResult> {
    decode(answer).map(Ok)
}

pub(super) fn listed(answer: &[u8]) -> Read<Vec<Root>> {
    let result: ListRootsResult = decode(answer)?;
    // ROOT-B1
    match result
        .roots
        .iter()
        .all(|root| root.uri.starts_with("file://"))
    {
        true => Ok(Ok(result.roots)),
        false => Err(Rejected::new("every root must be a `file://` URI")),
    }
}

impl<T> Question<T> {
    pub(super) fn new(subject: Subject<T>, request: Request) -> Self {
        Self {
            subject,
            has_fallback: false,
            request,
        }
    }
}

impl<T> sterna_flow::Question for Question<T> {
    type Answer = Result<T, AskError>;

    fn fingerprint(&self, pin: Pin, digest: &dyn Digest) -> Fingerprint {
        self.subject.fingerprint(pin, digest)
    }

    fn request(&self, rejected: Option<&str>) -> Bytes {
        self.request.pending_questions().put(PendingQuestion {
            content: self.subject.content(rejected),
            has_fallback: self.has_fallback,
        })
    }

    fn read(&self, answer: &Bytes) -> Result<Self::Answer, Rejected> {
        if answer == CANNOT_ASK {
            return Ok(Err(AskError::CannotAsk));
        }
        match &self.subject {
            Subject::Whole(_, read) => read(answer),
            Subject::Form {
                form,
                key,
                read,
                read_accepted,
                ..
            } => {
                let text = text_of(answer)?;
                if let Some(value) = read_accepted(form, key, text) {
                    return Ok(Ok(value));
                }
                let result: ElicitResult = decode_text(text)?;
                if let Err(refused) = action(&result)? {
                    return Ok(Err(refused));
                }
                // ELICIT-S14: an answer is checked against what was shown.
                let content = form
                    .check(key, result.content.unwrap_or_default())
                    .map_err(Rejected::new)?;
                read(form, key, &content)
                    .map(Ok)
                    .map_err(|error| Rejected::new(mismatch(&error)))
            }
        }
    }
}

fn action(result: &ElicitResult) -> Read<()> {
    AskError::from_action(&result.action)
        .ok_or_else(|| Rejected::new("`action` must be `accept`, `decline` or `cancel`"))
}

fn decode<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Rejected> {
    decode_text(text_of(answer)?)
}

/// Returns the text of an answer. Whether it is text is found out once, and not
/// for each string in it.
fn text_of(answer: &[u8]) -> Result<&str, Rejected> {
    std::str::from_utf8(answer).map_err(|_| of_another_kind())
}

fn decode_text<T: DeserializeOwned>(text: &str) -> Result<T, Rejected> {
    serde_json::from_str(text).map_err(|_| of_another_kind())
}

fn of_another_kind() -> Rejected {
    Rejected::new("it is not of the kind that was asked for")
}

fn explain(request: &mut InputRequest, reason: &str) {
    let InputRequest::Elicit(request) = request else {
        return;
    };
    let message = match &mut request.params {
        ElicitRequestParams::Form(params) => &mut params.message,
        ElicitRequestParams::Url(params) => &mut params.message,
        _ => return,
    };
    *message = explained(message, reason);
}

fn explained(message: &str, reason: &str) -> String {
    format!("{message}\n\nThe last answer was not accepted: {reason}.")
}

fn text(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("wire types have string keys only")
}

/// The answer that the runner gives in place of a client that cannot be asked.
/// It is not JSON, so no client can send it.
pub(crate) const CANNOT_ASK: &[u8] = b"!";

#[cfg(test)]
mod tests {
    use ring::digest::{SHA256, digest};
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    struct Profile {
        #[expect(dead_code, reason = "a form is made of it")]
        name: String,
    }

    fn fingerprint<T>(key: &str, message: &str, pin: Pin) -> Fingerprint
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        let sha256 = |parts: &[&[u8]]| -> [u8; 32] {
            let hash = digest(&SHA256, &parts.concat());
            hash.as_ref().try_into().unwrap()
        };
        let form = Form::known::<T>().unwrap();
        let subject = Subject::<T>::form(form, key, message.to_owned());
        subject.fingerprint(pin, &sha256)
    }

    #[test]
    fn a_key_counts_where_it_names_the_only_field() {
        let shown = |key| fingerprint::<Profile>(key, "?", Pin::Exact);
        assert_eq!(shown("a"), shown("b"));
        let shown = |key| fingerprint::<String>(key, "?", Pin::Exact);
        assert_ne!(shown("a"), shown("b"));
    }

    #[test]
    fn words_count_unless_the_schema_is_pinned() {
        let words = |message| fingerprint::<Profile>("a", message, Pin::Exact);
        assert_ne!(words("?"), words("!"));
        let schema = |message| fingerprint::<Profile>("a", message, Pin::Schema);
        assert_eq!(schema("?"), schema("!"));
    }
}
