//! The claims of a token, and the checks of issuer, audience and time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::{Caller, Principal, Scopes, TokenFault};

/// The claims of a token whose signature is good.
pub(super) struct Claims(Map<String, Value>);

/// The values that the claims of a token are compared with.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) leeway: Duration,
    pub(super) is_audience: &'a dyn Fn(&str) -> bool,
}

impl Claims {
    pub(super) fn parse(payload: &[u8]) -> Result<Self, TokenFault> {
        serde_json::from_slice(payload)
            .map(Self)
            .map_err(|_| TokenFault::Malformed)
    }

    pub(super) fn issuer(&self) -> Result<&str, TokenFault> {
        self.text("iss").ok_or(TokenFault::Issuer)
    }

    /// The caller that the token names, if it is for us and valid now.
    pub(super) fn check(
        self,
        expected: &Expected<'_>,
        now: SystemTime,
    ) -> Result<Caller, TokenFault> {
        if self.issuer()? != expected.issuer {
            return Err(TokenFault::Issuer);
        }
        // AUTH-S4: a token for another server is no token here, however good it is.
        if !self.audience().any(expected.is_audience) {
            return Err(TokenFault::Audience);
        }
        let end = self.time("exp")?.ok_or(TokenFault::Expired)? + expected.leeway;
        if end <= now {
            return Err(TokenFault::Expired);
        }
        for start in ["nbf", "iat"] {
            if self
                .time(start)?
                .is_some_and(|start| start > now + expected.leeway)
            {
                return Err(TokenFault::NotYetValid);
            }
        }
        let subject = self.text("sub").filter(|subject| !subject.is_empty());
        let mut principal = Principal::named(expected.issuer, subject.ok_or(TokenFault::Subject)?);
        if let Some(client) = self.text("client_id").or_else(|| self.text("azp")) {
            principal = principal.through(client);
        }
        let scopes = self.scopes();
        Ok(Caller::from(principal)
            .with_scopes(scopes)
            .with_claims(self.0)
            .with_end(end))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn audience(&self) -> impl Iterator<Item = &str> {
        words(self.0.get("aud"))
    }

    /// `scope` is the standard's spelling; `scp` is how some large issuers
    /// write it, as a list or as one string.
    fn scopes(&self) -> Scopes {
        ["scope", "scp"]
            .into_iter()
            .flat_map(|name| words(self.0.get(name)))
            .flat_map(|text| text.split(' '))
            .collect()
    }

    fn time(&self, name: &str) -> Result<Option<SystemTime>, TokenFault> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0);
        let time = seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|since| *since < END_OF_TIME)
            .map(|since| UNIX_EPOCH + since);
        time.ok_or(TokenFault::Malformed).map(Some)
    }
}

fn words(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let one = value.and_then(Value::as_str);
    let many = value.and_then(Value::as_array);
    one.into_iter()
        .chain(many.into_iter().flatten().filter_map(Value::as_str))
}

/// The year 9999: later times are no times, and adding to them stays in range.
const END_OF_TIME: Duration = Duration::from_secs(253_402_300_800);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Judges a token for `me` at second 1000, with ten seconds of leeway.
    fn check(changes: &Value, expected: Result<&str, TokenFault>) {
        let mut claims = json!({ "iss": "as", "aud": "me", "sub": "ada", "exp": 2000 });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let expectations = Expected {
            issuer: "as",
            leeway: Duration::from_secs(10),
            is_audience: &|audience| audience == "me",
        };
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let judged = Claims::parse(claims.to_string().as_bytes())
            .and_then(|claims| claims.check(&expectations, now));
        let told = judged.map(|caller| {
            let principal = caller.principal();
            let client = principal.client().unwrap_or("-");
            format!(
                "{} {client} [{}]",
                principal.subject().unwrap(),
                caller.scopes()
            )
        });
        assert_eq!(told, expected.map(str::to_owned), "{changes}");
    }

    #[test]
    fn a_token_counts_from_its_first_moment_to_its_last_give_or_take_the_leeway() {
        let good = Ok("ada - []");
        check(&json!({}), good);
        check(&json!({ "exp": 991 }), good);
        check(&json!({ "exp": 990.5 }), good);
        check(&json!({ "exp": 990 }), Err(TokenFault::Expired));
        check(&json!({ "nbf": 1010, "iat": 1010 }), good);
        check(&json!({ "nbf": 1011 }), Err(TokenFault::NotYetValid));
        check(&json!({ "iat": 1011 }), Err(TokenFault::NotYetValid));
        check(
            &json!({ "exp": 253_402_300_800_u64 }),
            Err(TokenFault::Malformed),
        );
        check(&json!({ "exp": "2000" }), Err(TokenFault::Malformed));
    }

    #[test]
    fn client_and_scopes_are_read_in_every_usual_spelling() {
        check(
            &json!({ "client_id": "app", "azp": "other", "scope": "b a" }),
            Ok("ada app [a b]"),
        );
        check(
            &json!({ "azp": "app", "scp": ["a", "b c"] }),
            Ok("ada app [a b c]"),
        );
        check(&json!({ "scp": "a", "scope": ["b"] }), Ok("ada - [a b]"));
        check(&json!({ "scope": 7, "client_id": 7 }), Ok("ada - []"));
    }

    #[test]
    fn a_token_for_other_servers_or_for_none_is_refused() {
        check(&json!({ "aud": ["you", "me"] }), Ok("ada - []"));
        check(&json!({ "aud": ["you"] }), Err(TokenFault::Audience));
        check(&json!({ "aud": [["me"]] }), Err(TokenFault::Audience));
        check(&json!({ "iss": "AS" }), Err(TokenFault::Issuer));
        check(&json!({ "sub": "" }), Err(TokenFault::Subject));
        check(&json!({ "sub": 7 }), Err(TokenFault::Subject));
    }
}
