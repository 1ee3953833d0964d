use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use super::Source;
use super::source::OPEN;
use super::types::TYPES;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn null_and_values_of_another_type_are_refused_at_every_path(bytes in vec(any::<u8>(), 0..256)) {
        for kind in TYPES {
            let (text, _) = (kind.trip)(&mut Source::new(&bytes));
            let json: Value = serde_json::from_str(&text).unwrap();
            for path in paths(&json) {
                for strange in strangers(at(&json, &path)) {
                    let mut hostile = json.clone();
                    *at_mut(&mut hostile, &path) = strange.clone();
                    let taken = (kind.read)(&hostile).is_ok();
                    if taken && !is_welcome(kind.name, &path, &strange) {
                        let story = format!("{} took {strange} at {path:?}", kind.name);
                        return Err(TestCaseError::fail(story));
                    }
                }
            }
        }
    }
}

/// Path to a value: names and indices, outermost first.
type Path = Vec<String>;

fn paths(json: &Value) -> Vec<Path> {
    let mut paths = vec![vec![]];
    let members: Vec<(String, &Value)> = match json {
        Value::Object(members) => members.iter().map(|(name, v)| (name.clone(), v)).collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, v)| (i.to_string(), v))
            .collect(),
        _ => vec![],
    };
    for (name, value) in members {
        for mut path in self::paths(value) {
            path.insert(0, name.clone());
            paths.push(path);
        }
    }
    paths
}

fn at<'a>(json: &'a Value, path: &Path) -> &'a Value {
    path.iter().fold(json, |json, name| match json {
        Value::Array(items) => &items[name.parse::<usize>().unwrap()],
        _ => &json[name.as_str()],
    })
}

fn at_mut<'a>(json: &'a mut Value, path: &Path) -> &'a mut Value {
    path.iter().fold(json, |json, name| match json {
        Value::Array(items) => &mut items[name.parse::<usize>().unwrap()],
        _ => &mut json[name.as_str()],
    })
}

/// Returns one value of every JSON type other than that of `value`.
fn strangers(value: &Value) -> Vec<Value> {
    let all = [
        json!(null),
        json!(true),
        json!(7),
        json!("text"),
        json!([]),
        json!({}),
    ];
    let same = |other: &Value| std::mem::discriminant(other) == std::mem::discriminant(value);
    all.into_iter().filter(|other| !same(other)).collect()
}

/// Returns true where a value of another type is allowed.
fn is_welcome(kind: &str, path: &Path, strange: &Value) -> bool {
    let inside = |name: &str| path.iter().any(|step| step == name);
    let (last, before) = match path.as_slice() {
        [.., before, last] => (last.as_str(), before.as_str()),
        [last] => (last.as_str(), ""),
        [] => ("", ""),
    };
    // Values that are not interpreted can have any type.
    let open = inside(OPEN)
        || inside("x-open-2")
        || inside("structuredContent")
        || inside("data") && (inside("error") || kind.contains("LoggingMessage"))
        || inside("inputResponses")
        || matches!(kind, "input::InputResponses" | "json::RawJson");
    // Ids are strings or integers.
    let id = last.ends_with("Token") || last.ends_with("Id") || kind == "progress::ProgressToken";
    // A field of a form accepts nearly every type.
    let field = last.starts_with("field ") && before == "content"
        || kind == "elicitation::ElicitValue"
        || kind == "elicitation::ElicitContent";
    // A message is one block or a list of them.
    let list = last == "content" || kind == "sampling::SamplingContent";
    // Members that may be null.
    let nullable = matches!(last, "ttlMs" | "ttl");
    open || id && (strange.is_string() || strange.is_number())
        || field && !strange.is_null() && !strange.is_object()
        || list && strange.is_array()
        || nullable && (strange.is_null() || strange.is_number())
}
