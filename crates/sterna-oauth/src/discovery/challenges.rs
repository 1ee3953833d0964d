//! Challenges of a refused request.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

use super::challenge::Challenge;
use crate::scope::Scopes;

/// The challenges of one answer that concern us, put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenges {
    /// The server accepts bearer tokens.
    pub(crate) bearer: bool,
    /// The server accepts tokens bound to a key.
    pub(crate) dpop: bool,
    pub(crate) error: Option<String>,
    pub(crate) resource_metadata: Option<String>,
    pub(crate) scope: Option<Scopes>,
}

impl Challenges {
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut challenges = Self::default();
        for value in headers.get_all(WWW_AUTHENTICATE) {
            for challenge in Challenge::parse_all(&String::from_utf8_lossy(value.as_bytes())) {
                challenges.add(&challenge);
            }
        }
        challenges
    }

    fn add(&mut self, challenge: &Challenge) {
        let (bearer, dpop) = (challenge.is("bearer"), challenge.is("dpop"));
        if !bearer && !dpop {
            return;
        }
        self.bearer |= bearer;
        self.dpop |= dpop;
        let read = |name| challenge.parameter(name).map(str::to_owned);
        self.error = self.error.take().or_else(|| read("error"));
        self.resource_metadata = self
            .resource_metadata
            .take()
            .or_else(|| read("resource_metadata"));
        let scope = challenge.parameter("scope").map(Scopes::parse);
        self.scope = self
            .scope
            .take()
            .or_else(|| scope.filter(|scope| !scope.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn challenges_of_several_fields_are_put_together() {
        check(
            &[
                "Basic scope=\"not ours\"",
                "DPoP error=use_dpop_nonce, Bearer scope=\"b a\"",
                "Bearer scope=late, resource_metadata=\"https://a.example\"",
            ],
            expect![[
                r#"bearer dpop Some("use_dpop_nonce") Some("https://a.example") Some("a b")"#
            ]],
        );
    }

    #[test]
    fn an_empty_scope_asks_for_nothing() {
        check(&["Bearer scope=\"\""], expect!["bearer None None None"]);
        check(&[], expect!["None None None"]);
    }

    #[track_caller]
    fn check(fields: &[&'static str], expected: Expect) {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(WWW_AUTHENTICATE, field.parse().unwrap());
        }
        let challenges = Challenges::read(&headers);
        let schemes = [(challenges.bearer, "bearer "), (challenges.dpop, "dpop ")];
        let schemes: String = schemes
            .into_iter()
            .filter_map(|(on, name)| on.then_some(name))
            .collect();
        let scope = challenges.scope.map(|scope| scope.to_string());
        expected.assert_eq(&format!(
            "{schemes}{:?} {:?} {scope:?}",
            challenges.error, challenges.resource_metadata
        ));
    }
}
