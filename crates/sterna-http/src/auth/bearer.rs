//! The bearer token of a request.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::Denied;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
