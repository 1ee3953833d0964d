//! Resources: what a server lets clients read.

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

/// Something a server can be asked to read out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it holds, for the model.
    pub description: Option<String>,
    /// Its media type, if known.
    pub mime_type: Option<String>,
    /// Its raw size in bytes, if known.
    pub size: Option<u64>,
    /// Pictures of it.
    pub icons: Option<Vec<Icon>>,
    /// Whom it is for and how much it matters.
    pub annotations: Option<Annotations>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Resource {
    /// A resource of which only the address and the name are known.
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

/// A pattern for the addresses of resources.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The pattern, after RFC 6570.
    pub uri_template: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What the resources hold, for the model.
    pub description: Option<String>,
    /// The media type, if all of them have the same.
    pub mime_type: Option<String>,
    /// Pictures of them.
    pub icons: Option<Vec<Icon>>,
    /// Whom they are for and how much they matter.
    pub annotations: Option<Annotations>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceTemplate {
    /// A pattern of which only itself and its name are known.
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
