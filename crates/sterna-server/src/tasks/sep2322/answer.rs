//! `tasks/input_response`: answers to what a task asks.

use sterna_protocol::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::RawJson;
use sterna_protocol::result::EmptyResult;
use sterna_protocol::sep2322::InputResponseRequestParams;
use sterna_store::Question;

use super::related;
use crate::call::Request;
use crate::handler::RequestError;
use crate::tasks::extension::{find, read, unknown};

/// Takes the answers that answer something. Those that do not fit are left
/// aside, so that the task stays at `input_required` and asks again.
pub(in crate::tasks) async fn input_response(
    request: Request,
    params: InputResponseRequestParams,
) -> Result<EmptyResult, RequestError> {
    let (tasks, id) = find(&request, &params.meta.related_task.task_id)?;
    let found = tasks.find(request.caller(), id).await?;
    let task = found.ok_or_else(unknown)?;
    let answers = read(&params.input_responses, |key, answer| {
        let mut questions = task.questions.iter();
        let asked = questions.find(|question| question.key.as_str() == key);
        asked.is_some_and(|asked| fits(asked, answer))
    })?;
    if !answers.is_empty() {
        tasks.answer(request.caller(), id, answers).await?;
    }
    let mut acknowledged = EmptyResult::default();
    acknowledged.meta = Some(related(&request, id));
    Ok(acknowledged)
}

/// Whether `answer` has what the form of `question` wants. What is no form is
/// judged by the handler.
fn fits(question: &Question, answer: &RawJson) -> bool {
    let Ok(InputRequest::Elicit(asked)) = serde_json::from_slice(&question.request) else {
        return true;
    };
    let ElicitRequestParams::Form(form) = asked.params else {
        return true;
    };
    match answer.decode::<ElicitResult>() {
        Ok(answer) if answer.action == ElicitAction::Accept => {
            let content = answer.content.unwrap_or_default();
            form.requested_schema.check(content).is_ok()
        }
        answer => answer.is_ok(),
    }
}
