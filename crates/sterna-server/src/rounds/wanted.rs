//! What a request is about: the offer it names and what that is called with.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use sterna_protocol::json::RawObject;
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use super::{Target, strict};
use crate::core::Core;
use crate::failure::{Failure, Kind};
use crate::handler::Way;
use crate::offer::ToolEntry;

/// An offer that a request names, with its arguments checked.
pub(crate) struct Wanted<T> {
    pub(crate) target: Target,
    /// What the handler is called with.
    pub(crate) input: Value,
    pub(crate) way: Arc<Way<T>>,
}

impl Wanted<CallToolResult> {
    /// The tool that a call names, if there is one.
    pub(crate) fn tool(
        core: &Core,
        entry: Option<&ToolEntry>,
        name: String,
        arguments: Option<RawObject>,
    ) -> Result<Self, Failure> {
        let Some(entry) = entry else {
            return Err(Failure::Unknown(Kind::Tool));
        };
        let input = match &arguments {
            Some(arguments) => strict::value(arguments.as_str()),
            None => Ok(Value::Object(Map::new())),
        };
        let input = input.map_err(|_| Failure::Params("arguments"))?;
        // TOOL-S13, TOOL-S18: the model is told, because it can mend its arguments.
        if let Err(problem) = entry.input.check(&input) {
            let text = format!("The arguments are not valid: {problem}");
            return Err(Failure::Tool(text));
        }
        let arguments = arguments.map_or_else(|| "{}".to_owned(), RawObject::into_string);
        Ok(Self {
            target: Target {
                method: "tools/call",
                name,
                digest: Some(entry.digest),
                arguments: Some(arguments),
                lifetimes: entry.lifetimes.unwrap_or(core.lifetimes),
            },
            input,
            way: Arc::clone(&entry.way),
        })
    }
}

impl Wanted<GetPromptResult> {
    /// The prompt `name`.
    pub(crate) fn prompt(
        core: &Core,
        name: String,
        arguments: Option<BTreeMap<String, String>>,
    ) -> Result<Self, Failure> {
        let Some(entry) = core.offers.prompts.get(&name) else {
            return Err(Failure::Unknown(Kind::Prompt));
        };
        let arguments = arguments.unwrap_or_default();
        if entry.missing(|name| arguments.contains_key(name)) {
            return Err(Failure::Params("a required argument is missing"));
        }
        let text = serde_json::to_string(&arguments).expect("a map of strings is JSON");
        Ok(Self {
            target: Target {
                method: "prompts/get",
                name,
                digest: None,
                arguments: Some(text),
                lifetimes: entry.lifetimes.unwrap_or(core.lifetimes),
            },
            input: arguments
                .into_iter()
                .map(|(name, value)| (name, Value::from(value)))
                .collect(),
            way: Arc::clone(&entry.way),
        })
    }
}

impl Wanted<ReadResourceResult> {
    /// The resource at `uri`.
    pub(crate) fn resource(core: &Core, uri: String) -> Result<Self, Failure> {
        // RES-S10: matched before any handler sees it.
        let found = match core.offers.resources.get(&uri) {
            Some(entry) => Some((
                Value::from(uri.as_str()),
                entry.lifetimes,
                Arc::clone(&entry.way),
            )),
            None => core.offers.templates.iter().find_map(|entry| {
                let input = entry.input(&uri)?;
                Some((input, entry.lifetimes, Arc::clone(&entry.way)))
            }),
        };
        let Some((input, lifetimes, way)) = found else {
            return Err(Failure::Unknown(Kind::Resource(uri)));
        };
        Ok(Self {
            target: Target {
                method: "resources/read",
                name: uri,
                digest: None,
                arguments: None,
                lifetimes: lifetimes.unwrap_or(core.lifetimes),
            },
            input,
            way,
        })
    }
}
