//! No answers stop the reader, and what it believes it can write and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema, StringSchema};
use sterna_protocol::input::{InputRequest, InputResponse, InputResponses};
use sterna_protocol::json::RawJson;

fuzz_target!(|text: &str| {
    let Ok(responses) = serde_json::from_str::<InputResponses>(text) else {
        return;
    };
    let form = FormSchema::new().with_required("a", StringSchema::default());
    let form = ElicitRequestFormParams::new("Who?", form);
    let questions = [
        InputRequest::elicit(form.clone()),
        InputRequest::list_roots(),
    ];
    for (key, raw) in responses.iter() {
        for question in &questions {
            let Ok(Some(answer)) = question.response_in(&responses, key) else {
                continue;
            };
            assert!(raw.is_object(), "an answer that is no object: {raw:?}");
            let mut again = InputResponses::new();
            again.insert(key, answer.clone());
            let read = question.response_in(&again, key);
            assert_eq!(read.expect("it was read before"), Some(answer.clone()));
            if let InputResponse::Elicit(result) = answer
                && let Some(content) = result.content
                && let Ok(checked) = form.requested_schema.check(content)
            {
                assert!(checked.get("a").is_some(), "a required field is missing");
            }
        }
    }
    let written = RawJson::of(&responses).expect("answers are JSON");
    assert_eq!(written.decode::<InputResponses>().ok(), Some(responses));
});
