//! The operations, as an OpenAPI document describes them.

use serde_json::{Map, Value, json};

use super::Operations;
use crate::problem::PROBLEM_JSON;

impl Operations {
    /// Returns the `paths` of the operations, as an object of OpenAPI 3.1: reading,
    /// answering and cancelling one.
    ///
    /// It is plain JSON, as
    /// [`PausingRoute::openapi_responses`](crate::PausingRoute::openapi_responses) is.
    ///
    /// ```
    /// use sterna_axum::Operations;
    ///
    /// let paths = Operations::at("/operations")?.openapi_paths();
    /// assert!(paths["/operations/{id}"]["get"]["responses"]["304"].is_object());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn openapi_paths(&self) -> Map<String, Value> {
        let id = json!([{
            "name": "id",
            "in": "path",
            "required": true,
            "schema": { "type": "string", "pattern": "^[0-9a-f]{32}$" },
        }]);
        let of_one = json!({
            "parameters": id,
            "get": {
                "summary": "Shows an operation",
                "parameters": [{
                    "name": "If-None-Match",
                    "in": "header",
                    "required": false,
                    "schema": { "type": "string" },
                }],
                "responses": responses(&[
                    ("200", shown("The operation as it is now")),
                    ("304", json!({ "description": "The operation has not changed" })),
                ]),
            },
            "delete": {
                "summary": "Cancels an operation",
                "responses": responses(&[
                    ("200", shown("The operation as it is now: cancelled, or ended before")),
                ]),
            },
        });
        let answers = json!({
            "type": "object",
            "required": ["answers"],
            "properties": { "answers": { "type": "object", "additionalProperties": true } },
        });
        let of_answers = json!({
            "parameters": id,
            "post": {
                "summary": "Answers questions of an operation",
                "requestBody": {
                    "required": true,
                    "content": { "application/json": { "schema": answers } },
                },
                "responses": responses(&[
                    ("200", shown("The operation with the answers")),
                    ("400", problem("The body is no object with the answers")),
                    ("409", problem("A question is not open; its `keys` are named")),
                    ("415", problem("The body is not JSON")),
                    ("422", problem("An answer does not fit; `errors` says why")),
                ]),
            },
        });
        let path = &self.settings.path;
        Map::from_iter([
            (format!("{path}/{{id}}"), of_one),
            (format!("{path}/{{id}}/answers"), of_answers),
        ])
    }
}

/// Returns `responses` with those that each of the paths may have.
fn responses(responses: &[(&str, Value)]) -> Map<String, Value> {
    let of_all = [
        ("401", problem("The caller is not known")),
        ("404", problem("The caller has no such operation")),
    ];
    let responses = responses.iter().chain(&of_all);
    responses
        .map(|(status, response)| ((*status).to_owned(), response.clone()))
        .collect()
}

fn shown(description: &str) -> Value {
    json!({
        "description": description,
        "headers": { "ETag": { "schema": { "type": "string" } } },
        "content": { "application/json": { "schema": schema() } },
    })
}

fn problem(description: &str) -> Value {
    json!({
        "description": description,
        "content": { PROBLEM_JSON: { "schema": { "type": "object" } } },
    })
}

/// Returns the schema of an operation.
pub(crate) fn schema() -> Value {
    let time = json!({ "type": "string", "format": "date-time" });
    let question = json!({
        "type": "object",
        "required": ["message", "schema"],
        "properties": { "message": { "type": "string" }, "schema": any(), "data": any() },
    });
    json!({
        "type": "object",
        "required": ["id", "status", "createdAt", "updatedAt"],
        "properties": {
            "id": { "type": "string" },
            "status": {
                "type": "string",
                "enum": ["working", "input_required", "completed", "failed", "cancelled"],
            },
            "createdAt": time,
            "updatedAt": time,
            "expiresAt": time,
            "progress": {
                "type": "object",
                "required": ["done"],
                "properties": {
                    "done": { "type": "number" },
                    "total": { "type": "number" },
                    "message": { "type": "string" },
                },
            },
            "questions": { "type": "object", "additionalProperties": question },
            "result": {
                "type": "object",
                "required": ["status", "headers"],
                "properties": {
                    "status": { "type": "integer" },
                    "headers": {
                        "type": "object",
                        "additionalProperties": { "type": "string" },
                    },
                    "body": any(),
                    "encoding": { "type": "string", "enum": ["base64"] },
                },
            },
        },
    })
}

/// Returns the schema of any value. Not `true`, which not all readers of OpenAPI
/// know.
pub(crate) fn any() -> Value {
    json!({ "type": ["array", "boolean", "null", "number", "object", "string"] })
}
