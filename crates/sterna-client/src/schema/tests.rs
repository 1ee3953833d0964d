use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sterna_protocol::json::{RawJson, RawObject};

use super::*;

/// Result of each value under the schema.
#[track_caller]
fn check(schema: &Value, values: &[Value], expected: Expect) {
    let judged: String = values
        .iter()
        .map(|value| {
            let fit = Evaluator::new(schema, Dialect::V2020_12).fits(schema, value);
            format!("{value} {fit:?}\n")
        })
        .collect();
    expected.assert_eq(&judged);
}

fn output(schema: Value) -> OutputSchema {
    let schema: RawObject = RawJson::from(schema).try_into().unwrap();
    OutputSchema::read(&schema).unwrap().unwrap()
}

#[test]
fn types_bounds_and_members_are_judged() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "maxLength": 3},
            "age": {"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 150},
            "tags": {"type": "array", "prefixItems": [{"const": "first"}],
                "items": {"enum": [1, "a"]}, "maxItems": 3},
        },
        "required": ["name"],
        "additionalProperties": {"type": "boolean"},
    });
    check(
        &schema,
        &[
            json!({"name": "Ada", "age": 36.0, "tags": ["first", 1.0, "a"], "more": true}),
            json!({"name": "ééé", "age": null}),
            json!({"name": "A"}),
            json!({"name": "Adam"}),
            json!({"age": 36}),
            json!({"name": "Ada", "age": 1.5}),
            json!({"name": "Ada", "age": 150}),
            json!({"name": "Ada", "tags": ["second"]}),
            json!({"name": "Ada", "tags": ["first", 2]}),
            json!({"name": "Ada", "more": 1}),
            json!([]),
        ],
        expect![[r#"
            {"name":"Ada","age":36.0,"tags":["first",1.0,"a"],"more":true} Yes
            {"name":"ééé","age":null} Yes
            {"name":"A"} No
            {"name":"Adam"} No
            {"age":36} No
            {"name":"Ada","age":1.5} No
            {"name":"Ada","age":150} No
            {"name":"Ada","tags":["second"]} No
            {"name":"Ada","tags":["first",2]} No
            {"name":"Ada","more":1} No
            [] No
        "#]],
    );
}

#[test]
fn alternatives_and_conditions_are_judged() {
    let schema = json!({
        "$defs": {"even": {"enum": [0, 2, 4]}},
        "allOf": [{"type": "number"}, {"not": {"const": 7}}],
        "anyOf": [{"$ref": "#/$defs/even"}, {"minimum": 5}],
        "oneOf": [{"maximum": 3}, {"minimum": 3}],
        "if": {"minimum": 10}, "then": {"maximum": 20}, "else": true,
    });
    let values = [2, 3, 5, 7, 11, 21].map(|value| json!(value));
    check(
        &schema,
        &values,
        expect![[r#"
            2 Yes
            3 No
            5 Yes
            7 No
            11 Yes
            21 No
        "#]],
    );
}

#[test]
fn what_is_not_judged_is_neither_refused_nor_the_reason_to_refuse() {
    let pattern = json!({"pattern": "^a"});
    check(
        &pattern,
        &[json!("b")],
        expect![[r#"
        "b" Unknown
    "#]],
    );
    let schema = json!({"not": pattern, "oneOf": [pattern, false]});
    check(
        &schema,
        &[json!("b")],
        expect![[r#"
        "b" Unknown
    "#]],
    );
    let certain = json!({"pattern": "^a", "type": "number"});
    check(
        &certain,
        &[json!("b")],
        expect![[r#"
        "b" No
    "#]],
    );
}

#[test]
fn a_schema_that_is_a_trap_takes_little_time() {
    // Two of each of the next: a billion billion steps by itself.
    let mut defs = serde_json::Map::new();
    for level in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), json!({"allOf": [next, next]}));
    }
    let doubling = json!({"$defs": defs, "$ref": "#/$defs/d0"});
    let circular = json!({"$ref": "#"});
    let mutual = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    for schema in [doubling, circular, mutual] {
        check(
            &schema,
            &[json!(1)],
            expect![[r#"
            1 Unknown
        "#]],
        );
    }
}

/// Each of these is of a size that a message may have, and is gone through once
/// for every item of a list that is as long.
#[test]
fn work_is_bounded_by_the_fuel_and_not_by_schema_times_value() {
    const MANY: usize = 20_000;
    let text = |number: usize| json!(format!("{number:06}"));
    let numbers: Vec<_> = (0..MANY).map(text).collect();
    let named = |number: usize, value: &Value| (format!("{number:06}"), value.clone());
    let object = |value: Value| -> Value { (0..MANY).map(|at| named(at, &value)).collect() };
    let items = |schema: Value| json!({"items": schema});
    let backwards: Vec<_> = numbers.iter().rev().collect();
    let mut types = vec!["null"; MANY];
    types.push("string");
    let long = "x".repeat(MANY);
    for (what, schema, value) in [
        ("enum", items(json!({"enum": backwards})), json!(numbers)),
        (
            "const",
            json!({"allOf": vec![json!({"const": numbers}); 400]}),
            json!(numbers),
        ),
        ("type", items(json!({"type": types})), json!(numbers)),
        (
            "required",
            json!({"allOf": vec![json!({"required": numbers}); 400]}),
            object(json!(1)),
        ),
        (
            "properties",
            items(json!({"properties": object(json!(true))})),
            json!(vec![json!({}); MANY]),
        ),
        (
            "additionalProperties",
            json!({"allOf": vec![json!({"additionalProperties": true}); 4000]}),
            object(json!(1)),
        ),
        (
            "items",
            json!({"allOf": vec![json!({"items": true}); 4000]}),
            json!(numbers),
        ),
        ("keywords", items(object(json!(1))), json!(numbers)),
        (
            "$ref",
            items(json!({"$ref": format!("#/{long}{long}")})),
            json!(numbers),
        ),
        (
            "minLength",
            json!({"allOf": vec![json!({"minLength": 1}); MANY]}),
            json!(long.repeat(20)),
        ),
    ] {
        let fits = Evaluator::new(&schema, Dialect::V2020_12).fits(&schema, &value);
        assert_eq!(fits, Fit::Unknown, "{what}");
    }
}

#[test]
fn a_reference_to_elsewhere_is_refused_and_never_followed() {
    let content = RawJson::from(json!({}));
    for place in [
        "https://a.example/schema.json",
        "other.json#/a",
        "file:///etc/passwd",
    ] {
        let schema = output(json!({"properties": {"a": {"$ref": place}}}));
        let error = schema.check(Some(&content)).unwrap_err();
        expect!["the tool's output schema refers to another document"]
            .assert_eq(&error.to_string());
    }
    let about = output(json!({"examples": [{"$ref": "https://a.example"}]}));
    about.check(Some(&content)).unwrap();
}

#[test]
fn a_promise_is_read_in_the_dialect_it_names_and_else_in_2020_12() {
    // One rule each that the dialects see differently, and a value that breaks it.
    let rules = [
        ("prefixItems", json!({"prefixItems": [false]}), json!([7])),
        ("items", json!({"items": [{"type": "null"}]}), json!([7])),
        (
            "additionalItems",
            json!({"items": [true], "additionalItems": false}),
            json!([7, 7]),
        ),
        (
            "$ref",
            json!({"$ref": "#/definitions/any", "type": "string", "definitions": {"any": {}}}),
            json!(7),
        ),
        (
            "if",
            json!({"if": {}, "then": {"type": "string"}}),
            json!(7),
        ),
        ("const", json!({"const": 8}), json!(7)),
        (
            "minimum",
            json!({"minimum": 7, "exclusiveMinimum": true}),
            json!(7),
        ),
        ("exclusiveMinimum", json!({"exclusiveMinimum": 7}), json!(7)),
        ("integer", json!({"not": {"type": "integer"}}), json!(7.0)),
        (
            "embedded",
            json!({"allOf": [{"$schema": "urn:other", "type": "string"}]}),
            json!(7),
        ),
    ];
    let mut shown = format!("{:17}     20-12 19-09 7  6  4\n", "");
    let names = dialect::DIALECTS.map(|(name, _)| Some(name));
    for (rule, schema, value) in rules {
        shown += &format!("{rule:17}");
        for name in [None].into_iter().chain(names) {
            let mut schema = schema.clone();
            if let Some(name) = name {
                schema["$schema"] = json!(format!("http://{name}#"));
            }
            let fit = match output(schema).check(Some(&RawJson::from(value.clone()))) {
                Ok(()) => "ok",
                Err(_) => "no",
            };
            shown += &format!(" {fit}");
        }
        shown += "\n";
    }
    expect![[r#"
                              20-12 19-09 7  6  4
        prefixItems       no no ok ok ok ok
        items             ok ok no no no no
        additionalItems   ok ok no no no no
        $ref              no no no ok ok ok
        if                no no no no ok ok
        const             no no no no no ok
        minimum           ok ok ok ok ok no
        exclusiveMinimum  no no no no no ok
        integer           no no no no no ok
        embedded          ok ok ok ok ok ok
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_dialect_that_is_not_known_is_named() {
    let read = |dialect: Value| {
        let schema: RawObject = RawJson::from(json!({"$schema": dialect}))
            .try_into()
            .unwrap();
        OutputSchema::read(&schema).unwrap()
    };
    for known in [
        json!("https://json-schema.org/draft/2020-12/schema"),
        json!("http://json-schema.org/draft-07/schema#"),
        json!("https://json-schema.org/draft-07/schema"),
    ] {
        read(known).unwrap();
    }
    let mut shown = String::new();
    for unknown in [
        json!("https://json-schema.org/draft/2099-01/schema"),
        json!("json-schema.org/draft-07/schema"),
        json!("a\nb"),
        json!(7),
    ] {
        shown += &format!("{}\n", read(unknown).unwrap_err());
    }
    expect![[r#"
        the dialect `https://json-schema.org/draft/2099-01/schema` of JSON Schema is not supported
        the dialect `json-schema.org/draft-07/schema` of JSON Schema is not supported
        the dialect `a�b` of JSON Schema is not supported
        the dialect `7` of JSON Schema is not supported
    "#]]
    .assert_eq(&shown);
}

#[test]
fn the_page_of_the_error_names_the_dialects() {
    let page = include_str!("../../../../docs/errors/MR0517.md");
    for (dialect, _) in dialect::DIALECTS {
        assert!(page.contains(dialect), "{dialect}");
    }
}
