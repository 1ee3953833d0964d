//! Test vectors of the token for implementations in other languages:
//! `docs/request-state-vectors.json`, made of the tokens in `tests/golden`.

use expect_test::expect_file;
use serde_json::{Map, Value, json};
use sterna_seal::{Key, Keyring, SecretKey, UnixMillis};

use crate::golden::Golden;
use crate::stage;

#[test]
fn the_vectors_are_those_of_this_implementation() {
    let opened: Vec<Value> = NAMES.iter().map(|name| vector(name)).collect();
    for each in &opened {
        assert!(opens(each), "{each:#}");
    }
    let named = vector("v1-named");
    let refused: Vec<Value> = changes(&named)
        .into_iter()
        .map(|(why, field, value)| {
            let mut changed = named.clone();
            changed[field] = value;
            let refused = json!({"why": why, "vector": changed});
            assert!(!opens(&refused["vector"]), "{why}");
            refused
        })
        .collect();
    let vectors = json!({"opened": opened, "refused": refused});
    let text = serde_json::to_string_pretty(&vectors).unwrap() + "\n";
    expect_file!["../../../../docs/request-state-vectors.json"].assert_eq(&text);
}

/// A token that was released, with everything that is needed to open it.
fn vector(name: &str) -> Value {
    let golden = Golden::named(name);
    let mut vector = Map::from_iter([("name".to_owned(), json!(name))]);
    for (field, title) in FIELDS {
        let Some(value) = golden.optional(title) else {
            continue;
        };
        let value = match *field {
            "round" | "startedAt" | "issuedAt" | "expiresAt" => {
                json!(value.parse::<i64>().unwrap())
            }
            _ => json!(value),
        };
        vector.insert((*field).to_owned(), value);
    }
    // The time at which it is opened.
    let now = vector["issuedAt"].clone();
    vector.insert("now".to_owned(), now);
    vector.into()
}

/// Changes of a vector that opens, each of which makes it one that is refused.
fn changes(vector: &Value) -> Vec<(&'static str, &'static str, Value)> {
    let token = vector["token"].as_str().unwrap();
    let (before, last) = token.split_at(token.len() - 1);
    let other = if last == "A" { "B" } else { "A" };
    let middle = token.len() / 2;
    let flipped = if &token[middle..=middle] == "A" {
        "B"
    } else {
        "A"
    };
    let altered = format!("{}{flipped}{}", &token[..middle], &token[middle + 1..]);
    let secret = stage::secret('b').to_base64url();
    vec![
        ("a character is another", "token", json!(altered)),
        (
            "the last character is another",
            "token",
            json!(format!("{before}{other}")),
        ),
        ("a character is missing", "token", json!(before)),
        (
            "a character is too many",
            "token",
            json!(format!("{token}A")),
        ),
        ("it is padded", "token", json!(format!("{token}="))),
        (
            "the prefix is another",
            "token",
            json!(token.replacen("s1.", "s2.", 1)),
        ),
        ("no key has sealed it", "secret", json!(secret.as_str())),
        (
            "the audience is another",
            "audience",
            json!("https://other.example"),
        ),
        ("the tenant is another", "tenant", json!("emca")),
        (
            "the issuer is another",
            "issuer",
            json!("https://other.example"),
        ),
        ("the caller is another", "subject", json!("bob")),
        ("the client is another", "client", json!("browser")),
        ("the method is another", "method", json!("prompts/get")),
        ("the target is another", "target", json!("destroy")),
        (
            "the arguments are others",
            "arguments",
            json!(r#"{"service":"billing"}"#),
        ),
        ("it has expired", "now", vector["expiresAt"].clone()),
    ]
}

/// Opens a vector as its fields say, and checks what is in it.
fn opens(vector: &Value) -> bool {
    let golden = Golden::of(FIELDS.iter().filter_map(|(field, title)| {
        let text = match vector.get(*field)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(((*title).to_owned(), text))
    }));
    let key = Key::new(SecretKey::from_base64url(golden.field("secret")).unwrap());
    let ring = Keyring::new([key]).unwrap();
    let now = UnixMillis::new(vector["now"].as_i64().unwrap());
    let claims = ring.open(golden.field("token"), &golden.binding(), now);
    claims.is_ok_and(|claims| claims.flow.id.to_string() == golden.field("flow"))
}

const NAMES: [&str; 4] = ["v1-anonymous", "v1-named", "v1-padme", "v1-spilled"];

/// Fields of a vector, and their names in the files of `tests/golden`.
const FIELDS: &[(&str, &str)] = &[
    ("secret", "secret"),
    ("keyId", "key id"),
    ("audience", "audience"),
    ("tenant", "tenant"),
    ("issuer", "issuer"),
    ("subject", "subject"),
    ("client", "client"),
    ("method", "method"),
    ("target", "target"),
    ("arguments", "arguments"),
    ("flow", "flow"),
    ("round", "round"),
    ("startedAt", "started at"),
    ("issuedAt", "issued at"),
    ("expiresAt", "expires at"),
    ("payload", "payload"),
    ("blobId", "blob id"),
    ("blob", "blob"),
    ("token", "token"),
];
