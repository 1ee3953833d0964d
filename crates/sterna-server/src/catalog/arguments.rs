//! The arguments of a handler: from a Rust type to a schema, and back.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::call::text;
use crate::handler::HandlerInput;

/// The schema of `A` as the schema of an object of arguments.
///
/// # Errors
///
/// `A` is neither an object nor nothing.
pub(super) fn schema_of<A: JsonSchema>() -> Result<Map<String, Value>, String> {
    let Value::Object(schema) = root::<A>() else {
        return Err(not_an_object::<A>());
    };
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => Ok(schema),
        Some("null") => {
            let nothing = json!({"type": "object", "additionalProperties": false});
            Ok(nothing.as_object().cloned().unwrap_or_default())
        }
        _ => Err(not_an_object::<A>()),
    }
}

/// The names of the members that an object must have.
pub(super) fn required(schema: &Map<String, Value>) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// The JSON Schema of what a `T` is read from.
fn root<T: JsonSchema>() -> Value {
    // 2020-12 is what a schema is that does not say so (BASE-B12).
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// Reads the arguments of one call. `()` takes none.
pub(super) fn read<A: DeserializeOwned>(input: HandlerInput<'_>) -> serde_json::Result<A> {
    // The errors of text name lines and columns, which mean nothing to a model.
    if let HandlerInput::Text(text) = input
        && let Ok(arguments) = serde_json::from_str(text)
    {
        return Ok(arguments);
    }
    let tree = input.tree();
    or_nothing(&tree, A::deserialize(&*tree))
}

/// Reads the arguments of one call that came as text. `()` takes none.
pub(super) fn read_text<A: DeserializeOwned>(arguments: &Value) -> serde_json::Result<A> {
    or_nothing(arguments, text::read(arguments))
}

/// Reads an empty object as `null`, for a type without members.
fn or_nothing<A: DeserializeOwned>(
    arguments: &Value,
    read: serde_json::Result<A>,
) -> serde_json::Result<A> {
    match read {
        Err(_) if arguments.as_object().is_some_and(Map::is_empty) => A::deserialize(&Value::Null),
        read => read,
    }
}

fn not_an_object<A>() -> String {
    format!(
        "takes arguments of type `{}`, which is no object",
        std::any::type_name::<A>()
    )
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde::Deserialize;

    use super::*;

    #[track_caller]
    fn check<A: JsonSchema>(expected: Expect) {
        let shown = schema_of::<A>().map_or_else(|error| error, |schema| json!(schema).to_string());
        expected.assert_eq(&shown);
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Deploy {
        /// What to deploy
        service: String,
        replicas: Option<u8>,
    }

    #[test]
    fn a_struct_is_an_object_of_arguments() {
        check::<Deploy>(expect![[
            r#"{"type":"object","properties":{"service":{"type":"string","description":"What to deploy"},"replicas":{"type":["integer","null"],"format":"uint8","minimum":0,"maximum":255}},"required":["service"],"title":"Deploy"}"#
        ]]);
    }

    #[test]
    fn nothing_is_an_object_without_members() {
        check::<()>(expect![[
            r#"{"type":"object","additionalProperties":false}"#
        ]]);
        assert!(read::<()>(HandlerInput::Tree(&json!({}))).is_ok());
        assert!(read::<()>(HandlerInput::Tree(&json!({"a": 1}))).is_err());
    }

    #[test]
    fn what_is_no_object_is_refused_by_name() {
        check::<String>(expect![
            "takes arguments of type `alloc::string::String`, which is no object"
        ]);
    }
}
