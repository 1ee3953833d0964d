//! No form stops the reader, and what it lets pass it lets pass again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sterna_protocol::elicitation::{ElicitContent, FormSchema};

fuzz_target!(|input: (&str, &str)| {
    let (schema, content) = input;
    let Ok(schema) = serde_json::from_str::<FormSchema>(schema) else {
        return;
    };
    let written = serde_json::to_string(&schema).expect("a form is JSON");
    let read: FormSchema = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(read, schema);
    let content = serde_json::from_str(content).unwrap_or_else(|_| ElicitContent::default());
    // Defaults are filled in the first time; after that nothing changes.
    if let Ok(checked) = schema.check(content) {
        for name in schema.required.iter().flatten() {
            assert!(checked.get(name).is_some(), "`{name}` is missing");
        }
        assert_eq!(schema.check(checked.clone()), Ok(checked));
    }
});
