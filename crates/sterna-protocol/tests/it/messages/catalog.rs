//! Types of this crate for the definitions of the official schemas.

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use sterna_protocol::jsonrpc::{Answer, Dispatch, ErrorObject, Message, Nothing, RequestId};
use sterna_protocol::{
    cancellation, capabilities, completion, content, discover, elicitation, errors, implementation,
    input, json, legacy, logging, meta, methods, pagination, progress, prompt, resource, result,
    roots, sampling, sep2322, subscription, tasks, tool,
};

/// Reads a text as some type and writes it again.
pub(super) type Codec = fn(&str) -> Result<Value, String>;

/// The codec for a definition of a revision; `None` if it is a base that no
/// message has alone.
pub(super) fn find(revision: &str, definition: &str) -> Option<Codec> {
    match revision {
        "2026-07-28" => modern(definition).or_else(|| shared(definition)),
        "ext-tasks" => extension(definition)
            .or_else(|| modern(definition))
            .or_else(|| shared(definition)),
        "2025-11-25" => old(definition).or_else(|| shared(definition)),
        "2025-06-18" | "2025-03-26" => older(definition)
            .or_else(|| old(definition))
            .or_else(|| shared(definition)),
        "sep2322" => proposal(definition),
        other => panic!("no such revision: {other}"),
    }
}

fn modern(definition: &str) -> Option<Codec> {
    use result::{Complete, EmptyResult, Outcome};
    Some(match definition {
        "CallToolRequest"
        | "ClientRequest"
        | "CompleteRequest"
        | "DiscoverRequest"
        | "GetPromptRequest"
        | "ListPromptsRequest"
        | "ListResourceTemplatesRequest"
        | "ListResourcesRequest"
        | "ListToolsRequest"
        | "ReadResourceRequest"
        | "SubscriptionsListenRequest" => request::<methods::ClientRequest>,
        "ClientNotification" => notification::<methods::ClientNotification>,
        "CancelledNotification"
        | "LoggingMessageNotification"
        | "ProgressNotification"
        | "PromptListChangedNotification"
        | "ResourceListChangedNotification"
        | "ResourceUpdatedNotification"
        | "ServerNotification"
        | "SubscriptionsAcknowledgedNotification"
        | "ToolListChangedNotification" => notification::<methods::ServerNotification>,
        "CallToolResultResponse" => response::<Outcome<tool::CallToolResult>>,
        "CompleteResultResponse" => response::<Complete<completion::CompleteResult>>,
        "DiscoverResultResponse" => response::<Complete<discover::DiscoverResult>>,
        "GetPromptResultResponse" => response::<Outcome<prompt::GetPromptResult>>,
        "ListPromptsResultResponse" => response::<Complete<prompt::ListPromptsResult>>,
        "ListResourceTemplatesResultResponse" => {
            response::<Complete<resource::ListResourceTemplatesResult>>
        }
        "ListResourcesResultResponse" => response::<Complete<resource::ListResourcesResult>>,
        "ListToolsResultResponse" => response::<Complete<tool::ListToolsResult>>,
        "ReadResourceResultResponse" => response::<Outcome<resource::ReadResourceResult>>,
        "SubscriptionsListenResultResponse" => {
            response::<Complete<subscription::SubscriptionsListenResult>>
        }
        "CallToolResult" => answer::<Complete<tool::CallToolResult>>,
        "CompleteResult" => answer::<Complete<completion::CompleteResult>>,
        "DiscoverResult" => answer::<Complete<discover::DiscoverResult>>,
        "EmptyResult" => answer::<Complete<EmptyResult>>,
        "GetPromptResult" => answer::<Complete<prompt::GetPromptResult>>,
        "InputRequiredResult" => plain::<input::InputRequired>,
        "ListPromptsResult" => answer::<Complete<prompt::ListPromptsResult>>,
        "ListResourceTemplatesResult" => answer::<Complete<resource::ListResourceTemplatesResult>>,
        "ListResourcesResult" => answer::<Complete<resource::ListResourcesResult>>,
        "ListToolsResult" => answer::<Complete<tool::ListToolsResult>>,
        "ReadResourceResult" => answer::<Complete<resource::ReadResourceResult>>,
        "SubscriptionsListenResult" => answer::<Complete<subscription::SubscriptionsListenResult>>,
        "HeaderMismatchError"
        | "MissingRequiredClientCapabilityError"
        | "UnsupportedProtocolVersionError" => protocol_error,
        "CallToolRequestParams" => plain::<tool::CallToolRequestParams>,
        "CancelledNotificationParams" => plain::<cancellation::CancelledNotificationParams>,
        "ClientCapabilities" => plain::<capabilities::ClientCapabilities>,
        "CompleteRequestParams" => plain::<completion::CompleteRequestParams>,
        "CreateMessageRequest" => plain::<input::CreateMessageRequest>,
        "CreateMessageRequestParams" => plain::<sampling::CreateMessageRequestParams>,
        "ElicitRequest" => plain::<input::ElicitRequest>,
        "ElicitRequestFormParams" => plain::<elicitation::ElicitRequestFormParams>,
        "ElicitRequestParams" => plain::<elicitation::ElicitRequestParams>,
        "ElicitRequestURLParams" => plain::<elicitation::ElicitRequestUrlParams>,
        "GetPromptRequestParams" => plain::<prompt::GetPromptRequestParams>,
        "InputRequest" => plain::<input::InputRequest>,
        "InputRequests" => plain::<input::InputRequests>,
        "InputResponses" => plain::<input::InputResponses>,
        "ListRootsRequest" => plain::<input::ListRootsRequest>,
        "PaginatedRequestParams" => plain::<pagination::PaginatedRequestParams>,
        "ReadResourceRequestParams" => plain::<resource::ReadResourceRequestParams>,
        "RequestMetaObject" => plain::<meta::RequestMeta>,
        "RequestParams" => plain::<meta::RequestParams>,
        "ServerCapabilities" => plain::<capabilities::ServerCapabilities>,
        "SubscriptionFilter" => plain::<subscription::SubscriptionFilter>,
        "SubscriptionsAcknowledgedNotificationParams" => {
            plain::<subscription::SubscriptionsAcknowledgedNotificationParams>
        }
        "SubscriptionsListenRequestParams" => {
            plain::<subscription::SubscriptionsListenRequestParams>
        }
        "SubscriptionsListenResultMetaObject" => {
            plain::<subscription::SubscriptionsListenResultMeta>
        }
        "Tool" => plain::<tool::Tool>,
        _ => return None,
    })
}

