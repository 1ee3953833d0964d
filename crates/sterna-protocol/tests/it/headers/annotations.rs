use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sterna_protocol::http::{AnnotationError, ParamHeaders};

/// Checks the judgement of a client on a tool with these properties.
#[track_caller]
fn check(properties: Value, expected: Expect) {
    check_schema(json!({ "properties": properties }), expected);
}

#[track_caller]
fn check_schema(schema: Value, expected: Expect) {
    expected.assert_eq(&match headers_of(schema) {
        Ok(mirrored) => {
            let names: Vec<_> = mirrored.names().map(|name| name.as_str()).collect();
            names.join(" ")
        }
        Err(error) => format!("refused: {error}"),
    });
}

fn headers_of(mut schema: Value) -> Result<ParamHeaders, AnnotationError> {
    schema["type"] = "object".into();
    ParamHeaders::of(&serde_json::from_value(schema).unwrap())
}

#[test]
fn strings_integers_and_booleans_may_be_mirrored() {
    check(
        json!({
            "region": { "type": "string", "x-mcp-header": "Region" },
            "count": { "type": "integer", "x-mcp-header": "Count" },
            "flag": { "type": "boolean", "x-mcp-header": "Flag" },
            "query": { "type": "string" },
        }),
        expect!["mcp-param-region mcp-param-count mcp-param-flag"],
    );
    check(
        json!({ "a": { "type": ["string", "null"], "x-mcp-header": "A" } }),
        expect!["mcp-param-a"],
    );
}

#[test]
fn other_types_may_not() {
    for type_ in ["number", "object", "array", "null"] {
        let properties = json!({ "a": { "type": type_, "x-mcp-header": "A" } });
        check(
            properties,
            expect![
                "refused: the parameter at `/properties/a` is not a string, an integer or a boolean"
            ],
        );
    }
    check(
        json!({ "a": { "x-mcp-header": "A" } }),
        expect![
            "refused: the parameter at `/properties/a` is not a string, an integer or a boolean"
        ],
    );
    check(
        json!({ "a": { "type": ["string", "number"], "x-mcp-header": "A" } }),
        expect![
            "refused: the parameter at `/properties/a` is not a string, an integer or a boolean"
        ],
    );
    check(
        json!({ "a": { "type": ["null"], "x-mcp-header": "A" } }),
        expect![
            "refused: the parameter at `/properties/a` is not a string, an integer or a boolean"
        ],
    );
    check(
        json!({ "a": { "type": [], "x-mcp-header": "A" } }),
        expect![
            "refused: the parameter at `/properties/a` is not a string, an integer or a boolean"
        ],
    );
}

#[test]
fn a_name_is_a_token() {
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "!#$%&'*+-.^_`|~09azAZ" } }),
        expect!["mcp-param-!#$%&'*+-.^_`|~09azaz"],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "Method" } }),
        expect!["mcp-param-method"],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "" } }),
        expect![[r#"refused: "" at `/properties/a` is not a valid header name"#]],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "My Region" } }),
        expect![[r#"refused: "My Region" at `/properties/a` is not a valid header name"#]],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "Region:Primary" } }),
        expect![[r#"refused: "Region:Primary" at `/properties/a` is not a valid header name"#]],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "Région" } }),
        expect![[r#"refused: "Région" at `/properties/a` is not a valid header name"#]],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "Region\t1" } }),
        expect![[r#"refused: "Region\t1" at `/properties/a` is not a valid header name"#]],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "A\r\nSet-Cookie" } }),
        expect![[r#"refused: "A\r\nSet-Cookie" at `/properties/a` is not a valid header name"#]],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": "(a)" } }),
        expect![[r#"refused: "(a)" at `/properties/a` is not a valid header name"#]],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": 7 } }),
        expect!["refused: the annotation at `/properties/a` is not a string"],
    );
    check(
        json!({ "a": { "type": "string", "x-mcp-header": null } }),
        expect!["refused: the annotation at `/properties/a` is not a string"],
    );
}

#[test]
fn a_name_is_used_once_whatever_its_case() {
    check(
        json!({
            "a": { "type": "string", "x-mcp-header": "Region" },
            "b": { "type": "string", "x-mcp-header": "Region" },
        }),
        expect!["refused: `Region` at `/properties/b` names a header that another parameter has"],
    );
    check(
        json!({
            "a": { "type": "string", "x-mcp-header": "Region" },
            "b": { "type": "object", "properties": {
                "c": { "type": "string", "x-mcp-header": "REGION" },
            } },
        }),
        expect![
            "refused: `REGION` at `/properties/b/properties/c` names a header that another parameter has"
        ],
    );
}

#[test]
fn nested_properties_may_be_mirrored() {
    check(
        json!({ "a": { "type": "object", "properties": {
            "b": { "properties": { "c": { "type": "string", "x-mcp-header": "C" } } },
        } } }),
        expect!["mcp-param-c"],
    );
}

#[test]
fn everything_off_the_chain_of_properties_may_not() {
    let annotated = json!({ "type": "string", "x-mcp-header": "A" });
    for keyword in [
        "items",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
    ] {
        let schema = json!({ "properties": { "a/b": { keyword: annotated } } });
        let error = headers_of(schema).unwrap_err().to_string();
        let at = format!("/properties/a~1b/{keyword}");
        assert_eq!(
            error,
            format!(
                "the annotation at `{at}` is not on a parameter: only `properties` may lead to it"
            )
        );
    }
    for keyword in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        let schema = json!({ keyword: [{ "properties": { "a": annotated } }] });
        let error = headers_of(schema).unwrap_err().to_string();
        let at = format!("/{keyword}/0/properties/a");
        assert_eq!(
            error,
            format!(
                "the annotation at `{at}` is not on a parameter: only `properties` may lead to it"
            )
        );
    }
    for keyword in [
        "$defs",
        "definitions",
        "dependentSchemas",
        "patternProperties",
    ] {
        let schema = json!({ keyword: { "a": annotated } });
        let error = headers_of(schema).unwrap_err().to_string();
        let at = format!("/{keyword}/a");
        assert_eq!(
            error,
            format!(
                "the annotation at `{at}` is not on a parameter: only `properties` may lead to it"
            )
        );
    }
    check_schema(
        json!({ "x-mcp-header": "A" }),
        expect![
            "refused: the annotation at `` is not on a parameter: only `properties` may lead to it"
        ],
    );
}

#[test]
fn a_property_or_a_datum_of_that_name_is_no_annotation() {
    check(json!({ "x-mcp-header": { "type": "string" } }), expect![]);
    check(
        json!({ "a": {
            "default": { "x-mcp-header": "A" },
            "const": { "x-mcp-header": "A" },
            "enum": [{ "x-mcp-header": "A" }],
            "examples": [{ "x-mcp-header": "A" }],
            "dependentRequired": { "x-mcp-header": ["b"] },
        } }),
        expect![],
    );
    check_schema(
        json!({ "$defs": { "x-mcp-header": { "type": "string" } } }),
        expect![],
    );
}

#[test]
fn properties_that_are_no_object_have_no_annotations() {
    check_schema(json!({ "properties": [{ "type": "string" }] }), expect![]);
    check_schema(json!({ "properties": { "a": true } }), expect![]);
}

#[test]
fn a_schema_with_a_number_beyond_all_bounds_is_refused() {
    let schema = r#"{"type":"object","maxProperties":1e999}"#;
    let schema = serde_json::from_str(schema).unwrap();
    assert_eq!(ParamHeaders::of(&schema), Err(AnnotationError::Unreadable));
}
