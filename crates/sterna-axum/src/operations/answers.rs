//! Answers to the questions of an operation, as a client posts them.

use std::collections::BTreeMap;

use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sterna_store::{Answer, Name, Question, Task};

use super::OperationRoute;
use crate::body::BodyForm;
use crate::problem::Problem;

/// Body of a request that answers.
#[derive(Deserialize)]
struct Posted {
    answers: BTreeMap<String, Box<RawValue>>,
}

/// Checks that a body is JSON. A form that a page of another site posts is not.
pub(super) fn check_type(media_type: Option<&HeaderValue>) -> Result<(), Problem> {
    // Only the type matters here, not the body.
    match BodyForm::of(media_type, b"{}") {
        BodyForm::Json => Ok(()),
        _ => {
            let title = "The answers are not `application/json`";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            Err(Problem::ours(status, "malformed-answers", title))
        }
    }
}

/// Reads the answers in `body` and checks them: all of them are good, or none is
/// taken. A check by the route itself is as its handler makes it.
pub(super) fn read(
    body: &[u8],
    task: &Task,
    route: Option<&dyn OperationRoute>,
) -> Result<Vec<Answer>, Problem> {
    let posted: Posted = serde_json::from_slice(body).map_err(|error| {
        let title = "The body is not an object with the `answers` by their keys";
        Problem::ours(StatusCode::BAD_REQUEST, "malformed-answers", title).detail(error.to_string())
    })?;
    let question = |key: &str| {
        let mut questions = task.questions.iter();
        questions.find(|question| question.key.as_str() == key)
    };
    let unasked = posted.answers.keys().filter(|key| question(key).is_none());
    let unasked: Vec<&str> = unasked.map(String::as_str).collect();
    if !unasked.is_empty() {
        let title = "A question is not open: it was never asked, or is answered already";
        return Err(Problem::ours(StatusCode::CONFLICT, "not-asked", title).with("keys", unasked));
    }
    let mut errors = Map::new();
    let mut answers = Vec::new();
    for (key, answer) in posted.answers {
        let checked = question(&key).map_or(Ok(()), |asked| check(asked, route, &answer));
        if let Err(why) = checked {
            errors.insert(key, why.into());
        } else if let Ok(name) = Name::new(key) {
            let answer = String::from(Box::<str>::from(answer));
            answers.push(Answer::new(name, answer.into()));
        }
    }
    if !errors.is_empty() {
        let title = "An answer does not fit its question";
        let problem = Problem::ours(StatusCode::UNPROCESSABLE_ENTITY, "invalid-answer", title);
        return Err(problem.with("errors", errors));
    }
    Ok(answers)
}

fn check(
    question: &Question,
    route: Option<&dyn OperationRoute>,
    answer: &RawValue,
) -> Result<(), String> {
    let answer: Value = serde_json::from_str(answer.get()).map_err(|error| error.to_string())?;
    let asked: Value = serde_json::from_slice(&question.request).unwrap_or_default();
    // A null declines. The handler looks at an answer that cannot be checked here.
    match (route, asked.get("schema")) {
        (Some(route), Some(schema)) if !answer.is_null() => {
            route.check_answer(question.key.as_str(), schema, &answer)
        }
        _ => Ok(()),
    }
}