fn extension(definition: &str) -> Option<Codec> {
    Some(match definition {
        "CancelTaskRequest" | "GetTaskRequest" | "UpdateTaskRequest" => task_request,
        "CancelTaskResult" | "UpdateTaskResult" => answer::<result::Complete<result::EmptyResult>>,
        "CancelledTask" | "CompletedTask" | "DetailedTask" | "FailedTask" | "InputRequiredTask"
        | "WorkingTask" => plain::<tasks::DetailedTask>,
        "CreateTaskResult" => plain::<tasks::CreateTaskResult>,
        "GetTaskResult" => answer::<result::Complete<tasks::GetTaskResult>>,
        "Task" => plain::<tasks::Task>,
        "TaskStatus" => plain::<tasks::TaskStatus>,
        "TaskStatusNotification" => notification::<tasks::ServerNotification>,
        "TaskStatusNotificationParams" => plain::<tasks::TaskStatusNotificationParams>,
        "TaskSubscriptionAcknowledgedNotifications" | "TaskSubscriptionNotifications" => {
            plain::<subscription::SubscriptionFilter>
        }
        _ => return None,
    })
}

fn proposal(definition: &str) -> Option<Codec> {
    Some(match definition {
        "CallToolRequestParams" => plain::<sep2322::CallToolRequestParams>,
        "GetTaskPayloadResult" => answer::<result::Outcome<legacy::GetTaskPayloadResult>>,
        "InputResponseRequestParams" => plain::<sep2322::InputResponseRequestParams>,
        _ => return None,
    })
}

