//! Checks that a client may be asked a question: nothing is sent that it did not
//! declare on this very request (MRTR-S7).

use std::net::IpAddr;

use bytes::Bytes;
use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability};
use sterna_protocol::elicitation::ElicitRequestParams;
use sterna_protocol::input::InputRequest;

use sterna_flow::OpenQuestion;
use sterna_runner::Admit;

use crate::call::{PendingQuestion, QuestionContent, Request, missing_capabilities};
use crate::core::Core;
use crate::cx::CANNOT_ASK;
use crate::failure::Failure;
use crate::middleware;

/// Capabilities that the client of a request would have to declare to be asked
/// all questions of a batch.
#[derive(Debug, Default)]
pub(crate) struct Lacking(
    /// In a box: few batches lack anything, and the round would be as large.
    Option<Box<ClientCapabilities>>,
);

impl Lacking {
    /// Reads the open `question` of `request`, and checks that its client may
    /// be asked it.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] if the request has put no such question, and what
    /// [`check`] says.
    pub(crate) fn admit(
        &mut self,
        core: &Core,
        request: &Request,
        target: (&'static str, &str),
        question: &OpenQuestion,
    ) -> Result<Admit<QuestionContent>, Failure> {
        let envelope = request.pending_questions().take(&question.request);
        let PendingQuestion {
            content,
            has_fallback,
        } = envelope.ok_or(Failure::Internal)?;
        let has_forms = request.capabilities().elicitation.as_ref();
        let has_forms = has_forms.is_some_and(ElicitationCapability::has_form);
        // Most questions are forms, and most clients show them.
        if let QuestionContent::Form(_) = &content
            && core.middleware.is_empty()
            && has_forms
        {
            return Ok(Admit::Send(content));
        }
        let mut asked = content.into_request();
        let key = question.key.as_str();
        middleware::question(&core.middleware, request, target, key, &mut asked)?;
        check(core, &asked)?;
        Ok(match missing_capabilities(request.capabilities(), &asked) {
            None => Admit::Send(QuestionContent::Whole(Box::new(asked))),
            Some(_) if has_fallback => Admit::FallBack(Bytes::from_static(CANNOT_ASK)),
            Some(missing) => self.note(missing),
        })
    }

    /// Checks that the client of `request` may be asked the `question` of a
    /// low-level handler.
    ///
    /// # Errors
    ///
    /// As [`check`].
    pub(crate) fn admit_returned<'q>(
        &mut self,
        core: &Core,
        request: &Request,
        question: &'q InputRequest,
    ) -> Result<Admit<&'q InputRequest>, Failure> {
        check(core, question)?;
        Ok(
            match missing_capabilities(request.capabilities(), question) {
                None => Admit::Send(question),
                Some(missing) => self.note(missing),
            },
        )
    }

    fn note<Q>(&mut self, missing: ClientCapabilities) -> Admit<Q> {
        add(self.0.get_or_insert_default(), missing);
        Admit::Lacking
    }

    /// Returns the error that names the capabilities (BASE-S14); `None` if none
    /// is lacking.
    pub(crate) fn failure(&mut self) -> Option<Failure> {
        let lacking = self.0.take()?;
        Some(Failure::Capability(lacking))
    }
}

/// Checks that `question` may be sent to any client.
///
/// # Errors
///
/// It would send the user to a page that can be changed on the way (ELICIT-S12).
/// The author must act, so the log names the host.
fn check(core: &Core, question: &InputRequest) -> Result<(), Failure> {
    let InputRequest::Elicit(request) = question else {
        return Ok(());
    };
    let ElicitRequestParams::Url(params) = &request.params else {
        return Ok(());
    };
    let host = host(params.url.as_str());
    if params.url.scheme().eq_ignore_ascii_case("https") || is_loopback(host) {
        return Ok(());
    }
    tracing::error!(
        target: "sterna::rounds",
        host,
        "MR0602: a question would send the user to a page that is not https"
    );
    Err(core.mistaken(format_args!(
        "MR0602: a question would send the user to a page that is not https, on {host}"
    )))
}

/// Returns the host of a URL, without user, port and brackets.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Adds `more` to what is missing.
fn add(missing: &mut ClientCapabilities, more: ClientCapabilities) {
    missing.elicitation = match (missing.elicitation.take(), more.elicitation) {
        (Some(one), Some(other)) => {
            let mut both = ElicitationCapability::default();
            both.form = one.form.or(other.form);
            both.url = one.url.or(other.url);
            Some(both)
        }
        (one, other) => one.or(other),
    };
    missing.sampling = match (missing.sampling.take(), more.sampling) {
        (Some(mut one), Some(other)) => {
            one.tools = one.tools.or(other.tools);
            one.context = one.context.or(other.context);
            Some(one)
        }
        (one, other) => one.or(other),
    };
    missing.roots = missing.roots.take().or(more.roots);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_adds_up() {
        let caps = |json: &str| serde_json::from_str::<ClientCapabilities>(json).unwrap();
        let mut missing = ClientCapabilities::default();
        for more in [
            r#"{"elicitation":{"url":{}}}"#,
            r#"{"sampling":{}}"#,
            r#"{"sampling":{"tools":{}}}"#,
            r#"{"elicitation":{"form":{}}}"#,
            r#"{"roots":{}}"#,
        ] {
            add(&mut missing, caps(more));
        }
        let all = r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}}"#;
        assert_eq!(missing, caps(all));
    }
}
