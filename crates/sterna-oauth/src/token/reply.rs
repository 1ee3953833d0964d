//! Response of a token endpoint.

use http::HeaderValue;

use crate::document::Document;
use crate::error::Fault;
use crate::printable::printable;
use crate::secret::Secret;

/// Authentication scheme of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Bearer,
    Dpop,
}

impl Scheme {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let known = [Self::Bearer, Self::Dpop];
        let same = |scheme: &Self| scheme.name().eq_ignore_ascii_case(name);
        known.into_iter().find(same)
    }
}

/// A token response (RFC 6749 section 5.1) that can be used.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) access: Secret,
    pub(crate) scheme: Scheme,
    pub(crate) expires_in: Option<u64>,
    pub(crate) refresh: Option<Secret>,
}

impl Reply {
    /// Reads a response to a request that asked for a token of `wanted` kind.
    pub(crate) fn read(document: &mut Document, wanted: Scheme) -> Result<Self, Fault> {
        let token_type = document.required("token_type")?;
        let scheme = match (Scheme::parse(token_type), wanted) {
            (Some(scheme), wanted) if scheme == wanted => scheme,
            // A bearer token instead of a bound one is what a thief would want.
            (Some(Scheme::Bearer), Scheme::Dpop) => return Err(Fault::DpopDowngrade),
            _ => {
                return Err(Fault::TokenType {
                    found: printable(token_type),
                });
            }
        };
        let expires_in = document.seconds("expires_in")?;
        let access = document.secret("access_token")?.ok_or(Fault::Field {
            name: "access_token",
            expected: "present",
        })?;
        if access.expose().is_empty() || HeaderValue::from_str(access.expose()).is_err() {
            return Err(Fault::BadToken);
        }
        Ok(Self {
            access,
            scheme,
            expires_in,
            refresh: document.secret("refresh_token")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn a_token_response_is_read() {
        check(
            r#"{"access_token":"at","token_type":"bEaReR"}"#,
            Scheme::Bearer,
            expect!["Bearer None false"],
        );
        check(
            r#"{"access_token":"at","token_type":"DPoP","expires_in":60,"refresh_token":"rt","scope":"b a"}"#,
            Scheme::Dpop,
            expect!["Dpop Some(60) true"],
        );
    }

    #[test]
    fn a_token_that_cannot_be_used_is_refused() {
        check(
            r#"{"access_token":"at","token_type":"mac"}"#,
            Scheme::Bearer,
            expect!["a token of the type `mac` was issued"],
        );
        check(
            r#"{"access_token":"at","token_type":"DPoP"}"#,
            Scheme::Bearer,
            expect!["a token of the type `DPoP` was issued"],
        );
        check(
            r#"{"access_token":"at","token_type":"Bearer"}"#,
            Scheme::Dpop,
            expect!["the token is not bound to our key, although that was asked for"],
        );
        check(
            r#"{"access_token":"a\nb","token_type":"Bearer"}"#,
            Scheme::Bearer,
            expect!["the issued token has characters that a header cannot carry"],
        );
        check(
            r#"{"access_token":"","token_type":"Bearer"}"#,
            Scheme::Bearer,
            expect!["the issued token has characters that a header cannot carry"],
        );
        check(
            r#"{"token_type":"Bearer"}"#,
            Scheme::Bearer,
            expect!["`access_token` is not present"],
        );
        check(
            r#"{"access_token":"at"}"#,
            Scheme::Bearer,
            expect!["`token_type` is not present"],
        );
    }

    #[track_caller]
    fn check(body: &str, wanted: Scheme, expected: Expect) {
        let mut document = Document::parse(body.as_bytes()).unwrap();
        expected.assert_eq(&match Reply::read(&mut document, wanted) {
            Ok(reply) => format!(
                "{:?} {:?} {}",
                reply.scheme,
                reply.expires_in,
                reply.refresh.is_some(),
            ),
            Err(fault) => fault.to_string(),
        });
    }
}
