//! The one line of an HTTP request that the loopback listener reads.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Reads a request head and returns the target of a GET.
///
/// Reads to the end of the head, so that the browser has said all it wanted
/// before it is answered.
pub(super) async fn read_target(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut head = Vec::with_capacity(1024);
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if head.len() >= MAX_HEAD_BYTES || stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    parse(&head).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn parse(head: &[u8]) -> Option<String> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let target = line.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")?;
    let plain = target.starts_with('/') && target.bytes().all(|byte| byte > b' ');
    plain.then(|| target.to_owned())
}

/// Browsers send a kilobyte or two; a code may add a few more.
const MAX_HEAD_BYTES: usize = 32 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_whole_get_is_understood() {
        let read = async |bytes: &[u8]| read_target(&mut &*bytes).await.ok();
        let whole = b"GET /callback?code=1 HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(read(whole).await.as_deref(), Some("/callback?code=1"));
        assert_eq!(read(&whole[..whole.len() - 1]).await, None);
        assert_eq!(read(b"POST / HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"GET http://x/ HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"GET / a HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"GET /\xff HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"\x16\x03\x01").await, None);
    }

    #[tokio::test]
    async fn an_endless_head_is_cut() {
        let endless = tokio::io::repeat(b'x');
        assert!(read_target(&mut { endless }).await.is_err());
    }
}
