//! Answers against the forms they answer.

use expect_test::{Expect, expect};
use sterna_protocol::elicitation::{ElicitContent, FormSchema};

/// Checks `answer` against a form with one field, `f`.
#[track_caller]
fn check(field: &str, answer: &str, expected: Expect) {
    let form = format!(r#"{{"type":"object","properties":{{"f":{field}}},"required":["f"]}}"#);
    check_form(&form, answer, expected);
}

#[track_caller]
fn check_form(form: &str, answer: &str, expected: Expect) {
    let form: FormSchema = serde_json::from_str(form).unwrap();
    let answer: ElicitContent = serde_json::from_str(answer).unwrap();
    expected.assert_eq(&match form.check(answer) {
        Ok(content) => serde_json::to_string(&content).unwrap(),
        Err(error) => error.to_string(),
    });
}

#[test]
fn text_is_counted_in_characters() {
    let field = r#"{"type":"string","minLength":2,"maxLength":3}"#;
    check(
        field,
        r#"{"f":"é"}"#,
        expect!["`f` must have at least 2 characters"],
    );
    check(field, r#"{"f":"éé"}"#, expect![[r#"{"f":"éé"}"#]]);
    check(field, r#"{"f":"ééé"}"#, expect![[r#"{"f":"ééé"}"#]]);
    check(
        field,
        r#"{"f":"éééé"}"#,
        expect!["`f` must have at most 3 characters"],
    );
    check(field, r#"{"f":22}"#, expect!["`f` must be text"]);
}

#[test]
fn text_has_the_format_that_was_asked_for() {
    let field = |format: &str| format!(r#"{{"type":"string","format":"{format}"}}"#);
    check(
        &field("email"),
        r#"{"f":"a@b.example"}"#,
        expect![[r#"{"f":"a@b.example"}"#]],
    );
    check(
        &field("email"),
        r#"{"f":"a"}"#,
        expect!["`f` must be of the format email"],
    );
    check(
        &field("date"),
        r#"{"f":"2026-02-30"}"#,
        expect!["`f` must be of the format date"],
    );
    check(
        &field("date-time"),
        r#"{"f":"2026-02-03"}"#,
        expect!["`f` must be of the format date-time"],
    );
    check(
        &field("uri"),
        r#"{"f":"/a"}"#,
        expect!["`f` must be of the format uri"],
    );
    check(
        &field("phone"),
        r#"{"f":"anything"}"#,
        expect![[r#"{"f":"anything"}"#]],
    );
}

#[test]
fn numbers_stay_within_their_bounds() {
    let field = r#"{"type":"number","minimum":0.5,"maximum":9007199254740993}"#;
    check(field, r#"{"f":0.5}"#, expect![[r#"{"f":0.5}"#]]);
    check(field, r#"{"f":0.4}"#, expect!["`f` must be at least 0.5"]);
    check(
        field,
        r#"{"f":9007199254740993}"#,
        expect![[r#"{"f":9007199254740993}"#]],
    );
    check(
        field,
        r#"{"f":9007199254740994}"#,
        expect!["`f` must be at most 9007199254740993"],
    );
    check(field, r#"{"f":"1"}"#, expect!["`f` must be a number"]);
}

#[test]
fn an_integer_is_whole_however_it_is_written() {
    check(
        r#"{"type":"integer"}"#,
        r#"{"f":7.0}"#,
        expect![[r#"{"f":7.0}"#]],
    );
    check(
        r#"{"type":"integer"}"#,
        r#"{"f":7.5}"#,
        expect!["`f` must be a whole number"],
    );
    check(
        r#"{"type":"integer"}"#,
        r#"{"f":true}"#,
        expect!["`f` must be a whole number"],
    );
}

#[test]
fn yes_or_no_is_neither_text_nor_number() {
    check(
        r#"{"type":"boolean"}"#,
        r#"{"f":false}"#,
        expect![[r#"{"f":false}"#]],
    );
    check(
        r#"{"type":"boolean"}"#,
        r#"{"f":"true"}"#,
        expect!["`f` must be yes or no"],
    );
    check(
        r#"{"type":"boolean"}"#,
        r#"{"f":1}"#,
        expect!["`f` must be yes or no"],
    );
}

#[test]
fn a_pick_is_one_of_the_choices_and_not_one_of_the_titles() {
    let untitled = r#"{"type":"string","enum":["r","g"]}"#;
    let titled = r#"{"type":"string","oneOf":[{"const":"r","title":"Red"}]}"#;
    let legacy = r#"{"type":"string","enum":["r"],"enumNames":["Red"]}"#;
    check(untitled, r#"{"f":"g"}"#, expect![[r#"{"f":"g"}"#]]);
    check(
        untitled,
        r#"{"f":"b"}"#,
        expect!["`f` must be one of `r` and `g`"],
    );
    check(
        untitled,
        r#"{"f":["r"]}"#,
        expect!["`f` must be one of `r` and `g`"],
    );
    check(titled, r#"{"f":"r"}"#, expect![[r#"{"f":"r"}"#]]);
    check(titled, r#"{"f":"Red"}"#, expect!["`f` must be one of `r`"]);
    check(legacy, r#"{"f":"r"}"#, expect![[r#"{"f":"r"}"#]]);
    check(legacy, r#"{"f":"Red"}"#, expect!["`f` must be one of `r`"]);
}

#[test]
fn picks_are_some_of_the_choices() {
    let untitled =
        r#"{"type":"array","items":{"type":"string","enum":["r","g"]},"minItems":1,"maxItems":2}"#;
    let titled = r#"{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"}]}}"#;
    check(
        untitled,
        r#"{"f":["r","g"]}"#,
        expect![[r#"{"f":["r","g"]}"#]],
    );
    check(
        untitled,
        r#"{"f":[]}"#,
        expect!["`f` must be at least 1 of the choices"],
    );
    check(
        untitled,
        r#"{"f":["r","g","r"]}"#,
        expect!["`f` must be at most 2 of the choices"],
    );
    check(
        untitled,
        r#"{"f":["b"]}"#,
        expect!["`f` must be some of `r` and `g`"],
    );
    check(
        untitled,
        r#"{"f":"r"}"#,
        expect!["`f` must be some of `r` and `g`"],
    );
    check(titled, r#"{"f":["r"]}"#, expect![[r#"{"f":["r"]}"#]]);
    check(
        titled,
        r#"{"f":["Red"]}"#,
        expect!["`f` must be some of `r`"],
    );
}

#[test]
fn what_is_required_must_be_filled_in() {
    check(
        r#"{"type":"string"}"#,
        "{}",
        expect!["`f` must be filled in"],
    );
    let unknown = r#"{"type":"object","properties":{},"required":["ghost"]}"#;
    check_form(unknown, "{}", expect!["`ghost` must be filled in"]);
    check_form(
        unknown,
        r#"{"ghost":"boo"}"#,
        expect![[r#"{"ghost":"boo"}"#]],
    );
}

#[test]
fn defaults_fill_what_was_left_out_and_are_checked_too() {
    let form = r#"{"type":"object","properties":{
        "a":{"type":"string","default":"x"},
        "b":{"type":"integer","default":3},
        "c":{"type":"boolean","default":true},
        "d":{"type":"array","items":{"type":"string","enum":["r"]},"default":["r"]},
        "e":{"type":"string"}
    },"required":["a"]}"#;
    check_form(
        form,
        "{}",
        expect![[r#"{"a":"x","b":3,"c":true,"d":["r"]}"#]],
    );
    check_form(
        form,
        r#"{"a":"y","c":false,"d":[],"other":1}"#,
        expect![[r#"{"a":"y","b":3,"c":false,"d":[],"other":1}"#]],
    );
    check(
        r#"{"type":"string","enum":["r"],"default":"z"}"#,
        "{}",
        expect!["`f` must be one of `r`"],
    );
}
