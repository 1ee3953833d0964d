use sterna_protocol::completion::{
    CompleteRequestParams, CompletionArgument, CompletionContext, CompletionReference,
};
use sterna_protocol::meta::{RequestMeta, RequestParams};
use sterna_protocol::methods::ClientRequest;
use sterna_protocol::pagination::PaginatedRequestParams;

/// A question that is answered in one round.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    Complete {
        reference: CompletionReference,
        argument: CompletionArgument,
        context: Option<CompletionContext>,
    },
    Discover,
    ListPrompts(Option<String>),
    ListResources(Option<String>),
    ListTemplates(Option<String>),
    ListTools(Option<String>),
}

impl Query {
    /// The request of 2026-07-28.
    pub(crate) fn modern(self, meta: RequestMeta) -> ClientRequest {
        let page = |meta, cursor| {
            let mut params = PaginatedRequestParams::new(meta);
            params.cursor = cursor;
            params
        };
        match self {
            Self::Complete {
                reference,
                argument,
                context,
            } => {
                let mut params = CompleteRequestParams::new(meta, reference, argument);
                params.context = context;
                ClientRequest::CompleteArgument(params)
            }
            Self::Discover => ClientRequest::Discover(RequestParams::new(meta)),
            Self::ListPrompts(cursor) => ClientRequest::ListPrompts(page(meta, cursor)),
            Self::ListResources(cursor) => ClientRequest::ListResources(page(meta, cursor)),
            Self::ListTemplates(cursor) => ClientRequest::ListResourceTemplates(page(meta, cursor)),
            Self::ListTools(cursor) => ClientRequest::ListTools(page(meta, cursor)),
        }
    }
}
