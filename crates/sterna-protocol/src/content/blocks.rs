use base64_simd::STANDARD as BASE64;

use super::Annotations;
use crate::json::JsonObject;

wire! {
    /// Text content.
    pub struct TextContent {
        tag "type" = "text";
        required {
            /// The text.
            text: String = "text",
        }
        optional {
            /// Audience, priority and age of the content.
            annotations: Option<Annotations> = "annotations",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates plain text.
    new(text: impl Into<String>);
}

wire! {
    /// Image content.
    pub struct ImageContent {
        tag "type" = "image";
        required {
            /// Image data in base64.
            data: String = "data",
            /// Media type.
            mime_type: String = "mimeType",
        }
        optional {
            /// Audience, priority and age.
            annotations: Option<Annotations> = "annotations",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates an image from data in base64.
    from_base64(data: impl Into<String>, mime_type: impl Into<String>);
}

impl ImageContent {
    /// Encodes `bytes` as an image.
    pub fn new(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::from_base64(BASE64.encode_to_string(bytes), mime_type)
    }
}

wire! {
    /// Audio content.
    pub struct AudioContent {
        tag "type" = "audio";
        required {
            /// Audio data in base64.
            data: String = "data",
            /// Media type.
            mime_type: String = "mimeType",
        }
        optional {
            /// Audience, priority and age.
            annotations: Option<Annotations> = "annotations",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates audio from data in base64.
    from_base64(data: impl Into<String>, mime_type: impl Into<String>);
}

impl AudioContent {
    /// Encodes `bytes` as audio.
    pub fn new(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::from_base64(BASE64.encode_to_string(bytes), mime_type)
    }
}
