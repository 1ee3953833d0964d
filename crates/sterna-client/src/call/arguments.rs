//! Arguments of a tool or a prompt.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use sterna_protocol::json::{RawJson, RawObject};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::tool::CallToolResult;

use super::{Call, CallTarget};
use crate::error::{Error, Fault};

impl Call<CallToolResult> {
    /// Sets an argument.
    pub fn arg(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.target = self.target.and_then(|target| {
            let CallTarget::Tool {
                name: tool,
                arguments,
            } = target
            else {
                return Ok(target);
            };
            let mut members: Map<String, Value> = match &arguments {
                Some(arguments) => arguments.decode().map_err(unwritable)?,
                None => Map::new(),
            };
            let value = serde_json::to_value(value).map_err(unwritable)?;
            members.insert(name.into(), value);
            let arguments = Some(members.into());
            Ok(CallTarget::Tool {
                name: tool,
                arguments,
            })
        });
        self
    }

    /// Sets all arguments at once: a struct, a map or a JSON object.
    pub fn args(mut self, arguments: impl Serialize) -> Self {
        self.target = self.target.and_then(|target| {
            let json = RawJson::of(&arguments).map_err(unwritable)?;
            let arguments = RawObject::try_from(json).map_err(|_| Fault::Arguments(None))?;
            Ok(CallTarget::Tool {
                name: target.name().to_owned(),
                arguments: Some(arguments),
            })
        });
        self
    }
}

impl Call<GetPromptResult> {
    /// Fills in an argument.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Ok(CallTarget::Prompt { arguments, .. }) = &mut self.target {
            arguments.insert(name.into(), value.into());
        }
        self
    }

    /// Fills in all arguments at once.
    pub fn args(mut self, all: BTreeMap<String, String>) -> Self {
        if let Ok(CallTarget::Prompt { arguments, .. }) = &mut self.target {
            *arguments = all;
        }
        self
    }
}

fn unwritable(error: serde_json::Error) -> Error {
    Fault::Arguments(Some(error)).into()
}
