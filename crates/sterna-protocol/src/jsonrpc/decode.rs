//! One-pass decoder for well-formed messages.

use std::borrow::Cow;
use std::fmt;
use std::str;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::answer::Answer;
use super::body::{Absent, Object};
use super::depth::too_deep;
use super::dispatch::Dispatch;
use super::fault::DecodeError;
use super::member::{Member, Version};
use super::message::{ErrorResponse, Message, Notification, Request, ResultResponse};
use super::{ErrorObject, RequestId, recover};
use crate::json::Key;

pub(super) fn message<'a, R, N, A>(bytes: &'a [u8]) -> Result<Message<'a, R, N, A>, DecodeError>
where
    R: Dispatch<'a>,
    N: Dispatch<'a>,
    A: Answer<'a>,
{
    // TRANS-B1: one check of the whole text covers skipped parts, and no string
    // is checked again.
    let text = str::from_utf8(bytes).map_err(DecodeError::Utf8)?;
    one_pass(text).map_or_else(|| recover::message(text), Ok)
}

fn one_pass<'a, R, N, A>(text: &'a str) -> Option<Message<'a, R, N, A>>
where
    R: Dispatch<'a>,
    N: Dispatch<'a>,
    A: Answer<'a>,
{
    if too_deep(text.as_bytes()) {
        return None;
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let mut envelope = Envelope::default();
    json.deserialize_map(&mut envelope).ok()?;
    json.end().ok()?;
    envelope.into_message()
}

/// Members of an envelope, decoded in the order of the text.
///
/// They are filled in place. Parameters are large, and each level of serde that
/// returned them would copy them.
struct Envelope<'a, R, N, A> {
    version: Option<Version>,
    /// `Some(None)` is null.
    id: Option<Option<RequestId>>,
    method: Option<Cow<'a, str>>,
    params: Params<'a, R, N>,
    result: Option<A>,
    error: Option<ErrorObject>,
}

/// Parameters, decoded as far as the order of the members allows.
enum Params<'a, R, N> {
    Absent,
    Notification(N),
    Raw(&'a RawValue),
    Request(R),
}

impl<R, N, A> Default for Envelope<'_, R, N, A> {
    fn default() -> Self {
        Self {
            version: None,
            id: None,
            method: None,
            params: Params::Absent,
            result: None,
            error: None,
        }
    }
}

/// Decodes an envelope in one pass or fails without a reason. [`recover`] then
/// reads the message again and finds the reason.
impl<'a, R, N, A> Visitor<'a> for &mut Envelope<'a, R, N, A>
where
    R: Dispatch<'a>,
    N: Dispatch<'a>,
    A: Answer<'a>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(member) = map.next_key()? {
            match member {
                Member::Jsonrpc if self.version.is_none() => {
                    self.version = Some(map.next_value()?);
                }
                Member::Id if self.id.is_none() => self.id = Some(map.next_value()?),
                Member::Method if self.method.is_none() => {
                    self.method = Some(map.next_value::<Key<'a>>()?.into_cow());
                }
                Member::Params if matches!(self.params, Params::Absent) => {
                    let kind = match &self.method {
                        Some(method) => ParamsType::find(method, self.id.is_some()),
                        None => Some(ParamsType::Raw),
                    };
                    let kind = kind.ok_or_else(give_up)?;
                    let params = &mut self.params;
                    map.next_value_seed(ParamsSeed { kind, params })?;
                }
                Member::Result if self.result.is_none() => {
                    map.next_value_seed(ResultSeed(&mut self.result))?;
                }
                Member::Error if self.error.is_none() => self.error = Some(map.next_value()?),
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => return Err(give_up()),
            }
        }
        Ok(())
    }
}

impl<'a, R: Dispatch<'a>, N: Dispatch<'a>, A> Envelope<'a, R, N, A> {
    fn into_message(self) -> Option<Message<'a, R, N, A>> {
        self.version?;
        match (self.method, self.id, self.result, self.error) {
            (Some(method), Some(Some(id)), None, None) => {
                let params = self.params.into_request(&method)?;
                Some(Message::Request(Request::new(id, method, params)))
            }
            (Some(method), None, None, None) => {
                let params = self.params.into_notification(&method)?;
                Some(Message::Notification(Notification::new(method, params)))
            }
            (None, Some(Some(id)), Some(result), None) if self.params.is_absent() => {
                Some(Message::Result(ResultResponse::new(id, result)))
            }
            (None, id, None, Some(error)) if self.params.is_absent() => {
                Some(Message::Error(ErrorResponse::new(id.flatten(), error)))
            }
            _ => None,
        }
    }
}

impl<'a, R: Dispatch<'a>, N: Dispatch<'a>> Params<'a, R, N> {
    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    fn into_request(self, method: &str) -> Option<R> {
        match self {
            Self::Request(params) => Some(params),
            Self::Raw(raw) => decode(method, Object(raw)),
            Self::Absent => decode(method, Absent::<de::value::Error>::new()),
            Self::Notification(_) => None,
        }
    }

