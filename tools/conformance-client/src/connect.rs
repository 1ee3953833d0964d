//! A client with the handlers and the credentials of a scenario.

use anyhow::Result;
use sterna_client::{Client, Era};
use sterna_protocol::content::TextContent;
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::sampling::{CreateMessageResult, SamplingMessageContentBlock};

use crate::auth;
use crate::scenario::Scenario;

pub(crate) async fn connect(url: &str, scenario: &Scenario) -> Result<Client> {
    let mut builder = Client::builder(url);
    // The suite names a revision for extensions too, though only the modern
    // one has them.
    let extension = scenario.name().starts_with("sep-2640-");
    if scenario.version() != "2026-07-28" && !extension {
        builder = builder.era(Era::Legacy);
    }
    if scenario.name().starts_with("auth/") {
        builder = builder.auth(auth::oauth(url, scenario)?);
    }
    if asks(scenario.name()) {
        builder = builder.on_form(|question| async move {
            // Whoever says yes and fills in nothing gets the defaults.
            let mut content = ElicitContent::default();
            let form = question.params.requested_schema;
            if form.properties.get("confirmed").is_some() {
                content.insert("confirmed", true);
            }
            Ok(ElicitResult::accept(content))
        });
    }
    if scenario.name() == "request-metadata" {
        // The suite looks at capabilities only where some are declared.
        builder = builder.roots([]).on_sample(|_| async {
            let text = SamplingMessageContentBlock::Text(TextContent::new("Hello"));
            Ok(CreateMessageResult::new("none", text))
        });
    }
    Ok(builder.connect().await?)
}

fn asks(scenario: &str) -> bool {
    matches!(
        scenario,
        "elicitation-sep1034-client-defaults"
            | "request-metadata"
            | "sep-2322-client-request-state"
    )
}
