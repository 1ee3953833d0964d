//! The `WWW-Authenticate` field (RFC 9110 section 11.6.1), as far as it can be
//! understood.

/// One authentication scheme that a server accepts, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Reads every challenge of one field value; malformed parts are passed over.
    pub(super) fn parse_all(text: &str) -> Vec<Self> {
        let mut cursor = Cursor { rest: text };
        let mut challenges = Vec::new();
        while challenges.len() < MAX_CHALLENGES {
            cursor.skip(is_separator);
            let scheme = cursor.token();
            if !scheme.is_empty() {
                let parameters = cursor.parameters();
                let scheme = scheme.to_ascii_lowercase();
                challenges.push(Self { scheme, parameters });
            } else if cursor.rest.is_empty() {
                break;
            } else {
                cursor.skip(|c| c != ',');
            }
        }
        challenges
    }

    pub(super) fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// The first parameter of that name.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let own = |(own, _): &&(String, String)| own.eq_ignore_ascii_case(name);
        self.parameters.iter().find(own).map(|(_, value)| &**value)
    }
}

struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// Reads `name=value, …` up to the end of the challenge.
    ///
    /// Commas separate parameters and challenges alike; what follows one is a
    /// parameter only if an equals sign follows its name.
    fn parameters(&mut self) -> Vec<(String, String)> {
        let mut parameters = Vec::new();
        loop {
            let mut ahead = Cursor { rest: self.rest };
            ahead.skip(is_separator);
            let name = ahead.token();
            ahead.skip(is_blank);
            if name.is_empty() || !ahead.eat('=') {
                // A bare word right after the scheme is its token68; it says nothing to us.
                if parameters.is_empty() && self.rest.starts_with(is_blank) {
                    self.skip(|c| c != ',');
                    continue;
                }
                return parameters;
            }
            ahead.skip(is_blank);
            let value = ahead.value();
            self.rest = ahead.rest;
            match value {
                Some(value) if parameters.len() < MAX_PARAMETERS => {
                    parameters.push((name.to_owned(), value));
                }
                _ => self.skip(|c| c != ','),
            }
        }
    }

    fn value(&mut self) -> Option<String> {
        if self.eat('"') {
            return self.quoted();
        }
        let value = self.token();
        (!value.is_empty()).then(|| value.to_owned())
    }

    fn quoted(&mut self) -> Option<String> {
        let mut value = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((index, c)) = characters.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[index + 1..];
                    return Some(value);
                }
                '\\' => value.push(characters.next()?.1),
                _ => value.push(c),
            }
        }
        self.rest = "";
        None
    }

    fn token(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_token(c)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        token
    }

    fn eat(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip(&mut self, matching: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(matching);
    }
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

fn is_separator(c: char) -> bool {
    is_blank(c) || c == ','
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// More than any server sends; keeps a flood from growing us.
const MAX_CHALLENGES: usize = 16;
const MAX_PARAMETERS: usize = 32;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_belong_to_the_scheme_before_them() {
        check(
            r#"Bearer resource_metadata="https://a.example/x?a=1,2", scope="a b""#,
            expect!["bearer{resource_metadata: https://a.example/x?a=1,2; scope: a b}"],
        );
        check(
            r#"Basic realm=simple, DPoP algs="ES256", error=use_dpop_nonce, Bearer"#,
            expect!["basic{realm: simple} dpop{algs: ES256; error: use_dpop_nonce} bearer{}"],
        );
    }

    #[test]
    fn blanks_escapes_and_empty_elements_are_understood() {
        check(
            r#" , bearer	Realm = "say \"hi\" \\" ,, error="x""#,
            expect![[r#"bearer{Realm: say "hi" \; error: x}"#]],
        );
        check(
            "Negotiate YWJj/ZGVm==, Bearer error=a",
            expect!["negotiate{} bearer{error: a}"],
        );
        check("Bearer, DPoP", expect!["bearer{} dpop{}"]);
        check("Bearer scope=\"\"", expect!["bearer{scope: }"]);
    }

    #[test]
    fn what_is_malformed_is_passed_over() {
        check("", expect![""]);
        check(r#"Bearer scope="never closed"#, expect!["bearer{}"]);
        check(r#"Bearer scope="ends in \"#, expect!["bearer{}"]);
        check("Bearer =x, error=y", expect!["bearer{error: y}"]);
        check("(((, Bearer error=a", expect!["bearer{error: a}"]);
        check("Bearer error==, scope=a", expect!["bearer{scope: a}"]);
    }

    #[test]
    fn a_flood_is_cut() {
        assert_eq!(
            Challenge::parse_all(&"a,".repeat(10_000)).len(),
            MAX_CHALLENGES
        );
        let flood = format!("Bearer {}", "a=b,".repeat(10_000));
        assert_eq!(
            Challenge::parse_all(&flood)[0].parameters.len(),
            MAX_PARAMETERS
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in ".*") {
            Challenge::parse_all(&text);
        }

        #[test]
        fn what_is_written_by_the_rules_is_read_back(
            challenges in prop::collection::vec(
                ("[a-z]{1,8}", prop::collection::vec(("[a-z_]{1,8}", "[ -~]{0,12}"), 0..4)),
                0..4,
            )
        ) {
            let written = challenges.iter().map(|(scheme, parameters)| {
                let parameters = parameters.iter().map(|(name, value)| {
                    let value = value.replace('\\', r"\\").replace('"', "\\\"");
                    format!("{name}=\"{value}\"")
                });
                format!("{scheme} {}", parameters.collect::<Vec<_>>().join(", "))
            });
            let written = written.collect::<Vec<_>>().join(", ");
            let expected = challenges.into_iter().map(|(scheme, parameters)| {
                Challenge { scheme, parameters }
            });
            prop_assert_eq!(Challenge::parse_all(&written), expected.collect::<Vec<_>>());
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let shown = Challenge::parse_all(text).into_iter().map(|challenge| {
            let parameters = challenge
                .parameters
                .iter()
                .map(|(n, v)| format!("{n}: {v}"));
            let parameters = parameters.collect::<Vec<_>>().join("; ");
            format!("{}{{{parameters}}}", challenge.scheme)
        });
        expected.assert_eq(&shown.collect::<Vec<_>>().join(" "));
    }
}
