//! Content of a session id, byte by byte. Frozen: other builds read it.

use serde::{Deserialize, Serialize};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::version::ProtocolVersion;

/// Agreement of `initialize`.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
pub(super) struct Agreed {
    #[serde(rename = "v")]
    pub(super) version: ProtocolVersion,
    #[serde(rename = "i")]
    pub(super) client: Implementation,
    #[serde(rename = "c")]
    pub(super) capabilities: ClientCapabilities,
}

pub(super) fn write(agreed: &Agreed) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    serde_json::to_writer(&mut bytes, agreed).expect("wire types have string keys only");
    bytes
}

/// Reads what any build of this version wrote; `None` if none did.
pub(super) fn read(bytes: &[u8]) -> Option<Agreed> {
    let (version, agreed) = bytes.split_first()?;
    (*version == VERSION).then_some(())?;
    serde_json::from_slice(agreed).ok()
}

/// Apart from the states of flows, which begin with 1.
const VERSION: u8 = 129;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_frozen() {
        let text = "\u{81}{\"v\":\"2025-11-25\",\"i\":{\"name\":\"c\",\"version\":\"1\"},\"c\":{\"elicitation\":{}}}";
        let frozen: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
        let agreed = read(&frozen).unwrap();
        assert_eq!(agreed.version, ProtocolVersion::V2025_11_25);
        assert_eq!(agreed.client, Implementation::new("c", "1"));
        assert_eq!(write(&agreed), frozen);
    }

    #[test]
    fn another_format_is_not_read() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"\x01{}"), None);
        assert_eq!(read(b"\x81{}"), None);
    }
}
