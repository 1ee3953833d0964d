use base64_simd::STANDARD as BASE64;
use serde::de::{self, Deserialize, Deserializer};

use crate::json::JsonObject;

/// Contents of a resource: text, or bytes in base64.
///
/// No member names the kind; contents `text` or `blob` is present.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third kind could not be distinguished from these"
)]
pub enum ResourceContents {
    /// Binary contents.
    Blob(BlobResourceContents),
    /// Text contents.
    Text(TextResourceContents),
}

variants!(ResourceContents {
    Blob(BlobResourceContents),
    Text(TextResourceContents),
});

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let contents = AnyResourceContents::deserialize(deserializer)?;
        match (contents.text, contents.blob) {
            (Some(text), None) => Ok(Self::Text(TextResourceContents {
                uri: contents.uri,
                text,
                mime_type: contents.mime_type,
                meta: contents.meta,
                extra: contents.extra,
            })),
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents {
                uri: contents.uri,
                blob,
                mime_type: contents.mime_type,
                meta: contents.meta,
                extra: contents.extra,
            })),
            (None, None) => Err(de::Error::custom("contents have neither `text` nor `blob`")),
            (Some(_), Some(_)) => Err(de::Error::custom("contents have both `text` and `blob`")),
        }
    }
}

/// Members of both kinds, read in one pass before the kind is known.
struct AnyResourceContents {
    uri: String,
    text: Option<String>,
    blob: Option<String>,
    mime_type: Option<String>,
    meta: Option<JsonObject>,
    extra: JsonObject,
}

members!(AnyResourceContents {
    required: uri = "uri";
    optional: text = "text", blob = "blob", mime_type = "mimeType", meta = "_meta";
    rest: extra
});

wire! {
    /// Text contents of a resource.
    pub struct TextResourceContents {
        required {
            /// URI of the resource.
            uri: String = "uri",
            /// The text.
            text: String = "text",
        }
        optional {
            /// Media type, if known.
            mime_type: Option<String> = "mimeType",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates text contents of the resource at `uri`.
    new(uri: impl Into<String>, text: impl Into<String>);
}

wire! {
    /// Binary contents of a resource.
    pub struct BlobResourceContents {
        required {
            /// URI of the resource.
            uri: String = "uri",
            /// The bytes, in base64.
            blob: String = "blob",
        }
        optional {
            /// Media type, if known.
            mime_type: Option<String> = "mimeType",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates contents from bytes in base64.
    from_base64(uri: impl Into<String>, blob: impl Into<String>);
}

impl BlobResourceContents {
    /// Encodes `bytes` as the contents of the resource at `uri`.
    pub fn new(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::from_base64(uri, BASE64.encode_to_string(bytes))
    }
}
