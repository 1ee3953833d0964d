//! The library that validates against any JSON Schema, in every dialect.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::Value;
use sterna_form::{BrokenRule, SchemaError};

use super::super::explain::rule_of;
use super::Errors;
use crate::wording;

/// A compiled schema.
pub(crate) struct GeneralCheck {
    validator: Validator,
    /// `true` if the schema has branches: an error then lists those of all
    /// branches.
    has_branches: bool,
}

impl GeneralCheck {
    /// Compiles `schema`.
    ///
    /// # Errors
    ///
    /// It is no valid JSON Schema, or refers to another document.
    pub(crate) fn new(schema: &Value, _: &str) -> Result<Self, String> {
        let compiled = jsonschema::options().build(schema);
        Ok(Self {
            validator: compiled.map_err(|error| error.to_string())?,
            has_branches: has_branches(schema),
        })
    }

    /// Returns the errors of `value`, at most `most`; none if it is valid.
    pub(crate) fn errors(&self, value: &Value, most: usize) -> Errors {
        // Looking for an error costs several times what asking whether there is one does.
        if self.validator.is_valid(value) {
            return Errors::Found(Vec::new());
        }
        let read = |error: ValidationError<'_>| read(value, &error);
        // The validator makes an error of every place at once: a peer decides how many.
        let mut left = MOST_PLACES;
        if is_at_most(value, &mut left) {
            let errors = self.validator.iter_errors(value).take(most);
            return Errors::Found(errors.map(read).collect());
        }
        if self.has_branches {
            return Errors::TooMany;
        }
        Errors::Found(
            self.validator
                .validate(value)
                .err()
                .map(read)
                .into_iter()
                .collect(),
        )
    }
}

/// Returns `true` if `value` has at most `left` places, and subtracts them.
fn is_at_most(value: &Value, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| is_at_most(item, left)),
        Value::Object(members) => members.values().all(|member| is_at_most(member, left)),
        _ => true,
    }
}

fn has_branches(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(has_branches),
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| matches!(&**name, "anyOf" | "oneOf") || has_branches(member)),
        _ => false,
    }
}

fn read(value: &Value, error: &ValidationError<'_>) -> SchemaError {
    let path = error.instance_path().as_str();
    let rule = match error.kind() {
        // A schema that knows no member at all names none.
        Kind::FalseSchema if error.schema_path().as_str().ends_with(NO_MORE) => {
            let members = value.pointer(path).and_then(Value::as_object);
            let names = members.into_iter().flat_map(|members| members.keys());
            BrokenRule::Unexpected(names.cloned().collect())
        }
        kind => rule(kind),
    };
    SchemaError {
        path: path.to_owned(),
        rule,
    }
}

fn rule(kind: &Kind) -> BrokenRule {
    match kind {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            BrokenRule::Unexpected(unexpected.clone())
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let form = |errors: &Vec<ValidationError<'static>>| {
                let first = errors.first().map(|error| SchemaError {
                    path: error.instance_path().as_str().to_owned(),
                    rule: rule(error.kind()),
                });
                first.into_iter().collect()
            };
            BrokenRule::Forms(context.iter().map(form).collect())
        }
        Kind::Constant { expected_value } => BrokenRule::Choice(vec![Value::clone(expected_value)]),
        Kind::Enum { options } => {
            BrokenRule::Choice(options.as_array().cloned().unwrap_or_default())
        }
        Kind::Required { property } => {
            BrokenRule::Missing(property.as_str().unwrap_or_default().to_owned())
        }
        Kind::Type { kind } => BrokenRule::Type(types(kind)),
        kind => BrokenRule::Words(words(kind)),
    }
}

fn words(kind: &Kind) -> String {
    match kind {
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        Kind::Contains => "must have an item of the kind that its schema asks for".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("must be encoded as {}", wording::name(content_encoding))
        }
        Kind::ContentMediaType { content_media_type } => {
            let name = wording::name(content_media_type);
            format!("must be of the media type {name}")
        }
        Kind::Custom { message, .. } => wording::cut(message, LONGEST_RULE),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::Format { format } => format!("must be of the format {}", wording::name(format)),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} members"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MinProperties { limit } => format!("must have at least {limit} members"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::Not { .. } => "is what its schema excludes".to_owned(),
        Kind::OneOfMultipleValid { .. } => "fits more than one of its forms".to_owned(),
        Kind::Pattern { pattern } => {
            let pattern = wording::cut(pattern, LONGEST_RULE);
            format!("must match the pattern `{pattern}`")
        }
        Kind::PropertyNames { error } => {
            let rule = rule(error.kind());
            format!("has a member whose name {}", rule_of("", &rule).1)
        }
        Kind::UnevaluatedItems { .. } => "has more items than its schema knows".to_owned(),
        Kind::UniqueItems => "must not have the same item twice".to_owned(),
        // The schema or the engine is at fault, and the value may be right.
        kind => {
            let keyword = kind.keyword();
            format!("cannot be checked against `{keyword}` of its schema")
        }
    }
}

fn types(kind: &TypeKind) -> Vec<&'static str> {
    let named = |kind: JsonType| match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "integer",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    };
    match kind {
        TypeKind::Single(kind) => vec![named(*kind)],
        TypeKind::Multiple(kinds) => {
            // What it may be besides null is more likely to be meant, so null comes last.
            let others = kinds.iter().filter(|kind| *kind != JsonType::Null);
            let null = kinds.contains(JsonType::Null).then_some(JsonType::Null);
            others.chain(null).map(named).collect()
        }
    }
}

/// Places of a value up to which all of its errors are looked for.
const MOST_PLACES: usize = 1000;

/// Ends the place of the rule that there are no more members.
const NO_MORE: &str = "Properties";

/// Patterns and messages come from the author of the tool, but need not be
/// short.
const LONGEST_RULE: usize = 200;
