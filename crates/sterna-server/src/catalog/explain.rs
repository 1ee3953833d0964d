//! Errors of a schema in words that a person or a model can act on.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::{Map, Value};

use super::secret::secret_part;
use crate::wording;

/// Explains the errors of one value.
pub(super) struct Explainer<'a> {
    schema: &'a Value,
    values: Values,
    /// The tool whose arguments the value is.
    tool: Option<&'a str>,
}

/// Visibility of values in an error. Shown values are cut, and secret ones are
/// left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Hidden,
    Shown,
}

impl<'a> Explainer<'a> {
    pub(super) fn new(schema: &'a Value, values: Values) -> Self {
        Self {
            schema,
            values,
            tool: None,
        }
    }

    pub(super) fn of_tool(mut self, tool: &'a str) -> Self {
        self.tool = Some(tool);
        self
    }

    /// The `errors` of `value`, one after the other.
    pub(super) fn explain(&self, value: &Value, errors: &[ValidationError<'_>]) -> String {
        let mut text = String::new();
        let mut is_about_names = false;
        for error in errors {
            let path = error.instance_path().as_str();
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(&self.describe(value, path, error));
            is_about_names |= path.is_empty() && is_about_names_of(error.kind());
        }
        if let Some(tool) = self.tool.filter(|_| is_about_names) {
            text.push_str("; ");
            text.push_str(&self.takes(tool));
        }
        text
    }

    /// An error of a value with so many places that it is not looked for.
    pub(super) fn explain_large(&self) -> String {
        let large = "they are too many to say which does not fit";
        match self.tool {
            Some(tool) => format!("{large}; `tools/list` has the input schema of `{tool}`"),
            None => large.to_owned(),
        }
    }

    fn describe(&self, value: &Value, path: &str, error: &ValidationError<'_>) -> String {
        match error.kind() {
            Kind::Required { property } => {
                let property = wording::name(property.as_str().unwrap_or_default());
                match path {
                    "" => format!("missing {} {property}", self.member()),
                    path => format!("{} lacks the member {property}", place(path)),
                }
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                self.unexpected(path, unexpected.iter())
            }
            // A schema that knows no member at all names none.
            Kind::FalseSchema if error.schema_path().as_str().ends_with(NO_MORE) => {
                let members: Vec<&String> = match value.pointer(path) {
                    Some(Value::Object(members)) => members.keys().collect(),
                    _ => Vec::new(),
                };
                self.unexpected(path, members.into_iter())
            }
            kind => {
                let (path, rule) = rule(path, kind);
                self.breaks(value, &path, &rule)
            }
        }
    }

    fn unexpected<'n>(
        &self,
        path: &str,
        names: impl ExactSizeIterator<Item = &'n String>,
    ) -> String {
        let kind = match path {
            "" => self.member(),
            _ => "member",
        };
        let plural = if names.len() == 1 { "" } else { "s" };
        if let Some(part) = secret_part(self.schema, path).filter(|part| !part.is_empty()) {
            return format!("unexpected {kind}{plural} in {}", place(part));
        }
        let names = wording::list(names.map(|name| wording::name(name)), " and ");
        match path {
            "" => format!("unexpected {kind}{plural} {names}"),
            path => format!("unexpected {kind}{plural} {names} in {}", place(path)),
        }
    }

    fn breaks(&self, value: &Value, path: &str, rule: &str) -> String {
        if let Some(part) = secret_part(self.schema, path) {
            // The names inside of a secret may be secret too, those of arguments are not.
            let place = match part {
                "" => place(first_step(path)),
                part => place(part),
            };
            return format!("{place} {rule}; its value is secret and not repeated");
        }
        let place = place(path);
        if self.values == Values::Hidden {
            return format!("{place} {rule}");
        }
        let found = value.pointer(path).unwrap_or(&Value::Null);
        format!("{place} {rule}, but it is {}", wording::value(found))
    }

    /// The arguments that there are.
    fn takes(&self, tool: &str) -> String {
        let tool = wording::name(tool);
        let members = self.schema.get("properties").and_then(Value::as_object);
        match members.map(Map::keys).filter(|names| names.len() > 0) {
            None => format!("{tool} takes no arguments"),
            Some(names) => {
                let names = wording::list(names.map(|name| wording::name(name)), " and ");
                format!("{tool} takes {names}")
            }
        }
    }

    fn member(&self) -> &'static str {
        match self.tool {
            Some(_) => "argument",
            None => "member",
        }
    }
}

fn is_about_names_of(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Required { .. }
            | Kind::AdditionalProperties { .. }
            | Kind::UnevaluatedProperties { .. }
            | Kind::FalseSchema
    )
}

