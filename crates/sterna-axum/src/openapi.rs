//! The responses of a pausing route, as an OpenAPI document describes them.

use serde_json::{Map, Value, json};

use crate::operations;
use crate::problem::PROBLEM_JSON;
use crate::route::PausingRoute;

impl<S> PausingRoute<S> {
    /// Returns the `responses` that pausing adds to the route, as an object of
    /// OpenAPI 3.1: the questions that were declared, and the refusal of a state.
    ///
    /// It is plain JSON, so that any crate for OpenAPI can take it: `utoipa` and
    /// `aide` read their `Responses` from it with `serde_json::from_value`.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sterna_axum::{Cx, Problem, Resume, pausing};
    /// # use sterna_seal::{Keyring, SharedKeyring, ThreadEntropy};
    /// # let keys = Arc::new(SharedKeyring::new(Keyring::generate(&mut ThreadEntropy)?));
    /// # let resume = Resume::new(keys, "https://shop.example");
    /// async fn delete(cx: Cx<'_>) -> Result<String, Problem> {
    ///     cx.confirm("sure", "Delete it?").await?;
    ///     Ok("deleted".to_owned())
    /// }
    ///
    /// let route = pausing(delete).confirms("sure").anonymous().build(&resume)?;
    /// let paused = &route.openapi_responses()["428"];
    /// let problem = &paused["content"]["application/problem+json"]["schema"]["properties"];
    /// let asked = &problem["questions"]["properties"]["sure"]["properties"]["schema"]["enum"];
    /// assert_eq!(*asked, serde_json::json!([{"type": "boolean"}]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn openapi_responses(&self) -> Map<String, Value> {
        let config = &self.0.resume.config;
        let mut responses = Map::new();
        responses.insert(config.paused_status.as_str().to_owned(), self.paused());
        responses.insert("400".to_owned(), refused());
        if self.0.resume.store.is_some() {
            responses.insert("409".to_owned(), plain("An equal request is being served"));
            responses.insert(
                "422".to_owned(),
                plain("The Idempotency-Key was used for another request"),
            );
        }
        if self.0.operation.is_some() {
            responses.insert("202".to_owned(), accepted());
            let too_many = "The caller has too many unfinished operations";
            responses.insert("429".to_owned(), plain(too_many));
        }
        responses
    }

    fn paused(&self) -> Value {
        let questions = self.0.questions.iter().map(|question| {
            let shown = json!({
                "type": "object",
                "required": ["message", "schema"],
                "properties": {
                    "message": { "type": "string" },
                    "schema": only(&question.shown),
                    "data": operations::any(),
                },
            });
            (question.key.clone(), shown)
        });
        let properties: Map<String, Value> = questions.collect();
        problem(
            "Input is required: send the same request with `resume`, an object of this `token` and the `answers`",
            json!({
                "type": "object",
                "required": ["type", "title", "status", "questions", "resume", "expiresAt"],
                "properties": {
                    "type": { "type": "string", "format": "uri" },
                    "title": { "type": "string" },
                    "status": { "type": "integer" },
                    "detail": { "type": "string" },
                    "questions": { "type": "object", "properties": properties },
                    "resume": { "type": "string" },
                    "expiresAt": { "type": "string", "format": "date-time" },
                },
            }),
        )
    }
}

/// Returns the schema of one value. Not by `const`, which not all readers of OpenAPI
/// know.
fn only(value: &Value) -> Value {
    // A schema is an object, or a boolean.
    let kind = if value.is_boolean() {
        "boolean"
    } else {
        "object"
    };
    json!({ "type": kind, "enum": [value] })
}

fn accepted() -> Value {
    let text = json!({ "schema": { "type": "string" } });
    json!({
        "description": "The request goes on as an operation: look at `Location`",
        "headers": {
            "Location": text,
            "Preference-Applied": text,
            "Retry-After": { "schema": { "type": "integer" } },
        },
        "content": { "application/json": { "schema": operations::schema() } },
    })
}

fn refused() -> Value {
    plain("The request cannot be resumed, or is malformed")
}

fn plain(description: &str) -> Value {
    problem(description, json!({ "type": "object" }))
}

fn problem(description: &str, schema: Value) -> Value {
    json!({
        "description": description,
        "content": { PROBLEM_JSON: { "schema": schema } },
    })
}