fn old(definition: &str) -> Option<Codec> {
    Some(match definition {
        "CallToolRequest"
        | "CancelTaskRequest"
        | "ClientRequest"
        | "CompleteRequest"
        | "GetPromptRequest"
        | "GetTaskPayloadRequest"
        | "GetTaskRequest"
        | "InitializeRequest"
        | "ListPromptsRequest"
        | "ListResourceTemplatesRequest"
        | "ListResourcesRequest"
        | "ListTasksRequest"
        | "ListToolsRequest"
        | "PingRequest"
        | "ReadResourceRequest"
        | "SetLevelRequest"
        | "SubscribeRequest"
        | "UnsubscribeRequest" => request::<legacy::ClientRequest>,
        "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest" | "ServerRequest" => {
            request::<legacy::ServerRequest>
        }
        "ClientNotification" | "InitializedNotification" | "RootsListChangedNotification" => {
            notification::<legacy::ClientNotification>
        }
        "CancelledNotification"
        | "ElicitationCompleteNotification"
        | "LoggingMessageNotification"
        | "ProgressNotification"
        | "PromptListChangedNotification"
        | "ResourceListChangedNotification"
        | "ResourceUpdatedNotification"
        | "ServerNotification"
        | "TaskStatusNotification"
        | "ToolListChangedNotification" => notification::<legacy::ServerNotification>,
        "CallToolRequestParams" => plain::<legacy::CallToolRequestParams>,
        "CallToolResult" => plain::<tool::CallToolResult>,
        "CancelTaskResult" | "GetTaskResult" => plain::<legacy::TaskResult>,
        "CancelledNotificationParams" => plain::<legacy::CancelledNotificationParams>,
        "ClientCapabilities" => plain::<legacy::ClientCapabilities>,
        "CompleteRequestParams" => plain::<legacy::CompleteRequestParams>,
        "CompleteResult" => plain::<completion::CompleteResult>,
        "CreateMessageRequestParams" => plain::<legacy::CreateMessageRequestParams>,
        "CreateTaskResult" => plain::<legacy::CreateTaskResult>,
        "ElicitRequestFormParams" => plain::<legacy::ElicitRequestFormParams>,
        "ElicitRequestParams" => plain::<legacy::ElicitRequestParams>,
        "ElicitRequestURLParams" => plain::<legacy::ElicitRequestUrlParams>,
        "EmptyResult" => plain::<result::EmptyResult>,
        "GetPromptRequestParams" => plain::<legacy::GetPromptRequestParams>,
        "GetPromptResult" => plain::<prompt::GetPromptResult>,
        "GetTaskPayloadResult" => plain::<legacy::GetTaskPayloadResult>,
        "InitializeRequestParams" => plain::<legacy::InitializeRequestParams>,
        "InitializeResult" => plain::<legacy::InitializeResult>,
        "ListPromptsResult" => plain::<prompt::ListPromptsResult>,
        "ListResourceTemplatesResult" => plain::<resource::ListResourceTemplatesResult>,
        "ListResourcesResult" => plain::<resource::ListResourcesResult>,
        "ListTasksResult" => plain::<legacy::ListTasksResult>,
        "ListToolsResult" => plain::<legacy::ListToolsResult>,
        "PaginatedRequestParams" => plain::<legacy::PaginatedRequestParams>,
        "ReadResourceRequestParams"
        | "ResourceRequestParams"
        | "SubscribeRequestParams"
        | "UnsubscribeRequestParams" => plain::<legacy::ResourceRequestParams>,
        "ReadResourceResult" => plain::<resource::ReadResourceResult>,
        "RelatedTaskMetadata" => plain::<meta::RelatedTaskMetadata>,
        "RequestParams" => plain::<legacy::RequestParams>,
        "ResourceReference" => plain::<completion::ResourceTemplateReference>,
        "ServerCapabilities" => plain::<legacy::ServerCapabilities>,
        "SetLevelRequestParams" => plain::<legacy::SetLevelRequestParams>,
        "Task" => plain::<legacy::Task>,
        "TaskMetadata" => plain::<legacy::TaskMetadata>,
        "TaskStatus" => plain::<tasks::TaskStatus>,
        "TaskStatusNotificationParams" => plain::<legacy::TaskStatusNotificationParams>,
        "Tool" => plain::<legacy::Tool>,
        "ToolExecution" => plain::<legacy::ToolExecution>,
        "URLElicitationRequiredError" => url_elicitation_required,
        _ => return None,
    })
}

