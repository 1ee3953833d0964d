use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Form;

#[track_caller]
fn check<T: JsonSchema>(expected: Expect) {
    let shown = match Form::of::<T>() {
        Ok(form) => serde_json::to_string(&form.schema("answer")).unwrap(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown.replace(module_path!(), "crate"));
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Colour {
    Red,
    DarkGreen,
}

#[derive(JsonSchema, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Channel {
    /// By mail
    Mail,
    /// Long explanation
    #[schemars(title = "By phone")]
    Phone,
    Pigeon,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Profile {
    /// How we call you
    #[schemars(length(min = 1, max = 40))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    #[schemars(email)]
    mail: Option<String>,
    #[serde(default)]
    newsletter: bool,
    colour: Colour,
    channels: BTreeSet<Channel>,
    score: Option<f64>,
}

#[test]
fn a_struct_is_a_form_in_the_order_of_its_fields() {
    check::<Profile>(expect![[]]);
}

#[test]
fn a_single_value_is_a_form_of_one_field_named_after_the_question() {
    check::<String>(expect![[]]);
    check::<bool>(expect![[]]);
    check::<i64>(expect![[]]);
    check::<Colour>(expect![[]]);
    check::<Vec<Channel>>(expect![[]]);
    check::<Option<Colour>>(expect![[]]);
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Nested {
    inner: Profile,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Listed {
    names: Vec<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Patterned {
    #[schemars(regex(pattern = "^a"))]
    code: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Shaped {
    shape: Shape,
}

#[test]
fn a_shape_that_no_form_can_show_is_refused_by_name() {
    check::<Nested>(expect![[]]);
    check::<Listed>(expect![[]]);
    check::<Patterned>(expect![[]]);
    check::<Shape>(expect![[]]);
    check::<Shaped>(expect![[]]);
    check::<std::collections::BTreeMap<String, String>>(expect![[]]);
    check::<serde_json::Value>(expect![[]]);
    check::<(String, bool)>(expect![[]]);
}

#[test]
fn an_answer_is_read_back_as_its_type() {
    let form = Form::of::<Option<Colour>>().unwrap();
    let content = serde_json::from_str(r#"{"answer":"dark_green"}"#).unwrap();
    assert!(matches!(
        form.read::<Option<Colour>>("answer", &content),
        Ok(Some(Colour::DarkGreen))
    ));
    let empty = serde_json::from_str("{}").unwrap();
    assert!(matches!(
        form.read::<Option<Colour>>("answer", &empty),
        Ok(None)
    ));
}
