//! Requests, read member by member.

use std::str;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::cursor::Cursor;
use super::memory::ClientMemory;
use crate::capabilities::ClientCapabilities;
use crate::implementation::Implementation;
use crate::json::{JsonObject, RawJson, RawObject};
use crate::jsonrpc::RequestId;
use crate::logging::LoggingLevel;
use crate::meta::{RequestMeta, RequestParams};
use crate::methods::ClientRequest;
use crate::pagination::PaginatedRequestParams;
use crate::progress::ProgressToken;
use crate::prompt::GetPromptRequestParams;
use crate::resource::ReadResourceRequestParams;
use crate::retry::{InputResponses, RequestState};
use crate::tool::CallToolRequestParams;
use crate::version::ProtocolVersion;

/// Reads a request that is spelled as clients usually do; `None` for all
/// others, good or bad.
pub fn request(body: &[u8], memory: &mut ClientMemory) -> Option<(RequestId, ClientRequest)> {
    let mut cursor = Cursor::new(body);
    let (mut version, mut id, mut method) = (None, None, None);
    // Filled in place: the members are large, and returning them would copy them.
    let mut params = CommonParams::default();
    let mut has_params = false;
    let mut more = cursor.open()?;
    while more {
        match cursor.member(&MESSAGE)? {
            MessageMember::Version if version.is_none() => {
                version = cursor.take(br#""2.0""#).then_some(());
                version?;
            }
            MessageMember::Id if id.is_none() => id = Some(cursor.id()?),
            MessageMember::Method if method.is_none() => {
                method = Some(Method::read(&mut cursor)?);
            }
            MessageMember::Params if !has_params => {
                has_params = true;
                params.read(&mut cursor, method?, memory)?;
            }
            _ => return None,
        }
        more = cursor.next()?;
    }
    cursor.end()?;
    version?;
    Some((id?, params.into_request(method?)?))
}

/// Methods that are read here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    CallTool,
    Discover,
    GetPrompt,
    ListPrompts,
    ListResourceTemplates,
    ListResources,
    ListTools,
    ReadResource,
}

impl Method {
    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        // Most requests are calls.
        if cursor.take(br#""tools/call""#) {
            return Some(Self::CallTool);
        }
        Some(match cursor.string()? {
            b"server/discover" => Self::Discover,
            b"prompts/get" => Self::GetPrompt,
            b"prompts/list" => Self::ListPrompts,
            b"resources/templates/list" => Self::ListResourceTemplates,
            b"resources/list" => Self::ListResources,
            b"tools/list" => Self::ListTools,
            b"resources/read" => Self::ReadResource,
            _ => return None,
        })
    }

    /// Returns true for the methods whose requests may be retried with answers.
    fn has_rounds(self) -> bool {
        matches!(self, Self::CallTool | Self::GetPrompt | Self::ReadResource)
    }

    fn has_name(self) -> bool {
        matches!(self, Self::CallTool | Self::GetPrompt)
    }

    fn has_pages(self) -> bool {
        matches!(
            self,
            Self::ListPrompts | Self::ListResourceTemplates | Self::ListResources | Self::ListTools
        )
    }
}

/// Parameters of any method, while they are read.
#[derive(Default)]
struct CommonParams<'a> {
    has_meta: bool,
    is_2026_07_28: bool,
    capabilities: Option<Arc<ClientCapabilities>>,
    info: Option<Arc<Implementation>>,
    level: Option<LoggingLevel>,
    token: Option<ProgressToken>,
    traceparent: Option<&'a str>,
    tracestate: Option<&'a str>,
    baggage: Option<&'a str>,
    /// The name of a tool or a prompt, the URI of a resource, or a cursor.
    target: Option<&'a str>,
    arguments: Option<&'a RawValue>,
    responses: Option<InputResponses>,
    state: Option<&'a str>,
}

impl<'a> CommonParams<'a> {
    fn read(
        &mut self,
        cursor: &mut Cursor<'a>,
        method: Method,
        memory: &mut ClientMemory,
    ) -> Option<()> {
        let mut more = cursor.open()?;
        while more {
            match cursor.member(&PARAMS)? {
                ParamsMember::Meta if !self.has_meta => {
                    self.has_meta = true;
                    self.read_meta(cursor, memory)?;
                }
                ParamsMember::Name if method.has_name() && self.target.is_none() => {
                    self.target = Some(cursor.text()?);
                }
                ParamsMember::Uri if method == Method::ReadResource && self.target.is_none() => {
                    self.target = Some(cursor.text()?);
                }
                ParamsMember::Cursor if method.has_pages() && self.target.is_none() => {
                    self.target = Some(cursor.text()?);
                }
                ParamsMember::Arguments if method.has_name() && self.arguments.is_none() => {
                    self.arguments = Some(cursor.raw()?);
                }
                ParamsMember::Responses if method.has_rounds() && self.responses.is_none() => {
                    self.responses = Some(responses(cursor)?);
                }
                ParamsMember::State if method.has_rounds() && self.state.is_none() => {
                    self.state = Some(cursor.text()?);
                }
                _ => return None,
            }
            more = cursor.next()?;
        }
        Some(())
    }

