//! The rules of a JSON Schema that are known here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The rules of a schema and of all schemas within it.
#[derive(Debug, Default)]
pub(crate) struct RuleSet {
    /// The schemas, each of which names others by their index.
    schemas: Vec<Schema>,
    /// The schemas that a `$ref` names, by what it says.
    known: BTreeMap<String, usize>,
    /// The first keyword whose rule is not known here.
    unknown: Option<String>,
}

/// One schema.
#[derive(Debug)]
pub(crate) enum Schema {
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
pub(crate) struct Rules {
    pub(crate) kinds: Kinds,
    /// The only strings, if not all are allowed.
    pub(crate) strings: Option<Vec<String>>,
    /// The number of characters of a string, if it is limited.
    pub(crate) characters: Option<Count>,
    pub(crate) range: Range,
    pub(crate) items: Items,
    pub(crate) members: Members,
}

/// Kinds of values that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const ARRAY: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    /// Numbers without a fraction.
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const NULL: Self = Self(8);
    /// All numbers.
    pub(crate) const NUMBER: Self = Self(16 | Self::INTEGER.0);
    pub(crate) const OBJECT: Self = Self(32);
    pub(crate) const STRING: Self = Self(64);
    const ALL: Self = Self(127);

    pub(crate) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 == kind.0
    }

    /// The names of the kinds, `null` last.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let is_named = |(name, kind): &(&str, Self)| {
            // Whole numbers are among the numbers.
            self.has(*kind) && !(*name == "integer" && self.has(Self::NUMBER))
        };
        let named = KIND_NAMES.iter().filter(|named| is_named(named));
        named.map(|(name, _)| *name).collect()
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn read(word: &Value) -> Option<Self> {
        let one = |word: &Value| {
            let word = word.as_str()?;
            let kind = KIND_NAMES.iter().find(|(name, _)| *name == word);
            kind.map(|(_, kind)| *kind)
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
pub(crate) struct Count {
    pub(crate) least: u64,
    pub(crate) most: u64,
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
pub(crate) struct Range {
    pub(crate) minimum: Option<Limit>,
    pub(crate) maximum: Option<Limit>,
    pub(crate) above: Option<Limit>,
    pub(crate) below: Option<Limit>,
}

impl Range {
    pub(crate) fn allows(&self, value: f64) -> bool {
        self.broken_by(value).is_none()
    }

    /// The rule that `value` breaks, in words, and its limit.
    pub(crate) fn broken_by(&self, value: f64) -> Option<(&'static str, &Limit)> {
        let below = |limit: &&Limit| value < limit.value;
        let above = |limit: &&Limit| value > limit.value;
        let at = |limit: &&Limit| value == limit.value;
        let least = self.minimum.as_ref().filter(below);
        let most = self.maximum.as_ref().filter(above);
        let more = self.above.as_ref().filter(|it| below(it) || at(it));
        let less = self.below.as_ref().filter(|it| above(it) || at(it));
        let rules = [
            ("at least", least),
            ("at most", most),
            ("more than", more),
            ("less than", less),
        ];
        rules
            .into_iter()
            .find_map(|(words, limit)| Some((words, limit?)))
    }
}

/// A limit that a double holds exactly.
#[derive(Debug)]
pub(crate) struct Limit {
    pub(crate) value: f64,
    /// As the schema has it.
    pub(crate) written: String,
}

/// Rules for the items of an array.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) count: Count,
    pub(crate) are_unique: bool,
    /// The schemas of the first items.
    pub(crate) first: Vec<usize>,
    /// The schema of all others, if there is one.
    pub(crate) other: Option<usize>,
}

/// Rules for the members of an object.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// The members that have schemas of their own.
    pub(crate) known: Vec<(String, usize)>,
    /// The known members that must be there, one bit each.
    pub(crate) required: u64,
    pub(crate) other: OtherMembers,
}

/// Rule for the members that have no schema of their own.
#[derive(Debug, Default)]
pub(crate) enum OtherMembers {
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
    pub(crate) fn read(root: &Value, formats: Formats) -> Self {
        let mut reader = Reader {
            root,
            formats,
            set: Self::default(),
        };
        match foreign_word(root) {
            None => {
                reader.named("#");
            }
            Some(word) => reader.unknown(word),
        }
        if reader.set.is_circular() {
            reader.unknown("$ref");
        }
        reader.set
    }

    /// The keyword for which these are not all rules of the schema, or `None`.
    pub(crate) fn unknown(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// Returns `true` if some value would be compared with one schema for ever.
    fn is_circular(&self) -> bool {
        (0..self.schemas.len()).any(|start| {
            let mut seen = BTreeSet::new();
            let mut open = self.same_value(start).to_vec();
            while let Some(at) = open.pop() {
                if seen.insert(at) {
                    open.extend(self.same_value(at));
                }
            }
            seen.contains(&start)
        })
    }

    /// The schemas that a value is compared with after that at `at`.
    fn same_value(&self, at: usize) -> &[usize] {
        match self.schema(at) {
            Schema::Alternatives { schemas, .. } => schemas,
            Schema::Reference(schema) => std::slice::from_ref(schema),
            Schema::Rules(_) | Schema::Unknown => &[],
        }
    }

    pub(crate) fn schema(&self, at: usize) -> &Schema {
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
        let Some(schema) = pointer.and_then(|pointer| root.pointer(pointer)) else {
            self.unknown("$ref");
            return at;
        };
        self.set.schemas[at] = self.schema(schema).unwrap_or(Schema::Unknown);
        at
    }

    /// Notes a keyword that is not known.
    fn unknown(&mut self, word: &str) {
        self.set.unknown.get_or_insert_with(|| word.to_owned());
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
            Value::Bool(false) => {
                self.unknown("false");
                return None;
            }
            // No schema at all.
            _ => {
                self.unknown("properties");
                return None;
            }
        };
        let mut rules = words.iter().filter(|(word, value)| is_rule(word, value));
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
        for (word, value) in words.iter().filter(|(word, value)| is_rule(word, value)) {
            if self.rule(&mut rules, word, value).is_none() {
                self.unknown(word);
                return None;
            }
        }
        let Some(required) = required(words, &rules.members.known) else {
            self.unknown("required");
            return None;
        };
        rules.members.required = required;
        Some(rules)
    }

    /// Reads one keyword; `None` if its rule is not known here.
    fn rule(&mut self, rules: &mut Rules, word: &str, value: &Value) -> Option<()> {
        match (word, value) {
            ("type", kinds) => rules.kinds = rules.kinds.and(Kinds::read(kinds)?),
            ("const", Value::Null) => rules.kinds = rules.kinds.and(Kinds::NULL),
            ("const", Value::String(text)) => only(rules, vec![text.clone()])?,
            ("enum", Value::Array(values)) => {
                let texts = values.iter().map(|value| Some(value.as_str()?.to_owned()));
                only(rules, texts.collect::<Option<_>>()?)?;
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) => only(rules, choices(schemas)?)?,
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
        Some(())
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
        for (word, value) in schema
            .as_object()?
            .iter()
            .filter(|(word, value)| is_rule(word, value))
        {
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

fn limit(value: &Value) -> Option<Limit> {
    let limit = value.as_f64()?;
    (limit.abs() < EXACT).then(|| Limit {
        value: limit,
        written: value.to_string(),
    })
}

/// Returns the keyword for which a schema is not of the dialect that needs no
/// name, 2020-12, or its references do not begin at its root.
fn foreign_word(schema: &Value) -> Option<&'static str> {
    match schema {
        Value::Array(items) => items.iter().find_map(foreign_word),
        Value::Object(words) => {
            let here = FOREIGN.iter().find(|word| words.contains_key(**word));
            here.copied()
                .or_else(|| words.values().find_map(foreign_word))
        }
        _ => None,
    }
}

/// Returns `true` if the keyword says more than what a schema is about.
fn is_rule(word: &str, value: &Value) -> bool {
    // A remark of another kind makes a schema that is none.
    let is_remark = match word {
        "$comment" | "description" | "title" => value.is_string(),
        "$defs" => value.is_object(),
        "default" => true,
        "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "examples" => value.is_array(),
        word => word.starts_with("x-"),
    };
    !is_remark
}

const FOREIGN: [&str; 2] = ["$id", "$schema"];

const KIND_NAMES: [(&str, Kinds); 7] = [
    ("array", Kinds::ARRAY),
    ("boolean", Kinds::BOOLEAN),
    ("integer", Kinds::INTEGER),
    ("number", Kinds::NUMBER),
    ("object", Kinds::OBJECT),
    ("string", Kinds::STRING),
    ("null", Kinds::NULL),
];

/// One bit each.
const MOST_MEMBERS: usize = 64;

/// Up to here, all whole numbers are doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;
