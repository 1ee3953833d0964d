//! A response as the ledger keeps it. Frozen: other builds read it.

use axum::body::Body;
use axum::response::Response;
use bytes::{Buf, Bytes};
use http::{HeaderName, HeaderValue, StatusCode};

use super::Fault;

/// Writes a response whose body has at most `limit` bytes.
pub(super) async fn write(response: Response, limit: usize) -> Result<Bytes, Fault> {
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, limit).await.map_err(|error| {
        let error: &(dyn std::error::Error + 'static) = &error;
        tracing::error!(target: "sterna::axum", limit, error, "MR0620: a response cannot be kept");
        Fault::Internal
    })?;
    let mut bytes = Vec::with_capacity(HEAD + 64 * parts.headers.len() + body.len());
    bytes.push(VERSION);
    bytes.extend_from_slice(&parts.status.as_u16().to_be_bytes());
    bytes.extend_from_slice(&length(parts.headers.len())?);
    for (name, value) in &parts.headers {
        for text in [name.as_str().as_bytes(), value.as_bytes()] {
            bytes.extend_from_slice(&length(text.len())?);
            bytes.extend_from_slice(text);
        }
    }
    bytes.extend_from_slice(&body);
    Ok(bytes.into())
}

/// Reads a response; `None` if no build of this version wrote it.
pub(super) fn read(mut bytes: Bytes) -> Option<Response> {
    if bytes.try_get_u8().ok()? != VERSION {
        return None;
    }
    let status = StatusCode::from_u16(bytes.try_get_u16().ok()?).ok()?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    for _ in 0..bytes.try_get_u32().ok()? {
        let name = HeaderName::from_bytes(&text(&mut bytes)?).ok()?;
        let value = HeaderValue::from_maybe_shared(text(&mut bytes)?).ok()?;
        response.headers_mut().append(name, value);
    }
    *response.body_mut() = Body::from(bytes);
    Some(response)
}

fn text(bytes: &mut Bytes) -> Option<Bytes> {
    let len = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    (len <= bytes.len()).then(|| bytes.split_to(len))
}

fn length(len: usize) -> Result<[u8; 4], Fault> {
    let len = u32::try_from(len).map_err(|_| Fault::Internal)?;
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
        let written = write(response(), 4).await.unwrap();
        let frozen = "0101ac0000000200000001610000000131000000016100000001\
                      32626f6479";
        assert_eq!(hex(&written), frozen);
        let read_again = read(written.clone()).unwrap();
        assert_eq!(write(read_again, 4).await.unwrap(), written);
        assert_eq!(write(response(), 3).await, Err(Fault::Internal));
    }

    #[test]
    fn a_response_that_is_cut_short_is_none() {
        let whole: Vec<u8> = [1, 0, 200, 0, 0, 0, 1, 0, 0, 0, 1, b'a', 0, 0, 0, 1, b'1'].into();
        assert!(read(whole.clone().into()).is_some());
        for end in 0..whole.len() {
            assert!(read(whole[..end].to_vec().into()).is_none(), "{end}");
        }
    }
}
