//! Variables of a resource template.

use serde_json::{Map, Value};

use crate::urlencoded::encode;

/// Names of the variables of a template, in order and each once.
pub(crate) fn variables(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (_, expression) in expressions(template) {
        for name in names_in(expression) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Puts values into a template: `{x}` is encoded, `{+x}` and `{#x}` are as they
/// were typed, and an expression without values is left out. Operators of queries
/// and paths put their sign between values.
pub(crate) fn expand(template: &str, values: &Map<String, Value>) -> String {
    let mut expanded = String::new();
    let mut last = 0;
    for (at, expression) in expressions(template) {
        expanded.push_str(&template[last..at]);
        last = at + expression.len() + 2;
        let operator = expression
            .chars()
            .next()
            .filter(|sign| "+#./;?&".contains(*sign));
        let given: Vec<String> = names_in(expression)
            .filter_map(|name| {
                let text = values.get(name)?.as_str()?;
                let text = match operator {
                    Some('+' | '#') => text.to_owned(),
                    _ => encode(text),
                };
                Some(match operator {
                    Some(';' | '?' | '&') => format!("{name}={text}"),
                    _ => text,
                })
            })
            .collect();
        if given.is_empty() {
            continue;
        }
        let between = match operator {
            Some('?' | '&') => "&",
            Some('.') => ".",
            Some('/') => "/",
            Some(';') => ";",
            _ => ",",
        };
        if let Some(sign) = operator.filter(|sign| *sign != '+') {
            expanded.push(sign);
        }
        expanded.push_str(&given.join(between));
    }
    expanded.push_str(&template[last..]);
    expanded
}

/// Expressions between braces, each with the place of its first brace.
fn expressions(template: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + template[from..].find('{')?;
        let end = at + template[at..].find('}')?;
        from = end + 1;
        Some((at, &template[at + 1..end]))
    })
    .take(MOST_EXPRESSIONS)
}

fn names_in(expression: &str) -> impl Iterator<Item = &str> {
    let names = expression.trim_start_matches(|sign| "+#./;?&".contains(sign));
    let names = names.split(',');
    names
        .map(|name| name.split([':', '*']).next().unwrap_or(name).trim())
        .filter(|name| !name.is_empty())
}

/// Expressions that are read: a server may send a template without end.
const MOST_EXPRESSIONS: usize = 50;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(template: &str, names: &str, expected: &str) {
        assert_eq!(variables(template).join(" "), names);
        let values = json!({"id": "a b", "path": "x/y", "q": "1"});
        assert_eq!(expand(template, values.as_object().unwrap()), expected);
    }

    #[test]
    fn values_are_put_where_the_template_says() {
        check("note://{id}", "id", "note://a%20b");
        check("file:///{+path}", "path", "file:///x/y");
        check("a://b{?q,id,none}", "q id none", "a://b?q=1&id=a%20b");
        check(
            "a:{/path,id}.{missing}",
            "path id missing",
            "a:/x%2Fy/a%20b.",
        );
        check("{id}{id}", "id", "a%20ba%20b");
        check("no variables", "", "no variables");
        check("broken {id", "", "broken {id");
        check("{}", "", "");
    }
}
