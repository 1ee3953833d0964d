//! Answers that were given beforehand, matched by key.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sterna_protocol::elicitation::{
    ElicitAction, ElicitContent, ElicitRequestParams, ElicitResult, FormSchema, PrimitiveSchema,
};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::roots::{ListRootsResult, Root};
use sterna_protocol::sampling::{CreateMessageResult, SamplingMessageContentBlock};

use super::{field, value};
use crate::args::AnswerArgs;
use crate::arguments;
use crate::exit::Failure;
use crate::suggest;
use crate::text::excerpt;
use crate::trace::is_secret_name;

/// Answers by key; each is given once. A server that asks the same thing again
/// was not satisfied, and would not be the next time.
#[derive(Debug, Default)]
pub(super) struct PresetAnswers {
    /// From `--answers`.
    whole: Map<String, Value>,
    has_file: bool,
    /// From `--answer`: typed values by key and field; no field: the only one.
    fields: BTreeMap<String, Vec<(Option<String>, Value)>>,
    accepted: BTreeSet<String>,
    declined: BTreeSet<String>,
    cancelled: BTreeSet<String>,
}

impl PresetAnswers {
    pub(super) fn read(args: &AnswerArgs) -> Result<Self, Failure> {
        let preset = &args.preset;
        let file = preset.answers.as_deref().map(arguments::from_file);
        let mut given = Self {
            whole: file.transpose()?.unwrap_or_default(),
            has_file: preset.answers.is_some(),
            accepted: preset.accept.iter().cloned().collect(),
            declined: preset.decline.iter().cloned().collect(),
            cancelled: args.cancel.iter().cloned().collect(),
            ..Self::default()
        };
        for word in &preset.given {
            let (place, value) = arguments::parse(word)?;
            let (key, field) = match place.split_once('.') {
                Some((key, field)) => (key.to_owned(), Some(field.to_owned())),
                None => (place, None),
            };
            given.fields.entry(key).or_default().push((field, value));
        }
        Ok(given)
    }

    /// The keys of answers that were typed and that no question has taken.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        let typed = self.fields.keys();
        let typed = typed.chain(&self.accepted).chain(&self.declined);
        typed.chain(&self.cancelled).map(String::as_str)
    }

    /// The key of an answer that was probably meant for the question `key`.
    pub(super) fn misspelled(&self, key: &str) -> Option<&str> {
        let whole = self.whole.keys().map(String::as_str);
        suggest::closest(key, self.unused().chain(whole))
    }

    pub(super) fn has_file(&self) -> bool {
        self.has_file
    }

    /// The answer to the question `key`, if one was given.
    pub(super) fn take(
        &mut self,
        key: &str,
        request: &InputRequest,
    ) -> Result<Option<InputResponse>, Failure> {
        let refuses = |action| Ok(Some(InputResponse::Elicit(ElicitResult::new(action))));
        let is_elicitation = matches!(request, InputRequest::Elicit(_));
        if is_elicitation && self.declined.remove(key) {
            return refuses(ElicitAction::Decline);
        }
        if is_elicitation && self.cancelled.remove(key) {
            return refuses(ElicitAction::Cancel);
        }
        if let Some(fields) = self.fields.remove(key) {
            return from_fields(key, request, fields).map(Some);
        }
        if let Some(value) = self.whole.remove(key) {
            return from_value(key, request, value).map(Some);
        }
        if is_elicitation && self.accepted.remove(key) {
            let content = ElicitContent::default();
            return Ok(Some(InputResponse::Elicit(ElicitResult::accept(content))));
        }
        Ok(None)
    }
}

impl PresetAnswers {
    /// Gives the answer to a question of one value the shape of a form with the
    /// field `key`, and has `--accept` say yes to a yes or no.
    pub(super) fn as_only_field(&mut self, key: &str, schema: &PrimitiveSchema) {
        if matches!(schema, PrimitiveSchema::Boolean(_)) && self.accepted.remove(key) {
            let yes = (None, Value::Bool(true));
            self.fields.insert(key.to_owned(), vec![yes]);
        }
        if let Some(value) = self.whole.get_mut(key)
            && !matches!(value, Value::Null | Value::Object(_))
        {
            let only = Map::from_iter([(key.to_owned(), value.take())]);
            *value = only.into();
        }
    }

    /// Reads `null` in the file as a refusal, as HTTP APIs do.
    pub(super) fn null_declines(&mut self, key: &str) {
        if self.whole.get(key).is_some_and(Value::is_null) {
            self.whole.remove(key);
            self.declined.insert(key.to_owned());
        }
    }

