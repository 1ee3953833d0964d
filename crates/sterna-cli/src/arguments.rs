//! Arguments as they are typed: `key=text`, `key:=json`, `--args file|-`.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::text::excerpt;

/// Puts the arguments together; words win over the file.
pub(crate) fn read(words: &[String], file: Option<&Path>) -> Result<Map<String, Value>, Failure> {
    let mut arguments = match file {
        None => Map::new(),
        Some(file) => from_file(file)?,
    };
    for word in words {
        let (name, value) = parse(word)?;
        arguments.insert(name, value);
    }
    Ok(arguments)
}

/// Reads one `key=text` or `key:=json`.
pub(crate) fn parse(word: &str) -> Result<(String, Value), Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("`{}` is not an argument: {why}", excerpt(word)))
            .hint("write key=text, or key:=json for numbers, lists and objects")
    };
    let (name, value) = word
        .split_once('=')
        .ok_or_else(|| wrong("it has no `=`".to_owned()))?;
    let (name, value) = match name.strip_suffix(':') {
        None => (name, Value::String(value.to_owned())),
        Some(name) => {
            let value = serde_json::from_str(value);
            let value = value.map_err(|error| wrong(format!("the value is not JSON ({error})")))?;
            (name, value)
        }
    };
    match name.is_empty() {
        true => Err(wrong("it has no name".to_owned())),
        false => Ok((name.to_owned(), value)),
    }
}

/// Reads one `key=text`, where nothing but text will do.
pub(crate) fn parse_text(word: &str) -> Result<(String, String), Failure> {
    match parse(word)? {
        (name, Value::String(text)) => Ok((name, text)),
        (name, _) => {
            let name = excerpt(&name);
            Err(Failure::usage(format!("`{name}` can only be text"))
                .hint(format!("write {name}=TEXT instead of {name}:=JSON")))
        }
    }
}

/// Reads a JSON object from `file`, or from stdin if that is `-`.
pub(crate) fn from_file(file: &Path) -> Result<Map<String, Value>, Failure> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read", file.display()))?;
    }
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("{} is not a JSON object: {error}", file.display()))
            .hint("it looks like {\"key\": \"text\", \"other\": 3}")
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: Expect) {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let shown = match read(&words, None) {
            Ok(arguments) => Value::Object(arguments).to_string(),
            Err(failure) => format!("{:#}", failure.error),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn text_and_json_are_told_apart_by_a_colon() {
        check(
            &["a=1", "b:=1", "c=x=y", "d:=[true]", "e="],
            expect![[r#"{"a":"1","b":1,"c":"x=y","d":[true],"e":""}"#]],
        );
    }

    #[test]
    fn what_is_no_argument_says_why() {
        check(&["a"], expect!["`a` is not an argument: it has no `=`"]);
        check(&["=a"], expect!["`=a` is not an argument: it has no name"]);
        check(
            &["a:=x"],
            expect![
                "`a:=x` is not an argument: the value is not JSON (expected value at line 1 column 1)"
            ],
        );
    }
}