/// Definitions of 2025-06-18 and 2025-03-26 that leave the envelope out.
fn older(definition: &str) -> Option<Codec> {
    let codec = old(definition)?;
    Some(match definition {
        "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest" | "ServerRequest" => {
            |text| bare(text, Some(1), request::<legacy::ServerRequest>)
        }
        "ClientNotification" | "InitializedNotification" | "RootsListChangedNotification" => {
            |text| bare(text, None, notification::<legacy::ClientNotification>)
        }
        name if name.ends_with("Notification") => {
            |text| bare(text, None, notification::<legacy::ServerNotification>)
        }
        name if name.ends_with("Request") => {
            |text| bare(text, Some(1), request::<legacy::ClientRequest>)
        }
        _ => codec,
    })
}

fn shared(definition: &str) -> Option<Codec> {
    Some(match definition {
        "Annotations" => plain::<content::Annotations>,
        "AudioContent" => plain::<content::AudioContent>,
        "BlobResourceContents" => plain::<resource::BlobResourceContents>,
        "BooleanSchema" => plain::<elicitation::BooleanSchema>,
        "ContentBlock" => plain::<content::ContentBlock>,
        "CreateMessageResult" => plain::<sampling::CreateMessageResult>,
        "ElicitResult" => plain::<elicitation::ElicitResult>,
        "EmbeddedResource" => plain::<content::EmbeddedResource>,
        "EnumSchema"
        | "MultiSelectEnumSchema"
        | "PrimitiveSchemaDefinition"
        | "SingleSelectEnumSchema" => plain::<elicitation::PrimitiveSchema>,
        "Error"
        | "InternalError"
        | "InvalidParamsError"
        | "InvalidRequestError"
        | "MethodNotFoundError"
        | "ParseError" => plain::<ErrorObject>,
        "Icon" => plain::<implementation::Icon>,
        "ImageContent" => plain::<content::ImageContent>,
        "Implementation" => plain::<implementation::Implementation>,
        "JSONObject" | "MetaObject" => plain::<json::JsonObject>,
        "LegacyTitledEnumSchema" => plain::<elicitation::LegacyTitledEnumSchema>,
        "ListRootsResult" => plain::<roots::ListRootsResult>,
        "LoggingLevel" => plain::<logging::LoggingLevel>,
        "LoggingMessageNotificationParams" => plain::<logging::LoggingMessageNotificationParams>,
        "ModelHint" => plain::<sampling::ModelHint>,
        "ModelPreferences" => plain::<sampling::ModelPreferences>,
        "NotificationMetaObject" => plain::<meta::NotificationMeta>,
        "NotificationParams" => plain::<meta::NotificationParams>,
        "NumberSchema" => plain::<elicitation::NumberSchema>,
        "ProgressNotificationParams" => plain::<progress::ProgressNotificationParams>,
        "ProgressToken" => plain::<progress::ProgressToken>,
        "Prompt" => plain::<prompt::Prompt>,
        "PromptArgument" => plain::<prompt::PromptArgument>,
        "PromptMessage" => plain::<prompt::PromptMessage>,
        "PromptReference" => plain::<completion::PromptReference>,
        "RequestId" => plain::<RequestId>,
        "Resource" => plain::<resource::Resource>,
        "ResourceLink" => plain::<content::ResourceLink>,
        "ResourceTemplate" => plain::<resource::ResourceTemplate>,
        "ResourceTemplateReference" => plain::<completion::ResourceTemplateReference>,
        "ResourceUpdatedNotificationParams" => plain::<resource::ResourceUpdatedNotificationParams>,
        "ResultMetaObject" => plain::<meta::ResultMeta>,
        "Role" => plain::<content::Role>,
        "Root" => plain::<roots::Root>,
        "SamplingMessage" => plain::<sampling::SamplingMessage>,
        "SamplingMessageContentBlock" => plain::<sampling::SamplingMessageContentBlock>,
        "StringSchema" => plain::<elicitation::StringSchema>,
        "TextContent" => plain::<content::TextContent>,
        "TextResourceContents" => plain::<resource::TextResourceContents>,
        "TitledMultiSelectEnumSchema" => plain::<elicitation::TitledMultiSelectEnumSchema>,
        "TitledSingleSelectEnumSchema" => plain::<elicitation::TitledSingleSelectEnumSchema>,
        "ToolAnnotations" => plain::<tool::ToolAnnotations>,
        "ToolChoice" => plain::<sampling::ToolChoice>,
        "ToolResultContent" => plain::<sampling::ToolResultContent>,
        "ToolUseContent" => plain::<sampling::ToolUseContent>,
        "UntitledMultiSelectEnumSchema" => plain::<elicitation::UntitledMultiSelectEnumSchema>,
        "UntitledSingleSelectEnumSchema" => plain::<elicitation::UntitledSingleSelectEnumSchema>,
        _ => return None,
    })
}

