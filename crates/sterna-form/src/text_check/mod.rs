//! JSON text against a derived schema, without a tree of it.

mod cursor;

use serde_json::Value;

pub(crate) use cursor::Cursor;
use cursor::{Escapes, TextString};

use crate::rules::{Formats, Items, Kinds, Members, OtherMembers, RuleSet, Rules, Schema};
use crate::tree_check::{self, SchemaError};

/// A check of JSON against a schema with the keywords that derived schemas use.
///
/// It finds most valid texts valid without a tree of them: a text in an unusual
/// spelling must be parsed, and the value given to [`errors`](Self::errors). That
/// decides for schemas without an [unknown keyword](Self::unknown_keyword). For
/// others a general validator must.
///
/// ```
/// use serde_json::json;
/// use sterna_form::TextCheck;
///
/// let check = TextCheck::new(&json!({
///     "type": "object",
///     "properties": {"replicas": {"type": "integer", "minimum": 1}},
///     "required": ["replicas"],
/// }));
/// assert!(check.accepts(r#"{"replicas": 3}"#));
/// assert!(!check.accepts(r#"{"replicas": 0}"#));
/// // Valid, but in an unusual spelling.
/// assert!(!check.accepts(r#"{"replicas": 3e0}"#));
/// assert!(check.errors(&json!({"replicas": 3e0}), 1).is_empty());
/// assert_eq!(check.errors(&json!({"replicas": 0}), 1)[0].path, "/replicas");
/// ```
#[derive(Debug)]
pub struct TextCheck(RuleSet);

impl TextCheck {
    /// Reads `schema`. Keywords that are not known make a check that accepts
    /// less.
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        Self::with_formats(schema, Formats::Annotation)
    }

    pub(crate) fn with_formats(schema: &Value, formats: Formats) -> Self {
        Self(RuleSet::read(schema, formats))
    }

    /// The keyword for which this check does not decide; `None` if it knows all
    /// rules of the schema.
    #[must_use]
    pub fn unknown_keyword(&self) -> Option<&str> {
        self.0.unknown()
    }

    /// Returns the errors of `value`, at most `most`. There are none if it is valid,
    /// and if the schema has no [unknown keyword](Self::unknown_keyword), it is
    /// valid if there are none.
    #[must_use]
    pub fn errors(&self, value: &Value, most: usize) -> Vec<SchemaError> {
        tree_check::errors(&self.0, value, most)
    }

    /// Returns `true` if `text` is valid beyond doubt: one JSON value that fits
    /// the schema and has no member twice, at any depth.
    #[must_use]
    pub fn accepts(&self, text: &str) -> bool {
        let mut cursor = Cursor::new(text);
        self.takes(&mut cursor) && cursor.is_at_end()
    }

    /// Takes a value that is valid beyond doubt.
    pub(crate) fn takes<'a>(&self, cursor: &mut Cursor<'a>) -> bool {
        let mut walk = Walk {
            rules: &self.0,
            cursor: *cursor,
            depth: 0,
            steps: 2 * cursor.left() + FEWEST_STEPS,
        };
        let accepted = walk.value(0) == Verdict::Fits;
        *cursor = walk.cursor;
        accepted
    }
}

/// Judgement of a value. Behind one that fits, the cursor is at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Breaks,
    Fits,
    Unknown,
}

/// A walk through a text, with limits for all that it does.
struct Walk<'a, 'r> {
    rules: &'r RuleSet,
    cursor: Cursor<'a>,
    depth: u8,
    /// Schemas left to look at. Alternatives within alternatives could be looked at
    /// without end.
    steps: usize,
}

