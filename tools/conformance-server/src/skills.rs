//! One skill, served by the skills extension: its files are resources, and the
//! extension's methods say which belong together.

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_server::{Cx, Extension, Request, RequestError, Resource, Server, Uri};

pub(crate) fn offer(server: Server) -> Server {
    let settings = JsonObject::from_iter([("directoryRead", RawJson::from(json!(true)))]);
    let extension = Extension::new("io.modelcontextprotocol/skills")
        .settings(settings)
        .method("skills/list", list)
        .method("skills/get", get)
        .method("resources/directory/read", read_directory);
    server
        .extension(extension)
        .offer(
            Resource::new(SKILL, NAME, manual)
                .description(DESCRIPTION)
                .mime_type("text/markdown"),
        )
        .offer(
            Resource::new(FORMS, "forms", forms)
                .description("How to fill in forms")
                .mime_type("text/markdown"),
        )
}

async fn manual(_: Cx<'_>, _: Uri) -> String {
    manual_text()
}

async fn forms(_: Cx<'_>, _: Uri) -> &'static str {
    FORMS_TEXT
}

#[derive(Deserialize)]
struct Page {
    cursor: Option<String>,
}

async fn list(_: Request, page: Page) -> Result<Value, RequestError> {
    match page.cursor {
        None => Ok(json!({"skills": [entry()], "ttlMs": 0, "cacheScope": "public"})),
        Some(_) => Err(RequestError::invalid_params("unknown cursor")),
    }
}

#[derive(Deserialize)]
struct Target {
    uri: String,
}

async fn get(_: Request, target: Target) -> Result<Value, RequestError> {
    if target.uri == SKILL {
        Ok(json!({"skill": entry(), "ttlMs": 0, "cacheScope": "public"}))
    } else {
        Err(RequestError::not_found(&target.uri))
    }
}

async fn read_directory(_: Request, target: Target) -> Result<Value, RequestError> {
    let file =
        |uri: &str, name: &str| json!({"uri": uri, "name": name, "mimeType": "text/markdown"});
    let children = match target.uri.trim_end_matches('/') {
        FOLDER => json!([
            file(SKILL, "SKILL.md"),
            {"uri": REFERENCES, "name": "references", "mimeType": "inode/directory"},
        ]),
        REFERENCES => json!([file(FORMS, "FORMS.md")]),
        _ => return Err(RequestError::not_found(&target.uri)),
    };
    Ok(json!({"resources": children, "ttlMs": 0, "cacheScope": "public"}))
}

fn entry() -> Value {
    json!({
        "uri": SKILL,
        "frontmatter": {"name": NAME, "description": DESCRIPTION},
        "resources": [file(SKILL, &manual_text()), file(FORMS, FORMS_TEXT)],
    })
}

fn file(uri: &str, text: &str) -> Value {
    let hash = Sha256::digest(text.as_bytes());
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"uri": uri, "digest": format!("sha256:{digits}"), "size": text.len()})
}

fn manual_text() -> String {
    format!("---\nname: {NAME}\ndescription: {DESCRIPTION}\n---\n\nSee references/FORMS.md.\n")
}

const NAME: &str = "pdf-processing";
const DESCRIPTION: &str = "Fill in PDF forms";
const FOLDER: &str = "skill://pdf-processing";
const SKILL: &str = "skill://pdf-processing/SKILL.md";
const REFERENCES: &str = "skill://pdf-processing/references";
const FORMS: &str = "skill://pdf-processing/references/FORMS.md";
const FORMS_TEXT: &str = "# Forms\n\nFields are named.\n";
