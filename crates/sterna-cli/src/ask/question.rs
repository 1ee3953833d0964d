//! Questions of HTTP APIs: a message and the JSON Schema of the answer.

use inquire::InquireError;
use serde_json::Value;
use sterna_protocol::elicitation::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestParams, FormSchema, PrimitiveSchema,
};
use sterna_protocol::input::{InputRequest, InputResponse};

use super::prompt::Prompt;
use super::{Answer, Answerer, Asker, leave_prompt};
use crate::exit::Failure;
use crate::interrupt;
use crate::text::{JsonLayout, Text, excerpt, printable_json};

/// Question of an HTTP API.
#[derive(Clone, Debug)]
pub(crate) struct HttpQuestion {
    message: String,
    shape: AnswerShape,
}

/// Shape of the answer to a question.
#[derive(Clone, Debug)]
enum AnswerShape {
    /// An object of simple fields.
    Form(FormSchema),
    /// Any JSON; the text of its schema, and data to look at.
    Json(String),
    /// One simple value, which is asked for as the only field of a form.
    Value(PrimitiveSchema),
}

/// Outcome of a question of an HTTP API.
#[derive(Debug)]
pub(crate) enum JsonAnswer {
    /// This is to be sent; `null` declines.
    Ready(Value),
    /// There is no answer, and no person to ask.
    Missing,
    /// The user does not answer, and wants no part of the whole call.
    Stopped,
}

impl HttpQuestion {
    /// Reads the question `key`; `None` if it has another form than a question.
    pub(crate) fn read(question: &Value) -> Option<Self> {
        let mut message = question.get("message")?.as_str()?.to_owned();
        let schema = question.get("schema")?;
        if !schema.is_object() {
            return None;
        }
        if let Some(data) = question.get("data") {
            message.push('\n');
            message.push_str(&shown(data));
        }
        let form = || serde_json::from_value(schema.clone()).ok();
        let value = || serde_json::from_value(schema.clone()).ok();
        let shape = match schema.get("type").and_then(Value::as_str) {
            Some("object") => form().map(AnswerShape::Form),
            _ => value().map(AnswerShape::Value),
        };
        Some(Self {
            message,
            shape: shape.unwrap_or_else(|| AnswerShape::Json(shown(schema))),
        })
    }

    /// Returns the question as a form, if its answer can be filled in as one.
    fn form(&self, key: &str) -> Option<InputRequest> {
        let form = match &self.shape {
            AnswerShape::Form(form) => form.clone(),
            AnswerShape::Value(schema) => FormSchema::new().with_required(key, schema.clone()),
            AnswerShape::Json(_) => return None,
        };
        let params = ElicitRequestFormParams::new(self.message.clone(), form);
        Some(InputRequest::elicit(ElicitRequestParams::Form(params)))
    }
}

impl Answerer {
    /// Answers a question of an HTTP API, if there is an answer or a person to
    /// ask.
    pub(crate) async fn answer_http(
        &mut self,
        asker: Asker<'_>,
        question: &HttpQuestion,
    ) -> Result<JsonAnswer, Failure> {
        self.preset.null_declines(asker.key);
        if let AnswerShape::Value(schema) = &question.shape {
            self.preset.as_only_field(asker.key, schema);
        }
        let Some(form) = question.form(asker.key) else {
            return self.answer_json(asker, question).await;
        };
        let response = match self.answer(asker, &form).await? {
            Answer::Ready(response) => *response,
            Answer::Missing => return Ok(JsonAnswer::Missing),
            Answer::Stopped => return Ok(JsonAnswer::Stopped),
        };
        let InputResponse::Elicit(result) = response else {
            return Ok(JsonAnswer::Missing);
        };
        Ok(match result.action {
            ElicitAction::Accept => {
                let content = serde_json::to_value(result.content.unwrap_or_default())?;
                JsonAnswer::Ready(match (&question.shape, content) {
                    (AnswerShape::Value(_), Value::Object(mut fields)) => {
                        fields.remove(asker.key).unwrap_or_default()
                    }
                    (_, content) => content,
                })
            }
            ElicitAction::Decline => JsonAnswer::Ready(Value::Null),
            // HTTP APIs know no answer that is neither yes nor no.
            _ => JsonAnswer::Stopped,
        })
    }

