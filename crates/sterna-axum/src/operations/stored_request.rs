//! The request of an operation as its task keeps it. Frozen: other builds read
//! it.

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use serde::{Deserialize, Serialize};
use sterna_runner::tasks::Unreadable;
use sterna_seal::Principal;

/// Request of an operation: all that a worker needs besides the journal.
#[derive(Clone, Debug)]
pub(crate) struct StoredRequest {
    pub(crate) head: StoredHead,
    pub(crate) body: Bytes,
}

/// Everything of a stored request but its body.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StoredHead {
    /// Build that accepted the request.
    pub(crate) build: [u8; 8],
    /// Version of the handler's state.
    pub(crate) version: u32,
    caller: Option<StoredCaller>,
    method: String,
    /// Address as it was requested.
    uri: String,
    /// Address as the handler sees it, if a nested router made it another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nested_uri: Option<String>,
    /// Route with its parameters unfilled; `None` for a fallback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) route: Option<String>,
    /// Header fields. A byte is the character of its number.
    headers: Vec<(String, String)>,
    /// Answers that came with the request, and the fingerprints of their
    /// questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<StoredAnswer>,
}

/// Answer to a question that an earlier round asked.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StoredAnswer {
    pub(crate) key: String,
    pub(crate) fingerprint: [u8; 16],
    /// JSON of the answer.
    pub(crate) answer: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct StoredCaller {
    issuer: String,
    subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<String>,
}

/// Request that is to be stored.
pub(crate) struct RequestParts<'a> {
    pub(crate) build: [u8; 8],
    pub(crate) version: u32,
    pub(crate) caller: &'a Principal,
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) nested_uri: &'a Uri,
    pub(crate) route: Option<&'a str>,
    pub(crate) headers: &'a HeaderMap,
    /// Credentials that are kept all the same.
    pub(crate) kept_headers: &'a [HeaderName],
    pub(crate) answers: Vec<StoredAnswer>,
    pub(crate) body: Bytes,
}

impl StoredRequest {
    /// Takes what is kept of a request. Credentials are left out.
    pub(crate) fn new(parts: RequestParts<'_>) -> Self {
        let caller = match (parts.caller.issuer(), parts.caller.subject()) {
            (Some(issuer), Some(subject)) => Some(StoredCaller {
                issuer: issuer.to_owned(),
                subject: subject.to_owned(),
                client: parts.caller.client().map(str::to_owned),
            }),
            _ => None,
        };
        let is_kept = |name: &HeaderName, value: &HeaderValue| {
            let is_secret = CREDENTIALS.contains(&name.as_str()) || value.is_sensitive();
            !is_secret || parts.kept_headers.contains(name)
        };
        let headers = parts.headers.iter();
        let headers = headers
            .filter(|(name, value)| is_kept(name, value))
            .map(|(name, value)| {
                let value = value.as_bytes().iter().map(|byte| char::from(*byte));
                (name.as_str().to_owned(), value.collect())
            });
        let head = StoredHead {
            build: parts.build,
            version: parts.version,
            caller,
            method: parts.method.as_str().to_owned(),
            uri: parts.uri.to_string(),
            nested_uri: (parts.nested_uri != parts.uri).then(|| parts.nested_uri.to_string()),
            route: parts.route.map(str::to_owned),
            headers: headers.collect(),
            answers: parts.answers,
        };
        Self {
            head,
            body: parts.body,
        }
    }

    pub(crate) fn write(&self) -> Bytes {
        let head = serde_json::to_vec(&self.head).expect("a head has string keys only");
        let mut bytes = Vec::with_capacity(5 + head.len() + self.body.len());
        bytes.push(VERSION);
        // A head is far below 4 GiB: hyper reads at most a few hundred KiB.
        bytes.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&self.body);
        bytes.into()
    }

    /// Reads the request that any build of this version wrote.
    pub(crate) fn read(mut bytes: Bytes) -> Result<Self, Unreadable> {
        match bytes.try_get_u8() {
            Ok(VERSION) => {}
            Ok(version) if version > VERSION => return Err(Unreadable::Newer),
            _ => return Err(Unreadable::Damaged),
        }
        let damaged = |_| Unreadable::Damaged;
        let length = bytes.try_get_u32().map_err(|_| Unreadable::Damaged)?;
        let length = usize::try_from(length).map_err(|_| Unreadable::Damaged)?;
        if length > bytes.len() {
            return Err(Unreadable::Damaged);
        }
        let head = bytes.split_to(length);
        let head = serde_json::from_slice(&head).map_err(damaged)?;
        Ok(Self { head, body: bytes })
    }
}

impl StoredHead {
    /// Returns the caller who began the operation.
    pub(crate) fn caller(&self) -> Principal {
        let Some(caller) = &self.caller else {
            return Principal::anonymous();
        };
        let principal = Principal::named(&caller.issuer, &caller.subject);
        match &caller.client {
            Some(client) => principal.through(client),
            None => principal,
        }
    }

