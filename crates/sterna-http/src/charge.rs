//! The memory of a request, from its body to its answer.

use http::{Response, Version};

use super::body::ResponseBody;
use super::body::SMALL;
use super::budget::{Part, Reservation};
use super::clock;
use super::endpoint::Endpoint;
use super::monitor::ConnectionMonitor;
use super::pipeline::{ConnectionInfo, Shared};
use super::refusal::Refusal;
use super::unread::PIECE;
use super::weigh::weigh;

impl<E: Endpoint> Shared<E> {
    /// Charges the memory of a parsed body, beyond the `room` of its text.
    pub(super) fn room_to_parse(
        &self,
        body: &[u8],
        room: Option<Reservation>,
    ) -> Result<Option<Reservation>, Refusal> {
        // Nearly every body, and together less than the budget for as many as may run.
        if body.len() <= LIGHT {
            return Ok(room);
        }
        let size = weigh(body);
        if size > self.memory.largest_request() {
            return Err(Refusal::BodyTooComplex);
        }
        let room = match room {
            Some(mut room) => room.grow(size).map(|()| room),
            None => self.memory.take(Part::Requests, size),
        };
        room.map(Some).ok_or_else(|| self.out_of_memory())
    }

    /// Charges an answer that is all there until the peer has read it.
    ///
    /// A small one on HTTP/1.1 goes out as it is: there is one at a time on a
    /// connection, and the socket is watched. On HTTP/2 a peer can leave a
    /// hundred of them unread at once.
    pub(super) fn charge(
        &self,
        mut response: Response<ResponseBody>,
        version: Version,
        connection: &ConnectionInfo,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let size = response.body().whole_size().unwrap_or_default();
        if size == 0 || size <= SMALL && version != Version::HTTP_2 {
            return Ok(response);
        }
        let charged = size.saturating_add(STREAM);
        let hold = self.memory.take(Part::Answers, charged);
        if hold.is_none() {
            self.out_of_memory();
            // Probes are answered, and a call that was served is, if it says little.
            if size > PIECE {
                return Err(Refusal::NoRoomForAnswer);
            }
        }
        let monitor = connection.monitor.as_ref().map(ConnectionMonitor::stream);
        response.body_mut().watch(hold, monitor);
        Ok(response)
    }

    /// Watches whether a refusal is read on HTTP/2. A refusal for lack of memory
    /// cannot be charged.
    pub(super) fn watched(
        &self,
        mut response: Response<ResponseBody>,
        version: Version,
        connection: &ConnectionInfo,
    ) -> Response<ResponseBody> {
        if version == Version::HTTP_2
            && let Some(monitor) = &connection.monitor
        {
            response.body_mut().watch(None, Some(monitor.stream()));
        }
        response
    }

    /// Refuses for lack of memory, and has the connection closed that holds
    /// some for longest.
    pub(super) fn out_of_memory(&self) -> Refusal {
        self.readers.close_slowest(self.memory.held(), clock::now());
        Refusal::Busy
    }

    /// As [`out_of_memory`](Self::out_of_memory), if that is why.
    pub(super) fn relieve(&self, refusal: &Refusal) {
        if *refusal == Refusal::Busy {
            self.out_of_memory();
        }
    }
}

/// A body whose values need not be weighed: 512 of them take 80 MiB at worst.
const LIGHT: usize = 1 << 10;

/// Approximate memory of the HTTP library for an answer, besides its bytes.
const STREAM: usize = 1 << 10;