    /// Answers a question whose answer is no form.
    async fn answer_json(
        &mut self,
        asker: Asker<'_>,
        question: &HttpQuestion,
    ) -> Result<JsonAnswer, Failure> {
        self.asked.insert(asker.key.to_owned());
        let answer = match self.preset.take_json(asker.key)? {
            Some(value) => JsonAnswer::Ready(value),
            None if self.interactive => {
                self.introduce_json(asker, question);
                tokio::select! {
                    biased;
                    () = interrupt::heard() => {
                        leave_prompt();
                        JsonAnswer::Stopped
                    }
                    typed = tokio::task::spawn_blocking(typed_json) => typed??,
                }
            }
            None => JsonAnswer::Missing,
        };
        match &answer {
            JsonAnswer::Ready(value) => {
                self.answered = true;
                self.refused |= value.is_null();
            }
            JsonAnswer::Missing => self.missed = true,
            JsonAnswer::Stopped => self.stopped.notify_one(),
        }
        Ok(answer)
    }

    fn introduce_json(&self, asker: Asker<'_>, question: &HttpQuestion) {
        self.tell_origin(asker);
        self.screen.ask(question.message.as_str());
        if let AnswerShape::Json(schema) = &question.shape {
            self.screen
                .ask(Text::dim("The answer is JSON of this schema:"));
            self.screen.ask(Text::dim(schema));
        }
    }
}

/// Has the user type JSON. The server checks it against the schema, and asks
/// again with the reason: a schema of a stranger is not run here.
fn typed_json() -> Result<JsonAnswer, Failure> {
    let prompt = Prompt::new("JSON:")
        .help("JSON on one line, or @FILE; null declines; Esc stops the call and sends nothing");
    let objection = |text: &str| json_of(text).err();
    Ok(match prompt.line("", objection) {
        Ok(Some(text)) => match json_of(&text) {
            Ok(value) => JsonAnswer::Ready(value),
            Err(_) => JsonAnswer::Missing,
        },
        Ok(None) | Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => {
            JsonAnswer::Stopped
        }
        Err(error) => return Err(error.into()),
    })
}

/// Reads JSON, or the file that is named after an `@`.
fn json_of(text: &str) -> Result<Value, String> {
    let not_json = |error: serde_json::Error| format!("it is not JSON: {error}");
    match text.trim().strip_prefix('@') {
        None => serde_json::from_str(text).map_err(not_json),
        Some(file) => {
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|error| format!("{} cannot be read: {error}", excerpt(file)));
            serde_json::from_str(&text?).map_err(not_json)
        }
    }
}

/// JSON on several lines, cut where it is too long to be looked at.
fn shown(value: &Value) -> String {
    let mut text = printable_json(&format!("{value:#}"), JsonLayout::Lines);
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        let all = text.chars().count();
        text.truncate(at);
        text.push_str(&format!(
            "…\n({all} characters; --no-input --save FILE keeps all of them)"
        ));
    }
    text
}

/// Characters of data or of a schema that are shown.
const LONGEST: usize = 20_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape(schema: Value) -> &'static str {
        let question = json!({"message": "?", "schema": schema});
        match HttpQuestion::read(&question).unwrap().shape {
            AnswerShape::Form(_) => "form",
            AnswerShape::Json(_) => "json",
            AnswerShape::Value(_) => "value",
        }
    }

    #[test]
    fn a_schema_says_how_its_answer_is_asked_for() {
        let text = json!({"type": "string"});
        for (schema, expected) in [
            (json!({"type": "boolean"}), "value"),
            (json!({"type": "integer", "minimum": 0}), "value"),
            (json!({"type": "string", "enum": ["a", "b"]}), "value"),
            (json!({"type": "object", "properties": {"a": text}}), "form"),
            (
                json!({"type": "object", "properties": {"a": {"type": "object"}}}),
                "json",
            ),
            (
                json!({"type": "object", "additionalProperties": text}),
                "json",
            ),
            (
                json!({"type": "array", "items": {"type": "object"}}),
                "json",
            ),
            (json!({"$ref": "#/$defs/a"}), "json"),
            (json!({}), "json"),
        ] {
            assert_eq!(shape(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn what_is_no_question_is_none() {
        for other in [
            json!({}),
            json!("?"),
            json!({"message": "?"}),
            json!({"message": 1, "schema": {}}),
            json!({"message": "?", "schema": true}),
        ] {
            assert!(HttpQuestion::read(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn long_data_is_cut() {
        let question = json!({
            "message": "?", "schema": {"type": "boolean"}, "data": "x".repeat(30_000),
        });
        let question = HttpQuestion::read(&question).unwrap();
        assert!(question.message.len() < 21_000);
        assert!(question.message.ends_with("keeps all of them)"));
    }

    #[test]
    fn json_is_read_from_the_line_or_a_file() {
        assert_eq!(json_of("[1]"), Ok(json!([1])));
        assert!(json_of("[1").is_err());
        assert!(
            json_of("@/nonexistent")
                .unwrap_err()
                .contains("cannot be read")
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"a\":1}").unwrap();
        let typed = format!("@{}", file.path().display());
        assert_eq!(json_of(&typed), Ok(json!({"a": 1})));
    }
}
