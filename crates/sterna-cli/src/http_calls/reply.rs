//! The meaning of a response: done, paused, or to be asked for again.

use std::time::Duration;

use anyhow::anyhow;
use http::StatusCode;
use serde_json::{Map, Value};

use super::exchange::HttpResponse;
use crate::ask::HttpQuestion;
use crate::exit::{Exit, Failure};
use crate::text::excerpt;

/// Meaning of a response.
#[derive(Debug)]
pub(super) enum HttpReply {
    Done(HttpResponse),
    /// An equal request is being served: send it again after this time.
    InProgress(Duration),
    /// An operation has begun, with this address; the response shows it.
    Operation {
        location: String,
        response: HttpResponse,
    },
    Paused(Pause),
}

/// Questions of a paused request, and the state that goes back with the answers.
#[derive(Debug)]
pub(super) struct Pause {
    pub(super) token: String,
    pub(super) questions: Map<String, Value>,
    pub(super) expires_at: Option<String>,
}

impl HttpReply {
    /// Reads a response. Its `type` decides, never its status.
    pub(super) fn read(response: HttpResponse) -> Result<Self, Failure> {
        if response.status == StatusCode::ACCEPTED
            && let Some(location) = response.location().map(str::to_owned)
            && response
                .json()
                .is_some_and(|shown| shown["status"].is_string())
        {
            return Ok(Self::Operation { location, response });
        }
        if response.media_type() != "application/problem+json" {
            return Ok(Self::Done(response));
        }
        let Some(problem) = response.json() else {
            return Ok(Self::Done(response));
        };
        let kind = problem["type"].as_str().unwrap_or_default();
        match kind.strip_prefix(PROBLEMS) {
            Some("in-progress") => Ok(Self::InProgress(
                response
                    .retry_after()
                    .map_or(USUAL, |pause| pause.clamp(USUAL, SLOWEST)),
            )),
            Some("input-required") => Pause::read(problem).map(Self::Paused),
            Some("resume-refused") => {
                let error = anyhow!(
                    "the server does not accept the state of this request: it has expired, was \
                     answered before, or belongs to another caller or request"
                );
                Err(Failure::new(Exit::Failed, error).hint("start the request over"))
            }
            _ => Ok(Self::Done(response)),
        }
    }
}

impl Pause {
    fn read(mut problem: Value) -> Result<Self, Failure> {
        let wrong =
            |what: &str| anyhow!("the server asks in a form that cannot be answered: {what}");
        let Some(token) = problem["resume"].as_str().map(str::to_owned) else {
            return Err(wrong("there is no state to resume with").into());
        };
        let Value::Object(questions) = problem["questions"].take() else {
            return Err(wrong("there are no questions").into());
        };
        check(&questions)?;
        let expires_at = problem["expiresAt"].as_str().map(str::to_owned);
        Ok(Self {
            token,
            questions,
            expires_at,
        })
    }
}

/// Checks that each of `questions` can be asked.
pub(super) fn check(questions: &Map<String, Value>) -> Result<(), Failure> {
    let mut all = questions.iter();
    match all.find(|(_, question)| HttpQuestion::read(question).is_none()) {
        None => Ok(()),
        Some((key, _)) => Err(anyhow!(
            "the server asks in a form that cannot be answered: `{}` has no message, or no schema",
            excerpt(key)
        )
        .into()),
    }
}

/// Beginning of the `type` of every problem that pausing routes define.
const PROBLEMS: &str = "https://sterna.dev/problems/";

const USUAL: Duration = Duration::from_millis(200);
const SLOWEST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use http::header::CONTENT_TYPE;
    use http::{HeaderMap, HeaderValue};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(media_type: &'static str, body: &Value, expected: Expect) {
        let content_type = (CONTENT_TYPE, HeaderValue::from_static(media_type));
        let response = HttpResponse {
            status: StatusCode::OK,
            headers: HeaderMap::from_iter([content_type]),
            body: body.to_string().into(),
        };
        let shown = match HttpReply::read(response) {
            Ok(HttpReply::Done(_)) => "done".to_owned(),
            Ok(HttpReply::Operation { location, .. }) => location,
            Ok(HttpReply::InProgress(pause)) => format!("again after {pause:?}"),
            Ok(HttpReply::Paused(pause)) => {
                let keys: Vec<&String> = pause.questions.keys().collect();
                format!("{} {keys:?}", pause.token)
            }
            Err(failure) => format!("{:#}", failure.error),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn the_type_decides_and_not_the_status() {
        let problem = "application/problem+json; charset=utf-8";
        let ours = |name: &str| format!("https://sterna.dev/problems/{name}");
        let asked = json!({
            "type": ours("input-required"),
            "resume": "t",
            "questions": {"a": {"message": "?", "schema": {}}},
        });
        check(problem, &asked, expect![[r#"t ["a"]"#]]);
        check("application/json", &asked, expect!["done"]);
        check(problem, &json!({"type": "about:blank"}), expect!["done"]);
        check(problem, &json!(7), expect!["done"]);
        let busy = json!({"type": ours("in-progress")});
        check(problem, &busy, expect!["again after 200ms"]);
    }

    #[test]
    fn a_question_that_is_none_ends_the_call() {
        let problem = "application/problem+json";
        let kind = "https://sterna.dev/problems/input-required";
        check(
            problem,
            &json!({"type": kind, "questions": {}}),
            expect![
                "the server asks in a form that cannot be answered: there is no state to resume with"
            ],
        );
        check(
            problem,
            &json!({"type": kind, "resume": "t"}),
            expect!["the server asks in a form that cannot be answered: there are no questions"],
        );
        check(
            problem,
            &json!({"type": kind, "resume": "t", "questions": {"a": 1}}),
            expect![
                "the server asks in a form that cannot be answered: `a` has no message, or no schema"
            ],
        );
    }
}
