//! The bearer token of a request, and the challenge to a caller without one.

use std::fmt::Write;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::{Denied, Scopes};

/// The token in the `Authorization` header.
///
/// That header is the only place we look at: a token in the query string ends
/// up in logs and histories, and the spec forbids it.
///
/// # Errors
///
/// [`Denied::NoToken`] without a bearer credential, [`Denied::InvalidRequest`]
/// when there is more than one or it is not spelled like a token.
pub fn bearer(headers: &HeaderMap) -> Result<&str, Denied> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(Denied::NoToken);
    };
    if values.next().is_some() {
        return Err(Denied::InvalidRequest);
    }
    let text = value.to_str().map_err(|_| Denied::InvalidRequest)?;
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Denied::NoToken);
    }
    let token = token.trim_matches(' ');
    if is_token68(token) {
        Ok(token)
    } else {
        Err(Denied::InvalidRequest)
    }
}

fn is_token68(token: &str) -> bool {
    let body = token.trim_end_matches('=');
    !body.is_empty()
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

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

    fn check(values: &[&str], expected: Result<&str, Denied>) {
        let headers: HeaderMap = values
            .iter()
            .map(|value| (AUTHORIZATION, value.parse().unwrap()))
            .collect();
        assert_eq!(bearer(&headers), expected, "{values:?}");
    }

    #[test]
    fn a_token_is_read_from_one_well_spelled_header() {
        check(&["Bearer abc.DEF_1-2~3+4/5=="], Ok("abc.DEF_1-2~3+4/5=="));
        check(&["bearer  abc "], Ok("abc"));
        check(&["BEARER abc"], Ok("abc"));
        check(&[], Err(Denied::NoToken));
        check(&["Basic abc"], Err(Denied::NoToken));
        check(&["Bearer"], Err(Denied::InvalidRequest));
        check(&["Bearer "], Err(Denied::InvalidRequest));
        check(&["Bearer a b"], Err(Denied::InvalidRequest));
        check(&["Bearer a,b"], Err(Denied::InvalidRequest));
        check(&["Bearer ="], Err(Denied::InvalidRequest));
        check(&["Bearer abc", "Bearer abc"], Err(Denied::InvalidRequest));
    }

    fn check_challenge(
        denied: Denied,
        scopes: &str,
        metadata: Option<&str>,
        expected: Option<&str>,
    ) {
        let value = challenge(&denied, &Scopes::parse(scopes), metadata);
        let text = value.as_ref().map(|value| value.to_str().unwrap());
        assert_eq!(text, expected, "{denied:?}");
    }

    #[test]
    fn every_refusal_says_what_a_client_can_act_on() {
        let at = Some("https://a.example/.well-known/oauth-protected-resource/mcp");
        check_challenge(Denied::NoToken, "", None, Some("Bearer"));
        check_challenge(
            Denied::NoToken,
            "mcp files:read",
            at,
            Some(
                "Bearer scope=\"files:read mcp\", \
             resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\"",
            ),
        );
        check_challenge(
            Denied::InvalidToken(TokenFault::Expired),
            "mcp",
            None,
            Some("Bearer error=\"invalid_token\", scope=\"mcp\""),
        );
        check_challenge(
            Denied::InvalidRequest,
            "",
            None,
            Some("Bearer error=\"invalid_request\""),
        );
        check_challenge(
            Denied::InsufficientScope(Scopes::parse("deploy mcp")),
            "ignored",
            None,
            Some("Bearer error=\"insufficient_scope\", scope=\"deploy mcp\""),
        );
        check_challenge(Denied::Unavailable, "mcp", at, None);
    }
}
