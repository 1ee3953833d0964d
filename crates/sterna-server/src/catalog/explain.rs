//! Errors of a schema in words that a person or a model can act on.

use serde_json::{Map, Value};
use sterna_form::{BrokenRule, SchemaError};

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
    pub(super) fn explain(&self, value: &Value, errors: &[SchemaError]) -> String {
        let described = errors.iter().map(|error| self.describe(value, error));
        let mut text = described.collect::<Vec<_>>().join("; ");
        let is_about_names = |error: &SchemaError| {
            let is_name = matches!(
                error.rule,
                BrokenRule::Missing(_) | BrokenRule::Unexpected(_)
            );
            error.path.is_empty() && is_name
        };
        if let Some(tool) = self.tool.filter(|_| errors.iter().any(is_about_names)) {
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

    fn describe(&self, value: &Value, error: &SchemaError) -> String {
        match (&error.rule, error.path.as_str()) {
            (BrokenRule::Missing(name), "") => {
                format!("missing {} {}", self.member(), wording::name(name))
            }
            (BrokenRule::Missing(name), path) => {
                format!("{} lacks the member {}", place(path), wording::name(name))
            }
            (BrokenRule::Unexpected(names), path) => self.unexpected(path, names.iter()),
            (rule, path) => {
                let (path, rule) = rule_of(path, rule);
                self.breaks(value, path, &rule)
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
pub(super) fn rule_of<'a>(path: &'a str, rule: &'a BrokenRule) -> (&'a str, String) {
    let text = match rule {
        BrokenRule::Choice(values) => {
            format!(
                "must be {}",
                wording::list(choices(values).into_iter(), " or ")
            )
        }
        BrokenRule::Forms(forms) => return forms_of(path, forms),
        BrokenRule::Missing(name) => format!("lacks the member {}", wording::name(name)),
        BrokenRule::Type(names) => {
            let names: Vec<&str> = names.iter().map(|name| with_article(name)).collect();
            format!("must be {}", wording::list(names.iter(), " or "))
        }
        BrokenRule::Unexpected(names) => {
            let names = names.iter().map(|name| wording::name(name));
            format!("must not have {}", wording::list(names, " and "))
        }
        BrokenRule::Words(words) => words.clone(),
    };
    (path, text)
}

/// The rule of a value that may have several forms. One that may also be null
/// is most likely meant to have the other form.
fn forms_of<'a>(path: &'a str, forms: &'a [Vec<SchemaError>]) -> (&'a str, String) {
    let is_null = |form: &&Vec<SchemaError>| match form.first().map(|error| &error.rule) {
        Some(BrokenRule::Type(names)) => names == &["null"],
        Some(BrokenRule::Choice(values)) => values == &[Value::Null],
        _ => false,
    };
    let nullable = forms.iter().any(|form| is_null(&form));
    let others: Vec<&Vec<_>> = forms.iter().filter(|form| !is_null(form)).collect();
    let constants: Option<Vec<Vec<String>>> = others.iter().map(|form| constants(form)).collect();
    if let Some(constants) = constants.filter(|constants| !constants.is_empty()) {
        let mut constants = constants.concat();
        if nullable {
            constants.push("null".to_owned());
        }
        let text = format!("must be {}", wording::list(constants.into_iter(), " or "));
        return (path, text);
    }
    if let ([form], true) = (&others[..], nullable)
        && let Some(error) = form.first()
    {
        let (at, mut text) = rule_of(&error.path, &error.rule);
        if at == path {
            text.push_str(" or null");
        }
        return (at, text);
    }
    let text = format!("must have one of the {} forms in its schema", forms.len());
    (path, text)
}

/// The only values that a form allows.
fn constants(form: &[SchemaError]) -> Option<Vec<String>> {
    match &form.first()?.rule {
        BrokenRule::Choice(values) => Some(choices(values)),
        _ => None,
    }
}

fn choices(values: &[Value]) -> Vec<String> {
    values.iter().map(wording::value).collect()
}

fn with_article(name: &str) -> &str {
    match name {
        "array" => "an array",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        "object" => "an object",
        "string" => "a string",
        name => name,
    }
}
