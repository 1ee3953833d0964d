//! What a token says, and whether it says it to us, now.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::{Caller, Principal, Scopes, TokenFault};

/// The claims of a token whose signature is good.
pub(super) struct Claims(Map<String, Value>);

/// What a token must say to be for us.
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

    /// Who the token names, if it is for us and its time is now.
    pub(super) fn judge(
        self,
        expected: &Expected<'_>,
        now: SystemTime,
    ) -> Result<Caller, TokenFault> {
        if self.issuer()? != expected.issuer {
            return Err(TokenFault::Issuer);
        }
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
