//! The lists of the server, and one entry of them.

use maud::{Markup, html};
use serde_json::Value;
use sterna_client::{Client, Era};
use sterna_protocol::caching::Caching;
use sterna_protocol::tool::Tool;

use super::form::{self, Filled};
use super::{Frame, page, post_form, schema, shorten};
use crate::catalog::{Catalog, Listing};
use crate::fields::{Errors, fields_of, of_texts, variables};
use crate::record::{CallKind, CallRequest};
use crate::urlencoded::{Fields, encode};

/// The server, as it describes itself.
#[derive(Debug)]
pub(crate) struct ServerView {
    pub(crate) name: String,
    version: String,
    era: Era,
    versions: Vec<String>,
    capabilities: Vec<String>,
    instructions: Option<String>,
    caching: Option<String>,
}

impl ServerView {
    pub(crate) fn of(client: &Client) -> Self {
        let found = client.server();
        let json = serde_json::to_value(found).unwrap_or_default();
        let info = &json["_meta"]["io.modelcontextprotocol/serverInfo"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let capabilities = json["capabilities"].as_object().into_iter().flatten();
        let scope = json["cacheScope"].as_str().unwrap_or("no scope");
        Self {
            name: text(&info["name"]),
            version: text(&info["version"]),
            era: client.era(),
            versions: found
                .supported_versions
                .iter()
                .map(ToString::to_string)
                .collect(),
            capabilities: capabilities.map(|(name, _)| name.clone()).collect(),
            instructions: found.instructions.clone(),
            caching: json["ttlMs"]
                .as_u64()
                .map(|ttl| format!("{ttl} ms, {scope}")),
        }
    }
}

/// The first page.
pub(crate) fn explore_page(
    frame: &Frame<'_>,
    server: &ServerView,
    catalog: &Catalog,
    find: &str,
) -> Markup {
    let is_found = |texts: &[&str]| {
        let find = find.to_lowercase();
        texts.iter().any(|text| text.to_lowercase().contains(&find))
    };
    let line = |kind: CallKind,
                name: &str,
                title: Option<&str>,
                text: Option<&str>,
                tags: Markup| {
        html! {
            li {
                a.name href={ "/request?kind=" (kind.word()) "&name=" (encode(name)) } { (shorten(name, 200)) }
                @if let Some(title) = title.filter(|title| *title != name) { " " span { (shorten(title, 200)) } }
                " " (tags)
                @if let Some(text) = text { p { (shorten(text, 300)) } }
            }
        }
    };
    let body = html! {
        h1 {
            (if server.name.is_empty() { "A server without a name" } else { &server.name })
            " " span.dim { (shorten(&server.version, 60)) }
        }
        dl.facts {
            dt { "era" } dd { (era_name(server.era)) }
            dt { "revisions" } dd { (shorten(&server.versions.join(", "), 400)) }
            dt { "capabilities" } dd { (shorten(&server.capabilities.join(", "), 400)) }
            @if let Some(caching) = &server.caching { dt { "caching" } dd { (shorten(caching, 100)) } }
        }
        @if let Some(instructions) = &server.instructions {
            details { summary { "Instructions" } pre tabindex="0" { (shorten(instructions, 10_000)) } }
        }
        form.find method="get" action="/" role="search" {
            label for="find" { "Find" }
            input id="find" name="find" value=(find) type="search";
            button.quiet type="submit" { "Find" }
        }
        div.columns.lists {
            div {
                (list("Tools", &catalog.tools, |tool| {
                    let title = tool.title.as_deref();
                    let text = tool.description.as_deref();
                    is_found(&[&tool.name, title.unwrap_or_default(), text.unwrap_or_default()])
                        .then(|| line(CallKind::Tool, &tool.name, title, text, annotations(tool)))
                }))
            }
            div {
                (list("Prompts", &catalog.prompts, |prompt| {
                    let (title, text) = (prompt.title.as_deref(), prompt.description.as_deref());
                    is_found(&[&prompt.name, title.unwrap_or_default(), text.unwrap_or_default()])
                        .then(|| line(CallKind::Prompt, &prompt.name, title, text, html! {}))
                }))
                (list("Resources", &catalog.resources, |resource| {
                    let (title, text) = (Some(resource.name.as_str()), resource.description.as_deref());
                    is_found(&[&resource.uri, &resource.name, text.unwrap_or_default()])
                        .then(|| line(CallKind::Resource, &resource.uri, title, text, html! {}))
                }))
                (list("Resource templates", &catalog.templates, |template| {
                    let (title, text) = (Some(template.name.as_str()), template.description.as_deref());
                    is_found(&[&template.uri_template, &template.name, text.unwrap_or_default()])
                        .then(|| line(CallKind::Resource, &template.uri_template, title, text, html! {}))
                }))
            }
        }
        (post_form(frame, "/reload", &html! { button.quiet type="submit" { "Fetch the lists again" } }))
    };
    page(frame, "Explore", &body)
}

fn list<T>(title: &str, listing: &Listing<T>, item: impl Fn(&T) -> Option<Markup>) -> Markup {
    let items: Vec<Markup> = listing.items.iter().filter_map(item).collect();
    html! {
        @if !listing.items.is_empty() || listing.cut.is_some() {
            section.card {
                h2 {
                    (title) " " span.count { (items.len()) }
                    @if let Some(Caching { ttl_ms, scope, .. }) = &listing.caching {
                        " " span.dim { "caching " (ttl_ms) " ms, " (shorten(scope.as_str(), 100)) }
                    }
                }
                @if let Some(cut) = &listing.cut { p.error { (shorten(cut, 500)) } }
                ul.list { @for item in &items { (item) } }
            }
        }
    }
}

fn annotations(tool: &Tool) -> Markup {
    let hints = tool.annotations.as_ref();
    let hint = |value: Option<bool>, yes: &'static str, no: &'static str| match value {
        Some(true) => Some(yes),
        Some(false) => Some(no),
        None => None,
    };
    let tags = hints.map(|hints| {
        [
            hint(hints.read_only_hint, "read-only", "writes"),
            hint(hints.destructive_hint, "destructive", "additive"),
            hint(hints.idempotent_hint, "idempotent", "not idempotent"),
            hint(hints.open_world_hint, "open world", "closed world"),
        ]
    });
    html! {
        @for tag in tags.into_iter().flatten().flatten() { span.tag { (tag) } " " }
    }
}

pub(crate) fn era_name(era: Era) -> &'static str {
    match era {
        Era::Legacy => "2025-11-25 and earlier",
        Era::Modern => "2026-07-28",
        _ => "any",
    }
}

