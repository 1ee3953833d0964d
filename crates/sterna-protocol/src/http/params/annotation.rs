use std::collections::BTreeSet;

use http::HeaderName;
use serde_json::Value;
use thiserror::Error;

use super::ParamHeaders;
use crate::tool::ObjectSchema;

/// Invalid `x-mcp-header` annotation in the input schema of a tool.
///
/// `at` is the JSON pointer to it in the schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnnotationError {
    /// Two annotations name the same header, without regard to case.
    #[error("`{name}` at `{at}` names a header that another parameter has")]
    Duplicate {
        /// JSON pointer to the later annotation.
        at: String,
        /// Name in the annotation.
        name: String,
    },
    /// The name is empty or not an HTTP token.
    #[error("{name:?} at `{at}` is not a valid header name")]
    Name {
        /// JSON pointer to the annotation.
        at: String,
        /// Name in the annotation.
        name: String,
    },
    /// The annotation is not a string.
    #[error("the annotation at `{at}` is not a string")]
    NotAString {
        /// JSON pointer to the annotation.
        at: String,
    },
    /// The parameter is not a string, an integer or a boolean.
    #[error("the parameter at `{at}` is not a string, an integer or a boolean")]
    Type {
        /// JSON pointer to the parameter.
        at: String,
    },
    /// The annotated schema is not a parameter: its path from the root does not
    /// consist of `properties` only.
    #[error("the annotation at `{at}` is not on a parameter: only `properties` may lead to it")]
    Unreachable {
        /// JSON pointer to the annotated schema.
        at: String,
    },
    /// The schema holds an invalid number or string.
    #[error("the schema is malformed")]
    Unreadable,
}

pub(super) fn find(schema: &ObjectSchema) -> Result<ParamHeaders, AnnotationError> {
    let schema: Value = schema.decode().map_err(|_| AnnotationError::Unreadable)?;
    let mut search = Search::default();
    search.schema(&schema, SchemaPath::Properties)?;
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    /// Members on the path from the root to the current schema.
    pointer: Vec<String>,
    found: ParamHeaders,
    names: BTreeSet<String>,
}

/// Path from the root to a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPath {
    /// `properties` and parameter names only.
    Properties,
    /// Any other path.
    Other,
}

impl Search {
    fn schema(&mut self, schema: &Value, path: SchemaPath) -> Result<(), AnnotationError> {
        let members = match schema {
            Value::Object(members) => members,
            Value::Array(schemas) => {
                return self.each(schemas.iter().enumerate(), SchemaPath::Other);
            }
            _ => return Ok(()),
        };
        if let Some(name) = members.get(ANNOTATION) {
            self.annotation(name, members.get("type"), path)?;
        }
        for (keyword, value) in members {
            self.enter(keyword, |search| match (keyword.as_str(), value) {
                (keyword, _) if OPAQUE.contains(&keyword) => Ok(()),
                ("properties", Value::Object(properties)) => search.each(properties, path),
                (keyword, Value::Object(schemas)) if NAMED.contains(&keyword) => {
                    search.each(schemas, SchemaPath::Other)
                }
                (_, schema) => search.schema(schema, SchemaPath::Other),
            })?;
        }
        Ok(())
    }

    fn each<'a>(
        &mut self,
        schemas: impl IntoIterator<Item = (impl ToString, &'a Value)>,
        path: SchemaPath,
    ) -> Result<(), AnnotationError> {
        for (name, schema) in schemas {
            self.enter(&name, |search| search.schema(schema, path))?;
        }
        Ok(())
    }

    fn annotation(
        &mut self,
        name: &Value,
        type_: Option<&Value>,
        path: SchemaPath,
    ) -> Result<(), AnnotationError> {
        let at = self.place();
        // HTTP-B5: elsewhere there may be no value, or several. The root is
        // no parameter either.
        if path == SchemaPath::Other || self.pointer.is_empty() {
            return Err(AnnotationError::Unreachable { at });
        }
        let Value::String(name) = name else {
            return Err(AnnotationError::NotAString { at });
        };
        let name = name.clone();
        // HTTP-B1, HTTP-B2: a header name is a token, and in lower case.
        let header = match HeaderName::try_from(format!("{PREFIX}{name}")) {
            Ok(header) if !name.is_empty() => header,
            _ => return Err(AnnotationError::Name { at, name }),
        };
        // HTTP-B3: values of other types cannot be sent in a header.
        if !is_primitive(type_) {
            return Err(AnnotationError::Type { at });
        }
        if !self.names.insert(header.as_str().to_owned()) {
            return Err(AnnotationError::Duplicate { at, name });
        }
        // Every other member of the pointer is `properties`.
        let path = self.pointer.iter().skip(1).step_by(2);
        self.found.root.insert(path, self.found.headers.len());
        self.found.headers.push(header);
        Ok(())
    }

    fn enter<T>(&mut self, member: &impl ToString, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.pointer.push(member.to_string());
        let value = inside(self);
        self.pointer.pop();
        value
    }

    fn place(&self) -> String {
        let escaped = |member: &String| member.replace('~', "~0").replace('/', "~1");
        self.pointer
            .iter()
            .map(|m| format!("/{}", escaped(m)))
            .collect()
    }
}

fn is_primitive(type_: Option<&Value>) -> bool {
    let primitive = |name: &Value| {
        let name = name.as_str();
        matches!(name, Some("boolean" | "integer" | "string"))
    };
    match type_ {
        // The specification defines null parameters, so `null` is allowed beside a type.
        Some(Value::Array(names)) => {
            names.iter().any(primitive)
                && names.iter().all(|name| primitive(name) || name == "null")
        }
        Some(name) => primitive(name),
        None => false,
    }
}

const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";

/// Keywords whose values are data or names and hold no schema.
const OPAQUE: &[&str] = &[
    "const",
    "default",
    "dependentRequired",
    "enum",
    "examples",
    "required",
    ANNOTATION,
];

/// Keywords, besides `properties`, whose members are schemas.
const NAMED: &[&str] = &[
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
];
