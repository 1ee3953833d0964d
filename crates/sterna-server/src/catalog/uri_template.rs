//! Patterns of URIs: the part of RFC 6570 that can be read backwards.

/// A pattern with variables, such as `note://{id}`.
#[derive(Debug)]
pub(super) struct UriTemplate {
    /// Text before the first variable.
    start: String,
    parts: Vec<Part>,
}

/// A variable, and the text up to the next one.
#[derive(Debug)]
struct Part {
    name: String,
    /// `true` if its value may contain a slash.
    is_path: bool,
    after: String,
}

impl UriTemplate {
    /// Reads a pattern, or says what is wrong with it.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let mut pieces = pattern.split('{');
        let start = pieces.next().unwrap_or_default().to_owned();
        let mut parts: Vec<Part> = Vec::new();
        for piece in pieces {
            let (name, after) = piece
                .split_once('}')
                .ok_or("has a brace that is not closed")?;
            let (name, is_path) = match name.strip_prefix('+') {
                Some(name) => (name, true),
                None => (name, false),
            };
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.is_empty() || !name.bytes().all(fits) {
                return Err(format!(
                    "has `{{{piece}`, which is neither {{name}} nor {{+name}}"
                ));
            }
            if parts.iter().any(|part| part.name == name) {
                return Err(format!("has the variable `{name}` twice"));
            }
            if parts.last().is_some_and(|part| part.after.is_empty()) {
                return Err(format!(
                    "has nothing between `{name}` and the variable before it"
                ));
            }
            parts.push(Part {
                name: name.to_owned(),
                is_path,
                after: after.to_owned(),
            });
        }
        if parts.is_empty() {
            return Err("has no variable; make it a resource".to_owned());
        }
        // RES-S6: whatever the variables are, the rest makes it a URI.
        if !is_absolute(&format!("{start}x")) {
            return Err("does not begin with the scheme of a URI".to_owned());
        }
        Ok(Self { start, parts })
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.name.as_str())
    }

    /// The values of the variables in `uri`; `None` if it does not follow the
    /// pattern.
    pub(super) fn read(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        let mut rest = uri.strip_prefix(self.start.as_str())?;
        let mut values = Vec::with_capacity(self.parts.len());
        for (at, part) in self.parts.iter().enumerate() {
            let is_last = at + 1 == self.parts.len();
            let (value, after) = if is_last {
                (rest.strip_suffix(part.after.as_str())?, "")
            } else {
                rest.split_once(part.after.as_str())?
            };
            let value = decode(value)?;
            // Checked after decoding: an encoded slash is a slash (RES-S13).
            if value.is_empty() || (!part.is_path && value.contains('/')) || climbs(&value) {
                return None;
            }
            values.push((part.name.as_str(), value));
            rest = after;
        }
        Some(values)
    }
}

/// Returns `true` if a value, as a path, leads to a parent folder.
fn climbs(value: &str) -> bool {
    value.split(['/', '\\']).any(|segment| segment == "..")
}

/// Undoes percent-encoding; `None` if what comes out is no text.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Returns `true` if `uri` begins with a scheme and has only characters of a URI.
pub(super) fn is_absolute(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else {
        return false;
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(fits)
        && !rest.is_empty()
        && rest.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(pattern: &str, uri: &str, expected: Expect) {
        let shown = match UriTemplate::parse(pattern) {
            Ok(pattern) => format!("{:?}", pattern.read(uri)),
            Err(problem) => problem,
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_uri_that_follows_the_pattern_gives_its_variables() {
        check(
            "note://{id}",
            "note://7",
            expect![[r#"Some([("id", "7")])"#]],
        );
        check(
            "test://template/{id}/data",
            "test://template/a%20b/data",
            expect![[r#"Some([("id", "a b")])"#]],
        );
        check(
            "db://{table}/{row}.json",
            "db://users/4.2.json",
            expect![[r#"Some([("table", "users"), ("row", "4.2")])"#]],
        );
        check(
            "file:///{+path}",
            "file:///a/b.txt",
            expect![[r#"Some([("path", "a/b.txt")])"#]],
        );
    }

    #[test]
    fn a_uri_that_does_not_follow_it_gives_nothing() {
        check("note://{id}", "note://", expect!["None"]);
        check("note://{id}", "note://a/b", expect!["None"]);
        check("note://{id}", "note://a%2fb", expect!["None"]);
        check("note://{id}", "note://a%", expect!["None"]);
        check("note://{id}", "note://%ff", expect!["None"]);
        check("note://{id}", "note://%+1", expect!["None"]);
        check("note://{id}/x", "note://a/y", expect!["None"]);
        check("note://{id}", "other://a", expect!["None"]);
    }

    #[test]
    fn no_value_leads_to_a_folder_above() {
        for path in [
            "..",
            "../etc/passwd",
            "a/../../etc/passwd",
            "a/..",
            "%2e%2e/etc/passwd",
            "..%2fetc%2fpasswd",
            "a%5C..%5Cb",
        ] {
            check(
                "file:///{+path}",
                &format!("file:///{path}"),
                expect!["None"],
            );
            check("note://{id}", &format!("note://{path}"), expect!["None"]);
        }
        check(
            "file:///{+path}",
            "file:///a..b/...",
            expect![[r#"Some([("path", "a..b/...")])"#]],
        );
    }

    #[test]
    fn a_pattern_that_cannot_be_read_backwards_is_refused() {
        check("note://{id", "", expect!["has a brace that is not closed"]);
        check(
            "note://{a}{b}",
            "",
            expect!["has nothing between `b` and the variable before it"],
        );
        check("note://{a}/{a}", "", expect!["has the variable `a` twice"]);
        check(
            "note://{?a}",
            "",
            expect!["has `{?a}`, which is neither {name} nor {+name}"],
        );
        check(
            "note://a",
            "",
            expect!["has no variable; make it a resource"],
        );
        check(
            "{a}",
            "",
            expect!["does not begin with the scheme of a URI"],
        );
    }
}
