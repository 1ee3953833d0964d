//! A response as a store keeps it. Frozen: other builds read it.

use axum::body::Body;
use axum::response::Response;
use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// Response that is kept in a store.
#[derive(Clone, Debug)]
pub(crate) struct StoredResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl StoredResponse {
    /// Reads the body of `response`, which has at most `limit` bytes. The log has
    /// the reason if it cannot be kept.
    pub(crate) async fn collect(response: Response, limit: usize) -> Result<Self, NotKept> {
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, limit).await.map_err(|error| {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::error!(target: "sterna::axum", limit, error, "MR0620: a response cannot be kept");
            NotKept
        })?;
        Ok(Self {
            status: parts.status,
            headers: parts.headers,
            body,
        })
    }

    pub(crate) fn write(&self) -> Result<Bytes, NotKept> {
        let mut bytes = Vec::with_capacity(HEAD + 64 * self.headers.len() + self.body.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.status.as_u16().to_be_bytes());
        bytes.extend_from_slice(&length(self.headers.len())?);
        for (name, value) in &self.headers {
            for text in [name.as_str().as_bytes(), value.as_bytes()] {
                bytes.extend_from_slice(&length(text.len())?);
                bytes.extend_from_slice(text);
            }
        }
        bytes.extend_from_slice(&self.body);
        Ok(bytes.into())
    }

    /// Reads a response; `None` if no build of this version wrote it.
    pub(crate) fn read(mut bytes: Bytes) -> Option<Self> {
        if bytes.try_get_u8().ok()? != VERSION {
            return None;
        }
        let status = StatusCode::from_u16(bytes.try_get_u16().ok()?).ok()?;
        let mut headers = HeaderMap::new();
        for _ in 0..bytes.try_get_u32().ok()? {
            let name = HeaderName::from_bytes(&text(&mut bytes)?).ok()?;
            let value = HeaderValue::from_maybe_shared(text(&mut bytes)?).ok()?;
            headers.append(name, value);
        }
        Some(Self {
            status,
            headers,
            body: bytes,
        })
    }

    pub(crate) fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// A response that cannot be kept: it is too large, or failed while it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotKept;

fn text(bytes: &mut Bytes) -> Option<Bytes> {
    let len = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    (len <= bytes.len()).then(|| bytes.split_to(len))
}

fn length(len: usize) -> Result<[u8; 4], NotKept> {
    let len = u32::try_from(len).map_err(|_| NotKept)?;
    Ok(len.to_be_bytes())
}

/// Length of version, status and number of headers.
const HEAD: usize = 1 + 2 + 4;
const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[tokio::test]
    async fn the_format_is_frozen() {
        let response = || {
            Response::builder()
                .status(428)
                .header("a", "1")
                .header("a", "2")
                .body(Body::from("body"))
                .unwrap()
        };
        let stored = StoredResponse::collect(response(), 4).await.unwrap();
        let written = stored.write().unwrap();
        let frozen = "0101ac0000000200000001610000000131000000016100000001\
                      32626f6479";
        assert_eq!(hex(&written), frozen);
        let read_again = StoredResponse::read(written.clone()).unwrap();
        assert_eq!(read_again.write().unwrap(), written);
        let sent = StoredResponse::collect(read_again.into_response(), 4).await;
        assert_eq!(sent.unwrap().write().unwrap(), written);
        let too_long = StoredResponse::collect(response(), 3).await;
        assert_eq!(too_long.unwrap_err(), NotKept);
    }

    #[test]
    fn a_response_that_is_cut_short_is_none() {
        let whole: Vec<u8> = [1, 0, 200, 0, 0, 0, 1, 0, 0, 0, 1, b'a', 0, 0, 0, 1, b'1'].into();
        assert!(StoredResponse::read(whole.clone().into()).is_some());
        for end in 0..whole.len() {
            let cut = StoredResponse::read(whole[..end].to_vec().into());
            assert!(cut.is_none(), "{end}");
        }
    }
}
