//! The rules of a JSON Schema that are known here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The rules of a schema and of all schemas within it.
#[derive(Debug, Default)]
pub(super) struct RuleSet {
    /// The schemas, each of which names others by their index.
    schemas: Vec<Schema>,
    /// The schemas that a `$ref` names, by what it says.
    known: BTreeMap<String, usize>,
}

/// One schema.
#[derive(Debug)]
pub(super) enum Schema {
    /// The value must fit one of these, or at least one.
    Alternatives {
        one_only: bool,
        schemas: Vec<usize>,
    },
    /// Another schema, and nothing besides.
    Reference(usize),
    Rules(Box<Rules>),
    /// It has a keyword that is not known here.
    Unknown,
}

/// The rules for one value. Those for another kind of value do not apply.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) kinds: Kinds,
    /// The only strings, if not all are allowed.
    pub(super) strings: Option<Vec<String>>,
    /// The number of characters of a string, if it is limited.
    pub(super) characters: Option<Count>,
    pub(super) range: Range,
    pub(super) items: Items,
    pub(super) members: Members,
}

/// Kinds of values that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const ARRAY: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    /// Numbers without a fraction.
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NULL: Self = Self(8);
    /// All numbers.
    pub(super) const NUMBER: Self = Self(16 | Self::INTEGER.0);
    pub(super) const OBJECT: Self = Self(32);
    pub(super) const STRING: Self = Self(64);
    const ALL: Self = Self(127);

    pub(super) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 == kind.0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn read(word: &Value) -> Option<Self> {
        let one = |word: &Value| match word.as_str()? {
            "array" => Some(Self::ARRAY),
            "boolean" => Some(Self::BOOLEAN),
            "integer" => Some(Self::INTEGER),
            "null" => Some(Self::NULL),
            "number" => Some(Self::NUMBER),
            "object" => Some(Self::OBJECT),
            "string" => Some(Self::STRING),
            _ => None,
        };
        match word {
            Value::Array(words) => words
                .iter()
                .try_fold(Self(0), |all, word| Some(Self(all.0 | one(word)?.0))),
            word => one(word),
        }
    }
}

/// Limits of a count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Default for Count {
    fn default() -> Self {
        Self {
            least: 0,
            most: u64::MAX,
        }
    }
}

/// Limits of a number.
#[derive(Debug, Default)]
pub(super) struct Range {
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

/// Rules for the items of an array.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) count: Count,
    pub(super) are_unique: bool,
    /// The schemas of the first items.
    pub(super) first: Vec<usize>,
    /// The schema of all others, if there is one.
    pub(super) other: Option<usize>,
}

/// Rules for the members of an object.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// The members that have schemas of their own.
    pub(super) known: Vec<(String, usize)>,
    /// The known members that must be there, one bit each.
    pub(super) required: u64,
    pub(super) other: OtherMembers,
}

/// Rule for the members that have no schema of their own.
#[derive(Debug, Default)]
pub(super) enum OtherMembers {
    #[default]
    Allowed,
    Fit(usize),
    Forbidden,
}

/// Meaning of the keyword `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formats {
    /// A remark, as in JSON Schema 2020-12.
    Annotation,
    /// A rule, as for the answer to a form.
    Checked,
}

impl RuleSet {
    /// Reads `root`; the schema that it becomes is the first.
    pub(super) fn read(root: &Value, formats: Formats) -> Self {
        let mut reader = Reader {
            root,
            formats,
            set: Self::default(),
        };
        if is_plain(root) {
            reader.named("#");
        }
        reader.set
    }

    pub(super) fn schema(&self, at: usize) -> &Schema {
        self.schemas.get(at).unwrap_or(&Schema::Unknown)
    }

    fn add(&mut self, schema: Schema) -> usize {
        self.schemas.push(schema);
        self.schemas.len() - 1
    }
}

struct Reader<'a> {
    root: &'a Value,
    formats: Formats,
    set: RuleSet,
}

