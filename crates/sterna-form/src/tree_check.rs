//! A tree of JSON against a derived schema, and the errors of one that does not
//! fit.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Number, Value};

use crate::rules::{Items, Kinds, Members, OtherMembers, RuleSet, Rules, Schema};

/// Returns the errors of `value`, at most `most`.
pub(crate) fn errors(rules: &RuleSet, value: &Value, most: usize) -> Vec<SchemaError> {
    let mut walk = TreeWalk {
        rules,
        verdicts: HashMap::new(),
        errors: Vec::new(),
        most,
        details: FORMS_IN_FORMS,
    };
    walk.value(0, value, &Place::Root);
    walk.errors
}

/// A place of a value that does not fit its schema.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "another validator's errors are made into these"
)]
pub struct SchemaError {
    /// JSON pointer to the place; empty for the whole value.
    pub path: String,
    /// The rule that is broken.
    pub rule: BrokenRule,
}

/// A rule of a schema that a value breaks.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a rule without words for it must not compile"
)]
pub enum BrokenRule {
    /// It must be one of these values.
    Choice(Vec<Value>),
    /// It must fit one of several schemas. The errors that it has by each.
    Forms(Vec<Vec<SchemaError>>),
    /// It must have this member.
    Missing(String),
    /// It must be of one of these types, `null` last.
    Type(Vec<&'static str>),
    /// It must not have these members.
    Unexpected(Vec<String>),
    /// Another rule, in words that follow the name of the place.
    Words(String),
}

/// A place within the value that is checked.
enum Place<'a> {
    Root,
    Item(&'a Self, usize),
    Member(&'a Self, &'a str),
}

impl Place<'_> {
    /// The place as a JSON pointer.
    fn to_pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Item(place, at) => format!("{}/{at}", place.to_pointer()),
            Self::Member(place, name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                format!("{}/{name}", place.to_pointer())
            }
        }
    }
}

/// A walk through a value that collects errors.
struct TreeWalk<'r> {
    rules: &'r RuleSet,
    /// Of a schema and a value, by its address: whether the value fits. Forms
    /// within forms would be looked at without end.
    verdicts: HashMap<(usize, usize), bool>,
    errors: Vec<SchemaError>,
    most: usize,
    /// Forms within forms whose errors are told, one by one.
    details: usize,
}

impl<'r> TreeWalk<'r> {
    fn value(&mut self, schema: usize, value: &Value, place: &Place<'_>) {
        if self.errors.len() >= self.most {
            return;
        }
        let rules = self.rules;
        match rules.schema(schema) {
            Schema::Reference(schema) => self.value(*schema, value, place),
            Schema::Alternatives { one_only, schemas } => {
                self.alternatives(schemas, *one_only, value, place);
            }
            Schema::Rules(rules) => self.apply(rules, value, place),
            Schema::Unknown => self.words(place, "cannot be checked against its schema"),
        }
    }

    fn alternatives(
        &mut self,
        schemas: &'r [usize],
        one_only: bool,
        value: &Value,
        place: &Place<'_>,
    ) {
        let mut fitting = 0;
        for schema in schemas {
            fitting += usize::from(self.fits(*schema, value, place));
            if fitting > 0 && !one_only {
                return;
            }
        }
        match (fitting, self.details.checked_sub(1)) {
            (0, Some(details)) => {
                let forms = schemas.iter();
                let forms = forms.map(|schema| self.one_form(*schema, value, place, details));
                let forms = forms.collect();
                self.add(place, BrokenRule::Forms(forms));
            }
            (0, None) => {
                let count = schemas.len();
                self.words(
                    place,
                    &format!("must have one of the {count} forms in its schema"),
                );
            }
            (1, _) => {}
            _ => self.words(place, "fits more than one of its forms"),
        }
    }

    /// Returns `true` if `value` fits, which is found out once.
    fn fits(&mut self, schema: usize, value: &Value, place: &Place<'_>) -> bool {
        let key = (schema, std::ptr::from_ref(value).addr());
        if let Some(known) = self.verdicts.get(&key) {
            return *known;
        }
        let fits = self.one_form(schema, value, place, 0).is_empty();
        self.verdicts.insert(key, fits);
        fits
    }

    /// Returns the first error of `value` as one of several forms.
    fn one_form(
        &mut self,
        schema: usize,
        value: &Value,
        place: &Place<'_>,
        details: usize,
    ) -> Vec<SchemaError> {
        let mut form = TreeWalk {
            rules: self.rules,
            verdicts: std::mem::take(&mut self.verdicts),
            errors: Vec::new(),
            most: 1,
            details,
        };
        form.value(schema, value, place);
        self.verdicts = form.verdicts;
        form.errors
    }