impl<'r> Walk<'_, 'r> {
    fn value(&mut self, schema: usize) -> Verdict {
        let (Some(steps), true) = (self.steps.checked_sub(1), self.depth < DEEPEST) else {
            return Verdict::Unknown;
        };
        self.steps = steps;
        self.depth += 1;
        let rules = self.rules;
        let verdict = match rules.schema(schema) {
            Schema::Unknown => Verdict::Unknown,
            Schema::Reference(schema) => self.value(*schema),
            Schema::Alternatives { one_only, schemas } => self.alternatives(schemas, *one_only),
            Schema::Rules(rules) => self.rules(rules),
        };
        self.depth -= 1;
        verdict
    }

    fn alternatives(&mut self, schemas: &'r [usize], one_only: bool) -> Verdict {
        let start = self.cursor;
        let mut end = None;
        let mut unknown = false;
        for schema in schemas {
            self.cursor = start;
            match self.value(*schema) {
                Verdict::Fits if !one_only => return Verdict::Fits,
                Verdict::Fits if end.is_some() => return Verdict::Breaks,
                Verdict::Fits => end = Some(self.cursor),
                Verdict::Unknown => unknown = true,
                Verdict::Breaks => {}
            }
        }
        match end {
            _ if unknown => Verdict::Unknown,
            Some(end) => {
                self.cursor = end;
                Verdict::Fits
            }
            None => Verdict::Breaks,
        }
    }

    fn rules(&mut self, rules: &'r Rules) -> Verdict {
        self.cursor.skip_space();
        let (kind, takes): (Kinds, bool) = match self.cursor.peek() {
            Some(b'"') if rules.kinds.has(Kinds::STRING) => return self.string(rules),
            Some(b'{') if rules.kinds.has(Kinds::OBJECT) => return self.object(&rules.members),
            Some(b'[') if rules.kinds.has(Kinds::ARRAY) => return self.array(&rules.items),
            Some(b'-' | b'0'..=b'9') if rules.kinds.has(Kinds::INTEGER) => {
                return self.number(rules);
            }
            Some(b't') => (Kinds::BOOLEAN, self.cursor.take_word("true")),
            Some(b'f') => (Kinds::BOOLEAN, self.cursor.take_word("false")),
            Some(b'n') => (Kinds::NULL, self.cursor.take_word("null")),
            Some(b'"' | b'{' | b'[' | b'-' | b'0'..=b'9') => return Verdict::Breaks,
            _ => return Verdict::Unknown,
        };
        match (takes, rules.kinds.has(kind)) {
            (false, _) => Verdict::Unknown,
            (true, true) => Verdict::Fits,
            (true, false) => Verdict::Breaks,
        }
    }

    fn string(&mut self, rules: &Rules) -> Verdict {
        let Some(text) = self.cursor.string() else {
            return Verdict::Unknown;
        };
        if let Some(strings) = &rules.strings {
            return one_of(strings, text);
        }
        match rules.characters {
            None => Verdict::Fits,
            Some(allowed) => {
                let count = text.count();
                holds(allowed.least <= count && count <= allowed.most)
            }
        }
    }

    fn number(&mut self, rules: &Rules) -> Verdict {
        let Some(number) = self.cursor.number() else {
            return Verdict::Unknown;
        };
        // `1.0` is an integer for a schema and none for most types.
        if !number.is_integer && !rules.kinds.has(Kinds::NUMBER) {
            return Verdict::Unknown;
        }
        holds(rules.range.allows(number.value))
    }

    fn array(&mut self, rules: &'r Items) -> Verdict {
        self.cursor.take(b'[');
        let mut count: u64 = 0;
        if !self.cursor.take(b']') {
            loop {
                let schema = match usize::try_from(count).map(|at| rules.first.get(at)) {
                    Ok(Some(schema)) => Some(*schema),
                    _ => rules.other,
                };
                let verdict = match schema {
                    Some(schema) => self.value(schema),
                    None => self.anything(),
                };
                if verdict != Verdict::Fits {
                    return verdict;
                }
                count += 1;
                if self.cursor.take(b']') {
                    break;
                }
                if !self.cursor.take(b',') {
                    return Verdict::Unknown;
                }
            }
        }
        if rules.are_unique && count > 1 {
            return Verdict::Unknown;
        }
        holds(rules.count.least <= count && count <= rules.count.most)
    }

    fn object(&mut self, rules: &'r Members) -> Verdict {
        self.cursor.take(b'{');
        let mut seen = 0;
        let mut others = Vec::new();
        if !self.cursor.take(b'}') {
            loop {
                let Some(name) = self.cursor.name() else {
                    return Verdict::Unknown;
                };
                let known = rules.known.iter().position(|(known, _)| known == name);
                let verdict = if let Some(at) = known {
                    if seen & (1 << at) != 0 {
                        return Verdict::Unknown;
                    }
                    seen |= 1 << at;
                    self.value(rules.known[at].1)
                } else {
                    if others.contains(&name) || others.len() == MOST_OTHERS {
                        return Verdict::Unknown;
                    }
                    others.push(name);
                    match rules.other {
                        OtherMembers::Allowed => self.anything(),
                        OtherMembers::Fit(schema) => self.value(schema),
                        OtherMembers::Forbidden => Verdict::Breaks,
                    }
                };
                if verdict != Verdict::Fits {
                    return verdict;
                }
                if self.cursor.take(b'}') {
                    break;
                }
                if !self.cursor.take(b',') {
                    return Verdict::Unknown;
                }
            }
        }
        holds(seen & rules.required == rules.required)
    }

    /// Takes a value that has no schema. Those with parts are rare.
    fn anything(&mut self) -> Verdict {
        self.cursor.skip_space();
        let taken = match self.cursor.peek() {
            Some(b'"') => self.cursor.string().is_some(),
            Some(b't') => self.cursor.take_word("true"),
            Some(b'f') => self.cursor.take_word("false"),
            Some(b'n') => self.cursor.take_word("null"),
            Some(b'-' | b'0'..=b'9') => self.cursor.number().is_some(),
            _ => false,
        };
        match taken {
            true => Verdict::Fits,
            false => Verdict::Unknown,
        }
    }
}

fn one_of(strings: &[String], text: TextString<'_>) -> Verdict {
    match text.escapes {
        Escapes::None => holds(strings.iter().any(|known| known == text.written)),
        Escapes::Some => Verdict::Unknown,
    }
}

fn holds(rule: bool) -> Verdict {
    match rule {
        true => Verdict::Fits,
        false => Verdict::Breaks,
    }
}

/// More than derived types have, and less than a stack holds.
const DEEPEST: u8 = 48;

/// Members without a schema of their own are compared with each other.
const MOST_OTHERS: usize = 16;

/// Schemas that a check may look at for the shortest text. For a longer one they
/// are as many more as it can have values, twice.
const FEWEST_STEPS: usize = 64;
