//! Finds the offer that a request names, and checks its arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use sterna_http::Admission;
use sterna_protocol::json::{RawObject, mismatch};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use super::{Target, strict};
use crate::catalog::ToolEntry;
use crate::core::Core;
use crate::failure::{Failure, Kind};
use crate::handler::{HandlerInput, HandlerKind};
use crate::wording;

/// An offer that a request names, with its arguments checked.
pub(crate) struct Wanted<T> {
    pub(crate) target: Target,
    /// Input of the handler; `None` if it is the text of the arguments.
    pub(crate) tree: Option<Value>,
    pub(crate) way: Arc<HandlerKind<T>>,
}

impl<T> Wanted<T> {
    /// Takes the input of the handler as a tree, for a task.
    pub(crate) fn take_tree(&mut self) -> Value {
        let text = self.target.arguments.as_deref().unwrap_or(NO_MEMBERS);
        let tree = self.tree.take();
        tree.unwrap_or_else(|| HandlerInput::Text(text).tree().into_owned())
    }
}

impl Wanted<CallToolResult> {
    /// Returns the tool that a call names.
    pub(crate) fn tool(
        core: &Core,
        admission: &Admission,
        entry: Option<&ToolEntry>,
        name: String,
        arguments: Option<RawObject>,
    ) -> Result<Self, Failure> {
        let Some(entry) = entry else {
            let usable = core.offers.tools.names();
            let usable = usable.filter(|name| admission.may("tools/call", Some(name)).is_ok());
            return Err(Failure::unknown(Kind::Tool, name, usable));
        };
        let arguments = arguments.map_or_else(|| NO_MEMBERS.to_owned(), RawObject::into_string);
        let tree = match &*arguments {
            // The backend reads them as they came.
            _ if matches!(*entry.way, HandlerKind::Backend) => None,
            // A tree of nothing costs nothing, and some types without members are read from it
            // alone.
            NO_MEMBERS => Some(checked(entry, &name, Value::Object(Map::new()))?),
            text if entry.input.accepts(text) => None,
            text => {
                let tree = strict::value(text).map_err(|error| {
                    Failure::params(format!("`arguments`: {}", mismatch(&error)))
                })?;
                Some(checked(entry, &name, tree)?)
            }
        };
        Ok(Self {
            target: Target {
                method: "tools/call",
                name,
                digest: Some(entry.digest),
                arguments: Some(arguments),
                lifetimes: entry.lifetimes.unwrap_or(core.lifetimes),
            },
            tree,
            way: Arc::clone(&entry.way),
        })
    }
}

impl Wanted<GetPromptResult> {
    /// Returns the prompt `name`.
    pub(crate) fn prompt(
        core: &Core,
        admission: &Admission,
        name: String,
        arguments: Option<BTreeMap<String, String>>,
    ) -> Result<Self, Failure> {
        let Some(entry) = core.offers.prompts.get(&name) else {
            let usable = core.offers.prompts.names();
            let usable = usable.filter(|name| admission.may("prompts/get", Some(name)).is_ok());
            return Err(Failure::unknown(Kind::Prompt, name, usable));
        };
        let arguments = arguments.unwrap_or_default();
        if let Some(missing) = entry.missing(|name| arguments.contains_key(name)) {
            let takes = entry.wire.arguments.as_deref().unwrap_or_default().iter();
            let takes = wording::list(takes.map(|taken| wording::name(&taken.name)), " and ");
            let (missing, name) = (wording::name(missing), wording::name(&name));
            return Err(Failure::params(format!(
                "missing argument {missing}; {name} takes {takes}"
            )));
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
            tree: Some(
                arguments
                    .into_iter()
                    .map(|(name, value)| (name, Value::from(value)))
                    .collect(),
            ),
            way: Arc::clone(&entry.way),
        })
    }
}

impl Wanted<ReadResourceResult> {
    /// Returns the resource at `uri`.
    pub(crate) fn resource(
        core: &Core,
        admission: &Admission,
        uri: String,
    ) -> Result<Self, Failure> {
        // RES-S10: matched before any handler sees it. A backend knows more than its lists.
        let found = match core.offers.resources.get(&uri) {
            _ if core.offers.is_backed => Some((
                Value::from(uri.as_str()),
                None,
                Arc::new(HandlerKind::Backend),
            )),
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
            let usable = core.offers.resources.names();
            let usable = usable.filter(|uri| admission.may("resources/read", Some(uri)).is_ok());
            return Err(Failure::unknown(Kind::Resource, uri, usable));
        };
        Ok(Self {
            target: Target {
                method: "resources/read",
                name: uri,
                digest: None,
                arguments: None,
                lifetimes: lifetimes.unwrap_or(core.lifetimes),
            },
            tree: Some(input),
            way,
        })
    }
}

/// Checks the arguments of a call of the tool `name` against their schema.
fn checked(entry: &ToolEntry, name: &str, arguments: Value) -> Result<Value, Failure> {
    // TOOL-S13, TOOL-S18: the model is told, because it can mend its arguments.
    match entry.input.check_arguments(name, &arguments) {
        Ok(()) => Ok(arguments),
        Err(problem) => {
            let text = format!("The arguments are not valid: {problem}");
            Err(Failure::Tool(text))
        }
    }
}

/// The text of an object without members.
const NO_MEMBERS: &str = "{}";

#[cfg(test)]
mod tests;
