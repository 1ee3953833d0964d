use base64_simd::STANDARD as BASE64;

use super::Annotations;
use crate::json::JsonObject;

/// Text content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Audience, priority and age of the content.
    pub annotations: Option<Annotations>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TextContent {
    /// Creates plain text.
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

/// Image content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImageContent {
    /// Image data in base64.
    pub data: String,
    /// Media type.
    pub mime_type: String,
    /// Audience, priority and age.
    pub annotations: Option<Annotations>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ImageContent {
    /// Encodes `bytes` as an image.
    pub fn new(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::from_base64(BASE64.encode_to_string(bytes), mime_type)
    }

    /// Creates an image from data in base64.
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

/// Audio content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AudioContent {
    /// Audio data in base64.
    pub data: String,
    /// Media type.
    pub mime_type: String,
    /// Audience, priority and age.
    pub annotations: Option<Annotations>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl AudioContent {
    /// Encodes `bytes` as audio.
    pub fn new(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::from_base64(BASE64.encode_to_string(bytes), mime_type)
    }

    /// Creates audio from data in base64.
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