impl Reader<'_> {
    /// The schema that `reference` names, read once.
    fn named(&mut self, reference: &str) -> usize {
        if let Some(known) = self.set.known.get(reference) {
            return *known;
        }
        // Known before it is read, because it may refer to itself.
        let at = self.set.add(Schema::Unknown);
        self.set.known.insert(reference.to_owned(), at);
        let pointer = reference.strip_prefix('#');
        let root = self.root;
        if let Some(schema) = pointer.and_then(|pointer| root.pointer(pointer)) {
            self.set.schemas[at] = self.schema(schema).unwrap_or(Schema::Unknown);
        }
        at
    }

    fn put(&mut self, schema: &Value) -> usize {
        let read = self.schema(schema).unwrap_or(Schema::Unknown);
        self.set.add(read)
    }

    /// Reads a schema; `None` if it has a rule that is not known here.
    fn schema(&mut self, schema: &Value) -> Option<Schema> {
        let words = match schema {
            Value::Bool(true) => &Map::new(),
            Value::Object(words) => words,
            _ => return None,
        };
        let mut rules = words.iter().filter(|(word, _)| is_rule(word));
        if let (Some((word, value)), None) = (rules.next(), rules.next()) {
            match (&**word, value) {
                ("$ref", Value::String(reference)) => {
                    return Some(Schema::Reference(self.named(reference)));
                }
                ("anyOf" | "oneOf", Value::Array(schemas)) if choices(schemas).is_none() => {
                    let schemas = schemas.iter().map(|schema| self.put(schema)).collect();
                    return Some(Schema::Alternatives {
                        one_only: word == "oneOf",
                        schemas,
                    });
                }
                _ => {}
            }
        }
        let rules = self.rules(words)?;
        Some(Schema::Rules(Box::new(rules)))
    }

    fn rules(&mut self, words: &Map<String, Value>) -> Option<Rules> {
        let mut rules = Rules {
            kinds: Kinds::ALL,
            strings: None,
            characters: None,
            range: Range::default(),
            items: Items::default(),
            members: Members::default(),
        };
        for (word, value) in words.iter().filter(|(word, _)| is_rule(word)) {
            match (word.as_str(), value) {
                ("type", kinds) => rules.kinds = rules.kinds.and(Kinds::read(kinds)?),
                ("const", Value::Null) => rules.kinds = rules.kinds.and(Kinds::NULL),
                ("const", Value::String(text)) => only(&mut rules, vec![text.clone()])?,
                ("enum", Value::Array(values)) => {
                    let texts = values.iter().map(|value| Some(value.as_str()?.to_owned()));
                    only(&mut rules, texts.collect::<Option<_>>()?)?;
                }
                ("anyOf" | "oneOf", Value::Array(schemas)) => only(&mut rules, choices(schemas)?)?,
                ("format", _) if self.formats == Formats::Annotation => {}
                ("minLength", value) => {
                    rules.characters.get_or_insert_default().least = value.as_u64()?;
                }
                ("maxLength", value) => {
                    rules.characters.get_or_insert_default().most = value.as_u64()?;
                }
                ("minimum", value) => rules.range.minimum = Some(limit(value)?),
                ("maximum", value) => rules.range.maximum = Some(limit(value)?),
                ("exclusiveMinimum", value) => rules.range.above = Some(limit(value)?),
                ("exclusiveMaximum", value) => rules.range.below = Some(limit(value)?),
                ("minItems", value) => rules.items.count.least = value.as_u64()?,
                ("maxItems", value) => rules.items.count.most = value.as_u64()?,
                ("uniqueItems", value) => rules.items.are_unique = value.as_bool()?,
                ("prefixItems", Value::Array(schemas)) => {
                    rules.items.first = schemas.iter().map(|schema| self.put(schema)).collect();
                }
                ("items", schema) => rules.items.other = Some(self.put(schema)),
                ("properties", Value::Object(schemas)) => {
                    let known = schemas
                        .iter()
                        .map(|(name, schema)| (name.clone(), self.put(schema)));
                    rules.members.known = known.collect();
                }
                ("required", Value::Array(_)) => {}
                ("additionalProperties", Value::Bool(false)) => {
                    rules.members.other = OtherMembers::Forbidden;
                }
                ("additionalProperties", schema) => {
                    rules.members.other = OtherMembers::Fit(self.put(schema));
                }
                _ => return None,
            }
        }
        rules.members.required = required(words, &rules.members.known)?;
        Some(rules)
    }
}

/// Allows no values but `strings`.
fn only(rules: &mut Rules, strings: Vec<String>) -> Option<()> {
    rules.kinds = rules.kinds.and(Kinds::STRING);
    // Both `const` and `enum`: no derived schema has them.
    rules.strings.replace(strings).is_none().then_some(())
}

/// The strings of an enum whose variants are schemas of their own, for a title or
/// a description. They must differ.
fn choices(schemas: &[Value]) -> Option<Vec<String>> {
    let mut strings = Vec::new();
    for schema in schemas {
        for (word, value) in schema.as_object()?.iter().filter(|(word, _)| is_rule(word)) {
            match (word.as_str(), value) {
                ("type", kind) if kind == "string" => {}
                ("const", value) => strings.push(value.as_str()?.to_owned()),
                ("enum", Value::Array(values)) => {
                    for value in values {
                        strings.push(value.as_str()?.to_owned());
                    }
                }
                _ => return None,
            }
        }
        // One that says `string` and nothing more would allow all.
        if !schema.get("const").is_some_and(Value::is_string) && schema.get("enum").is_none() {
            return None;
        }
    }
    let distinct: BTreeSet<&String> = strings.iter().collect();
    (distinct.len() == strings.len()).then_some(strings)
}

/// The bits of the required members, which must all be known.
fn required(words: &Map<String, Value>, known: &[(String, usize)]) -> Option<u64> {
    if known.len() > MOST_MEMBERS {
        return None;
    }
    let names = words.get("required").and_then(Value::as_array);
    let mut bits = 0;
    for name in names.into_iter().flatten() {
        let at = known.iter().position(|(known, _)| name == known)?;
        bits |= 1 << at;
    }
    Some(bits)
}

/// A limit that a double holds exactly.
fn limit(value: &Value) -> Option<f64> {
    let limit = value.as_f64()?;
    (limit.abs() <= EXACT).then_some(limit)
}

/// Returns `true` if a schema is of the dialect that needs no name, 2020-12, and
/// all references within it begin at its root.
fn is_plain(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(words) => words
            .iter()
            .all(|(word, value)| !["$id", "$schema"].contains(&&**word) && is_plain(value)),
        _ => true,
    }
}

/// Returns `true` if the keyword says more than what a schema is about.
fn is_rule(word: &str) -> bool {
    !REMARKS.contains(&word) && !word.starts_with("x-")
}

const REMARKS: &[&str] = &[
    "$comment",
    "$defs",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// One bit each.
const MOST_MEMBERS: usize = 64;

/// Up to here, all whole numbers are doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;