    fn apply(&mut self, rules: &'r Rules, value: &Value, place: &Place<'_>) {
        if !rules.kinds.has(kind_of(value)) {
            let rule = match &rules.strings {
                Some(strings) => choice(strings),
                None => BrokenRule::Type(rules.kinds.names()),
            };
            return self.add(place, rule);
        }
        match value {
            Value::Array(items) => self.array(&rules.items, items, place),
            Value::Number(number) => self.number(rules, number, place),
            Value::Object(members) => self.object(&rules.members, members, place),
            Value::String(text) => self.string(rules, text, place),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn string(&mut self, rules: &Rules, text: &str, place: &Place<'_>) {
        if let Some(strings) = &rules.strings
            && !strings.iter().any(|known| known == text)
        {
            return self.add(place, choice(strings));
        }
        if let Some(allowed) = rules.characters {
            let count = text.chars().count() as u64;
            self.count(allowed.least, count, allowed.most, "characters", place);
        }
    }

    fn number(&mut self, rules: &Rules, number: &Number, place: &Place<'_>) {
        if let Some((rule, limit)) = rules.range.broken_by(nearest(number)) {
            self.words(place, &format!("must be {rule} {}", limit.written));
        }
    }

    fn array(&mut self, rules: &'r Items, items: &[Value], place: &Place<'_>) {
        let (least, most) = (rules.count.least, rules.count.most);
        self.count(least, items.len() as u64, most, "items", place);
        if rules.are_unique && has_equal_items(items) {
            self.words(place, "must not have the same item twice");
        }
        for (at, item) in items.iter().enumerate() {
            if let Some(schema) = rules.first.get(at).or(rules.other.as_ref()) {
                self.value(*schema, item, &Place::Item(place, at));
            }
        }
    }

    fn object(&mut self, rules: &'r Members, members: &Map<String, Value>, place: &Place<'_>) {
        for (at, (name, _)) in rules.known.iter().enumerate() {
            if rules.required & (1 << at) != 0 && !members.contains_key(name) {
                self.add(place, BrokenRule::Missing(name.clone()));
            }
        }
        for (name, schema) in &rules.known {
            if let Some(member) = members.get(name) {
                self.value(*schema, member, &Place::Member(place, name));
            }
        }
        let is_known = |name: &str| rules.known.iter().any(|(known, _)| known == name);
        let mut others = members.iter().filter(|(name, _)| !is_known(name));
        match rules.other {
            OtherMembers::Allowed => {}
            OtherMembers::Fit(schema) => {
                for (name, member) in others {
                    self.value(schema, member, &Place::Member(place, name));
                }
            }
            OtherMembers::Forbidden => {
                if let Some((first, _)) = others.next() {
                    let names = [first].into_iter().chain(others.map(|(name, _)| name));
                    let names = names.take(MOST_NAMES).cloned().collect();
                    self.add(place, BrokenRule::Unexpected(names));
                }
            }
        }
    }

    /// Checks that `least` ≤ `count` ≤ `most`.
    fn count(&mut self, least: u64, count: u64, most: u64, what: &str, place: &Place<'_>) {
        if count < least {
            self.words(place, &format!("must have at least {least} {what}"));
        }
        if count > most {
            self.words(place, &format!("must have at most {most} {what}"));
        }
    }

    fn words(&mut self, place: &Place<'_>, words: &str) {
        self.add(place, BrokenRule::Words(words.to_owned()));
    }

    fn add(&mut self, place: &Place<'_>, rule: BrokenRule) {
        if self.errors.len() < self.most {
            let path = place.to_pointer();
            self.errors.push(SchemaError { path, rule });
        }
    }
}

fn kind_of(value: &Value) -> Kinds {
    match value {
        Value::Array(_) => Kinds::ARRAY,
        Value::Bool(_) => Kinds::BOOLEAN,
        Value::Null => Kinds::NULL,
        Value::Number(number) if is_whole(number) => Kinds::INTEGER,
        Value::Number(_) => Kinds::NUMBER,
        Value::Object(_) => Kinds::OBJECT,
        Value::String(_) => Kinds::STRING,
    }
}

/// Returns `true` for an integer of JSON Schema: `1.0` is one.
fn is_whole(number: &Number) -> bool {
    !number.is_f64() || nearest(number).fract() == 0.0
}

/// The double next to a number. Limits are doubles with whole neighbours, so no
/// number passes one by being rounded.
fn nearest(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::INFINITY)
}

/// Returns `true` if two items are equal; 1 is 1.0.
fn has_equal_items(items: &[Value]) -> bool {
    let mut seen = BTreeSet::new();
    !items.iter().all(|item| {
        let mut text = String::new();
        write_canonical(item, &mut text);
        seen.insert(text)
    })
}

/// Appends the one text that equal values have.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Number(number) if number.is_f64() && is_whole(number) => {
            text.push_str(&format!("{:.0}", nearest(number) + 0.0));
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (name, member) in members {
                text.push_str(&Value::from(&**name).to_string());
                text.push(':');
                write_canonical(member, text);
                text.push(',');
            }
            text.push('}');
        }
        value => text.push_str(&value.to_string()),
    }
}

