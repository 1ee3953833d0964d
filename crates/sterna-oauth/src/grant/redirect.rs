//! The redirect from the authorization server through the browser.

use ring::digest::{SHA256, digest};
use url::Url;
use zeroize::Zeroizing;

use crate::error::Fault;
use crate::printable::printable;
use crate::secret::Secret;

/// Values recorded before the user was sent to the authorization server; the
/// redirect must match them.
#[derive(Debug)]
pub(super) struct ExpectedRedirect {
    pub(super) redirect_uri: String,
    pub(super) state: Secret,
    /// The issuer of the metadata that named the authorization endpoint.
    pub(super) issuer: String,
    /// That issuer has promised to name itself in every redirect.
    pub(super) names_itself: bool,
}

impl ExpectedRedirect {
    /// Returns the authorization code of a redirect that belongs to this
    /// authorization and comes from this issuer.
    ///
    /// The order matters: nothing of a redirect is acted on or shown before
    /// `state` and `iss` say that it is ours.
    pub(super) fn code(&self, redirect: &str) -> Result<Secret, Fault> {
        let answer = self.parse(redirect)?;
        // AUTHSEC-C7: what is not of this authorization is dropped unseen.
        let state = answer.one("state")?;
        if !state.is_some_and(|state| is_same(&state, self.state.expose())) {
            return Err(Fault::StateMismatch);
        }
        // AUTH-C7, AUTH-C8: compared as it was decoded, before the code or an error is looked at.
        match answer.one("iss")? {
            Some(iss) if *iss != self.issuer => {
                return Err(Fault::IssMismatch {
                    expected: printable(&self.issuer),
                    found: printable(&iss),
                });
            }
            None if self.names_itself => {
                return Err(Fault::IssMissing {
                    expected: printable(&self.issuer),
                });
            }
            _ => {}
        }
        if let Some(code) = answer.one("error")? {
            let description = answer.one("error_description")?;
            return Err(Fault::Refused {
                code: printable(&code),
                description: description.map(|text| printable(&text)),
            });
        }
        let code = answer.one("code")?.filter(|code| !code.is_empty());
        code.map(|code| Secret::from(&**code)).ok_or(Fault::NoCode)
    }

    fn parse(&self, redirect: &str) -> Result<RedirectQuery, Fault> {
        let parse = |text: &str| Url::parse(text).ok().filter(|_| text.len() <= MAX_BYTES);
        match (parse(redirect), parse(&self.redirect_uri)) {
            (Some(found), Some(own))
                if found.origin() == own.origin() && found.path() == own.path() =>
            {
                Ok(RedirectQuery(found))
            }
            _ => Err(Fault::ForeignRedirect),
        }
    }
}

struct RedirectQuery(Url);

impl RedirectQuery {
    /// The value of a parameter, which must not be there twice.
    fn one(&self, name: &'static str) -> Result<Option<Zeroizing<String>>, Fault> {
        let mut values = self.0.query_pairs().filter(|(own, _)| own == name);
        let value = values.next().map(|(_, value)| value.into_owned());
        match values.next() {
            Some(_) => Err(Fault::Duplicate(name)),
            None => Ok(value.map(Zeroizing::new)),
        }
    }
}

/// Compares hashes, so that how long it takes says nothing about the text.
fn is_same(one: &str, other: &str) -> bool {
    digest(&SHA256, one.as_bytes()).as_ref() == digest(&SHA256, other.as_bytes()).as_ref()
}

