//! Generators for types without a table of members.

use serde_json::{Value, json};

use super::source::OPEN;
use super::{Sample, Source};
use crate::caching::TtlMs;
use crate::completion::CompletionReference;
use crate::content::ContentBlock;
use crate::elicitation::{
    ElicitContent, ElicitRequestParams, ElicitValue, FormMode, NumberType, PrimitiveSchema,
    Properties,
};
use crate::input::{
    InputRequest, InputRequests, InputRequired, InputResponse, InputResponses, RequestState,
};
use crate::json::RawObject;
use crate::jsonrpc::{ErrorCode, ErrorObject, RequestId};
use crate::legacy;
use crate::methods::Or;
use crate::progress::ProgressToken;
use crate::resource::ResourceContents;
use crate::result::{Complete, Outcome};
use crate::sampling::{SamplingContent, SamplingMessageContentBlock};
use crate::tasks::{DetailedTask, TaskState, TaskStatus};
use crate::tool::ObjectSchema;
use crate::uri::Uri;

/// Generates one of the variants, each of which holds one value.
macro_rules! sample_union {
    ($($type:ty: $($variant:ident)+ $(| $other:expr)?;)+) => {
        $(impl Sample for $type {
            fn sample(source: &mut Source<'_>) -> Self {
                let variants: &[fn(&mut Source<'_>) -> Self] = &[
                    $(|source| Self::$variant(source.draw()),)+
                    $($other,)?
                ];
                source.pick(variants)(source)
            }
        })+
    };
}

sample_union! {
    CompletionReference: Prompt ResourceTemplate;
    ContentBlock: Text Image Audio ResourceLink Resource | other_content;
    ElicitRequestParams: Form Url;
    ElicitValue: String Boolean Number Strings;
    InputRequest: ListRoots Elicit CreateMessage;
    InputResponse: ListRoots Elicit CreateMessage;
    legacy::ElicitRequestParams: Form Url;
    PrimitiveSchema: String Boolean LegacyTitledEnum Number TitledMultiSelect TitledSingleSelect
        UntitledMultiSelect UntitledSingleSelect;
    ResourceContents: Text Blob;
    SamplingContent: One Many;
    SamplingMessageContentBlock: Text Image Audio ToolUse ToolResult | other_content;
    TaskState: Completed Failed InputRequired | without_payload;
}

fn other_content<T: serde::de::DeserializeOwned>(source: &mut Source<'_>) -> T {
    let content = json!({ "type": source.name(&[]), OPEN: source.draw::<RawObject>() });
    serde_json::from_value(content).unwrap()
}

fn without_payload(source: &mut Source<'_>) -> TaskState {
    match TaskStatus::from(*source.pick(&["working", "cancelled", "paused"])) {
        TaskStatus::Working => TaskState::Working,
        TaskStatus::Cancelled => TaskState::Cancelled,
        TaskStatus::Other(name) => TaskState::Other(name),
        known => panic!("{known} has a payload"),
    }
}

impl<T: Sample, X: Sample> Sample for Outcome<T, X> {
    fn sample(source: &mut Source<'_>) -> Self {
        match source.byte() % 3 {
            0 => Self::Complete(source.draw()),
            1 => Self::InputRequired(source.draw()),
            _ => Self::Extension(source.draw()),
        }
    }
}

impl<T: Sample> Sample for Complete<T> {
    fn sample(source: &mut Source<'_>) -> Self {
        Self(source.draw())
    }
}

impl Sample for InputRequired {
    fn sample(source: &mut Source<'_>) -> Self {
        let mut required = match source.byte() % 3 {
            0 => Self::retry_with(source.draw()),
            1 => Self::retry_with(source.draw()).spelling_out_none(),
            _ => {
                let asking = Self::asking(source.draw::<String>(), source.draw());
                match source.draw() {
                    true => asking.with_state(source.draw()),
                    false => asking.and(source.draw::<String>(), source.draw()),
                }
            }
        };
        required.meta = source.draw();
        required.extra = source.draw();
        required
    }
}

impl Sample for InputRequests {
    fn sample(source: &mut Source<'_>) -> Self {
        let asked: Vec<InputRequest> = source.draw();
        let keys = (0..).map(|place| format!("key {place}"));
        keys.zip(asked).collect()
    }
}

impl Sample for InputResponses {
    fn sample(source: &mut Source<'_>) -> Self {
        let answers: Vec<InputResponse> = source.draw();
        let keys = (0..).map(|place| format!("key {place}"));
        keys.zip(answers).collect()
    }
}

impl Sample for RequestState {
    fn sample(source: &mut Source<'_>) -> Self {
        Self::new(source.draw::<String>())
    }
}

impl Sample for Properties {
    fn sample(source: &mut Source<'_>) -> Self {
        let mut properties = Self::default();
        for (place, schema) in source
            .draw::<Vec<PrimitiveSchema>>()
            .into_iter()
            .enumerate()
        {
            properties.insert(format!("field {}", 9 - place), schema);
        }
        properties
    }
}

impl Sample for ElicitContent {
    fn sample(source: &mut Source<'_>) -> Self {
        let values: Vec<ElicitValue> = source.draw();
        let names = (0..).map(|place| format!("field {place}"));
        names.zip(values).collect()
    }
}

impl Sample for FormMode {
    fn sample(_: &mut Source<'_>) -> Self {
        Self
    }
}

impl Sample for NumberType {
    fn sample(source: &mut Source<'_>) -> Self {
        *source.pick(&[Self::Integer, Self::Number])
    }
}

impl Sample for ObjectSchema {
    fn sample(source: &mut Source<'_>) -> Self {
        let schema = json!({ "type": "object", OPEN: source.draw::<RawObject>() });
        match schema {
            Value::Object(schema) => schema.try_into().unwrap(),
            _ => panic!("it is an object"),
        }
    }
}

impl Sample for ProgressToken {
    fn sample(source: &mut Source<'_>) -> Self {
        source.draw::<RequestId>().into()
    }
}

impl Sample for DetailedTask {
    fn sample(source: &mut Source<'_>) -> Self {
        Self::new(source.draw(), source.draw())
    }
}

impl Sample for ErrorObject {
    fn sample(source: &mut Source<'_>) -> Self {
        let error = Self::new(ErrorCode(source.draw()), source.draw::<String>());
        match source.draw() {
            true => error.with_data(json!({ OPEN: source.draw::<RawObject>() })),
            false => error,
        }
    }
}

impl<A: Sample, B: Sample> Sample for Or<A, B> {
    fn sample(source: &mut Source<'_>) -> Self {
        match source.draw() {
            true => Self::Second(source.draw()),
            false => Self::First(source.draw()),
        }
    }
}

impl Sample for Uri {
    fn sample(source: &mut Source<'_>) -> Self {
        source
            .pick(&["https://harbour.example/pay?a=1#b", "urn:x"])
            .parse()
            .unwrap()
    }
}

impl Sample for TtlMs {
    fn sample(source: &mut Source<'_>) -> Self {
        Self::new(source.draw())
    }
}
