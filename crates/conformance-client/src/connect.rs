//! A client with the handlers and the credentials of a scenario.

use anyhow::Result;
use sterna_client::Client;
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};

use crate::auth;
use crate::scenario::Scenario;

pub(crate) async fn connect(url: &str, scenario: &Scenario) -> Result<Client> {
    let mut builder = Client::builder(url);
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
    Ok(builder.connect().await?)
}

fn asks(scenario: &str) -> bool {
    matches!(
        scenario,
        "elicitation-sep1034-client-defaults" | "sep-2322-client-request-state"
    )
}
