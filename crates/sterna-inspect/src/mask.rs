//! Masking of secrets in messages. A trace is made to be pasted into a report,
//! so it hides too much rather than too little.

use http::HeaderName;
use serde_json::{Map, Value};

/// Hides the secrets of a message and cuts what is too long to read.
pub fn body(value: &mut Value) {
    match value {
        Value::Object(members) => object(members),
        Value::Array(items) => items.iter_mut().for_each(body),
        Value::String(text) => cut(text),
        _ => {}
    }
}

/// Returns the value of a header field, or its length if the field is secret.
pub fn header(name: &HeaderName, value: &str) -> String {
    match is_secret(name.as_str()) {
        true => hidden(value),
        false => value.to_owned(),
    }
}

fn object(members: &mut Map<String, Value>) {
    for (name, value) in members {
        match value {
            _ if is_secret(name) => hide(value),
            // Where a page is is no secret; what its query hands over may be.
            Value::String(url) if name == "url" => without_query(url),
            _ => body(value),
        }
    }
}

/// Hides a value whose name says that it is secret.
fn hide(value: &mut Value) {
    match value {
        Value::String(text) => *text = hidden(text),
        Value::Number(number) => *value = Value::String(hidden(&number.to_string())),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(members) => match members.get_mut("content") {
            // The answer to a question of that name, with any field names.
            Some(Value::Object(fields)) => fields.values_mut().for_each(hide),
            // A schema or a question: it says what is wanted, not what it is.
            _ => object(members),
        },
        Value::Bool(_) | Value::Null => {}
    }
}

fn hidden(text: &str) -> String {
    format!("(hidden, {} characters)", text.chars().count())
}

fn without_query(url: &mut String) {
    if let Some(at) = url.find(['?', '#']) {
        url.truncate(at + 1);
        url.push_str("(hidden)");
    }
    cut(url);
}

fn cut(text: &mut String) {
    let Some((at, _)) = text.char_indices().nth(LONGEST) else {
        return;
    };
    let all = text.chars().count();
    text.truncate(at);
    text.push_str(&format!("… ({all} characters)"));
}

/// Returns true if a member, a field or a header of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name = letters.collect::<String>().to_ascii_lowercase();
    let name = name.as_str();
    let ends = name.ends_with("token") && name != "progresstoken";
    ends || WHOLE.contains(&name) || PARTS.iter().any(|part| name.contains(part))
}

/// Longer texts are data rather than words.
const LONGEST: usize = 1000;

const WHOLE: [&str; 7] = ["cvc", "cvv", "dpop", "otp", "pass", "pin", "pwd"];

const PARTS: [&str; 13] = [
    "accesskey",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "requeststate",
    "secret",
    "sessionid",
];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Expect) {
        let mut value = serde_json::from_str(json).unwrap();
        body(&mut value);
        expected.assert_eq(&value.to_string());
    }

    #[test]
    fn names_say_what_is_secret() {
        for name in [
            "Authorization",
            "requestState",
            "mcp-param-api-key",
            "access_token",
            "userPassword",
            "client-secret",
            "pin",
            "Set-Cookie",
            "mcp-session-id",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "progressToken",
            "maxTokens",
            "spinner",
            "reason",
            "mcp-name",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn state_and_secret_fields_are_hidden_and_the_rest_is_not() {
        check(
            r#"{"requestState":"s1.abc","arguments":{"service":"web","apiKey":"k1","pins":[1],"pin":1234}}"#,
            expect![[
                r#"{"requestState":"(hidden, 6 characters)","arguments":{"service":"web","apiKey":"(hidden, 2 characters)","pins":[1],"pin":"(hidden, 4 characters)"}}"#
            ]],
        );
    }

    #[test]
    fn an_answer_to_a_secret_question_is_hidden_and_the_question_is_not() {
        check(
            r#"{"inputResponses":{"password":{"action":"accept","content":{"value":"hunter2","keep":true}}}}"#,
            expect![[
                r#"{"inputResponses":{"password":{"action":"accept","content":{"value":"(hidden, 7 characters)","keep":true}}}}"#
            ]],
        );
        check(
            r#"{"inputRequests":{"password":{"method":"elicitation/create","params":{"message":"Your password?"}}}}"#,
            expect![[
                r#"{"inputRequests":{"password":{"method":"elicitation/create","params":{"message":"Your password?"}}}}"#
            ]],
        );
    }

    #[test]
    fn an_address_keeps_its_place_and_loses_its_query() {
        check(
            r#"{"url":"https://login.example/start?ticket=7"}"#,
            expect![[r#"{"url":"https://login.example/start?(hidden)"}"#]],
        );
    }

    #[test]
    fn data_is_cut() {
        let mut value = Value::String("ä".repeat(1001));
        body(&mut value);
        let text = value.as_str().unwrap();
        assert!(text.ends_with("ä… (1001 characters)"), "{text}");
    }
}
