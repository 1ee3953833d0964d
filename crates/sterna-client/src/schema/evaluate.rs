//! The keywords of JSON Schema, as far as they can be judged in little time.

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::value::{Fuel, is_of_type, same};

/// Result of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    No,
    /// It was not found out.
    Unknown,
    Yes,
}

impl Fit {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }

    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        match fits {
            true => Self::Yes,
            false => Self::No,
        }
    }
}

/// Judges values by parts of one schema.
pub(super) struct Evaluator<'a> {
    root: &'a Value,
    dialect: Dialect,
    fuel: Fuel,
    depth: u32,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(root: &'a Value, dialect: Dialect) -> Self {
        Self {
            root,
            dialect,
            fuel: Fuel::new(),
            depth: 0,
        }
    }

    pub(super) fn fits(&mut self, schema: &'a Value, value: &Value) -> Fit {
        if !self.fuel.spend(SCHEMA) {
            return Fit::Unknown;
        }
        let rules = match schema {
            Value::Bool(all) => return Fit::from(*all),
            Value::Object(rules) => rules,
            _ => return Fit::Unknown,
        };
        // What has a name of its own may have a dialect of its own, and its
        // references begin there.
        let named = |keyword: &&str| rules.contains_key(*keyword);
        let embedded =
            !std::ptr::eq(schema, self.root) && self.dialect.identity().iter().any(named);
        if self.depth == DEEPEST || embedded {
            return Fit::Unknown;
        }
        let alone = self.dialect.refers_alone() && rules.contains_key("$ref");
        self.depth += 1;
        let mut fit = Fit::Yes;
        for (keyword, rule) in rules {
            if !self.fuel.spend(1) {
                fit = fit.and(Fit::Unknown);
                break;
            }
            if alone && keyword != "$ref" {
                continue;
            }
            fit = fit.and(self.keeps(keyword, rule, rules, value));
            if fit == Fit::No {
                break;
            }
        }
        self.depth -= 1;
        fit
    }

    fn keeps(
        &mut self,
        keyword: &str,
        rule: &'a Value,
        rules: &'a Map<String, Value>,
        value: &Value,
    ) -> Fit {
        if !self.dialect.knows(keyword) {
            return Fit::Yes;
        }
        match keyword {
            "$ref" => match rule.as_str().and_then(|place| self.find(place)) {
                Some(schema) => self.fits(schema, value),
                None => Fit::Unknown,
            },
            "type" => self.typed(rule, value),
            "const" => self.is_same(rule, value),
            "enum" => either(rule, |one| self.is_same(one, value)),
            "allOf" => self.every(rule, value),
            "anyOf" => either(rule, |one| self.fits(one, value)),
            "oneOf" => self.exactly_one(rule, value),
            "not" => self.fits(rule, value).not(),
            "if" => self.in_case(rule, rules, value),
            "then" | "else" => Fit::Yes,
            "minimum" => bounded(
                self.strictly(rules, "exclusiveMinimum", keyword),
                rule,
                value,
            ),
            "maximum" => bounded(
                self.strictly(rules, "exclusiveMaximum", keyword),
                rule,
                value,
            ),
            // A flag for its neighbour, in draft 4.
            "exclusiveMinimum" | "exclusiveMaximum" if self.dialect == Dialect::Draft4 => Fit::Yes,
            "exclusiveMinimum" | "exclusiveMaximum" => bounded(keyword, rule, value),
            "minLength" | "maxLength" => match value.as_str() {
                Some(text) if !self.fuel.spend_on(text) => Fit::Unknown,
                text => sized(keyword, rule, text.map(|text| text.chars().count())),
            },
            "minItems" | "maxItems" => sized(keyword, rule, value.as_array().map(Vec::len)),
            "minProperties" | "maxProperties" => {
                sized(keyword, rule, value.as_object().map(Map::len))
            }
            "required" => self.required(rule, value),
            "properties" => self.properties(rule, value),
            "additionalProperties" => self.additional(rule, rules, value),
            "prefixItems" => self.first_items(rule, value),
            "items" => self.items(rule, rules, value),
            "additionalItems" => match rules.get("items") {
                Some(Value::Array(first)) => self.rest(rule, first.len(), value),
                _ => Fit::Yes,
            },
            _ if ASSERTIONS.contains(&keyword) => Fit::Unknown,
            // Words about the schema, which promise nothing about the value.
            _ => Fit::Yes,
        }
    }

    /// The part of the schema at `place`, which begins with `#`.
    fn find(&mut self, place: &str) -> Option<&'a Value> {
        let pointer = place.strip_prefix('#')?;
        self.fuel.spend_on(place).then_some(())?;
        self.root.pointer(pointer)
    }

    fn is_same(&mut self, one: &Value, other: &Value) -> Fit {
        same(one, other, &mut self.fuel).map_or(Fit::Unknown, Fit::from)
    }

    fn typed(&mut self, rule: &Value, value: &Value) -> Fit {
        let Self { fuel, dialect, .. } = self;
        let mut is = |name: &Value| match name.as_str() {
            _ if !fuel.spend(1) => Fit::Unknown,
            // Whether 1.0 is one was left open then.
            Some("integer") if *dialect == Dialect::Draft4 && is_round(value) => Fit::Unknown,
            Some(name) => is_of_type(value, name).map_or(Fit::Unknown, Fit::from),
            None => Fit::Unknown,
        };
        match rule {
            Value::Array(_) => either(rule, is),
            name => is(name),
        }
    }

    /// The keyword whose bound is meant: in draft 4 a flag makes the one beside
    /// it strict.
    fn strictly<'k>(&self, rules: &Map<String, Value>, flag: &'k str, keyword: &'k str) -> &'k str {
        let flagged = rules.get(flag) == Some(&Value::Bool(true));
        match self.dialect == Dialect::Draft4 && flagged {
            true => flag,
            false => keyword,
        }
    }

    fn every(&mut self, rule: &'a Value, value: &Value) -> Fit {
        let Some(all) = rule.as_array() else {
            return Fit::Unknown;
        };
        all.iter()
            .fold(Fit::Yes, |fit, one| fit.and(self.fits(one, value)))
    }

    fn exactly_one(&mut self, rule: &'a Value, value: &Value) -> Fit {
        let Some(all) = rule.as_array() else {
            return Fit::Unknown;
        };
        let fits: Vec<_> = all.iter().map(|one| self.fits(one, value)).collect();
        let count = |fit| fits.iter().filter(|one| **one == fit).count();
        match (count(Fit::Yes), count(Fit::Unknown)) {
            (1, 0) => Fit::Yes,
            (0, 0) | (2.., _) => Fit::No,
            (0 | 1, _) => Fit::Unknown,
        }
    }

    fn in_case(&mut self, case: &'a Value, rules: &'a Map<String, Value>, value: &Value) -> Fit {
        let branch = match self.fits(case, value) {
            Fit::No => "else",
            Fit::Unknown => return Fit::Unknown,
            Fit::Yes => "then",
        };
        match rules.get(branch) {
            Some(schema) => self.fits(schema, value),
            None => Fit::Yes,
        }
    }

    fn properties(&mut self, rule: &'a Value, value: &Value) -> Fit {
        let (Some(rules), Some(members)) = (rule.as_object(), value.as_object()) else {
            return Fit::Yes;
        };
        rules
            .iter()
            .try_fold(Fit::Yes, |fit, (name, schema)| {
                if !self.fuel.spend_on(name) {
                    return Some(fit.and(Fit::Unknown));
                }
                match members.get(name) {
                    Some(member) => unless_no(fit.and(self.fits(schema, member))),
                    None => Some(fit),
                }
            })
            .unwrap_or(Fit::No)
    }

    fn required(&mut self, rule: &Value, value: &Value) -> Fit {
        let (Some(names), Some(members)) = (rule.as_array(), value.as_object()) else {
            return Fit::Yes;
        };
        for name in names.iter().filter_map(Value::as_str) {
            if !self.fuel.spend_on(name) {
                return Fit::Unknown;
            }
            if !members.contains_key(name) {
                return Fit::No;
            }
        }
        Fit::Yes
    }

    fn additional(&mut self, rule: &'a Value, rules: &'a Map<String, Value>, value: &Value) -> Fit {
        let Some(members) = value.as_object() else {
            return Fit::Yes;
        };
        // Every name is looked up among those that are known.
        if !members.keys().all(|name| self.fuel.spend_on(name)) {
            return Fit::Unknown;
        }
        let known = rules.get("properties").and_then(Value::as_object);
        let mut others = members
            .iter()
            .filter(|(name, _)| !known.is_some_and(|known| known.contains_key(*name)));
        // Which of them a pattern covers is not found out here.
        if rules.contains_key("patternProperties") {
            return match others.next() {
                Some(_) => Fit::Unknown,
                None => Fit::Yes,
            };
        }
        others
            .try_fold(Fit::Yes, |fit, (_, member)| {
                unless_no(fit.and(self.fits(rule, member)))
            })
            .unwrap_or(Fit::No)
    }

    fn first_items(&mut self, rule: &'a Value, value: &Value) -> Fit {
        let (Some(rules), Some(items)) = (rule.as_array(), value.as_array()) else {
            return Fit::Yes;
        };
        let mut both = rules.iter().zip(items);
        both.try_fold(Fit::Yes, |fit, (schema, item)| {
            unless_no(fit.and(self.fits(schema, item)))
        })
        .unwrap_or(Fit::No)
    }

    fn items(&mut self, rule: &'a Value, rules: &'a Map<String, Value>, value: &Value) -> Fit {
        if self.dialect < Dialect::V2020_12 {
            return match rule {
                Value::Array(_) => self.first_items(rule, value),
                each => self.rest(each, 0, value),
            };
        }
        let first = rules.get("prefixItems").and_then(Value::as_array);
        self.rest(rule, first.map_or(0, Vec::len), value)
    }

    /// The items after the first so many.
    fn rest(&mut self, rule: &'a Value, first: usize, value: &Value) -> Fit {
        let Some(items) = value.as_array() else {
            return Fit::Yes;
        };
        let mut rest = items.iter().skip(first);
        rest.try_fold(Fit::Yes, |fit, item| {
            unless_no(fit.and(self.fits(rule, item)))
        })
        .unwrap_or(Fit::No)
    }
}

