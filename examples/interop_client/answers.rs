//! Whoever answers for the script.

use std::sync::{Arc, Mutex, PoisonError};

use sterna_client::{Client, Era, Error};
use sterna_protocol::content::TextContent;
use sterna_protocol::elicitation::{
    ElicitAction, ElicitContent, ElicitRequestFormParams, ElicitResult,
};
use sterna_protocol::sampling::{CreateMessageResult, SamplingMessageContentBlock};

use crate::script::Answers;

/// A client that answers everything as the script says; to forms and visits it
/// says `action`.
pub(crate) async fn connect(
    url: &str,
    era: Era,
    with: Answers,
    action: Arc<Mutex<ElicitAction>>,
) -> Result<Client, Error> {
    let sample = SamplingMessageContentBlock::Text(TextContent::new(with.sample));
    let sample = CreateMessageResult::new("scripted", sample);
    let choice = move || {
        action
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    };
    let url_choice = choice.clone();
    Client::builder(url)
        .era(era)
        .on_form(move |question| {
            let answer = match choice() {
                ElicitAction::Accept => ElicitResult::accept(fill(&question.params, &with.fields)),
                other => ElicitResult::new(other),
            };
            async { Ok(answer) }
        })
        .on_url(move |_| {
            let answer = ElicitResult::new(url_choice());
            async { Ok(answer) }
        })
        .on_sample(move |_| {
            let answer = sample.clone();
            async { Ok(answer) }
        })
        .roots(with.roots)
        .connect()
        .await
}

/// The fields of the form that the script knows.
fn fill(form: &ElicitRequestFormParams, known: &ElicitContent) -> ElicitContent {
    let fields = form.requested_schema.properties.iter();
    fields
        .filter_map(|(name, _)| Some((name, known.get(name)?.clone())))
        .collect()
}
