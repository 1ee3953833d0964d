//! Values against the JSON Schema that was promised for them.

use std::fmt;

use serde_json::Value;
use sterna_form::TextCheck;

use super::explain::{Explainer, Values};
use super::general::{Errors, GeneralCheck};

/// A compiled schema.
///
/// It never fetches anything: a `$ref` to elsewhere keeps the server from being
/// built (BASE-B16, BASE-B18).
pub(crate) struct InputCheck {
    /// The rules of the schema, if they are those that derived schemas have. It
    /// finds most valid values valid, on their text.
    known: TextCheck,
    /// The check that decides where `known` does not have all rules.
    general: Option<GeneralCheck>,
    /// As it was declared, to say what would have been right.
    schema: Value,
}

impl InputCheck {
    /// Compiles `schema`.
    ///
    /// # Errors
    ///
    /// It is no valid JSON Schema in the dialect it declares (BASE-S11), or it has
    /// rules that need the feature `json-schema`.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        // BASE-B15: rather than guess what is meant.
        if let Some(dialect) = schema.get("$schema").and_then(Value::as_str)
            && !DIALECTS.contains(&dialect.trim_end_matches('#'))
        {
            return Err(format!("the dialect `{dialect}` is not supported"));
        }
        let known = TextCheck::new(schema);
        let general = known.unknown_keyword();
        let general = general.map(|keyword| GeneralCheck::new(schema, keyword));
        let general = general.transpose()?;
        Ok(Self {
            known,
            general,
            schema: schema.clone(),
        })
    }

    /// Returns `true` if `text` fits the schema beyond doubt and has no member
    /// twice. Of all others [`check_arguments`](Self::check_arguments) decides.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        self.known.accepts(text)
    }

    /// Checks the arguments of a call of `tool`.
    ///
    /// # Errors
    ///
    /// Names the places that do not fit and the rules they break, in words that
    /// a model can act on. Values are cut, and those of places that the schema
    /// marks as secret are left out.
    pub(crate) fn check_arguments(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        let explainer = Explainer::new(&self.schema, Values::Shown).of_tool(tool);
        self.check(arguments, explainer)
    }

    /// Checks what a tool returns.
    ///
    /// # Errors
    ///
    /// Names the places that do not fit and the rules they break, for a log: no
    /// value is repeated.
    pub(crate) fn check_result(&self, result: &Value) -> Result<(), String> {
        self.check(result, Explainer::new(&self.schema, Values::Hidden))
    }

    fn check(&self, value: &Value, explainer: Explainer<'_>) -> Result<(), String> {
        let errors = match &self.general {
            None => Errors::Found(self.known.errors(value, MOST_ERRORS)),
            Some(general) => general.errors(value, MOST_ERRORS),
        };
        match errors {
            Errors::Found(errors) if errors.is_empty() => Ok(()),
            Errors::Found(errors) => Err(explainer.explain(value, &errors)),
            Errors::TooMany => Err(explainer.explain_large()),
        }
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

    /// Returns `true` if `value` fits a schema of `dialect` with `rule` alone.
    fn fits(dialect: Option<&str>, rule: (&str, Value), value: &Value) -> bool {
        let mut schema = json!({rule.0: rule.1});
        if let Some(dialect) = dialect {
            schema["$schema"] = json!(dialect);
        }
        InputCheck::new(&schema)
            .unwrap()
            .check_arguments("tool", value)
            .is_ok()
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
