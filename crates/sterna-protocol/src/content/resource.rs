use super::Annotations;
use crate::json::JsonObject;
use crate::resource::{BlobResourceContents, Resource, ResourceContents, TextResourceContents};

/// The address of a resource that a tool or a prompt points at.
///
/// It need not be one that `resources/list` shows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceLink {
    /// What it points at.
    pub resource: Resource,
}

impl ResourceLink {
    /// A link to `resource`.
    pub fn new(resource: Resource) -> Self {
        Self { resource }
    }
}

members!(ResourceLink {
    tag: "type" = "resource_link";
    base: resource
});

/// The contents of a resource, inside a prompt or the result of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Whom they are for and how much they matter.
    pub annotations: Option<Annotations>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl EmbeddedResource {
    /// Text of the resource at `uri`.
    pub fn text(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let mut contents = TextResourceContents::new(uri, text);
        contents.mime_type = Some(mime_type.into());
        Self::of(contents.into())
    }

    /// Bytes of the resource at `uri`.
    pub fn blob(uri: impl Into<String>, mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        let mut contents = BlobResourceContents::new(uri, bytes);
        contents.mime_type = Some(mime_type.into());
        Self::of(contents.into())
    }

    fn of(resource: ResourceContents) -> Self {
        Self {
            resource,
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(EmbeddedResource {
    tag: "type" = "resource";
    required: resource = "resource";
    optional: annotations = "annotations", meta = "_meta";
    rest: extra
});