/// A whole number that is written with a fraction.
fn is_round(value: &Value) -> bool {
    value.is_f64() && is_of_type(value, "integer") == Some(true)
}

/// Goes on unless it is settled.
fn unless_no(fit: Fit) -> Option<Fit> {
    (fit != Fit::No).then_some(fit)
}

fn either<'a>(rule: &'a Value, mut fits: impl FnMut(&'a Value) -> Fit) -> Fit {
    let Some(all) = rule.as_array() else {
        return Fit::Unknown;
    };
    let mut found = Fit::No;
    for one in all {
        found = found.or(fits(one));
        if found == Fit::Yes {
            break;
        }
    }
    found
}

fn bounded(keyword: &str, rule: &Value, value: &Value) -> Fit {
    let (Some(bound), Some(value)) = (rule.as_f64(), value.as_f64()) else {
        return Fit::Yes;
    };
    Fit::from(match keyword {
        "minimum" => value >= bound,
        "maximum" => value <= bound,
        "exclusiveMinimum" => value > bound,
        _ => value < bound,
    })
}

fn sized(keyword: &str, rule: &Value, size: Option<usize>) -> Fit {
    let bound = rule.as_u64().and_then(|bound| usize::try_from(bound).ok());
    let (Some(bound), Some(size)) = (bound, size) else {
        return Fit::Yes;
    };
    Fit::from(match keyword.starts_with("min") {
        true => size >= bound,
        false => size <= bound,
    })
}

/// Returns true if `schema` refers to another document.
pub(super) fn has_foreign_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(rules) => rules.iter().any(|(keyword, rule)| match rule {
            Value::String(place) if keyword == "$ref" || keyword == "$dynamicRef" => {
                !place.starts_with('#')
            }
            // These hold values, not schemas.
            _ if matches!(&**keyword, "const" | "enum" | "default" | "examples") => false,
            rule => has_foreign_reference(rule),
        }),
        Value::Array(all) => all.iter().any(has_foreign_reference),
        _ => false,
    }
}

/// Keywords that promise something which is not judged here, most of them
/// because a pattern or a comparison of everything with everything can take
/// any time.
const ASSERTIONS: [&str; 13] = [
    "$dynamicRef",
    "$recursiveRef",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "multipleOf",
    "pattern",
    "patternProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Costs of one schema, in comparisons of two values.
const SCHEMA: u32 = 4;

/// Deeper than any JSON that is read.
const DEEPEST: u32 = 200;
