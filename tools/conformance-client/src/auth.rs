//! The credentials of each authorization scenario.

use anyhow::Result;
use sterna_client::oauth::{
    AuthorizationCode, ClientAuth, ClientCredentials, ClientMetadata, Config, EnterpriseManaged,
    Grant, Headless, IdentityProvider, MissingMetadata, OAuth, Registration, Secret, SigningKey,
    WorkloadIdentity,
};

use crate::scenario::Scenario;

pub(crate) fn oauth(url: &str, scenario: &Scenario) -> Result<OAuth> {
    let mut config = Config::default();
    if scenario.name().starts_with("auth/2025-03-26-") {
        // That revision knows no protected resource metadata.
        config.missing_metadata = MissingMetadata::AssumeOrigin;
    }
    Ok(OAuth::builder(url, grant(scenario)?)
        .config(config)
        .build()?)
}

fn grant(scenario: &Scenario) -> Result<Grant> {
    let text = |member| scenario.text(member);
    Ok(match scenario.name() {
        "auth/client-credentials-basic" => ClientCredentials::new(with_secret(scenario)?).into(),
        "auth/client-credentials-jwt" => {
            let key = SigningKey::from_pem(&text("private_key_pem")?)?;
            ClientCredentials::new(registration(scenario, ClientAuth::key(key))?).into()
        }
        "auth/enterprise-managed-authorization" => {
            let provider = IdentityProvider::new(
                text("idp_issuer")?,
                text("idp_client_id")?,
                ClientAuth::none(),
            );
            let token = Secret::from(text("idp_id_token")?);
            EnterpriseManaged::new(with_secret(scenario)?, provider, token).into()
        }
        "auth/pre-registration" => {
            let secret = ClientAuth::secret(text("client_secret")?);
            let registration = Registration::new(text("issuer")?, text("client_id")?, secret);
            user().registered(registration).into()
        }
        "auth/wif-jwt-bearer" => {
            let token = Secret::from(text("valid_jwt")?);
            WorkloadIdentity::new(registration(scenario, ClientAuth::none())?, token).into()
        }
        _ => user()
            .metadata_document("https://conformance-test.local/client-metadata.json")
            .dynamic_registration(ClientMetadata::new("conformance-client"))
            .into(),
    })
}

/// A user who says yes at once, as the suite's authorization servers expect.
fn user() -> AuthorizationCode {
    AuthorizationCode::new(Headless::new("http://localhost:3000/callback"))
}

fn with_secret(scenario: &Scenario) -> Result<Registration> {
    let secret = ClientAuth::secret(scenario.text("client_secret")?);
    registration(scenario, secret)
}

/// The suite gives these clients without the issuer that knows them.
fn registration(scenario: &Scenario, auth: ClientAuth) -> Result<Registration> {
    let id = scenario.text("client_id")?;
    Ok(Registration::dangerous_any_issuer(id, auth))
}
