//! Content: what tools, prompts and models say.

mod blocks;
mod resource;

pub use crate::annotations::{Annotations, Role};
pub use blocks::{AudioContent, ImageContent, TextContent};
pub use resource::{EmbeddedResource, ResourceLink};

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::json::{JsonObject, Tagged, read_tagged};

/// A piece of what a tool returned or a prompt says, told apart by `type`.
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
    /// Words.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A sound.
    Audio(AudioContent),
    /// The address of a resource.
    ResourceLink(ResourceLink),
    /// A resource itself.
    Resource(EmbeddedResource),
    /// A kind of content this revision does not define.
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
    /// Plain words.
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

/// Content of a `type` that this revision does not define, kept whole.
///
/// Only decoding makes one, so it can never stand for a type that is known.
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

    /// All members, `type` among them.
    pub fn members(&self) -> &JsonObject {
        &self.members
    }
}

impl Serialize for OtherContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}
