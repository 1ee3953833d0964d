//! Bytes between a client and a server on stdio, passed on and copied.

use std::io::{self, Read, Write};

use bytes::Bytes;
use sterna_client::Direction;
use tokio::sync::mpsc;

/// Passes bytes between a client and its server on stdio, and hands copies of
/// them to the pages of an [`Inspector`](crate::Inspector).
///
/// A copy is dropped if the pages are behind, so they never hold up the client
/// or the server.
#[derive(Clone, Debug)]
pub struct StdioRecorder {
    copies: mpsc::Sender<Copied>,
}

/// Bytes that passed by.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) direction: Direction,
    pub(super) bytes: Bytes,
    /// True if bytes before these were not copied.
    pub(super) is_after_gap: bool,
}

impl StdioRecorder {
    /// Makes a recorder, and the place where its copies arrive.
    pub(super) fn new() -> (Self, mpsc::Receiver<Copied>) {
        let (copies, arriving) = mpsc::channel(MOST_COPIES);
        (Self { copies }, arriving)
    }

    /// Passes bytes on to the server until the client ends them. It blocks, so it
    /// needs a thread of its own.
    ///
    /// A server that reads no more does not stop it: the client is read to its
    /// end, as a pipe without a reader would let it write.
    ///
    /// # Errors
    ///
    /// The error of the client's pipe; the caller closes the server's pipe.
    pub fn pass_to_server(&self, client: impl Read, mut server: impl Write) -> io::Result<()> {
        let mut is_read = true;
        self.pass(Direction::Sent, client, |bytes| {
            is_read = is_read && deliver(&mut server, bytes).is_ok();
            Ok(())
        })
    }

    /// Passes bytes on to the client until the server ends them. It blocks, so it
    /// needs a thread of its own.
    ///
    /// # Errors
    ///
    /// The error of either pipe. The caller drops `server`, so that the server
    /// learns that the client reads no more.
    pub fn pass_to_client(&self, server: impl Read, mut client: impl Write) -> io::Result<()> {
        self.pass(Direction::Received, server, |bytes| {
            deliver(&mut client, bytes)
        })
    }

    fn pass(
        &self,
        direction: Direction,
        mut from: impl Read,
        mut deliver: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; LARGEST_COPY];
        let mut is_after_gap = false;
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // First, so that the page comes after the peer, and never before it.
            deliver(&buffer[..read])?;
            let copied = Copied {
                direction,
                bytes: Bytes::copy_from_slice(&buffer[..read]),
                is_after_gap,
            };
            is_after_gap = self.copies.try_send(copied).is_err();
        }
    }
}

fn deliver(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

/// Copies that wait to be read. With [`LARGEST_COPY`] this is 16 MiB at most.
const MOST_COPIES: usize = 256;

/// Bytes that are read at once: what a pipe holds on Linux.
const LARGEST_COPY: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives one piece after the other.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.is_empty() {
                true => Ok(0),
                false => self.0.remove(0).as_slice().read(buffer),
            }
        }
    }

    #[test]
    fn bytes_are_passed_on_though_the_pages_read_none() {
        let (recorder, mut arriving) = StdioRecorder::new();
        let lines: Vec<_> = (0..MOST_COPIES + 10)
            .map(|line| format!("{line}\r\n").into_bytes())
            .collect();
        let mut passed = Vec::new();
        recorder
            .pass_to_client(Pieces(lines.clone()), &mut passed)
            .unwrap();
        assert_eq!(passed, lines.concat());
        for _ in 0..MOST_COPIES {
            assert!(!arriving.try_recv().unwrap().is_after_gap);
        }
        assert!(arriving.try_recv().is_err());
    }

    #[test]
    fn a_gap_is_told_with_the_next_copy() {
        let (recorder, mut arriving) = StdioRecorder::new();
        let many = (0..=MOST_COPIES).map(|_| b"x\n".to_vec()).collect();
        let taking = |bytes: &[u8]| {
            if bytes == b"y\n" {
                arriving.try_recv().unwrap();
            }
            Ok(())
        };
        let mut pieces = Pieces(many);
        pieces.0.push(b"y\n".to_vec());
        recorder.pass(Direction::Sent, pieces, taking).unwrap();
        let last = std::iter::from_fn(|| arriving.try_recv().ok()).last();
        let last = last.unwrap();
        assert_eq!((&last.bytes[..], last.is_after_gap), (&b"y\n"[..], true));
    }

    #[test]
    fn a_server_that_reads_no_more_does_not_stop_the_client() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (recorder, _arriving) = StdioRecorder::new();
        assert!(recorder.pass_to_server(&b"a\nb\n"[..], Closed).is_ok());
        assert!(recorder.pass_to_client(&b"a\nb\n"[..], Closed).is_err());
    }
}