    /// Metadata of a request of 2026-07-28.
    fn read_meta(&mut self, cursor: &mut Cursor<'a>, memory: &mut ClientMemory) -> Option<()> {
        let mut more = cursor.open()?;
        while more {
            match cursor.member(&META)? {
                MetaMember::Version if !self.is_2026_07_28 => {
                    self.is_2026_07_28 = cursor.take(br#""2026-07-28""#);
                    self.is_2026_07_28.then_some(())?;
                }
                MetaMember::Capabilities if self.capabilities.is_none() => {
                    self.capabilities = Some(memory.capabilities.read(cursor)?);
                }
                MetaMember::Info if self.info.is_none() => {
                    self.info = Some(memory.infos.read(cursor)?);
                }
                MetaMember::Level if self.level.is_none() => {
                    self.level = Some(cursor.text()?.into());
                }
                MetaMember::Token if self.token.is_none() => {
                    self.token = Some(cursor.id()?.into());
                }
                MetaMember::Traceparent if self.traceparent.is_none() => {
                    self.traceparent = Some(cursor.text()?);
                }
                MetaMember::Tracestate if self.tracestate.is_none() => {
                    self.tracestate = Some(cursor.text()?);
                }
                MetaMember::Baggage if self.baggage.is_none() => {
                    self.baggage = Some(cursor.text()?);
                }
                _ => return None,
            }
            more = cursor.next()?;
        }
        Some(())
    }

    fn into_request(self, method: Method) -> Option<ClientRequest> {
        self.is_2026_07_28.then_some(())?;
        let meta = RequestMeta {
            protocol_version: ProtocolVersion::V2026_07_28,
            client_capabilities: self.capabilities?,
            client_info: self.info,
            log_level: self.level,
            progress_token: self.token,
            traceparent: self.traceparent.map(str::to_owned),
            tracestate: self.tracestate.map(str::to_owned),
            baggage: self.baggage.map(str::to_owned),
            extra: JsonObject::new(),
        };
        let target = self.target;
        let state = self.state.map(RequestState::new);
        let extra = JsonObject::new();
        let page = |meta| PaginatedRequestParams {
            meta,
            cursor: target.map(str::to_owned),
            extra: JsonObject::new(),
        };
        Some(match method {
            Method::CallTool => ClientRequest::CallTool(CallToolRequestParams {
                meta,
                name: target?.to_owned(),
                arguments: match self.arguments {
                    Some(raw) => Some(object(raw)?),
                    None => None,
                },
                input_responses: self.responses,
                request_state: state,
                extra,
            }),
            Method::Discover => ClientRequest::Discover(RequestParams { meta, extra }),
            Method::GetPrompt => ClientRequest::GetPrompt(GetPromptRequestParams {
                meta,
                name: target?.to_owned(),
                arguments: match self.arguments {
                    Some(raw) => Some(serde_json::from_str(raw.get()).ok()?),
                    None => None,
                },
                input_responses: self.responses,
                request_state: state,
                extra,
            }),
            Method::ListPrompts => ClientRequest::ListPrompts(page(meta)),
            Method::ListResourceTemplates => ClientRequest::ListResourceTemplates(page(meta)),
            Method::ListResources => ClientRequest::ListResources(page(meta)),
            Method::ListTools => ClientRequest::ListTools(page(meta)),
            Method::ReadResource => ClientRequest::ReadResource(ReadResourceRequestParams {
                meta,
                uri: target?.to_owned(),
                input_responses: self.responses,
                request_state: state,
                extra,
            }),
        })
    }
}

fn object(raw: &RawValue) -> Option<RawObject> {
    RawObject::try_from(RawJson::from_raw(raw)?).ok()
}

/// Answers of a retry, none of them twice.
fn responses(cursor: &mut Cursor<'_>) -> Option<InputResponses> {
    let mut responses = InputResponses::new();
    let mut more = cursor.open()?;
    while more {
        let key = str::from_utf8(cursor.name()?).ok()?;
        if responses.get(key).is_some() {
            return None;
        }
        responses.insert_raw(key.to_owned(), RawJson::from_raw(cursor.raw()?)?);
        more = cursor.next()?;
    }
    Some(responses)
}

/// Members of a message, as clients spell and order them.
const MESSAGE: [(&str, MessageMember); 4] = [
    ("\"jsonrpc\":", MessageMember::Version),
    ("\"id\":", MessageMember::Id),
    ("\"method\":", MessageMember::Method),
    ("\"params\":", MessageMember::Params),
];

#[derive(Clone, Copy)]
enum MessageMember {
    Id,
    Method,
    Params,
    Version,
}

/// Members of parameters.
const PARAMS: [(&str, ParamsMember); 7] = [
    ("\"_meta\":", ParamsMember::Meta),
    ("\"name\":", ParamsMember::Name),
    ("\"arguments\":", ParamsMember::Arguments),
    ("\"requestState\":", ParamsMember::State),
    ("\"inputResponses\":", ParamsMember::Responses),
    ("\"uri\":", ParamsMember::Uri),
    ("\"cursor\":", ParamsMember::Cursor),
];

#[derive(Clone, Copy)]
enum ParamsMember {
    Arguments,
    Cursor,
    Meta,
    Name,
    Responses,
    State,
    Uri,
}

/// Members of `_meta`.
const META: [(&str, MetaMember); 8] = [
    ("\"progressToken\":", MetaMember::Token),
    ("\"traceparent\":", MetaMember::Traceparent),
    (
        "\"io.modelcontextprotocol/protocolVersion\":",
        MetaMember::Version,
    ),
    ("\"io.modelcontextprotocol/clientInfo\":", MetaMember::Info),
    (
        "\"io.modelcontextprotocol/clientCapabilities\":",
        MetaMember::Capabilities,
    ),
    ("\"io.modelcontextprotocol/logLevel\":", MetaMember::Level),
    ("\"tracestate\":", MetaMember::Tracestate),
    ("\"baggage\":", MetaMember::Baggage),
];

#[derive(Clone, Copy)]
enum MetaMember {
    Baggage,
    Capabilities,
    Info,
    Level,
    Token,
    Traceparent,
    Tracestate,
    Version,
}
