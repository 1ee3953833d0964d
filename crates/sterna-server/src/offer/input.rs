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

/// A model mends a handful of mistakes at once; a longer list is noise.
const MOST_ERRORS: usize = 5;
