//! Which tools ask, and whether asking works.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Map;
use sterna_client::{BoxError, Builder, CallOptions, Client, Era, Step};
use sterna_protocol::elicitation::{ElicitRequestParams, ElicitResult};
use sterna_protocol::input::InputRequest;
use sterna_protocol::sampling::CreateMessageResult;
use sterna_protocol::tool::Tool;

use super::{Findings, Trial};

/// Questions in the middle of a call, as servers of the earlier era ask them.
#[derive(Clone, Debug, Default)]
pub(super) struct Overheard(Arc<Mutex<Vec<String>>>);

impl Overheard {
    fn note(&self, request: &InputRequest) -> BoxError {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push(kind(request).to_owned());
        "the doctor only looks".into()
    }

    fn take(&self) -> Vec<String> {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *heard)
    }

    /// Lets the server ask for everything, and answers nothing.
    pub(super) fn listen(&self, builder: Builder) -> Builder {
        let (form, url, sample, roots) = (self.clone(), self.clone(), self.clone(), self.clone());
        builder
            .on_form(move |question| {
                let refusal = form.note(&InputRequest::elicit(question.params));
                async { Err::<ElicitResult, _>(refusal) }
            })
            .on_url(move |question| {
                let refusal = url.note(&InputRequest::elicit(question.params));
                async { Err::<ElicitResult, _>(refusal) }
            })
            .on_sample(move |question| {
                let refusal = sample.note(&InputRequest::create_message(question.params));
                async { Err::<CreateMessageResult, _>(refusal) }
            })
            .on_roots(move |_| {
                let refusal = roots.note(&InputRequest::list_roots());
                async { Err(refusal) }
            })
    }
}

/// Calls the named tool, and each tool that says it changes nothing and needs no
/// arguments. A call that asks is abandoned there: the server keeps nothing.
pub(super) async fn look(
    client: &Client,
    tools: &[Tool],
    named: &[Trial],
    overheard: &Overheard,
    findings: &mut Findings<'_>,
) {
    let mut untried = Vec::new();
    for tool in tools {
        let trial = named.iter().find(|trial| trial.tool == tool.name);
        let trial = trial.cloned().or_else(|| harmless(tool));
        match trial {
            None => untried.push(tool.name.as_str()),
            Some(trial) => {
                let (ok, seen) = attempt(client, &trial, overheard).await;
                findings.note("asks", ok, format!("{}: {seen}", tool.name));
            }
        }
    }
    for trial in named {
        if tools.iter().all(|tool| tool.name != trial.tool) {
            findings.note("asks", false, format!("{}: there is none", trial.tool));
        }
    }
    if !untried.is_empty() {
        let names = untried.join(", ");
        findings.note("not tried", true, format!("{names} (--try calls them)"));
    }
}

fn harmless(tool: &Tool) -> Option<Trial> {
    let read_only = tool.annotations.as_ref()?.read_only_hint?;
    let schema = serde_json::to_value(&tool.input_schema).ok()?;
    let needs = schema["required"]
        .as_array()
        .is_some_and(|all| !all.is_empty());
    (read_only && !needs).then(|| Trial {
        tool: tool.name.clone(),
        arguments: Map::new(),
    })
}

async fn attempt(client: &Client, trial: &Trial, overheard: &Overheard) -> (bool, String) {
    let options = CallOptions::new().handle_session_questions();
    let call = client.call(&trial.tool).args(&trial.arguments);
    let call = call.options(options);
    let step = Box::pin(call.start()).await;
    let heard = overheard.take();
    if client.era() == Era::Legacy && !heard.is_empty() {
        return (true, format!("asks in the middle: {}", heard.join(", ")));
    }
    match step {
        Ok(Step::Complete(_)) => (true, "does not ask".to_owned()),
        Ok(Step::InputRequired(paused)) => {
            let open = paused.open();
            let open: Vec<_> = open
                .map(|(key, request)| format!("{} ({})", key, kind(request)))
                .collect();
            match open.is_empty() {
                true => (true, "wants to be called again".to_owned()),
                false => (true, format!("asks {}", open.join(", "))),
            }
        }
        Ok(Step::Task(task)) => match task.cancel(client).await {
            Ok(()) => (true, "goes on as a task".to_owned()),
            Err(error) => (false, format!("its task cannot be cancelled: {error}")),
        },
        Ok(_) => (
            false,
            "ended in a way this release does not know".to_owned(),
        ),
        Err(error) => (false, error.to_string()),
    }
}

/// Kind of a question.
fn kind(request: &InputRequest) -> &'static str {
    match request {
        InputRequest::CreateMessage(_) => "sampling",
        InputRequest::Elicit(elicit) => match elicit.params {
            ElicitRequestParams::Form(_) => "form",
            _ => "page",
        },
        _ => "folders",
    }
}
