//! The fast reader: one pass over input that is as it should be.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
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
use super::text::Text;
use super::{ErrorObject, RequestId, recover};

pub(super) fn message<'a, R, N, A>(bytes: &'a [u8]) -> Result<Message<'a, R, N, A>, DecodeError>
where
    R: Dispatch<'a>,
    N: Dispatch<'a>,
    A: Answer<'a>,
{
    // Checked once for the whole text, so that no string is checked again and
    // nothing that is skipped escapes the check.
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
    let message = json.deserialize_map(Envelope(PhantomData)).ok()?;
    json.end().ok()?;
    Some(message)
}

/// Reads an envelope in one pass or gives up without saying why: whatever it
/// refuses is read again by [`recover`], which decides.
struct Envelope<R, N, A>(PhantomData<(R, N, A)>);

impl<'a, R, N, A> Visitor<'a> for Envelope<R, N, A>
where
    R: Dispatch<'a>,
    N: Dispatch<'a>,
    A: Answer<'a>,
{
    type Value = Message<'a, R, N, A>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut version = None;
        let mut id: Option<Option<RequestId>> = None;
        let mut method: Option<Cow<'a, str>> = None;
        let mut params = Params::Absent;
        let mut result: Option<A> = None;
        let mut error: Option<ErrorObject> = None;
        while let Some(member) = map.next_key()? {
            match member {
                Member::Jsonrpc if version.is_none() => {
                    version = Some(map.next_value::<Version>()?);
                }
                Member::Id if id.is_none() => id = Some(map.next_value()?),
                Member::Method if method.is_none() => {
                    method = Some(map.next_value::<Text<'a>>()?.0);
                }
                Member::Params if matches!(params, Params::Absent) => {
                    params = match &method {
                        Some(method) => {
                            let seed = ParamsSeed::find(method, id.is_some());
                            map.next_value_seed(seed.ok_or_else(give_up)?)?
                        }
                        None => Params::Raw(map.next_value()?),
                    }
                }
                Member::Result if result.is_none() => {
                    result = Some(map.next_value_seed(ResultSeed(PhantomData))?);
                }
                Member::Error if error.is_none() => error = Some(map.next_value()?),
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => return Err(give_up()),
            }
        }
        if version.is_none() {
            return Err(give_up());
        }
        match (method, id, result, error, params) {
            (Some(method), Some(Some(id)), None, None, params) => {
                let params = params.into_request(&method)?;
                Ok(Message::Request(Request::new(id, method, params)))
            }
            (Some(method), None, None, None, params) => {
                let params = params.into_notification(&method)?;
                Ok(Message::Notification(Notification::new(method, params)))
            }
            (None, Some(Some(id)), Some(result), None, Params::Absent) => {
                Ok(Message::Result(ResultResponse::new(id, result)))
            }
            (None, id, None, Some(error), Params::Absent) => {
                Ok(Message::Error(ErrorResponse::new(id.flatten(), error)))
            }
            _ => Err(give_up()),
        }
    }
}

/// Parameters in the state that the order of the members allowed.
enum Params<'a, R, N> {
    Absent,
    Notification(N),
    Raw(&'a RawValue),
    Request(R),
}

impl<'a, R: Dispatch<'a>, N: Dispatch<'a>> Params<'a, R, N> {
    fn into_request<E: de::Error>(self, method: &str) -> Result<R, E> {
        match self {
            Self::Request(params) => Ok(params),
            Self::Raw(raw) => decode(method, Object(raw)).map_err(E::custom),
            Self::Absent => decode(method, Absent::new()),
            Self::Notification(_) => Err(give_up()),
        }
    }

    fn into_notification<E: de::Error>(self, method: &str) -> Result<N, E> {
        match self {
            Self::Notification(params) => Ok(params),
            Self::Raw(raw) => decode(method, Object(raw)).map_err(E::custom),
            Self::Absent => decode(method, Absent::new()),
            Self::Request(_) => Err(give_up()),
        }
    }
}

fn decode<'a, P: Dispatch<'a>, D: Deserializer<'a>>(method: &str, body: D) -> Result<P, D::Error> {
    let tag = P::find(method).ok_or_else(give_up)?;
    P::decode(tag, body)
}

/// What to decode parameters as, once the method is known.
enum ParamsSeed<'a, R: Dispatch<'a>, N: Dispatch<'a>> {
    Notification(N::Tag),
    Raw,
    Request(R::Tag),
}

impl<'a, R: Dispatch<'a>, N: Dispatch<'a>> ParamsSeed<'a, R, N> {
    fn find(method: &str, id_met: bool) -> Option<Self> {
        if id_met {
            return R::find(method).map(Self::Request);
        }
        match (R::find(method), N::find(method)) {
            // An id may still come and decide.
            (Some(_), Some(_)) => Some(Self::Raw),
            (Some(tag), None) => Some(Self::Request(tag)),
            (None, Some(tag)) => Some(Self::Notification(tag)),
            (None, None) => None,
        }
    }
}

impl<'a, R: Dispatch<'a>, N: Dispatch<'a>> DeserializeSeed<'a> for ParamsSeed<'a, R, N> {
    type Value = Params<'a, R, N>;

    fn deserialize<D: Deserializer<'a>>(self, body: D) -> Result<Self::Value, D::Error> {
        match self {
            Self::Notification(tag) => N::decode(tag, Object(body)).map(Params::Notification),
            Self::Raw => Deserialize::deserialize(body).map(Params::Raw),
            Self::Request(tag) => R::decode(tag, Object(body)).map(Params::Request),
        }
    }
}

/// Decodes a result as the answer that is waited for.
struct ResultSeed<A>(PhantomData<A>);

impl<'a, A: Answer<'a>> DeserializeSeed<'a> for ResultSeed<A> {
    type Value = A;

    fn deserialize<D: Deserializer<'a>>(self, body: D) -> Result<A, D::Error> {
        A::read(Object(body))
    }
}

/// The reason is found by [`recover`], so this one is never seen.
fn give_up<E: de::Error>() -> E {
    E::custom("not a message")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::{Just, Strategy, prop_assert_eq, proptest};
    use proptest::sample;

    use super::*;

    type Raw<'a> = Message<'a>;
    type Deaf<'a> = Message<'a, Infallible, Option<&'a RawValue>, IgnoredAny>;

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