/// A place as a person writes it: the name of an argument, or a JSON pointer to
/// what is inside one.
fn place(path: &str) -> String {
    match path.strip_prefix('/') {
        None => "the whole".to_owned(),
        Some(name) if !name.contains('/') => {
            wording::name(&name.replace("~1", "/").replace("~0", "~"))
        }
        Some(_) => wording::name(path),
    }
}

/// The JSON pointer to the member of the whole that `path` leads through.
fn first_step(path: &str) -> &str {
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    &path[..slashes.nth(1).unwrap_or(path.len())]
}

/// The rule that a value breaks, and where.
fn rule(path: &str, kind: &Kind) -> (String, String) {
    let text = match kind {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            return branches(path, context);
        }
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        Kind::Constant { expected_value } => format!("must be {}", wording::value(expected_value)),
        Kind::Contains => "must have an item of the kind that its schema asks for".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("must be encoded as {}", wording::name(content_encoding))
        }
        Kind::ContentMediaType { content_media_type } => {
            format!(
                "must be of the media type {}",
                wording::name(content_media_type)
            )
        }
        Kind::Custom { message, .. } => wording::cut(message, LONGEST_RULE),
        Kind::Enum { options } => {
            let choices = wording::list(choices(options).into_iter(), " or ");
            format!("must be {choices}")
        }
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
            format!(
                "must match the pattern `{}`",
                wording::cut(pattern, LONGEST_RULE)
            )
        }
        Kind::PropertyNames { error } => {
            let (_, rule) = rule("", error.kind());
            format!("has a member whose name {rule}")
        }
        Kind::Type { kind } => format!("must be {}", types(kind)),
        Kind::UnevaluatedItems { .. } => "has more items than its schema knows".to_owned(),
        Kind::UniqueItems => "must not have the same item twice".to_owned(),
        // The schema or the engine is at fault, and the value may be right.
        kind => format!(
            "cannot be checked against `{}` of its schema",
            kind.keyword()
        ),
    };
    (path.to_owned(), text)
}

/// The rule of a value that may have several forms. One that may also be null
/// is most likely meant to have the other form.
fn branches(path: &str, context: &[Vec<ValidationError<'static>>]) -> (String, String) {
    let is_null =
        |branch: &&Vec<ValidationError<'static>>| match branch.first().map(ValidationError::kind) {
            Some(Kind::Type {
                kind: TypeKind::Single(JsonType::Null),
            }) => true,
            Some(Kind::Constant { expected_value }) => expected_value.is_null(),
            _ => false,
        };
    let nullable = context.iter().any(|branch| is_null(&branch));
    let others: Vec<&Vec<_>> = context.iter().filter(|branch| !is_null(branch)).collect();
    let constants: Option<Vec<Vec<String>>> = others.iter().map(|one| constants(one)).collect();
    if let Some(constants) = constants.filter(|constants| !constants.is_empty()) {
        let mut constants = constants.concat();
        if nullable {
            constants.push("null".to_owned());
        }
        let text = format!("must be {}", wording::list(constants.into_iter(), " or "));
        return (path.to_owned(), text);
    }
    if let ([branch], true) = (&others[..], nullable)
        && let Some(error) = branch.first()
    {
        let (at, mut text) = rule(error.instance_path().as_str(), error.kind());
        if at == path {
            text.push_str(" or null");
        }
        return (at, text);
    }
    let text = format!("must have one of the {} forms in its schema", context.len());
    (path.to_owned(), text)
}

/// The only values that a branch allows.
fn constants(branch: &[ValidationError<'static>]) -> Option<Vec<String>> {
    match branch.first()?.kind() {
        Kind::Constant { expected_value } => Some(vec![wording::value(expected_value)]),
        Kind::Enum { options } => Some(choices(options)),
        _ => None,
    }
}

fn choices(options: &Value) -> Vec<String> {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    options.iter().map(wording::value).collect()
}

fn types(kind: &TypeKind) -> String {
    let named = |kind: JsonType| match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    };
    match kind {
        TypeKind::Single(kind) => named(*kind).to_owned(),
        TypeKind::Multiple(kinds) => {
            // What it may be besides null is more likely to be meant, so null comes last.
            let others = kinds.iter().filter(|kind| *kind != JsonType::Null);
            let null = kinds.contains(JsonType::Null).then_some(JsonType::Null);
            let all: Vec<&str> = others.chain(null).map(named).collect();
            wording::list(all.iter(), " or ")
        }
    }
}

/// Ends the place of the rule that there are no more members.
const NO_MORE: &str = "Properties";

/// Patterns and messages come from the author of the tool, but need not be
/// short.
const LONGEST_RULE: usize = 200;
