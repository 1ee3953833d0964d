//! Places whose values a schema marks as secret.

use serde_json::Value;

/// The part of the JSON pointer `path` that leads to a value which is marked as
/// secret, by `writeOnly` or as a password; `None` if there is none on the way.
///
/// A value can be described by several parts of a schema at once; one that
/// calls it secret is enough. A reference that cannot be followed counts as one
/// that does.
pub(super) fn secret_part<'p>(schema: &Value, path: &'p str) -> Option<&'p str> {
    let mut search = Search {
        root: schema,
        seen: Vec::new(),
        is_secret: false,
    };
    search.add(schema);
    let mut end = 0;
    for step in path.split('/').skip(1) {
        if search.is_secret {
            break;
        }
        end += 1 + step.len();
        let step = step.replace("~1", "/").replace("~0", "~");
        let above = std::mem::take(&mut search.seen);
        for schema in above {
            search.descend(schema, &step);
        }
    }
    search.is_secret.then_some(&path[..end])
}

struct Search<'a> {
    root: &'a Value,
    /// The parts of the schema that describe the value reached so far.
    seen: Vec<&'a Value>,
    is_secret: bool,
}

impl<'a> Search<'a> {
    /// Adds `schema`, and whatever else it applies to the same value.
    fn add(&mut self, schema: &'a Value) {
        let Some(members) = schema.as_object() else {
            return;
        };
        if self.seen.iter().any(|seen| std::ptr::eq(*seen, schema)) {
            return;
        }
        self.seen.push(schema);
        self.is_secret |= members.get("writeOnly") == Some(&Value::Bool(true))
            || members
                .get("format")
                .is_some_and(|format| format == "password");
        for (name, member) in members {
            match (&**name, member) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    match resolve(self.root, reference) {
                        Some(schema) => self.add(schema),
                        None => self.is_secret = true,
                    }
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| self.add(schema));
                }
                ("not" | "if" | "then" | "else", schema) => self.add(schema),
                ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                    schemas.values().for_each(|schema| self.add(schema));
                }
                _ => {}
            }
        }
    }

    /// Adds what `schema` says about its member, or item, `step`.
    fn descend(&mut self, schema: &'a Value, step: &str) {
        let Some(members) = schema.as_object() else {
            return;
        };
        for (name, member) in members {
            match (&**name, member) {
                ("properties", Value::Object(schemas)) => {
                    if let Some(schema) = schemas.get(step) {
                        self.add(schema);
                    }
                }
                // Which pattern a name follows, and which item an index is, is not
                // looked at: that only hides more.
                ("patternProperties", Value::Object(schemas)) => {
                    schemas.values().for_each(|schema| self.add(schema));
                }
                ("items" | "prefixItems", Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| self.add(schema));
                }
                (
                    "additionalProperties"
                    | "unevaluatedProperties"
                    | "items"
                    | "additionalItems"
                    | "unevaluatedItems"
                    | "contains",
                    schema,
                ) => self.add(schema),
                _ => {}
            }
        }
    }
}

/// The part of the schema that a reference inside of it leads to.
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    match fragment.is_empty() || fragment.starts_with('/') {
        true => root.pointer(fragment),
        false => anchored(root, fragment),
    }
}

fn anchored<'a>(schema: &'a Value, anchor: &str) -> Option<&'a Value> {
    match schema {
        Value::Array(items) => items.iter().find_map(|item| anchored(item, anchor)),
        Value::Object(members) => {
            let names = ["$anchor", "$dynamicAnchor"];
            let is_it = |name| members.get(name).is_some_and(|found| found == anchor);
            if names.into_iter().any(is_it) {
                return Some(schema);
            }
            members.values().find_map(|member| anchored(member, anchor))
        }
        _ => None,
    }
}
