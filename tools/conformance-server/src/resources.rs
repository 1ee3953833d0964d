//! Resources, and a template for more.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sterna_protocol::resource::{BlobResourceContents, ResourceContents};
use sterna_server::{Cx, Resource, ResourceTemplate, Server, Uri};

use crate::content::PNG;

pub(crate) fn offer(server: Server) -> Server {
    server
        .offer(
            Resource::new("test://static-text", "static-text", text)
                .description("A text that never changes")
                .mime_type("text/plain"),
        )
        .offer(
            Resource::new("test://static-binary", "static-binary", binary)
                .description("A picture that never changes")
                .mime_type("image/png"),
        )
        .offer(
            Resource::new("test://watched-resource", "watched-resource", text)
                .description("A text to subscribe to")
                .mime_type("text/plain"),
        )
        .offer(
            ResourceTemplate::new("test://template/{id}/data", "template", templated)
                .description("Data by its id")
                .mime_type("application/json"),
        )
}

async fn text(_: Cx<'_>, uri: Uri) -> String {
    format!("This is the content of {uri}.")
}

async fn binary(_: Cx<'_>, uri: Uri) -> ResourceContents {
    let mut blob = BlobResourceContents::from_base64(uri.as_str(), PNG);
    blob.mime_type = Some("image/png".to_owned());
    blob.into()
}

#[derive(Deserialize, JsonSchema)]
struct Variables {
    id: String,
}

async fn templated(_: Cx<'_>, variables: Variables) -> String {
    let id = variables.id;
    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()
}
