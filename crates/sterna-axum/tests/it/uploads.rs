//! Bodies of parts, as a browser sends a form with a file.

use axum::extract::Multipart;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use sterna_axum::{Cx, Problem, pausing};

use crate::shop::{Answer, Call, Fleet};

/// Returns the names of all parts that its extractor has seen.
async fn publish(cx: Cx<'_>, mut parts: Multipart) -> Result<Json<Value>, Problem> {
    let mut seen = Vec::new();
    while let Ok(Some(part)) = parts.next_field().await {
        let name = part.name().unwrap_or_default().to_owned();
        seen.push(format!("{name}={}", part.text().await.unwrap_or_default()));
    }
    let sure = cx.confirm("sure", "Publish it?").await?;
    Ok(Json(json!({ "published": sure, "parts": seen })))
}

fn instance(fleet: &Fleet) -> Router {
    let route = pausing(publish).confirms("sure").build(&fleet.resume());
    Router::new().route("/uploads", post(route.unwrap()))
}

fn upload(boundary: &str, file: &str, resume: Option<Value>) -> Call {
    let resume = resume.map(|resume| resume.to_string());
    let parts = [
        ("title", Some("Notes")),
        ("resume", resume.as_deref()),
        ("file", Some(file)),
    ];
    let mut body = String::new();
    for (name, content) in parts {
        if let Some(content) = content {
            body += &format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{content}\r\n"
            );
        }
    }
    body += &format!("--{boundary}--\r\n");
    let kind = format!("multipart/form-data; boundary={boundary}");
    Call::new("POST", "/uploads", &[("content-type", &kind)], &body).by("ada")
}

fn yes(paused: &Answer) -> Value {
    json!({ "token": paused.token(), "answers": { "sure": true } })
}

#[tokio::test]
async fn a_form_with_a_file_pauses_and_goes_on_at_another_instance() {
    let fleet = Fleet::new();
    let paused = upload("one", "line", None);
    let paused = paused.send(&instance(&fleet)).await.expect(428);
    // A browser makes a new boundary for each request.
    let done = upload("two", "line", Some(yes(&paused)));
    let done = done.send(&instance(&fleet)).await.expect(200);
    let parts = ["title=Notes", "file=line"];
    assert_eq!(done.json, json!({ "published": true, "parts": parts }));
}

#[tokio::test]
async fn an_answer_counts_for_the_file_that_was_asked_about_alone() {
    let fleet = Fleet::new();
    let paused = upload("one", "line", None);
    let paused = paused.send(&instance(&fleet)).await.expect(428);
    let other = upload("two", "other", Some(yes(&paused)));
    let refused = other.send(&instance(&fleet)).await.expect(400);
    assert!(refused.json.get("questions").is_none(), "{}", refused.text);
}
