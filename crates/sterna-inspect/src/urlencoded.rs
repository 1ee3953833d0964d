//! Forms and queries in the encoding of HTML forms.

/// Fields of a form or a query, in the order they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(name), decode(value))
                })
                .collect(),
        )
    }

    /// The first value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Every value of a field: a list of checkboxes has several.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(found, _)| found == name);
        named.map(|(_, value)| value.as_str())
    }

    /// The same fields with another value for one of them.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let others = self.0.iter().filter(|(found, _)| found != name).cloned();
        let mut fields: Vec<_> = others.collect();
        fields.push((name.to_owned(), value.to_owned()));
        Self(fields)
    }

    /// A field as a number; `None` if it is missing or none.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }
}

/// Decodes `+` and `%XX`. Bytes that are no UTF-8 become replacement characters.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &tail[2..];
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Encodes a value for a query.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_survives_a_query() {
        for text in ["", "a b&c=d", "100%", "%zz", "ä\"<>'", "+", "a/b?c#d"] {
            let fields = Fields::parse(&format!("x={}", encode(text)));
            assert_eq!(fields.get("x"), Some(text));
        }
    }

    #[test]
    fn broken_escapes_are_text() {
        let fields = Fields::parse("a=%&b=%4&c=%41+%zz&a=2&=&&d");
        assert_eq!(fields.get("a"), Some("%"));
        assert_eq!(fields.get("b"), Some("%4"));
        assert_eq!(fields.get("c"), Some("A %zz"));
        assert_eq!(fields.all("a").collect::<Vec<_>>(), ["%", "2"]);
        assert_eq!(fields.get("d"), Some(""));
    }
}
