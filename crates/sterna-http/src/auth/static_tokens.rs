//! A fixed list of tokens, for tests and for one machine talking to another.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use http::request::Parts;
use ring::hmac;
use ring::rand::SystemRandom;
use zeroize::Zeroizing;

use super::{
    AuthConfigError, AuthOutcome, Authenticator, Caller, Denied, Principal, Scopes, TokenFault,
    bearer,
};

/// Lets in callers with a token from a list.
///
/// # Examples
///
/// ```
/// use sterna_http::auth::StaticTokens;
///
/// let tokens = StaticTokens::parse(
///     "# token           subject  scopes\n\
///      3dQbfo1lNDZrEWH4  alice    mcp deploy:write\n\
///      9hTzBxUeYq2LmVs7  bob\n",
/// )?;
/// # let _ = tokens;
/// # Ok::<(), sterna_http::auth::AuthConfigError>(())
/// ```
pub struct StaticTokens {
    /// Known tokens are kept as tags under a key of this process: the list
    /// cannot be read out of memory, and a tag is compared in constant time.
    key: hmac::Key,
    known: Vec<(hmac::Tag, Caller)>,
}

impl StaticTokens {
    /// Reads lines of the form `token subject [scope …]`; empty lines and lines
    /// that begin with `#` do not count.
    ///
    /// # Errors
    ///
    /// [`AuthConfigError::Tokens`] names the first line that cannot be used.
    pub fn parse(text: &str) -> Result<Self, AuthConfigError> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| AuthConfigError::Randomness)?;
        let mut known = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let Some(token) = words.next().filter(|word| !word.starts_with('#')) else {
                continue;
            };
            let subject = words.next();
            let subject = subject.ok_or(AuthConfigError::Tokens { line: number + 1 })?;
            let caller = Caller::from(Principal::named(ISSUER, subject))
                .with_scopes(words.collect::<Scopes>());
            known.push((hmac::sign(&key, token.as_bytes()), caller));
        }
        Ok(Self { key, known })
    }

    /// Reads such lines from a file.
    ///
    /// # Errors
    ///
    /// [`AuthConfigError::TokenFile`] when the file cannot be read, and those of
    /// [`parse`](Self::parse).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, AuthConfigError> {
        let text = std::fs::read_to_string(path).map_err(AuthConfigError::TokenFile)?;
        Self::parse(&Zeroizing::new(text))
    }
}

impl Authenticator for StaticTokens {
    fn authenticate(&self, head: &Parts, _now: SystemTime) -> AuthOutcome {
        let token = match bearer(&head.headers) {
            Ok(token) => token.as_bytes(),
            Err(denied) => return AuthOutcome::Denied(denied),
        };
        // Every entry is tried, so that the time taken does not tell which one fits.
        let mut found = None;
        for (tag, caller) in &self.known {
            if hmac::verify(&self.key, token, tag.as_ref()).is_ok() {
                found = Some(caller);
            }
        }
        match found {
            Some(caller) => AuthOutcome::Known(caller.clone()),
            None => AuthOutcome::Denied(Denied::InvalidToken(TokenFault::Unknown)),
        }
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticTokens({} known)", self.known.len())
    }
}

/// The issuer of principals that come from a list.
const ISSUER: &str = "static";

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn check(tokens: &StaticTokens, header: &str) -> Result<String, Denied> {
        let request = Request::get("/").header("authorization", header);
        let (head, ()) = request.body(()).unwrap().into_parts();
        match tokens.authenticate(&head, SystemTime::UNIX_EPOCH) {
            AuthOutcome::Known(caller) => Ok(format!(
                "{} [{}]",
                caller.principal().subject().unwrap(),
                caller.scopes()
            )),
            AuthOutcome::Denied(denied) => Err(denied),
            AuthOutcome::Later(_) => unreachable!(),
        }
    }

    #[test]
    fn a_listed_token_names_its_subject() {
        let tokens =
            StaticTokens::parse("# list\n\n  one alice a b\ntwo bob\n#three eve\n").unwrap();
        assert_eq!(check(&tokens, "Bearer one"), Ok("alice [a b]".to_owned()));
        assert_eq!(check(&tokens, "Bearer two"), Ok("bob []".to_owned()));
        let unknown = Err(Denied::InvalidToken(TokenFault::Unknown));
        assert_eq!(check(&tokens, "Bearer on"), unknown);
        assert_eq!(check(&tokens, "Bearer three"), unknown);
        assert_eq!(check(&tokens, "Basic one"), Err(Denied::NoToken));
        assert_eq!(format!("{tokens:?}"), "StaticTokens(2 known)");
    }

    #[test]
    fn a_line_without_a_subject_is_named() {
        let error = StaticTokens::parse("one alice\n\ntwo\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3 of the token list names no subject"
        );
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        assert!(StaticTokens::from_file(&path).is_err());
        std::fs::write(&path, "one alice").unwrap();
        let tokens = StaticTokens::from_file(&path).unwrap();
        assert_eq!(check(&tokens, "Bearer one"), Ok("alice []".to_owned()));
    }
}