/// An entry of a list that can be called.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    description: Option<String>,
    /// Schema of the arguments.
    pub(crate) schema: Value,
    output: Option<Value>,
    /// True if the name is a template of resources.
    pub(crate) is_template: bool,
    tags: Markup,
}

impl Entry {
    /// Finds an entry. A resource need not be in a list.
    pub(crate) fn find(catalog: &Catalog, kind: CallKind, name: &str) -> Option<Self> {
        let mut entry = Self {
            kind,
            name: name.to_owned(),
            description: None,
            schema: of_texts(std::iter::empty()),
            output: None,
            is_template: false,
            tags: html! {},
        };
        match kind {
            CallKind::Tool => {
                let tool = catalog.tools.items.iter().find(|tool| tool.name == name)?;
                entry.description.clone_from(&tool.description);
                entry.schema = serde_json::to_value(&tool.input_schema).unwrap_or_default();
                entry.output = tool
                    .output_schema
                    .as_ref()
                    .and_then(|schema| schema.decode().ok());
                entry.tags = annotations(tool);
            }
            CallKind::Prompt => {
                let prompt = catalog
                    .prompts
                    .items
                    .iter()
                    .find(|prompt| prompt.name == name)?;
                entry.description.clone_from(&prompt.description);
                let arguments = prompt.arguments.iter().flatten().map(|argument| {
                    let is_required = argument.required == Some(true);
                    (
                        argument.name.as_str(),
                        argument.description.as_deref(),
                        is_required,
                    )
                });
                entry.schema = of_texts(arguments);
            }
            CallKind::Resource => {
                let known = catalog
                    .resources
                    .items
                    .iter()
                    .find(|known| known.uri == name);
                entry.description = known.and_then(|known| known.description.clone());
                let template = catalog
                    .templates
                    .items
                    .iter()
                    .find(|template| template.uri_template == name);
                if let Some(template) = template {
                    entry.description.clone_from(&template.description);
                    let names = variables(name);
                    entry.schema = of_texts(names.into_iter().map(|name| (name, None, true)));
                    entry.is_template = true;
                }
            }
        }
        Some(entry)
    }
}

