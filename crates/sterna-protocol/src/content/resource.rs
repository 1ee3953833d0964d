use super::Annotations;
use crate::json::JsonObject;
use crate::resource::{BlobResourceContents, Resource, ResourceContents, TextResourceContents};

/// Link from a tool result or a prompt to a resource.
///
/// The resource need not be in `resources/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceLink {
    /// The linked resource.
    pub resource: Resource,
}

impl ResourceLink {
    /// Links to `resource`.
    pub fn new(resource: Resource) -> Self {
        Self { resource }
    }
}

members!(ResourceLink {
    tag: "type" = "resource_link";
    base: resource
});

wire! {
    /// Contents of a resource, embedded in a prompt or a tool result.
    pub struct EmbeddedResource {
        tag "type" = "resource";
        required {
            /// Contents of the resource.
            resource: ResourceContents = "resource",
        }
        optional {
            /// Audience, priority and age of the content.
            annotations: Option<Annotations> = "annotations",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }
}

impl EmbeddedResource {
    /// Embeds text of the resource at `uri`.
    pub fn text(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let mut contents = TextResourceContents::new(uri, text);
        contents.mime_type = Some(mime_type.into());
        Self::of(contents.into())
    }

    /// Embeds bytes of the resource at `uri`.
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