fn choice(strings: &[String]) -> BrokenRule {
    BrokenRule::Choice(strings.iter().map(|text| text.as_str().into()).collect())
}

/// An optional value that may have several forms is two such places.
const FORMS_IN_FORMS: usize = 2;

/// Unexpected members that an error names. The text that is made of it names
/// fewer.
const MOST_NAMES: usize = 100;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use crate::TextCheck;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, value: &Value, expected: Expect) {
        let check = TextCheck::new(schema);
        assert_eq!(check.unknown_keyword(), None);
        let errors = check.errors(value, 5);
        let lines = errors
            .iter()
            .map(|error| format!("{:?} {:?}\n", error.path, error.rule));
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn every_error_names_its_place_and_its_rule() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 3},
                "age": {"type": ["integer", "null"], "minimum": 0.5, "exclusiveMaximum": 150},
                "a/b~c": {"type": "array", "prefixItems": [{"const": "first"}],
                    "items": {"enum": ["x", "y"]}, "minItems": 1},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        let all_wrong = json!({"age": 0, "a/b~c": ["x", "z"], "more": 1});
        check(
            &schema,
            &all_wrong,
            expect![[r#"
                "" Missing("name")
                "/age" Words("must be at least 0.5")
                "/a~1b~0c/0" Choice([String("first")])
                "/a~1b~0c/1" Choice([String("x"), String("y")])
                "" Unexpected(["more"])
            "#]],
        );
        let others = json!({"name": "Adam", "age": 150.0, "a/b~c": []});
        check(
            &schema,
            &others,
            expect![[r#"
                "/name" Words("must have at most 3 characters")
                "/age" Words("must be less than 150")
                "/a~1b~0c" Words("must have at least 1 items")
            "#]],
        );
        check(
            &schema,
            &json!({"name": 7, "age": 1.5}),
            expect![[r#"
                "/name" Type(["string"])
                "/age" Type(["integer", "null"])
            "#]],
        );
        let valid = json!({"name": "ééé", "age": 36.0, "a/b~c": ["first", "y"]});
        check(&schema, &valid, expect![""]);
    }

    #[test]
    fn equal_items_are_found_however_they_are_written() {
        let schema = json!({"uniqueItems": true});
        let check = TextCheck::new(&schema);
        for (value, is_valid) in [
            (json!([1, 1.5, "1", [1], {"a": 1}, null, false]), true),
            (json!([1, 1.0]), false),
            (json!([0.0, -0.0]), false),
            (
                json!([
                    18_446_744_073_709_551_615_u64,
                    18_446_744_073_709_551_614_u64
                ]),
                true,
            ),
            (json!([{"a": 1, "b": [2.0]}, {"b": [2], "a": 1}]), false),
            (json!([["a", "b"], ["a\",\"b"]]), true),
        ] {
            assert_eq!(check.errors(&value, 1).is_empty(), is_valid, "{value}");
        }
    }

    #[test]
    fn forms_within_forms_take_little_time_and_few_words() {
        let node = |name: &str| {
            json!({
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}, name: {"type": "null"}},
                "required": ["next"],
            })
        };
        let defs = json!({"node": {"anyOf": [node("a"), node("b"), {"type": "null"}]}});
        let schema = json!({"$ref": "#/$defs/node", "$defs": defs});
        let text = format!("{}7{}", r#"{"next":"#.repeat(100), "}".repeat(100));
        let value: Value = serde_json::from_str(&text).unwrap();
        // Two to the power of a hundred steps would not end.
        let errors = TextCheck::new(&schema).errors(&value, 5);
        assert!(format!("{errors:?}").len() < 4000, "{errors:?}");
        assert!(!errors.is_empty());
    }

    #[test]
    fn a_schema_with_other_rules_is_left_to_another_validator() {
        for (schema, keyword) in [
            (json!({"pattern": "^a"}), "pattern"),
            (
                json!({"properties": {"a": {"items": {"multipleOf": 2}}}}),
                "multipleOf",
            ),
            (json!({"properties": {"a": false}}), "false"),
            (json!({"properties": {"a": 7}}), "properties"),
            (json!({"type": "text"}), "type"),
            (json!({"minLength": -1}), "minLength"),
            (json!({"title": 7}), "title"),
            (json!({"$ref": "#/$defs/none"}), "$ref"),
            (json!({"$ref": "https://a.example/schema"}), "$ref"),
            (json!({"$ref": "#"}), "$ref"),
            (json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]}), "$ref"),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
                "$schema",
            ),
            (json!({"properties": {"a": {"$id": "urn:a"}}}), "$id"),
            (json!({"required": ["unknown"]}), "required"),
        ] {
            let check = TextCheck::new(&schema);
            assert_eq!(check.unknown_keyword(), Some(keyword), "{schema}");
        }
    }
}