    /// The answer to a question of any JSON, if one was given; `null` declines.
    pub(super) fn take_json(&mut self, key: &str) -> Result<Option<Value>, Failure> {
        if self.declined.remove(key) {
            return Ok(Some(Value::Null));
        }
        let Some(fields) = self.fields.remove(key) else {
            return Ok(self.whole.remove(key));
        };
        let mut members = Map::new();
        for (field, value) in fields {
            match field {
                None if members.is_empty() => return Ok(Some(value)),
                None => {
                    let why = "it is given as a whole and by its members";
                    return Err(unfit(key, why));
                }
                Some(field) => members.insert(field, value),
            };
        }
        Ok(Some(members.into()))
    }
}

fn from_fields(
    key: &str,
    request: &InputRequest,
    fields: Vec<(Option<String>, Value)>,
) -> Result<InputResponse, Failure> {
    let form = match request {
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Form(params) => &params.requested_schema,
            _ => {
                return Err(unfit(
                    key,
                    "it is a page to visit: use --accept, --decline or --cancel",
                ));
            }
        },
        _ => match fields.into_iter().next() {
            Some((None, value)) => return from_value(key, request, value),
            _ => {
                let write = format!("write --answer {}=TEXT", excerpt(key));
                return Err(unfit(key, "it has no fields").hint(write));
            }
        },
    };
    let mut content = ElicitContent::default();
    for (field, value) in fields {
        let name = field.map_or_else(|| only_field(key, form), Ok)?;
        let Some(schema) = form.properties.get(&name) else {
            let fields: Vec<_> = form.properties.iter().map(|(name, _)| name).collect();
            let known = suggest::among(&name, fields, "its fields are");
            let name = excerpt(&name);
            return Err(unfit(key, &format!("it has no field `{name}`")).hint(known));
        };
        let value = match value {
            Value::String(text) => value::of_text(schema, &text),
            other => serde_json::from_value(other).map_err(|_| {
                unfit(
                    key,
                    &format!(
                        "`{}` takes text, numbers, yes or no, or a list of texts",
                        excerpt(&name)
                    ),
                )
            })?,
        };
        if let Some(fault) = value::fault(schema, &value) {
            let given = match is_secret_name(&name) {
                true => "what was given".to_owned(),
                false => format!("`{}`", excerpt(&field::shown(&value))),
            };
            let why = format!("`{}` {fault}, and is {given}", excerpt(&name));
            return Err(unfit(key, &why));
        }
        content.insert(name, value);
    }
    Ok(InputResponse::Elicit(ElicitResult::accept(content)))
}

fn only_field(key: &str, form: &FormSchema) -> Result<String, Failure> {
    let names: Vec<_> = form.properties.iter().map(|(name, _)| name).collect();
    match names[..] {
        [name] => Ok(name.to_owned()),
        [] => Err(unfit(
            key,
            "it has no fields: use --accept, --decline or --cancel",
        )),
        _ => {
            let names: Vec<_> = names.into_iter().map(excerpt).collect();
            let why = format!("say which field, of {}", names.join(", "));
            let write = format!("write --answer {}.{}=VALUE", excerpt(key), names[0]);
            Err(unfit(key, &why).hint(write))
        }
    }
}

fn from_value(key: &str, request: &InputRequest, value: Value) -> Result<InputResponse, Failure> {
    let wrong = |error: serde_json::Error| unfit(key, &error.to_string());
    match (request, value) {
        (InputRequest::Elicit(_), value @ Value::Object(_)) => {
            let has_action = value.get("action").is_some_and(Value::is_string);
            if has_action && let Ok(result) = serde_json::from_value::<ElicitResult>(value.clone())
            {
                return Ok(InputResponse::Elicit(result));
            }
            let content: ElicitContent = serde_json::from_value(value).map_err(wrong)?;
            Ok(InputResponse::Elicit(ElicitResult::accept(content)))
        }
        (InputRequest::CreateMessage(_), Value::String(text)) => {
            let block = SamplingMessageContentBlock::text(text);
            Ok(InputResponse::CreateMessage(CreateMessageResult::new(
                "by hand", block,
            )))
        }
        (InputRequest::CreateMessage(_), value) => serde_json::from_value(value)
            .map(InputResponse::CreateMessage)
            .map_err(wrong),
        (InputRequest::ListRoots(_), Value::Array(uris)) => {
            let uris: Vec<String> = serde_json::from_value(Value::Array(uris)).map_err(wrong)?;
            let roots = uris.into_iter().map(Root::new).collect();
            Ok(InputResponse::ListRoots(ListRootsResult::new(roots)))
        }
        (InputRequest::ListRoots(_), value) => serde_json::from_value(value)
            .map(InputResponse::ListRoots)
            .map_err(wrong),
        _ => Err(
            unfit(key, "an answer to a form is an object of its fields").hint(format!(
                "write {{\"{}\": {{\"FIELD\": VALUE}}}} in the file",
                excerpt(key)
            )),
        ),
    }
}

fn unfit(key: &str, why: &str) -> Failure {
    let key = excerpt(key);
    Failure::usage(format!("the answer given for `{key}` does not fit: {why}"))
}
