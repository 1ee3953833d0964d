//! Arguments bind exactly if they are JSON that means one thing, and their
//! spelling does not matter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use sterna_seal::{Binding, CanonicalError, Principal, Realm, Target};

fuzz_target!(|text: &str| {
    let ours = bind(text);
    let theirs: Result<Value, _> = serde_json::from_str(text);
    match (&ours, &theirs) {
        (Ok(_), Err(error)) => panic!("we take what serde_json refuses: {error}"),
        (Err(CanonicalError::Syntax { .. }), Ok(_)) => panic!("we refuse JSON"),
        (Ok(_), Ok(value)) if no_rounding(text) => {
            let pretty = serde_json::to_string_pretty(value).expect("a value can be written");
            assert_eq!(ours, bind(&pretty), "{pretty}");
        }
        _ => {}
    }
});

fn bind(text: &str) -> Result<Binding, CanonicalError> {
    let realm = Realm::new("https://tools.example", None);
    let target = Target::new("tools/call", "deploy");
    Binding::new(&realm, &Principal::anonymous(), &target, Some(text))
}

/// Whether no integer is so long that serde_json would round it.
fn no_rounding(text: &str) -> bool {
    let mut digits = text.split(|c: char| !c.is_ascii_digit());
    digits.all(|run| run.len() < 16)
}