const MAX_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_redirect_that_fits_gives_its_code() {
        check(
            true,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=https%3A%2F%2Fas.example",
            expect!["code c"],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?state=s&code=c",
            expect!["code c"],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=https://as.example",
            expect!["code c"],
        );
    }

    #[test]
    fn a_redirect_of_another_authorization_is_dropped() {
        let other = expect!["the redirect does not belong to this authorization (`state` differs)"];
        check(false, "http://127.0.0.1:7/cb?code=c&state=x", other);
        let none = expect!["the redirect does not belong to this authorization (`state` differs)"];
        check(false, "http://127.0.0.1:7/cb?code=c", none);
        let twice = expect!["the answer lists `state` twice"];
        check(false, "http://127.0.0.1:7/cb?code=c&state=s&state=x", twice);
    }

    #[test]
    fn issuers_are_compared_character_by_character() {
        check(
            true,
            "http://127.0.0.1:7/cb?code=c&state=s",
            expect![
                "the redirect does not name its issuer, although https://as.example always does"
            ],
        );
        check(
            true,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=https://evil.example",
            expect![
                "the redirect names the issuer https://evil.example, expected https://as.example"
            ],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=https://evil.example",
            expect![
                "the redirect names the issuer https://evil.example, expected https://as.example"
            ],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=https://as.example/",
            expect![
                "the redirect names the issuer https://as.example/, expected https://as.example"
            ],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=https://AS.example",
            expect![
                "the redirect names the issuer https://AS.example, expected https://as.example"
            ],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=https://as.example:443",
            expect![
                "the redirect names the issuer https://as.example:443, expected https://as.example"
            ],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?code=c&state=s&iss=",
            expect!["the redirect names the issuer , expected https://as.example"],
        );
    }

    #[test]
    fn an_error_is_shown_only_if_its_issuer_is_right() {
        check(
            true,
            "http://127.0.0.1:7/cb?error=access_denied&error_description=No%0Away&state=s&iss=https://as.example",
            expect!["the authorization server refused: access_denied (No�way)"],
        );
        check(
            true,
            "http://127.0.0.1:7/cb?error=access_denied&error_description=Call+555&state=s&iss=https://evil.example",
            expect![
                "the redirect names the issuer https://evil.example, expected https://as.example"
            ],
        );
        check(
            true,
            "http://127.0.0.1:7/cb?error=access_denied&error_description=Call+555&state=s",
            expect![
                "the redirect does not name its issuer, although https://as.example always does"
            ],
        );
    }

    #[test]
    fn a_redirect_to_somewhere_else_is_refused() {
        let elsewhere =
            || expect!["the browser came back to another address than the redirect URI"];
        check(false, "http://127.0.0.1:8/cb?code=c&state=s", elsewhere());
        check(
            false,
            "http://127.0.0.1:7/other?code=c&state=s",
            elsewhere(),
        );
        check(false, "https://127.0.0.1:7/cb?code=c&state=s", elsewhere());
        check(false, "nonsense", elsewhere());
        check(
            false,
            "http://127.0.0.1:7/cb?state=s",
            expect!["the redirect carries neither a code nor an error"],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?state=s&code=",
            expect!["the redirect carries neither a code nor an error"],
        );
        check(
            false,
            "http://127.0.0.1:7/cb?state=s&code=a&code=b",
            expect!["the answer lists `code` twice"],
        );
    }

    proptest! {
        #[test]
        fn no_redirect_without_our_state_gives_a_code(query in "[a-z=&%0-9]{0,40}") {
            let expected = expected(false);
            let redirect = format!("http://127.0.0.1:7/cb?{query}&code=c");
            let ours = query.split('&').any(|pair| pair == "state=s");
            prop_assert!(ours || expected.code(&redirect).is_err());
        }
    }

    fn expected(names_itself: bool) -> ExpectedRedirect {
        ExpectedRedirect {
            redirect_uri: "http://127.0.0.1:7/cb".to_owned(),
            state: Secret::from("s"),
            issuer: "https://as.example".to_owned(),
            names_itself,
        }
    }

    #[track_caller]
    fn check(names_itself: bool, redirect: &str, outcome: Expect) {
        outcome.assert_eq(&match expected(names_itself).code(redirect) {
            Ok(code) => format!("code {}", code.expose()),
            Err(fault) => fault.to_string(),
        });
    }
}