    fn into_notification(self, method: &str) -> Option<N> {
        match self {
            Self::Notification(params) => Some(params),
            Self::Raw(raw) => decode(method, Object(raw)),
            Self::Absent => decode(method, Absent::<de::value::Error>::new()),
            Self::Request(_) => None,
        }
    }
}

fn decode<'a, P: Dispatch<'a>>(method: &str, body: impl Deserializer<'a>) -> Option<P> {
    P::decode(P::find(method)?, body).ok()
}

/// Type to decode parameters as, once the method is known.
enum ParamsType<'a, R: Dispatch<'a>, N: Dispatch<'a>> {
    Notification(N::Tag),
    Raw,
    Request(R::Tag),
}

impl<'a, R: Dispatch<'a>, N: Dispatch<'a>> ParamsType<'a, R, N> {
    fn find(method: &str, id_met: bool) -> Option<Self> {
        if id_met {
            return R::find(method).map(Self::Request);
        }
        match (R::find(method), N::find(method)) {
            // An id may still follow and decide.
            (Some(_), Some(_)) => Some(Self::Raw),
            (Some(tag), None) => Some(Self::Request(tag)),
            (None, Some(tag)) => Some(Self::Notification(tag)),
            (None, None) => None,
        }
    }
}

struct ParamsSeed<'s, 'a, R: Dispatch<'a>, N: Dispatch<'a>> {
    kind: ParamsType<'a, R, N>,
    params: &'s mut Params<'a, R, N>,
}

impl<'a, R: Dispatch<'a>, N: Dispatch<'a>> DeserializeSeed<'a> for ParamsSeed<'_, 'a, R, N> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, body: D) -> Result<(), D::Error> {
        *self.params = match self.kind {
            ParamsType::Notification(tag) => Params::Notification(N::decode(tag, Object(body))?),
            ParamsType::Raw => Params::Raw(Deserialize::deserialize(body)?),
            ParamsType::Request(tag) => Params::Request(R::decode(tag, Object(body))?),
        };
        Ok(())
    }
}

struct ResultSeed<'s, A>(&'s mut Option<A>);

impl<'a, A: Answer<'a>> DeserializeSeed<'a> for ResultSeed<'_, A> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, body: D) -> Result<(), D::Error> {
        *self.0 = Some(A::read(Object(body))?);
        Ok(())
    }
}

/// Error without a reason; [`recover`] finds it.
fn give_up<E: de::Error>() -> E {
    E::custom("not a message")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_assert_eq, proptest};
    use proptest::sample;

    use super::*;
    use crate::jsonrpc::Nothing;

    type Raw<'a> = Message<'a>;
    type Deaf<'a> = Message<'a, Nothing, Option<&'a RawValue>, IgnoredAny>;

    const GOOD: &[&[&str]] = &[
        &[
            r#""jsonrpc":"2.0""#,
            r#""id":1"#,
            r#""method":"m""#,
            r#""params":{}"#,
        ],
        &[
            r#""jsonrpc":"2.0""#,
            r#""method":"m""#,
            r#""params":{}"#,
            r#""other":[]"#,
        ],
        &[r#""jsonrpc":"2.0""#, r#""id":"a""#, r#""result":{}"#],
        &[
            r#""jsonrpc":"2.0""#,
            r#""id":null"#,
            r#""error":{"code":1,"message":""}"#,
        ],
    ];

    const ANY: &[&str] = &[
        r#""jsonrpc":"2.0""#,
        r#""jsonrpc":"2.0""#,
        r#""jsonrpc":"1.0""#,
        r#""id":1"#,
        r#""id":"a""#,
        r#""id":null"#,
        r#""id":1.5"#,
        r#""method":"m""#,
        r#""method":"m""#,
        r#""method":null"#,
        r#""params":{}"#,
        r#""params":{}"#,
        r#""params":[]"#,
        r#""result":{}"#,
        r#""result":{}"#,
        r#""result":[]"#,
        r#""error":{"code":1,"message":""}"#,
        r#""error":{"code":1,"message":""}"#,
        r#""error":null"#,
        r#""other":{"id":2}"#,
    ];

    fn object(members: &[&str]) -> String {
        format!("{{{}}}", members.join(","))
    }

    proptest! {
        #[test]
        fn good_input_needs_one_pass_in_any_order(
            members in sample::select(GOOD).prop_flat_map(|m| Just(m.to_vec()).prop_shuffle()),
        ) {
            let text = object(&members);
            prop_assert_eq!(one_pass::<_, _, _>(&text).map(|_: Raw<'_>| ()), Some(()), "{}", text);
        }

        #[test]
        fn both_readers_accept_the_same(
            members in sample::subsequence(ANY, 0..=8).prop_shuffle(),
        ) {
            let text = object(&members);
            let fast: Option<Raw<'_>> = one_pass(&text);
            let slow: Result<Raw<'_>, _> = recover::message(&text);
            prop_assert_eq!(format!("{fast:?}"), format!("{:?}", slow.ok()), "{}", text);
            let fast: Option<Deaf<'_>> = one_pass(&text);
            let slow: Result<Deaf<'_>, _> = recover::message(&text);
            prop_assert_eq!(format!("{fast:?}"), format!("{:?}", slow.ok()), "{}", text);
        }
    }
}
