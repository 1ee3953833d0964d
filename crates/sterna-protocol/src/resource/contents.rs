use base64_simd::STANDARD as BASE64;
use serde::de::{self, Deserialize, Deserializer};

use crate::json::JsonObject;

/// What a resource holds: text, or bytes in base64.
///
/// No member names the kind; the one that is there tells.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "what is neither text nor bytes could not be told from these"
)]
pub enum ResourceContents {
    /// Bytes.
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
            (None, None) => Err(de::Error::custom("neither `text` nor `blob`")),
            (Some(_), Some(_)) => Err(de::Error::custom("both `text` and `blob`")),
        }
    }
}

/// The members of both kinds, read in one pass before the kind is known.
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

/// A resource that is text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// The resource.
    pub uri: String,
    /// What it holds.
    pub text: String,
    /// Its media type, if known.
    pub mime_type: Option<String>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TextResourceContents {
    /// The resource at `uri` holds `text`.
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

/// A resource that is bytes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// The resource.
    pub uri: String,
    /// What it holds, in base64.
    pub blob: String,
    /// Its media type, if known.
    pub mime_type: Option<String>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl BlobResourceContents {
    /// The resource at `uri` holds these bytes.
    pub fn new(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::from_base64(uri, BASE64.encode_to_string(bytes))
    }

    /// The resource at `uri` holds bytes that are in base64 already.
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
