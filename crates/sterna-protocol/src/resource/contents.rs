use base64_simd::STANDARD as BASE64;
use serde::de::{self, Deserialize, Deserializer};

use crate::json::JsonObject;

/// Contents of a resource: text, or bytes in base64.
///
/// No member names the kind; either `text` or `blob` is present.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third kind could not be distinguished from these"
)]
pub enum ResourceContents {
    /// Bytes in base64.
    Blob(BlobResourceContents),
    /// Text.
    Text(TextResourceContents),
}

variants!(ResourceContents {
    Blob(BlobResourceContents),
    Text(TextResourceContents),
});

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let either = Either::deserialize(deserializer)?;
        match (either.text, either.blob) {
            (Some(text), None) => Ok(Self::Text(TextResourceContents {
                uri: either.uri,
                text,
                mime_type: either.mime_type,
                meta: either.meta,
                extra: either.extra,
            })),
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents {
                uri: either.uri,
                blob,
                mime_type: either.mime_type,
                meta: either.meta,
                extra: either.extra,
            })),
            (None, None) => Err(de::Error::custom("contents have neither `text` nor `blob`")),
            (Some(_), Some(_)) => Err(de::Error::custom("contents have both `text` and `blob`")),
        }
    }
}

/// Members of both kinds, read in one pass before the kind is known.
struct Either {
    uri: String,
    text: Option<String>,
    blob: Option<String>,
    mime_type: Option<String>,
    meta: Option<JsonObject>,
    extra: JsonObject,
}

members!(Either {
    required: uri = "uri";
    optional: text = "text", blob = "blob", mime_type = "mimeType", meta = "_meta";
    rest: extra
});

/// Text contents of a resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// URI of the resource.
    pub uri: String,
    /// The text.
    pub text: String,
    /// Media type, if known.
    pub mime_type: Option<String>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TextResourceContents {
    /// Creates text contents of the resource at `uri`.
    pub fn new(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            text: text.into(),
            mime_type: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(TextResourceContents {
    required: uri = "uri", text = "text";
    optional: mime_type = "mimeType", meta = "_meta";
    rest: extra
});

/// Binary contents of a resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// URI of the resource.
    pub uri: String,
    /// The bytes, in base64.
    pub blob: String,
    /// Media type, if known.
    pub mime_type: Option<String>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl BlobResourceContents {
    /// Encodes `bytes` as the contents of the resource at `uri`.
    pub fn new(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::from_base64(uri, BASE64.encode_to_string(bytes))
    }

    /// Creates contents from bytes in base64.
    pub fn from_base64(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            blob: blob.into(),
            mime_type: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(BlobResourceContents {
    required: uri = "uri", blob = "blob";
    optional: mime_type = "mimeType", meta = "_meta";
    rest: extra
});
