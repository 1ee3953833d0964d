//! The end of a flow, in a form that can be compared.

use std::fmt;

use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RunResult {
    Error {
        code: i64,
        message: String,
        data: Option<Value>,
    },
    /// The client never came back.
    Gone,
    Result(Value),
}

impl RunResult {
    /// A result without the members that differ between execution modes.
    pub(crate) fn result(mut result: Value) -> Self {
        if let Some(members) = result.as_object_mut() {
            for member in ["_meta", "resultType", "ttlMs", "cacheScope"] {
                members.remove(member);
            }
        }
        Self::Result(result)
    }

    pub(crate) fn error(error: &Value) -> Self {
        Self::Error {
            code: error["code"].as_i64().unwrap_or_default(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error.get("data").cloned(),
        }
    }

    /// Returns whether an unused answer means that the script is wrong.
    pub(crate) fn uses_script(&self) -> bool {
        matches!(self, Self::Result(_))
    }

    /// Its text, in one piece.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Error { code, message, .. } => format!("{code} {message}"),
            Self::Gone => String::new(),
            Self::Result(result) => texts(result).join("\n"),
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        match self {
            Self::Error { .. } => true,
            Self::Gone => false,
            Self::Result(result) => result["isError"] == true,
        }
    }
}

/// The texts of a tool's content, of a prompt's messages or of a resource.
fn texts(result: &Value) -> Vec<&str> {
    let parts = ["content", "contents", "messages"].iter();
    let parts = parts.flat_map(|member| result[member].as_array().into_iter().flatten());
    parts
        .filter_map(|part| text(part).or_else(|| text(part.get("content")?)))
        .collect()
}

fn text(part: &Value) -> Option<&str> {
    part.get("text")?.as_str()
}

impl fmt::Display for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error {
                code,
                message,
                data,
            } => {
                write!(f, "error {code} {message:?}")?;
                match data {
                    Some(data) => write!(f, " {data}"),
                    None => Ok(()),
                }
            }
            Self::Gone => f.write_str("nothing: the client is gone"),
            Self::Result(result) => {
                let empty = Map::new();
                let members = result.as_object().unwrap_or(&empty);
                let texts = texts(result);
                if result["isError"] == true {
                    f.write_str("failed: ")?;
                }
                match (&texts[..], members.get("structuredContent")) {
                    (_, Some(content)) => write!(f, "{content}"),
                    ([], None) => write!(f, "{result}"),
                    (texts, None) => write!(f, "{:?}", texts.join("\n")),
                }
            }
        }
    }
}
