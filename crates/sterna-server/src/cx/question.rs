//! Questions as the flow carries them: opaque bytes out, opaque bytes in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::{BufMut, Bytes, BytesMut};
use serde::de::DeserializeOwned;
use sterna_flow::{Digest, Fingerprint, Pin, Rejected};
use sterna_protocol::elicitation::{ElicitContent, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::InputRequest;
use sterna_protocol::roots::{ListRootsResult, Root};
use sterna_protocol::sampling::CreateMessageResult;

use super::Refused;
use crate::form::Form;

/// A question whose good answer becomes a `T`.
pub(crate) struct Question<T> {
    request: InputRequest,
    /// The request as JSON, written when it is first needed.
    text: OnceLock<Vec<u8>>,
    reader: Reader<T>,
    has_fallback: Arc<AtomicBool>,
}

/// How an answer is read.
pub(super) enum Reader<T> {
    Form {
        form: Arc<Form>,
        key: String,
        read: ReadForm<T>,
    },
    /// An answer whose type says all, made a `T` by the function.
    Plain(fn(&[u8]) -> Read<T>),
}

type ReadForm<T> = fn(&Form, &str, &ElicitContent) -> serde_json::Result<T>;

/// An answer, a refusal, or nothing that answers the question.
type Read<T> = Result<Result<T, Refused>, Rejected>;

impl<T: DeserializeOwned> Reader<T> {
    /// Reads what was filled into `form`, shown under `key`.
    pub(super) fn form(form: Arc<Form>, key: &str) -> Self {
        Self::Form {
            form,
            key: key.to_owned(),
            read: Form::read,
        }
    }
}

impl Reader<bool> {
    pub(super) const CONFIRM: Self = Self::Plain(|answer| {
        let result: ElicitResult = decode(answer)?;
        Ok(match action(&result)? {
            Ok(()) => Ok(true),
            Err(Refused::Declined) => Ok(false),
            Err(refused) => Err(refused),
        })
    });
}

impl Reader<()> {
    pub(super) const VISIT: Self = Self::Plain(|answer| action(&decode(answer)?));
}

impl Reader<CreateMessageResult> {
    pub(super) const SAMPLE: Self = Self::Plain(|answer| decode(answer).map(Ok));
}

impl Reader<Vec<Root>> {
    pub(super) const ROOTS: Self = Self::Plain(|answer| {
        let result: ListRootsResult = decode(answer)?;
        // ROOT-B1
        match result
            .roots
            .iter()
            .all(|root| root.uri.starts_with("file://"))
        {
            true => Ok(Ok(result.roots)),
            false => Err(Rejected::new("a root is a file:// URI")),
        }
    });
}

impl<T> Question<T> {
    pub(super) fn new(request: InputRequest, reader: Reader<T>) -> Self {
        Self {
            request,
            text: OnceLock::new(),
            reader,
            has_fallback: Arc::default(),
        }
    }

    pub(super) fn fallback(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_fallback)
    }

    fn text(&self) -> &[u8] {
        self.text.get_or_init(|| text(&self.request))
    }
}

impl<T> sterna_flow::Question for Question<T> {
    type Answer = Result<T, Refused>;

    fn fingerprint(&self, pin: Pin, digest: &dyn Digest) -> Fingerprint {
        let method = self.request.method().as_bytes();
        // Our types write one value in one way, so their text will do.
        let schema = match (pin, &self.request) {
            (Pin::Schema, InputRequest::Elicit(request)) => match &request.params {
                ElicitRequestParams::Form(form) => text(&form.requested_schema),
                _ => Vec::new(),
            },
            (Pin::Schema, _) => Vec::new(),
            _ => return Fingerprint::of(digest, &[method, self.text()]),
        };
        Fingerprint::of(digest, &[method, &schema])
    }

    fn request(&self, rejected: Option<&str>) -> Bytes {
        let has_fallback = self.has_fallback.load(Ordering::Relaxed);
        match rejected {
            None => Envelope::write(has_fallback, self.text()),
            Some(reason) => {
                let mut request = self.request.clone();
                explain(&mut request, reason);
                Envelope::write(has_fallback, &text(&request))
            }
        }
    }

    fn read(&self, answer: &Bytes) -> Result<Self::Answer, Rejected> {
        if answer == CANNOT_ASK {
            return Ok(Err(Refused::CannotAsk));
        }
        match &self.reader {
            Reader::Plain(read) => read(answer),
            Reader::Form { form, key, read } => {
                let result: ElicitResult = decode(answer)?;
                if let Err(refused) = action(&result)? {
                    return Ok(Err(refused));
                }
                // ELICIT-S14: an answer is checked against what was shown.
                let content = form
                    .check(key, result.content.unwrap_or_default())
                    .map_err(Rejected::new)?;
                read(form, key, &content).map(Ok).map_err(Rejected::new)
            }
        }
    }
}

fn action(result: &ElicitResult) -> Read<()> {
    Refused::from_action(&result.action)
        .ok_or_else(|| Rejected::new("neither accepted nor declined nor cancelled"))
}

fn decode<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Rejected> {
    serde_json::from_slice(answer).map_err(|_| Rejected::new("this is no answer to what was asked"))
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
    *message = format!("{message}\n\nThe last answer was not accepted: {reason}.");
}

fn text(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("wire types have string keys only")
}

/// A request inside the flow: what goes to the client, after a mark that does
/// not.
pub(crate) struct Envelope {
    pub(crate) has_fallback: bool,
    pub(crate) request: InputRequest,
}

impl Envelope {
    fn write(has_fallback: bool, request: &[u8]) -> Bytes {
        let mut bytes = BytesMut::with_capacity(1 + request.len());
        bytes.put_u8(u8::from(has_fallback));
        bytes.put_slice(request);
        bytes.freeze()
    }

    /// Reads what `write` wrote in this very request.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (mark, request) = bytes.split_first()?;
        Some(Self {
            has_fallback: *mark == 1,
            request: serde_json::from_slice(request).ok()?,
        })
    }
}

/// The answer that the runner gives in place of a client that cannot be asked.
/// It is not JSON, so no client can send it.
pub(crate) const CANNOT_ASK: &[u8] = b"!";
