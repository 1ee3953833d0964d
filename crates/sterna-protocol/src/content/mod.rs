//! Content of tool results, prompts and messages.

mod blocks;
mod resource;

pub use crate::annotations::{Annotations, Role};
pub use blocks::{AudioContent, ImageContent, TextContent};
pub use resource::{EmbeddedResource, ResourceLink};

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::json::{JsonObject, Tagged, read_tagged};

/// Block of content in a tool result or a prompt, distinguished by `type`.
///
/// # Examples
///
/// ```
/// use sterna_protocol::content::ContentBlock;
///
/// let block: ContentBlock = serde_json::from_str(r#"{"type":"text","text":"Hi"}"#)?;
/// assert_eq!(block, ContentBlock::text("Hi"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text content.
    Text(TextContent),
    /// Image content.
    Image(ImageContent),
    /// Audio content.
    Audio(AudioContent),
    /// Link to a resource.
    ResourceLink(ResourceLink),
    /// Embedded resource.
    Resource(EmbeddedResource),
    /// Content of a `type` that this revision does not define.
    Other(OtherContent),
}

variants!(ContentBlock {
    Text(TextContent),
    Image(ImageContent),
    Audio(AudioContent),
    ResourceLink(ResourceLink),
    Resource(EmbeddedResource),
    Other(OtherContent),
});

impl ContentBlock {
    /// Creates plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl Tagged for ContentBlock {
    const TAG: &'static str = "type";

    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error> {
        match tag.ok_or_else(|| de::Error::missing_field(Self::TAG))? {
            "text" => TextContent::deserialize(object).map(Self::Text),
            "image" => ImageContent::deserialize(object).map(Self::Image),
            "audio" => AudioContent::deserialize(object).map(Self::Audio),
            "resource_link" => ResourceLink::deserialize(object).map(Self::ResourceLink),
            "resource" => EmbeddedResource::deserialize(object).map(Self::Resource),
            other => OtherContent::read(other, object).map(Self::Other),
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_tagged(deserializer)
    }
}

/// Content of a `type` that this revision does not define, kept unchanged.
///
/// Made by decoding only, so it never stands for a known type.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherContent {
    kind: String,
    members: JsonObject,
}

impl OtherContent {
    pub(crate) fn read<'de, D: Deserializer<'de>>(kind: &str, object: D) -> Result<Self, D::Error> {
        Ok(Self {
            kind: kind.to_owned(),
            members: JsonObject::deserialize(object)?,
        })
    }

    /// The value of `type`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// All members, including `type`.
    pub fn members(&self) -> &JsonObject {
        &self.members
    }
}

impl Serialize for OtherContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}
