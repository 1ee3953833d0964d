//! Questions of the server as a form, and the form as answers.

use maud::{Markup, html};
use serde_json::Value;
use sterna_protocol::content::Role;
use sterna_protocol::elicitation::{
    ElicitContent, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitResult,
};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::roots::{ListRootsResult, Root};
use sterna_protocol::sampling::{
    CreateMessageRequestParams, CreateMessageResult, SamplingMessageContentBlock,
};

use super::form::{self, Filled};
use super::shorten;
use crate::fields::{Errors, Field, fields_of, read};
use crate::urlencoded::Fields;

/// Questions and their keys.
pub(crate) type Asked = [(String, InputRequest)];

/// Reasons why answers were not sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerErrors {
    pub(crate) fields: Errors,
    /// About the whole form.
    pub(crate) form: Option<String>,
}

/// The questions with their fields and buttons. One question has a button for
/// each action; several have one button for all, and a choice each.
/// `not_sent` is the form that was sent last, with the reasons why it went no
/// further.
pub(crate) fn questions(
    asked: &Asked,
    not_sent: Option<(&Fields, &AnswerErrors)>,
    has_sampler: bool,
) -> Markup {
    let none = AnswerErrors::default();
    let entered = not_sent.map(|(entered, _)| entered);
    let errors = not_sent.map_or(&none, |(_, errors)| errors);
    let filled = Filled {
        entered,
        errors: &errors.fields,
        add_row: None,
        can_add: false,
    };
    let can_decline = |request: &InputRequest| matches!(request, InputRequest::Elicit(_));
    html! {
        @if let Some(error) = &errors.form { p.error role="alert" { (shorten(error, 1000)) } }
        @for (at, (key, request)) in asked.iter().enumerate() {
            fieldset.question {
                legend { (kind(request)) " " code { (shorten(key, 200)) } }
                (body(request, at, filled))
                @if has_sampler && matches!(request, InputRequest::CreateMessage(_)) {
                    button.quiet type="submit" name="sampler" value=(at) { "Have the command write it" }
                }
                @if asked.len() > 1 && can_decline(request) {
                    (actions(at, entered))
                }
            }
        }
        div.actions {
            @match asked {
                [] => button type="submit" { "Send the call again" },
                [(_, request)] if can_decline(request) => {
                    button type="submit" name="q0?action" value="accept" { "Accept" }
                    button.quiet type="submit" name="q0?action" value="decline" { "Decline" }
                    button.quiet type="submit" name="q0?action" value="cancel" { "Cancel the question" }
                }
                _ => button type="submit" { "Send answers" },
            }
        }
    }
}

fn actions(at: usize, entered: Option<&Fields>) -> Markup {
    let name = format!("q{at}?action");
    let picked = entered
        .and_then(|entered| entered.get(&name))
        .unwrap_or("accept");
    html! {
        div.radios role="radiogroup" aria-label="Answer" {
            @for (value, title) in [("accept", "Accept"), ("decline", "Decline"), ("cancel", "Cancel")] {
                label.check {
                    input type="radio" name=(name) value=(value) checked[picked == value];
                    " " (title)
                }
            }
        }
    }
}

/// Kind of a question in words.
pub(crate) fn kind(request: &InputRequest) -> &'static str {
    match request {
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Url(_) => "page to visit",
            _ => "form",
        },
        InputRequest::CreateMessage(_) => "text of a model",
        InputRequest::ListRoots(_) => "folders",
        _ => "question",
    }
}

/// The question in one line.
pub(crate) fn summary(request: &InputRequest) -> String {
    match request {
        InputRequest::Elicit(elicit) => shorten(elicit.params.message(), 120),
        InputRequest::CreateMessage(_) => "asks for the text of a model".to_owned(),
        InputRequest::ListRoots(_) => "asks for folders".to_owned(),
        _ => request.method().to_owned(),
    }
}

fn body(request: &InputRequest, at: usize, filled: Filled<'_>) -> Markup {
    match request {
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Form(params) => html! {
                p.message { (shorten(&params.message, 4000)) }
                (form::fields(&form_fields(params, at), filled))
            },
            ElicitRequestParams::Url(params) => page_to_visit(params),
            _ => html! { p.dim { "This kind of question is not known here." } },
        },
        InputRequest::CreateMessage(create) => sampling(&create.params, at, filled),
        InputRequest::ListRoots(_) => {
            let path = format!("q{at}/roots");
            let value = filled.entered.and_then(|entered| entered.get(&path));
            html! {
                div.field {
                    label for=(path) { "Folders, one a line" }
                    textarea id=(path) name=(path) rows="2" placeholder="file:///home/me/project" {
                        "\n" (value.unwrap_or_default())
                    }
                    (error_of(&path, filled))
                }
            }
        }
        _ => html! { p.dim { "This kind of question is not known here." } },
    }
}

/// A page that the server wants visited. The whole address is shown, and only a
/// click opens it.
fn page_to_visit(params: &ElicitRequestUrlParams) -> Markup {
    let url = params.url.as_str();
    let is_web = matches!(params.url.scheme(), "http" | "https");
    html! {
        p.message { (shorten(&params.message, 4000)) }
        p.url { code { (url) } }
        @if is_web {
            p { a href=(url) target="_blank" rel="noopener noreferrer external" { "Open this page in a new tab" } }
        } @else {
            p.dim { "This address is not opened from here: it is not http or https." }
        }
    }
}

