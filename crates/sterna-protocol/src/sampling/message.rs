use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::{ToolResultContent, ToolUseContent};
use crate::content::{AudioContent, ImageContent, OtherContent, Role, TextContent};
use crate::json::{JsonObject, OtherName, Tagged, read_tagged};

wire! {
    /// Message of a conversation with a model.
    pub struct SamplingMessage {
        required {
            /// Role of the speaker.
            role: Role = "role",
            /// Content of the message.
            content: SamplingContent = "content",
        }
        optional {
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a message of `role`.
    new(role: Role, content: impl Into<SamplingContent>);
}

wire! {
    /// Result of `sampling/createMessage`: the message of the model.
    pub struct CreateMessageResult {
        required {
            /// Role of the message: the assistant.
            role: Role = "role",
            /// Content that the model wrote.
            content: SamplingContent = "content",
            /// Name of the model.
            model: String = "model",
        }
        optional {
            /// Reason for the end of the message, if known.
            stop_reason: Option<StopReason> = "stopReason",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }
}

impl CreateMessageResult {
    /// Creates a message that `model` wrote.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// The text of the message: every text block, joined by line breaks. Empty
    /// if there is no text.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::sampling::{CreateMessageResult, SamplingMessageContentBlock};
    ///
    /// let written = SamplingMessageContentBlock::text("Two hosts, no errors.");
    /// let result = CreateMessageResult::new("a-model", written);
    /// assert_eq!(result.to_text(), "Two hosts, no errors.");
    /// ```
    pub fn to_text(&self) -> String {
        let blocks = self.content.blocks().iter();
        let texts = blocks.filter_map(|block| match block {
            SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Reason for the end of a model's message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The message is finished.
    EndTurn,
    /// The token limit is reached.
    MaxTokens,
    /// A stop sequence was written.
    StopSequence,
    /// The model asks for tool calls.
    ToolUse,
    /// Reason that the model's vendor defines.
    Other(OtherName),
}

names!(StopReason {
    EndTurn = "endTurn",
    MaxTokens = "maxTokens",
    StopSequence = "stopSequence",
    ToolUse = "toolUse",
});

/// Content of a message: a single block or a list of blocks.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a block or a list of blocks")]
pub enum SamplingContent {
    /// A single block, not in a list.
    One(SamplingMessageContentBlock),
    /// A list of blocks.
    Many(Vec<SamplingMessageContentBlock>),
}

impl SamplingContent {
    /// The blocks, in a list or not.
    pub fn blocks(&self) -> &[SamplingMessageContentBlock] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

impl<B: Into<SamplingMessageContentBlock>> From<B> for SamplingContent {
    fn from(block: B) -> Self {
        Self::One(block.into())
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = SamplingContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block of content or a list of blocks")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(SamplingContent::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SamplingContent, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(SamplingContent::Many)
    }
}

/// Block of a message, distinguished by `type`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingMessageContentBlock {
    /// Audio content.
    Audio(AudioContent),
    /// Image content.
    Image(ImageContent),
    /// Text content.
    Text(TextContent),
    /// Result of a tool call.
    ToolResult(ToolResultContent),
    /// Tool call that the model asks for.
    ToolUse(ToolUseContent),
    /// Content of a `type` that this revision does not define.
    Other(OtherContent),
}

variants!(SamplingMessageContentBlock {
    Audio(AudioContent),
    Image(ImageContent),
    Text(TextContent),
    ToolResult(ToolResultContent),
    ToolUse(ToolUseContent),
    Other(OtherContent),
});

impl SamplingMessageContentBlock {
    /// Creates plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl Tagged for SamplingMessageContentBlock {
    const TAG: &'static str = "type";

    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error> {
        match tag.ok_or_else(|| de::Error::missing_field(Self::TAG))? {
            "audio" => AudioContent::deserialize(object).map(Self::Audio),
            "image" => ImageContent::deserialize(object).map(Self::Image),
            "text" => TextContent::deserialize(object).map(Self::Text),
            "tool_result" => ToolResultContent::deserialize(object).map(Self::ToolResult),
            "tool_use" => ToolUseContent::deserialize(object).map(Self::ToolUse),
            other => OtherContent::read(other, object).map(Self::Other),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingMessageContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_tagged(deserializer)
    }
}
