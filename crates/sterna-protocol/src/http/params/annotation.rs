use std::collections::BTreeSet;

use http::HeaderName;
use serde_json::Value;
use thiserror::Error;

use super::ParamHeaders;
use crate::tool::ObjectSchema;

/// Why the `x-mcp-header` annotations of a tool are not valid.
///
/// `at` is where, as a JSON pointer into the schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnnotationError {
    /// Two annotations name the same header, apart from case.
    #[error("`{name}` at `{at}` names a header that another parameter has")]
    Duplicate {
        /// The place of the later one.
        at: String,
        /// The name as it stands there.
        name: String,
    },
    /// The name is empty or no HTTP token.
    #[error("{name:?} at `{at}` is no name for a header")]
    Name {
        /// The place of the annotation.
        at: String,
        /// The name as it stands there.
        name: String,
    },
    /// The annotation is no string.
    #[error("the annotation at `{at}` is not a string")]
    NotAString {
        /// The place of the annotation.
        at: String,
    },
    /// The parameter is not a string, an integer or a boolean.
    #[error("the parameter at `{at}` is of no primitive type")]
    Type {
        /// The place of the parameter.
        at: String,
    },
    /// The annotation is not on a parameter: the way to it from the root does
    /// not consist of `properties` alone.
    #[error("no parameter is statically reachable at `{at}`")]
    Unreachable {
        /// The place of the annotated schema.
        at: String,
    },
    /// The schema holds a number or a string that is none.
    #[error("the schema is malformed")]
    Unreadable,
}

pub(super) fn find(schema: &ObjectSchema) -> Result<ParamHeaders, AnnotationError> {
    let schema: Value = schema.decode().map_err(|_| AnnotationError::Unreadable)?;
    let mut search = Search::default();
    search.schema(&schema, Way::Properties)?;
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    /// The members that lead from the root to where the search is.
    pointer: Vec<String>,
    found: ParamHeaders,
    names: BTreeSet<String>,
}

/// What leads to a schema from the root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `properties`, the name of one, `properties`, and so on.
    Properties,
    /// Anything else.
    Other,
}

impl Search {
    fn schema(&mut self, schema: &Value, way: Way) -> Result<(), AnnotationError> {
        let members = match schema {
            Value::Object(members) => members,
            Value::Array(schemas) => return self.each(schemas.iter().enumerate(), Way::Other),
            _ => return Ok(()),
        };
        if let Some(name) = members.get(ANNOTATION) {
            self.annotation(name, members.get("type"), way)?;
        }
        for (keyword, value) in members {
            self.enter(keyword, |search| match (keyword.as_str(), value) {
                (keyword, _) if OPAQUE.contains(&keyword) => Ok(()),
                ("properties", Value::Object(properties)) => search.each(properties, way),
                (keyword, Value::Object(schemas)) if NAMED.contains(&keyword) => {
                    search.each(schemas, Way::Other)
                }
                (_, schema) => search.schema(schema, Way::Other),
            })?;
        }
        Ok(())
    }

    fn each<'a>(
        &mut self,
        schemas: impl IntoIterator<Item = (impl ToString, &'a Value)>,
        way: Way,
    ) -> Result<(), AnnotationError> {
        for (name, schema) in schemas {
            self.enter(&name, |search| search.schema(schema, way))?;
        }
        Ok(())
    }

    fn annotation(
        &mut self,
        name: &Value,
        type_: Option<&Value>,
        way: Way,
    ) -> Result<(), AnnotationError> {
        let at = self.place();
        // HTTP-B5: elsewhere there may be no value, or several. The root is
        // no parameter either.
        if way == Way::Other || self.pointer.is_empty() {
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
        // HTTP-B3: other types have no form in a header.
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
        // The spec says what to do when a parameter is null, so it may be.
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

/// Keywords whose values are data or names, where nothing is an annotation.
const OPAQUE: &[&str] = &[
    "const",
    "default",
    "dependentRequired",
    "enum",
    "examples",
    "required",
    ANNOTATION,
];

/// Keywords, next to `properties`, whose members are schemas with names.
const NAMED: &[&str] = &[
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
];
