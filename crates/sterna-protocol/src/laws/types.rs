//! All wire structs and unions of this crate.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Sample, Source};

/// Operations on a type that the properties need.
pub(super) struct Type {
    pub(super) name: &'static str,
    /// Generates, writes and reads a value. Returns the text, and whether the
    /// two values are equal.
    pub(super) trip: fn(&mut Source<'_>) -> (String, Result<bool, serde_json::Error>),
    /// Reads a value.
    pub(super) read: fn(&Value) -> Result<(), serde_json::Error>,
}

fn trip<T: Sample + Serialize + DeserializeOwned + PartialEq>(
    source: &mut Source<'_>,
) -> (String, Result<bool, serde_json::Error>) {
    let value: T = source.draw();
    let text = serde_json::to_string(&value).unwrap();
    let back = serde_json::from_str::<T>(&text)
        .map(|back| back == value && serde_json::to_string(&back).unwrap() == text);
    (text, back)
}

fn read<T: DeserializeOwned>(json: &Value) -> Result<(), serde_json::Error> {
    serde_json::from_str::<T>(&json.to_string()).map(drop)
}

macro_rules! types {
    ($($module:ident { $($type:ident)+ })+) => {
        pub(super) const TYPES: &[Type] = &[
            $($(Type {
                name: concat!(stringify!($module), "::", stringify!($type)),
                trip: trip::<crate::$module::$type>,
                read: read::<crate::$module::$type>,
            },)+)+
        ];
    };
}

types! {
    cancellation { CancelledNotificationParams }
    capabilities {
        ClientCapabilities ElicitationCapability PromptsCapability ResourcesCapability
        SamplingCapability ServerCapabilities ToolsCapability
    }
    completion {
        CompleteRequestParams CompleteResult Completion CompletionArgument CompletionContext
        CompletionReference PromptReference ResourceTemplateReference
    }
    content {
        Annotations AudioContent ContentBlock EmbeddedResource ImageContent ResourceLink
        TextContent
    }
    discover { DiscoverResult }
    elicitation {
        BooleanSchema ElicitContent ElicitRequestFormParams ElicitRequestParams
        ElicitRequestUrlParams ElicitResult ElicitValue EnumOption FormSchema
        LegacyTitledEnumSchema NumberSchema PrimitiveSchema Properties StringSchema TitledItems
        TitledMultiSelectEnumSchema TitledSingleSelectEnumSchema UntitledItems
        UntitledMultiSelectEnumSchema UntitledSingleSelectEnumSchema
    }
    errors { MissingRequiredClientCapability UnsupportedProtocolVersion }
    implementation { Icon Implementation }
    input {
        CreateMessageRequest ElicitRequest InputRequest InputRequests InputRequired
        InputResponses ListRootsRequest RequestState
    }
    json { JsonObject Number RawJson RawObject }
    legacy {
        CallToolRequestParams CancelledNotificationParams ClientCapabilities ClientTaskRequests
        ClientTasksCapability CompleteRequestParams CreateMessageRequestParams CreateTaskResult
        ElicitRequestFormParams ElicitRequestParams ElicitRequestUrlParams
        ElicitationCompleteNotificationParams ElicitationTasks GetPromptRequestParams
        GetTaskPayloadResult InitializeRequestParams InitializeResult ListTasksResult
        ListToolsResult PaginatedRequestParams RequestMeta RequestParams ResourceRequestParams
        RootsCapability SamplingTasks ServerCapabilities ServerTaskRequests ServerTasksCapability
        SetLevelRequestParams Task TaskMetadata TaskRequestParams TaskResult
        TaskStatusNotificationParams Tool ToolExecution ToolTasks UrlElicitationRequired
    }
    logging { LoggingMessageNotificationParams }
    meta {
        NotificationMeta NotificationParams RelatedTaskMetadata RequestMeta RequestParams
        ResultMeta
    }
    pagination { PaginatedRequestParams }
    progress { ProgressNotificationParams ProgressToken }
    prompt {
        GetPromptRequestParams GetPromptResult ListPromptsResult Prompt PromptArgument
        PromptMessage
    }
    resource {
        BlobResourceContents ListResourceTemplatesResult ListResourcesResult
        ReadResourceRequestParams ReadResourceResult Resource ResourceContents ResourceTemplate
        ResourceUpdatedNotificationParams TextResourceContents
    }
    result { EmptyResult }
    roots { ListRootsRequestParams ListRootsResult Root }
    sampling {
        CreateMessageRequestParams CreateMessageResult ModelHint ModelPreferences SamplingContent
        SamplingMessage SamplingMessageContentBlock ToolChoice ToolResultContent ToolUseContent
    }
    sep2322 { CallToolRequestParams InputResponseMeta InputResponseRequestParams
        TaskInputResponseParams }
    subscription {
        SubscriptionFilter SubscriptionsAcknowledgedNotificationParams
        SubscriptionsListenRequestParams SubscriptionsListenResult SubscriptionsListenResultMeta
    }
    tasks {
        CreateTaskResult DetailedTask GetTaskResult Task TaskRequestParams
        TaskStatusNotificationParams UpdateTaskRequestParams
    }
    tool { CallToolRequestParams CallToolResult ListToolsResult ObjectSchema Tool ToolAnnotations }
}

/// Compares with the names after `wire!` and `members!` in the sources.
#[test]
fn every_table_of_members_is_under_the_laws() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root];
    let mut missing = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            // Only `wire!` has structs that are indented.
            let tables = text.lines().filter_map(|line| {
                let table = line.strip_prefix("members!(");
                table.or_else(|| line.strip_prefix("    pub struct "))
            });
            missing.extend(tables.filter_map(|table| {
                let name = table.split_whitespace().next().unwrap();
                let known = TYPES.iter().any(|t| t.name.ends_with(&format!("::{name}")));
                (!known && !PRIVATE.contains(&name))
                    .then(|| format!("{name} of {}", path.display()))
            }));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Private types with tables; public ones are tested in their place.
const PRIVATE: &[&str] = &["AnyResourceContents", "InputRequiredResult"];