fn plain<T: DeserializeOwned + Serialize>(text: &str) -> Result<Value, String> {
    let value: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(rewrite(&value))
}

/// A result by itself.
fn answer<A: for<'a> Answer<'a> + Serialize>(text: &str) -> Result<Value, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = A::read(&mut json).map_err(|error| error.to_string())?;
    Ok(rewrite(&value))
}

fn rewrite<T: Serialize>(value: &T) -> Value {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn request<R: for<'a> Dispatch<'a> + Serialize>(text: &str) -> Result<Value, String> {
    match Message::<R, Nothing, IgnoredAny>::decode(text.as_bytes()) {
        Ok(Message::Request(request)) => Ok(encoded(|body| request.encode(body))),
        Ok(_) => Err("not a request".to_owned()),
        Err(error) => Err(story(&error)),
    }
}

fn notification<N: for<'a> Dispatch<'a> + Serialize>(text: &str) -> Result<Value, String> {
    match Message::<Nothing, N, IgnoredAny>::decode(text.as_bytes()) {
        Ok(Message::Notification(notification)) => Ok(encoded(|body| notification.encode(body))),
        Ok(_) => Err("not a notification".to_owned()),
        Err(error) => Err(story(&error)),
    }
}

fn response<A: for<'a> Answer<'a> + Serialize>(text: &str) -> Result<Value, String> {
    match Message::<Nothing, Nothing, A>::decode(text.as_bytes()) {
        Ok(Message::Result(response)) => Ok(encoded(|body| response.encode(body))),
        Ok(_) => Err("not a result".to_owned()),
        Err(error) => Err(story(&error)),
    }
}

fn error(text: &str) -> Result<(ErrorObject, Value), String> {
    match Message::<Nothing, Nothing, IgnoredAny>::decode(text.as_bytes()) {
        Ok(Message::Error(response)) => {
            let text = encoded(|body| response.encode(body));
            Ok((response.error, text))
        }
        Ok(_) => Err("not an error".to_owned()),
        Err(error) => Err(story(&error)),
    }
}

fn protocol_error(text: &str) -> Result<Value, String> {
    let (error, text) = error(text)?;
    match errors::ProtocolError::find(&error) {
        Ok(Some(_)) => Ok(text),
        Ok(None) => Err("not one of the three".to_owned()),
        Err(error) => Err(story(&error)),
    }
}

fn url_elicitation_required(text: &str) -> Result<Value, String> {
    let (error, text) = error(text)?;
    match legacy::UrlElicitationRequired::find(&error) {
        Ok(Some(_)) => Ok(text),
        Ok(None) => Err("another error".to_owned()),
        Err(error) => Err(story(&error)),
    }
}

/// An error with all that caused it.
fn story(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", story(source)),
        None => error.to_string(),
    }
}

fn encoded(encode: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) -> Value {
    let mut body = Vec::new();
    encode(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// Puts the envelope around a message before `codec` and takes it off after.
fn bare(text: &str, id: Option<i64>, codec: Codec) -> Result<Value, String> {
    let mut message: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let members = message.as_object_mut().ok_or("not an object")?;
    members.insert("jsonrpc".to_owned(), json!("2.0"));
    members.extend(id.map(|id| ("id".to_owned(), json!(id))));
    let mut message = codec(&message.to_string())?;
    let members = message.as_object_mut().ok_or("not an object")?;
    members.remove("jsonrpc");
    members.remove("id");
    Ok(message)
}

/// The schema of the extension leaves out the `_meta` that every request of
/// 2026-07-28 has.
fn task_request(text: &str) -> Result<Value, String> {
    let mut message: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let params = message.get_mut("params").and_then(Value::as_object_mut);
    if let Some(params) = params {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params.insert("_meta".to_owned(), meta);
    }
    let mut message = request::<tasks::ClientRequest>(&message.to_string())?;
    message["params"]
        .as_object_mut()
        .ok_or("not an object")?
        .remove("_meta");
    Ok(message)
}
