use base64_simd::STANDARD as BASE64;

use super::Annotations;
use crate::json::JsonObject;

/// Words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextContent {
    /// The words.
    pub text: String,
    /// Whom they are for and how much they matter.
    pub annotations: Option<Annotations>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TextContent {
    /// Plain words.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(TextContent {
    tag: "type" = "text";
    required: text = "text";
    optional: annotations = "annotations", meta = "_meta";
    rest: extra
});

/// A picture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImageContent {
    /// The picture in base64.
    pub data: String,
    /// Its media type.
    pub mime_type: String,
    /// Whom it is for and how much it matters.
    pub annotations: Option<Annotations>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ImageContent {
    /// A picture of these bytes.
    pub fn new(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::from_base64(BASE64.encode_to_string(bytes), mime_type)
    }

    /// A picture whose bytes are in base64 already.
    pub fn from_base64(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ImageContent {
    tag: "type" = "image";
    required: data = "data", mime_type = "mimeType";
    optional: annotations = "annotations", meta = "_meta";
    rest: extra
});

/// A sound.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AudioContent {
    /// The sound in base64.
    pub data: String,
    /// Its media type.
    pub mime_type: String,
    /// Whom it is for and how much it matters.
    pub annotations: Option<Annotations>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl AudioContent {
    /// A sound of these bytes.
    pub fn new(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::from_base64(BASE64.encode_to_string(bytes), mime_type)
    }

    /// A sound whose bytes are in base64 already.
    pub fn from_base64(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(AudioContent {
    tag: "type" = "audio";
    required: data = "data", mime_type = "mimeType";
    optional: annotations = "annotations", meta = "_meta";
    rest: extra
});
