//! Resources: data that clients can read from a server.

mod contents;
mod requests;

pub use contents::{BlobResourceContents, ResourceContents, TextResourceContents};
pub use requests::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams,
    ReadResourceResult, ResourceUpdatedNotificationParams,
};

use crate::annotations::Annotations;
use crate::implementation::Icon;
use crate::json::JsonObject;

/// Definition of a resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// URI of the resource.
    pub uri: String,
    /// Programmatic name.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// Description of the contents, for the model.
    pub description: Option<String>,
    /// Media type, if known.
    pub mime_type: Option<String>,
    /// Size in bytes before encoding, if known.
    pub size: Option<u64>,
    /// Icons to show for it.
    pub icons: Option<Vec<Icon>>,
    /// Audience, priority and age.
    pub annotations: Option<Annotations>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Resource {
    /// Creates a resource with a URI and a name only.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            icons: None,
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(Resource {
    required: uri = "uri", name = "name";
    optional: title = "title", description = "description", mime_type = "mimeType", size = "size",
        icons = "icons", annotations = "annotations", meta = "_meta";
    rest: extra
});

/// Definition of a family of resources with similar URIs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// URI template, as in RFC 6570.
    pub uri_template: String,
    /// Programmatic name.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// Description of the contents, for the model.
    pub description: Option<String>,
    /// Media type, if all resources of the template share it.
    pub mime_type: Option<String>,
    /// Icons to show for the resources.
    pub icons: Option<Vec<Icon>>,
    /// Audience, priority and age of the content.
    pub annotations: Option<Annotations>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceTemplate {
    /// Creates a template with a URI template and a name only.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            icons: None,
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ResourceTemplate {
    required: uri_template = "uriTemplate", name = "name";
    optional: title = "title", description = "description", mime_type = "mimeType",
        icons = "icons", annotations = "annotations", meta = "_meta";
    rest: extra
});
