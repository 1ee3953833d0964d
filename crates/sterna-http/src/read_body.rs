//! Reading a request body: so much, and no longer than so long.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, Bytes, BytesMut};
use http_body::Body;

use super::budget::{Budget, Part, Reservation};
use super::refusal::Refusal;
use crate::guard::with_deadline;

/// A request body, and the room it takes.
pub(super) struct Read {
    pub(super) bytes: Bytes,
    /// Held for as long as the bytes are.
    pub(super) room: Option<Reservation>,
}

/// Reads `body` whole.
///
/// A body that came with the head, which is nearly every one, is handed on as
/// the bytes it arrived in. One that comes in pieces is gathered in a buffer
/// that takes room from `budget`.
pub(super) async fn read_body<B: Body>(
    body: Pin<&mut B>,
    limit: usize,
    budget: &Arc<Budget>,
    deadline: Instant,
) -> Result<Read, Refusal> {
    match with_deadline(deadline, gather(body, limit, budget)).await {
        Ok(result) => result,
        Err(_) => Err(Refusal::BodyTooSlow),
    }
}

async fn gather<B: Body>(
    mut body: Pin<&mut B>,
    limit: usize,
    budget: &Arc<Budget>,
) -> Result<Read, Refusal> {
    let first = next(body.as_mut(), limit).await?.unwrap_or_default();
    if body.is_end_stream() {
        return Ok(Read {
            bytes: first,
            room: None,
        });
    }
    let mut room = budget
        .take(Part::Requests, first.len())
        .ok_or(Refusal::Busy)?;
    let mut whole = BytesMut::from(first);
    while let Some(piece) = next(body.as_mut(), limit - whole.len()).await? {
        room.grow(piece.len()).ok_or(Refusal::Busy)?;
        whole.extend_from_slice(&piece);
    }
    Ok(Read {
        bytes: whole.freeze(),
        room: Some(room),
    })
}

/// The next piece of data, if it is no longer than `room`.
async fn next<B: Body>(mut body: Pin<&mut B>, room: usize) -> Result<Option<Bytes>, Refusal> {
    loop {
        let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
        match frame {
            None => return Ok(None),
            Some(Err(_)) => return Err(Refusal::BodyBroken),
            Some(Ok(frame)) => {
                // Trailers say nothing we read.
                let Ok(mut data) = frame.into_data() else {
                    continue;
                };
                let size = data.remaining();
                if size > room {
                    return Err(Refusal::BodyTooLarge);
                }
                return Ok(Some(data.copy_to_bytes(size)));
            }
        }
    }
}