    /// Returns the method, the address as it was requested, and that which the
    /// handler sees; `None` if one of them is none.
    pub(super) fn line(&self) -> Option<(Method, Uri, Uri)> {
        let method = self.method.parse().ok()?;
        let uri: Uri = self.uri.parse().ok()?;
        let nested = match &self.nested_uri {
            Some(nested) => nested.parse().ok()?,
            None => uri.clone(),
        };
        Some((method, uri, nested))
    }

    /// Returns the header fields; `None` if one of them is none.
    pub(super) fn headers(&self) -> Option<HeaderMap> {
        let mut headers = HeaderMap::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let bytes = value.chars().map(u8::try_from);
            let bytes: Vec<u8> = bytes.collect::<Result<_, _>>().ok()?;
            let value = HeaderValue::from_bytes(&bytes).ok()?;
            headers.append(HeaderName::try_from(name).ok()?, value);
        }
        Some(headers)
    }
}

/// Header fields that a store must not get to know.
const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn stored(kept_headers: &[HeaderName]) -> StoredRequest {
        let mut headers = HeaderMap::new();
        let latin = HeaderValue::from_bytes(b"caf\xe9").unwrap();
        headers.insert("x-place", latin);
        headers.insert("authorization", HeaderValue::from_static("Bearer secret"));
        let mut token = HeaderValue::from_static("secret");
        token.set_sensitive(true);
        headers.insert("x-token", token);
        StoredRequest::new(RequestParts {
            build: [7; 8],
            version: 3,
            caller: &Principal::named("shop", "ada").through("app"),
            method: &Method::POST,
            uri: &Uri::from_static("/v1/orders/7?dry=1"),
            nested_uri: &Uri::from_static("/orders/7?dry=1"),
            route: Some("/v1/orders/{id}"),
            headers: &headers,
            kept_headers,
            answers: vec![StoredAnswer {
                key: "sure".to_owned(),
                fingerprint: [1; 16],
                answer: "true".to_owned(),
            }],
            body: Bytes::from_static(b"{}"),
        })
    }

    #[test]
    fn the_format_is_frozen() {
        let bytes = stored(&[]).write();
        assert_eq!(bytes[0], 1);
        let length = u32::from_be_bytes(*bytes[1..].first_chunk().unwrap()) as usize;
        expect![[r#"{"build":[7,7,7,7,7,7,7,7],"version":3,"caller":{"issuer":"shop","subject":"ada","client":"app"},"method":"POST","uri":"/v1/orders/7?dry=1","nested_uri":"/orders/7?dry=1","route":"/v1/orders/{id}","headers":[["x-place","café"]],"answers":[{"key":"sure","fingerprint":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"answer":"true"}]}"#]]
            .assert_eq(std::str::from_utf8(&bytes[5..5 + length]).unwrap());
        assert_eq!(&bytes[5 + length..], b"{}");
        let read = StoredRequest::read(bytes.clone()).unwrap();
        assert_eq!(read.write(), bytes);
        let head = &read.head;
        assert_eq!(
            head.caller(),
            Principal::named("shop", "ada").through("app")
        );
        assert_eq!(head.headers().unwrap()["x-place"].as_bytes(), b"caf\xe9");
        let (method, uri, nested) = head.line().unwrap();
        assert_eq!((method, uri.path()), (Method::POST, "/v1/orders/7"));
        assert_eq!(nested.path(), "/orders/7");
    }

    #[test]
    fn credentials_are_kept_only_where_the_application_says_so() {
        let kept = stored(&[http::header::AUTHORIZATION]);
        let headers = kept.head.headers().unwrap();
        assert_eq!(headers["authorization"], "Bearer secret");
        assert!(!headers.contains_key("x-token"));
    }

    #[test]
    fn bytes_that_are_cut_short_or_of_another_version_are_not_read() {
        let whole = stored(&[]).write();
        let length = whole.len() - 2;
        for end in 0..length {
            let read = StoredRequest::read(whole.slice(..end));
            assert_eq!(read.unwrap_err(), Unreadable::Damaged, "{end}");
        }
        let newer = StoredRequest::read(Bytes::from_static(&[2]));
        assert_eq!(newer.unwrap_err(), Unreadable::Newer);
    }

    #[test]
    fn what_a_newer_build_says_besides_is_passed_over() {
        let stored = stored(&[]);
        let head = serde_json::to_string(&stored.head).unwrap();
        let newer = head.replacen('{', r#"{"priority":"high","#, 1);
        let mut bytes = vec![1];
        bytes.extend_from_slice(&u32::try_from(newer.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(newer.as_bytes());
        bytes.extend_from_slice(b"{}");
        let read = StoredRequest::read(bytes.into()).unwrap();
        assert_eq!(read.write(), stored.write());
    }
}