fn sampling(params: &CreateMessageRequestParams, at: usize, filled: Filled<'_>) -> Markup {
    let (text, model) = (format!("q{at}/text"), format!("q{at}/model"));
    let value = |path: &str| {
        let value = filled.entered.and_then(|entered| entered.get(path));
        value.unwrap_or_default().to_owned()
    };
    html! {
        @if let Some(system) = &params.system_prompt {
            p.dim { "System prompt" }
            pre tabindex="0" { (shorten(system, 4000)) }
        }
        @for message in &params.messages {
            p.dim { @if message.role == Role::User { "user" } @else { "assistant" } }
            @for block in message.content.blocks() {
                @match block {
                    SamplingMessageContentBlock::Text(block) => pre tabindex="0" { (shorten(&block.text, 4000)) },
                    SamplingMessageContentBlock::Image(_) => p.dim { "(an image)" },
                    SamplingMessageContentBlock::Audio(_) => p.dim { "(a sound)" },
                    _ => p.dim { "(content that is no text)" },
                }
            }
        }
        p.hint { span.limit { "at most " (params.max_tokens) " tokens" } }
        div.field {
            label for=(text) { "Text of the model" }
            textarea id=(text) name=(text) rows="4" { "\n" (value(&text)) }
            (error_of(&text, filled))
        }
        div.field {
            label for=(model) { "Name of the model" }
            input id=(model) name=(model) value=(if filled.entered.is_some() { value(&model) } else { "by hand".to_owned() });
        }
    }
}

fn error_of(path: &str, filled: Filled<'_>) -> Markup {
    html! {
        @if let Some(error) = filled.errors.get(path) { p.hint { strong.error { (error) } } }
    }
}

fn form_fields(params: &ElicitRequestFormParams, at: usize) -> Vec<Field> {
    let schema = serde_json::to_value(&params.requested_schema).unwrap_or_default();
    fields_of(&schema, &format!("q{at}"))
}

/// Reads the answers to all questions.
///
/// # Errors
///
/// [`AnswerErrors`] with the fields that do not fit the question.
pub(crate) fn read_answers(
    asked: &Asked,
    entered: &Fields,
) -> Result<Vec<(String, InputResponse)>, AnswerErrors> {
    let mut errors = AnswerErrors::default();
    let mut answers = Vec::new();
    for (at, (key, request)) in asked.iter().enumerate() {
        if let Some(answer) = answer(request, at, entered, &mut errors) {
            answers.push((key.clone(), answer));
        }
    }
    match errors.fields.is_empty() && errors.form.is_none() {
        true => Ok(answers),
        false => Err(errors),
    }
}

fn answer(
    request: &InputRequest,
    at: usize,
    entered: &Fields,
    errors: &mut AnswerErrors,
) -> Option<InputResponse> {
    match request {
        InputRequest::Elicit(elicit) => {
            let action = entered.get(&format!("q{at}?action")).unwrap_or("accept");
            let result = match (action, &elicit.params) {
                ("decline", _) => ElicitResult::decline(),
                ("cancel", _) => ElicitResult::cancel(),
                (_, ElicitRequestParams::Form(params)) => {
                    ElicitResult::accept(content(params, at, entered, errors)?)
                }
                _ => ElicitResult::accept(ElicitContent::default()),
            };
            Some(InputResponse::Elicit(result))
        }
        InputRequest::CreateMessage(_) => {
            let path = format!("q{at}/text");
            let text = entered.get(&path).unwrap_or_default();
            if text.is_empty() {
                errors
                    .fields
                    .insert(path, "Write the text of the model.".to_owned());
                return None;
            }
            let model = entered.get(&format!("q{at}/model")).unwrap_or_default();
            let model = if model.is_empty() { "by hand" } else { model };
            let block = SamplingMessageContentBlock::text(text);
            Some(CreateMessageResult::new(model, block).into())
        }
        InputRequest::ListRoots(_) => {
            let text = entered.get(&format!("q{at}/roots")).unwrap_or_default();
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let roots = lines.map(Root::new).collect();
            Some(InputResponse::ListRoots(ListRootsResult::new(roots)))
        }
        _ => {
            errors.form =
                Some("one of the questions is of a kind that is not known here".to_owned());
            None
        }
    }
}

/// The content of a form, checked against its schema.
fn content(
    params: &ElicitRequestFormParams,
    at: usize,
    entered: &Fields,
    errors: &mut AnswerErrors,
) -> Option<ElicitContent> {
    let object = match read(&form_fields(params, at), entered) {
        Ok(object) => object,
        Err(wrong) => {
            errors.fields.extend(wrong);
            return None;
        }
    };
    let content: ElicitContent = match serde_json::from_value(Value::Object(object)) {
        Ok(content) => content,
        Err(error) => {
            errors.form = Some(format!(
                "a value has a type that a form cannot hold: {error}"
            ));
            return None;
        }
    };
    match params.requested_schema.check(content) {
        Ok(content) => Some(content),
        Err(error) => {
            let path = format!("q{at}/{}", error.field);
            errors.fields.insert(path, error.rule.to_string());
            None
        }
    }
}
