//! `WWW-Authenticate`: what a refused caller is told.

use std::fmt::Write;

use http::HeaderValue;

use super::{Denied, Scopes};

/// The challenge that goes with `denied`, or none when it is no matter of
/// credentials.
///
/// `scopes` are those the request at hand needs; `metadata` is the address of
/// the resource's metadata document.
pub(crate) fn challenge(
    denied: &Denied,
    scopes: &Scopes,
    metadata: Option<&str>,
) -> Option<HeaderValue> {
    let (error, scopes) = match denied {
        Denied::Unavailable => return None,
        // RFC 6750, section 3.1: no error code for a request without credentials.
        Denied::NoToken => (None, scopes),
        Denied::InvalidRequest => (Some("invalid_request"), scopes),
        Denied::InvalidToken(_) => (Some("invalid_token"), scopes),
        Denied::InsufficientScope(needed) => (Some("insufficient_scope"), needed),
    };
    let mut text = String::from("Bearer");
    let mut separator = " ";
    let mut parameter = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}{name}=\"{value}\"");
        separator = ", ";
    };
    if let Some(error) = error {
        parameter("error", error);
    }
    if !scopes.is_empty() {
        parameter("scope", &scopes.to_string());
    }
    if let Some(metadata) = metadata {
        parameter("resource_metadata", metadata);
    }
    let value = HeaderValue::from_str(&text);
    Some(value.expect("scopes and URIs hold printable ASCII only"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::TokenFault;

    fn check(denied: Denied, scopes: &str, metadata: Option<&str>, expected: Option<&str>) {
        let value = challenge(&denied, &Scopes::parse(scopes), metadata);
        let text = value.as_ref().map(|value| value.to_str().unwrap());
        assert_eq!(text, expected, "{denied:?}");
    }

    #[test]
    fn every_refusal_says_what_a_client_can_act_on() {
        let at = Some("https://a.example/.well-known/oauth-protected-resource/mcp");
        check(Denied::NoToken, "", None, Some("Bearer"));
        check(
            Denied::NoToken,
            "mcp files:read",
            at,
            Some(
                "Bearer scope=\"files:read mcp\", \
                 resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\"",
            ),
        );
        check(
            Denied::InvalidToken(TokenFault::Expired),
            "mcp",
            None,
            Some("Bearer error=\"invalid_token\", scope=\"mcp\""),
        );
        check(
            Denied::InvalidRequest,
            "",
            None,
            Some("Bearer error=\"invalid_request\""),
        );
        check(
            Denied::InsufficientScope(Scopes::parse("deploy mcp")),
            "ignored",
            None,
            Some("Bearer error=\"insufficient_scope\", scope=\"deploy mcp\""),
        );
        check(Denied::Unavailable, "mcp", at, None);
    }
}
