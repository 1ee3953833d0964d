//! Decoder for malformed messages: finds the reason and the id of the request.
//!
//! Speed does not matter here. All members of the envelope are read before they
//! are judged, so the id is known even if another member is wrong.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::answer::{Answer, result_type};
use super::body::{Absent, Object};
use super::depth::too_deep;
use super::dispatch::Dispatch;
use super::fault::{DecodeError, Fault};
use super::member::{Member, Version};
use super::message::{ErrorResponse, Message, Notification, Request, ResultResponse};
use super::{ErrorObject, RequestId};
use crate::json::Key;

pub(super) fn message<'a, R, N, A>(text: &'a str) -> Result<Message<'a, R, N, A>, DecodeError>
where
    R: Dispatch<'a>,
    N: Dispatch<'a>,
    A: Answer<'a>,
{
    // The grammar first: an id in text that is not JSON cannot be trusted.
    serde_json::from_str::<IgnoredAny>(text).map_err(DecodeError::Syntax)?;
    match text.trim_start().as_bytes().first() {
        Some(b'{') => {}
        Some(b'[') => return Err(DecodeError::Batch),
        _ => {
            let (id, fault) = (None, Fault::NotAnObject);
            return Err(DecodeError::Invalid { id, fault });
        }
    }
    let parts: RawEnvelope<'a> = serde_json::from_str(text).map_err(DecodeError::Syntax)?;
    let id = parts.id();
    let shape = if too_deep(text.as_bytes()) {
        Err(Fault::TooDeep)
    } else {
        parts.shape(id.as_ref())
    };
    match shape {
        Ok(WellFormed::Request(id, method)) => {
            let params = decode(Some(&id), &method, parts.params)?;
            Ok(Message::Request(Request::new(id, method, params)))
        }
        Ok(WellFormed::Notification(method)) => {
            let params = decode(None, &method, parts.params)?;
            Ok(Message::Notification(Notification::new(method, params)))
        }
        Ok(WellFormed::Result(id, result)) => {
            let result = self::result(&id, result)?;
            Ok(Message::Result(ResultResponse::new(id, result)))
        }
        Ok(WellFormed::Error(error)) => Ok(Message::Error(ErrorResponse::new(id, error))),
        Err(fault) if parts.is_response() => Err(DecodeError::InvalidResponse { id, fault }),
        Err(fault) => Err(DecodeError::Invalid { id, fault }),
    }
}

fn decode<'a, P: Dispatch<'a>>(
    id: Option<&RequestId>,
    method: &str,
    params: Option<&'a RawValue>,
) -> Result<P, DecodeError> {
    let Some(tag) = P::find(method) else {
        return Err(DecodeError::UnknownMethod {
            id: id.cloned(),
            method: method.to_owned(),
        });
    };
    let decoded = match params {
        Some(params) => P::decode(tag, Object(params)),
        None => P::decode(tag, Absent::new()),
    };
    decoded.map_err(|source| DecodeError::InvalidParams {
        id: id.cloned(),
        method: method.to_owned(),
        source,
    })
}

fn result<'a, A: Answer<'a>>(id: &RequestId, result: &'a RawValue) -> Result<A, DecodeError> {
    A::read(Object(result)).map_err(|source| match result_type(result) {
        // BASE-C2: reported separately from a malformed result.
        Some(name) if !A::knows(&name) => DecodeError::UnknownResultType {
            id: id.clone(),
            result_type: name.into_owned(),
        },
        _ => DecodeError::InvalidResult {
            id: id.clone(),
            source,
        },
    })
}

/// Members of an envelope as raw text.
#[derive(Default)]
struct RawEnvelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    duplicate: Option<Member>,
}

/// Well-formed envelope.
enum WellFormed<'a> {
    Request(RequestId, Cow<'a, str>),
    Notification(Cow<'a, str>),
    Result(RequestId, &'a RawValue),
    Error(ErrorObject),
}

impl<'a> RawEnvelope<'a> {
    /// The id, if there is exactly one.
    fn id(&self) -> Option<RequestId> {
        let id = self.id.filter(|_| self.duplicate != Some(Member::Id))?;
        read(id)
    }

    fn is_response(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }

    fn shape(&self, id: Option<&RequestId>) -> Result<WellFormed<'a>, Fault> {
        if let Some(member) = self.duplicate {
            return Err(Fault::Duplicate(member.name()));
        }
        self.jsonrpc
            .and_then(read::<Version>)
            .ok_or(Fault::Version)?;
        let null = self.id.is_some_and(|id| id.get() == "null");
        if self.id.is_some() && id.is_none() && !null {
            return Err(Fault::Id);
        }
        match (self.method, self.params, self.result, self.error) {
            (Some(method), _, None, None) => {
                let method = read::<Key<'a>>(method).ok_or(Fault::Method)?.into_cow();
                match id {
                    Some(id) => Ok(WellFormed::Request(id.clone(), method)),
                    None if null => Err(Fault::Id),
                    None => Ok(WellFormed::Notification(method)),
                }
            }
            (None, None, Some(result), None) => {
                let id = id.ok_or(Fault::Id)?;
                Ok(WellFormed::Result(id.clone(), result))
            }
            (None, None, None, Some(error)) => {
                read(error).map(WellFormed::Error).ok_or(Fault::Error)
            }
            (None, _, None, None) => Err(Fault::Empty),
            _ => Err(Fault::Ambiguous),
        }
    }

    fn slot(&mut self, member: Member) -> Option<&mut Option<&'a RawValue>> {
        match member {
            Member::Jsonrpc => Some(&mut self.jsonrpc),
            Member::Id => Some(&mut self.id),
            Member::Method => Some(&mut self.method),
            Member::Params => Some(&mut self.params),
            Member::Result => Some(&mut self.result),
            Member::Error => Some(&mut self.error),
            Member::Other => None,
        }
    }
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

impl<'de> Deserialize<'de> for RawEnvelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RawEnvelopeVisitor)
    }
}

struct RawEnvelopeVisitor;

impl<'de> Visitor<'de> for RawEnvelopeVisitor {
    type Value = RawEnvelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RawEnvelope<'de>, M::Error> {
        let mut parts = RawEnvelope::default();
        while let Some((member, value)) = map.next_entry::<Member, &'de RawValue>()? {
            if let Some(slot) = parts.slot(member)
                && slot.replace(value).is_some()
            {
                // A repeated id matters most: neither of the two can be trusted.
                if parts.duplicate.is_none() || member == Member::Id {
                    parts.duplicate = Some(member);
                }
            }
        }
        Ok(parts)
    }
}
