//! Encryption of connections.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use sterna_store::{Error, ErrorKind};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Config, Trust};

/// Encryption as `sslmode` asks for it. A certificate is always verified.
pub(crate) fn tls(config: &Config) -> Result<MakeRustlsConnect, Error> {
    let mut roots = RootCertStore::empty();
    // What is never used need not be read.
    if config.server.get_ssl_mode() != SslMode::Disable {
        match &config.trust {
            Trust::System => {
                let (found, _) =
                    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if found == 0 && config.server.get_ssl_mode() == SslMode::Require {
                    return Err(untrusting("the system trusts no authority at all", None));
                }
            }
            Trust::File(path) => {
                let what = format!("{} holds no certificate that can be read", path.display());
                let certificates = CertificateDer::pem_file_iter(path)
                    .and_then(Iterator::collect::<Result<Vec<_>, _>>);
                match certificates {
                    Ok(certificates) => {
                        let (found, _) = roots.add_parsable_certificates(certificates);
                        if found == 0 {
                            return Err(untrusting(what, None));
                        }
                    }
                    Err(error) => return Err(untrusting(what, Some(Box::new(error)))),
                }
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Internal, "TLS cannot be set up").because(error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(client))
}

fn untrusting(
    what: impl fmt::Display,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    let error = Error::new(ErrorKind::Denied, what.to_string()).with_code("MR0705");
    match cause {
        Some(cause) => error.because(cause),
        None => error,
    }
}
