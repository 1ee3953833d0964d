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

wire! {
    /// Definition of a resource.
    pub struct Resource {
        required {
            /// URI of the resource.
            uri: String = "uri",
            /// Programmatic name.
            name: String = "name",
        }
        optional {
            /// Display name.
            title: Option<String> = "title",
            /// Description of the contents, for the model.
            description: Option<String> = "description",
            /// Media type, if known.
            mime_type: Option<String> = "mimeType",
            /// Size in bytes before encoding, if known.
            size: Option<u64> = "size",
            /// Icons to show for it.
            icons: Option<Vec<Icon>> = "icons",
            /// Audience, priority and age.
            annotations: Option<Annotations> = "annotations",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a resource with a URI and a name only.
    new(uri: impl Into<String>, name: impl Into<String>);
}

wire! {
    /// Definition of a family of resources with similar URIs.
    pub struct ResourceTemplate {
        required {
            /// URI template, as in RFC 6570.
            uri_template: String = "uriTemplate",
            /// Programmatic name.
            name: String = "name",
        }
        optional {
            /// Display name.
            title: Option<String> = "title",
            /// Description of the contents, for the model.
            description: Option<String> = "description",
            /// Media type, if all resources of the template share it.
            mime_type: Option<String> = "mimeType",
            /// Icons to show for the resources.
            icons: Option<Vec<Icon>> = "icons",
            /// Audience, priority and age of the content.
            annotations: Option<Annotations> = "annotations",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a template with a URI template and a name only.
    new(uri_template: impl Into<String>, name: impl Into<String>);
}
