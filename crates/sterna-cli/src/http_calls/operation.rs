//! Long work at the server: an operation that is looked at, answered and
//! cancelled at an address of its own.

use std::time::Duration;

use anyhow::anyhow;
use http::header::{CONTENT_TYPE, ETAG, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value};
use sterna_protocol::json::Number;

use super::exchange::HttpResponse;
use super::reply::check;
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::text::excerpt;

/// Operation as the server showed it.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) state: OperationState,
    progress: Option<Value>,
    /// Tag by which the server tells whether it has changed.
    pub(super) tag: Option<String>,
    /// Pause before it is looked at again.
    pub(super) pause: Duration,
}

/// State of an operation.
#[derive(Debug)]
pub(super) enum OperationState {
    Cancelled,
    /// Completed or failed, with the response of the handler.
    Ended(HttpResponse),
    /// It waits for answers.
    InputRequired(Map<String, Value>),
    Working,
}

impl Operation {
    /// Reads a response that shows an operation; `None` if it shows none.
    pub(super) fn read(response: &HttpResponse) -> Option<Result<Self, Failure>> {
        let mut json = response.json()?;
        let status = json.get("status")?.as_str()?.to_owned();
        let state = match status.as_str() {
            "working" => Ok(OperationState::Working),
            "input_required" => match json["questions"].take() {
                Value::Object(questions) => {
                    check(&questions).map(|()| OperationState::InputRequired(questions))
                }
                _ => Ok(OperationState::Working),
            },
            "cancelled" => Ok(OperationState::Cancelled),
            "completed" | "failed" => result(&mut json["result"]).map(OperationState::Ended),
            _ => return None,
        };
        let progress = Some(json["progress"].take()).filter(Value::is_object);
        Some(state.map(|state| Self {
            state,
            progress,
            tag: response.header(ETAG).map(str::to_owned),
            pause: pause(response),
        }))
    }

    /// Shows how far it is.
    pub(super) fn show(&self, bar: &Progress) {
        let Some(progress) = &self.progress else {
            return;
        };
        let number = |name: &str| -> Option<Number> {
            serde_json::from_value(progress.get(name)?.clone()).ok()
        };
        if let Some(done) = number("done") {
            bar.count(done, number("total"), progress["message"].as_str());
        }
    }
}

/// Returns the pause before an operation is looked at again.
pub(super) fn pause(response: &HttpResponse) -> Duration {
    let pause = response.retry_after().unwrap_or(USUAL);
    pause.clamp(FASTEST, SLOWEST)
}

/// Returns the failure of a response that shows no operation.
pub(super) fn gone(response: &HttpResponse) -> Failure {
    let status = response.status;
    match status {
        StatusCode::NOT_FOUND => {
            let error = anyhow!("the server knows no such operation of this caller");
            Failure::new(Exit::Failed, error)
                .hint("operations expire, and only the caller that began one may see it")
        }
        _ => anyhow!("the server answered {status} where it should show an operation").into(),
    }
}

/// Reads the response of the handler out of an operation. A body that is no text
/// is in base64, and stays so.
fn result(result: &mut Value) -> Result<HttpResponse, Failure> {
    let status = result["status"].as_u64();
    let status = status.and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let Some(status) = status else {
        // It could not be finished, and there is no response of the handler.
        return Err(anyhow!("the operation failed at the server, without a response").into());
    };
    let mut headers = HeaderMap::new();
    for (name, value) in result["headers"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        if let (Ok(name), Ok(value)) = (
            HeaderName::try_from(name.as_str()),
            HeaderValue::from_str(value),
        ) {
            headers.insert(name, value);
        }
    }
    let is_base64 = result["encoding"] == "base64";
    if is_base64 {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    }
    let is_json = is_json(&headers);
    let body = match result.get_mut("body").map(Value::take) {
        None => Vec::new(),
        Some(Value::String(text)) if !is_json => text.into_bytes(),
        Some(body) => serde_json::to_vec(&body)?,
    };
    Ok(HttpResponse {
        status,
        headers,
        body,
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let response = HttpResponse {
        status: StatusCode::OK,
        headers: headers.clone(),
        body: b"0".to_vec(),
    };
    response.json().is_some()
}

/// Reads the reasons for which answers were refused.
pub(super) fn refused_answers(response: &HttpResponse) -> Vec<(String, String)> {
    let problem = response.json().unwrap_or_default();
    let errors = problem["errors"].as_object().into_iter().flatten();
    let why = |why: &Value| excerpt(why.as_str().unwrap_or("it does not fit"));
    errors
        .map(|(key, error)| (excerpt(key), why(error)))
        .collect()
}

const USUAL: Duration = Duration::from_secs(1);
const FASTEST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(json: &Value) -> Option<Result<Operation, Failure>> {
        let content_type = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Operation::read(&HttpResponse {
            status: StatusCode::OK,
            headers: HeaderMap::from_iter([content_type]),
            body: json.to_string().into(),
        })
    }

    #[test]
    fn the_response_of_the_handler_is_read_out_of_an_operation() {
        let ended = |media_type: &str, body: Value| {
            let headers = json!({"content-type": media_type, "x-rows": "3"});
            let result = json!({"status": 201, "headers": headers, "body": body});
            let operation = shown(&json!({"status": "completed", "result": result}));
            match operation.unwrap().unwrap().state {
                OperationState::Ended(response) => response,
                other => panic!("{other:?}"),
            }
        };
        let response = ended("application/json", json!({"loaded": 3}));
        assert_eq!(response.status, StatusCode::CREATED);
        assert_eq!(response.headers["x-rows"], "3");
        assert_eq!(response.json(), Some(json!({"loaded": 3})));
        assert_eq!(ended("application/json", json!("a")).body, b"\"a\"");
        assert_eq!(ended("text/plain", json!("a")).body, b"a");
    }

    #[test]
    fn what_is_no_operation_is_none() {
        for other in [
            json!({}),
            json!(7),
            json!({"status": 200}),
            json!({"status": "odd"}),
        ] {
            assert!(shown(&other).is_none(), "{other}");
        }
        assert!(shown(&json!({"status": "failed"})).unwrap().is_err());
        let odd = json!({"status": "input_required", "questions": {"a": 1}});
        assert!(shown(&odd).unwrap().is_err());
    }
}