/// The page of one entry: its schema, and a form to call it.
pub(crate) fn request_page(
    frame: &Frame<'_>,
    entry: &Entry,
    entered: Option<&Fields>,
    errors: &Errors,
    before: Option<&CallRequest>,
) -> Markup {
    let prefilled = before.map(|request| as_entered(&entry.schema, request));
    let entered = entered.or(prefilled.as_ref());
    let add_row = entered.and_then(|entered| entered.get("add"));
    let filled = Filled {
        entered,
        errors,
        add_row,
        can_add: true,
    };
    let fields = fields_of(&entry.schema, "arg");
    let json = entered
        .and_then(|entered| entered.get("json"))
        .map(str::to_owned);
    let json = json.or_else(|| Some(format!("{:#}", Value::Object(before?.arguments.clone()))));
    let common = html! {
        input type="hidden" name="kind" value=(entry.kind.word());
        @if entry.kind == CallKind::Resource && !entry.is_template {
            div.field {
                label for="name" { "URI" }
                input id="name" name="name" value=(entered.and_then(|entered| entered.get("name")).unwrap_or(&entry.name));
            }
        } @else {
            input type="hidden" name="name" value=(entry.name);
        }
    };
    let buttons = html! {
        div.actions {
            button type="submit" { (if entry.kind == CallKind::Tool { "Call" } else { "Get" }) }
            button.quiet type="submit" name="eras" value="both" { "In both eras, side by side" }
        }
    };
    let body = html! {
        p.crumbs { a href="/" { "Explore" } " / " (entry.kind.word()) }
        h1 { (shorten(&entry.name, 300)) }
        p { (entry.tags) }
        @if let Some(description) = &entry.description { p.pre { (shorten(description, 5000)) } }
        div.columns data-complete-kind=(entry.kind.word()) data-complete-name=(entry.name) {
            section.card {
                h2 { "Arguments" }
                (post_form(frame, "/calls", &html! {
                    (common)
                    input type="hidden" name="mode" value="form";
                    @if fields.is_empty() && entry.kind != CallKind::Resource { p.dim { "It takes no arguments." } }
                    (form::fields(&fields, filled))
                    @if !fields.is_empty() { p.hint { "Empty fields are left out. The server checks the rest." } }
                    (buttons)
                }))
                @if entry.kind == CallKind::Tool {
                    details open[errors.contains_key("json")] {
                        summary { "As JSON instead" }
                        (post_form(frame, "/calls", &html! {
                            (common)
                            input type="hidden" name="mode" value="json";
                            div.field {
                                label for="json" { "Arguments as a JSON object" }
                                textarea.code id="json" name="json" rows="8" spellcheck="false" { "\n" (json.as_deref().unwrap_or("{}")) }
                                @if let Some(error) = errors.get("json") { p.hint { strong.error { (error) } } }
                            }
                            (buttons)
                        }))
                    }
                }
            }
            @if entry.kind == CallKind::Tool {
                section.card {
                    h2 { "Input" }
                    (schema::table(&entry.schema))
                    @if let Some(output) = &entry.output {
                        h2 { "Output" }
                        (schema::table(output))
                    }
                }
            }
        }
    };
    page(frame, &entry.name, &body)
}

/// The form as it would have been sent for an earlier request. Only arguments
/// that are texts, numbers and booleans are filled in; JSON has them all.
fn as_entered(schema: &Value, request: &CallRequest) -> Fields {
    let mut pairs = String::new();
    for field in fields_of(schema, "arg") {
        let text = match request.arguments.get(&field.name) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            _ => continue,
        };
        pairs.push_str(&format!("&{}={}", encode(&field.path), encode(&text)));
    }
    Fields::parse(&pairs)
}
