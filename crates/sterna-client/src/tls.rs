//! TLS as every connection of this crate uses it.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;

/// A configuration that trusts what the operating system trusts.
///
/// The provider is named here instead of being installed for the process: that
/// choice belongs to the application. ALPN is left empty; a transport that
/// wants HTTP/2 adds it. The system's certificates are read once per process,
/// because that takes longer than anything else here.
pub(crate) fn client_config() -> Result<ClientConfig, rustls::Error> {
    static CONFIG: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(CONFIG.get_or_init(|| config).clone())
}
