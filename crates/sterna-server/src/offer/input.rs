//! Values against the JSON Schema that was promised for them.

use std::fmt;

use jsonschema::Validator;
use serde_json::Value;

/// A compiled schema.
///
/// It never fetches anything: a `$ref` to elsewhere keeps the server from being
/// built (BASE-B16, BASE-B18).
pub(crate) struct InputCheck(Validator);

impl InputCheck {
    /// Compiles `schema`.
    ///
    /// # Errors
    ///
    /// It is no valid JSON Schema in the dialect it declares (BASE-S11).
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        // BASE-B15: rather than guess what is meant.
        if let Some(dialect) = schema.get("$schema").and_then(Value::as_str)
            && !DIALECTS.contains(&dialect.trim_end_matches('#'))
        {
            return Err(format!("the dialect `{dialect}` is not supported"));
        }
        let compiled = jsonschema::options().build(schema);
        compiled.map(Self).map_err(|error| error.to_string())
    }

    /// Checks `value`.
    ///
    /// # Errors
    ///
    /// Says where it does not fit, in words that a model can act on.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        // Looking for an error costs several times what asking whether there is one does.
        if self.0.is_valid(value) {
            return Ok(());
        }
        let mut errors = self.0.iter_errors(value);
        let Some(first) = errors.next() else {
            return Ok(());
        };
        let mut text = describe(&first);
        for error in errors.by_ref().take(MOST_ERRORS - 1) {
            text.push_str("; ");
            text.push_str(&describe(&error));
        }
        Err(text)
    }
}

fn describe(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    if place.is_empty() {
        error.to_string()
    } else {
        format!("{place}: {error}")
    }
}

impl fmt::Debug for InputCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InputCheck")
    }
}

/// The dialects that are understood, that of a schema which names none first
/// (BASE-B12). `docs/serving.md` has the same list.
const DIALECTS: [&str; 5] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema",
];

/// A model mends a handful of mistakes at once; a longer list is noise.
const MOST_ERRORS: usize = 5;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whether `value` fits a schema that says `dialect` and nothing else but
    /// `rule`.
    fn fits(dialect: Option<&str>, rule: (&str, Value), value: &Value) -> bool {
        let mut schema = json!({rule.0: rule.1});
        if let Some(dialect) = dialect {
            schema["$schema"] = json!(dialect);
        }
        InputCheck::new(&schema).unwrap().check(value).is_ok()
    }

    #[test]
    fn a_schema_is_applied_in_the_dialect_it_declares_and_that_is_2020_12() {
        let [newest, earlier @ ..] = DIALECTS;
        // A list of schemas: `prefixItems` since 2020-12, `items` before.
        let since = || ("prefixItems", json!([{"type": "string"}]));
        let before = || ("items", json!([{"type": "string"}]));
        let value = json!([7]);
        assert!(!fits(None, since(), &value));
        assert!(!fits(Some(newest), since(), &value));
        for dialect in earlier {
            assert!(fits(Some(dialect), since(), &value), "{dialect}");
            assert!(!fits(Some(dialect), before(), &value), "{dialect}");
            let spelled = format!("{dialect}#");
            assert!(!fits(Some(&spelled), before(), &value), "{spelled}");
        }
    }

    #[test]
    fn a_dialect_that_nobody_knows_is_refused_by_name() {
        let schema = json!({"$schema": "https://json-schema.org/draft/2099-01/schema"});
        assert_eq!(
            InputCheck::new(&schema).unwrap_err(),
            "the dialect `https://json-schema.org/draft/2099-01/schema` is not supported"
        );
    }

    #[test]
    fn the_guide_names_the_dialects() {
        let guide = include_str!("../../../../docs/serving.md");
        for dialect in DIALECTS {
            assert!(guide.contains(dialect), "{dialect}");
        }
    }
}
