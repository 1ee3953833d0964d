//! The inspector as a server on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use sterna_client::BoxError;
use sterna_http::auth::Gate;
use sterna_http::{ConfigError, HttpConfig, HttpServer, Probes, ServeError};
use sterna_seal::EntropyError;
use thiserror::Error;

use crate::calls::Calls;
use crate::config::{InspectorConfig, RecordConfig};
use crate::guard::Guard;
use crate::recorder::{Recorder, Recordings, StdioListener, StdioRecorder};
use crate::site::{Recorded, Site, SiteEndpoint};

/// An inspector that listens on loopback. There is no way to have it listen
/// elsewhere: it can call the server with the credentials of its user.
#[derive(Debug)]
pub struct Inspector {
    listener: TcpListener,
    address: SocketAddr,
    site: Arc<Site>,
    recording: Option<Recording>,
}

/// A client that is recorded.
#[derive(Debug)]
enum Recording {
    Http(Recorder),
    Stdio(StdioRecorder, Box<StdioListener>),
}

/// The inspector cannot start or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InspectorError {
    /// The settings of the HTTP server are not accepted.
    #[error("the pages cannot be served")]
    Config(#[from] ConfigError),
    /// There are no random bytes for the ticket.
    #[error("no ticket can be drawn")]
    Entropy(#[from] EntropyError),
    /// The port cannot be listened on.
    #[error("the port cannot be listened on")]
    Listen(#[from] io::Error),
    /// The proxy that records a client cannot start.
    #[error("the client cannot be recorded")]
    Record(#[source] BoxError),
    /// The HTTP server failed.
    #[error("the pages cannot be served")]
    Serve(#[from] ServeError),
}

impl Inspector {
    /// Listens on loopback. Needs a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`InspectorError`] if the port is taken or the system has no random bytes.
    pub fn bind(config: InspectorConfig) -> Result<Self, InspectorError> {
        let listener = sterna_http::bind((Ipv4Addr::LOCALHOST, config.port))?;
        let address = listener.local_addr()?;
        let guard = Guard::new(address.port())?;
        let calls = Arc::new(Calls::new());
        let recordings = Arc::new(Recordings::new(calls.clone()));
        let recording = match &config.record {
            Some(RecordConfig::Http { listen, url }) => {
                let recorder = Recorder::bind(*listen, url, recordings.clone());
                let failed =
                    |error: crate::recorder::RecordError| InspectorError::Record(error.into());
                Some(Recording::Http(recorder.map_err(failed)?))
            }
            Some(RecordConfig::Stdio) => {
                let (recorder, listener) = StdioListener::new(recordings.clone());
                Some(Recording::Stdio(recorder, Box::new(listener)))
            }
            None => None,
        };
        let recorded = recording.as_ref().map(|recording| Recorded {
            recordings,
            url: recording.url(),
        });
        let site = Site::new(guard, config, calls, recorded);
        Ok(Self {
            listener,
            address,
            site: Arc::new(site),
            recording,
        })
    }

    /// Address of the pages, with the ticket that opens them once.
    pub fn url(&self) -> String {
        let ticket = self.site.ticket();
        let ticket = ticket.map_or_else(String::new, |ticket| format!("?ticket={ticket}"));
        format!("http://{}/{ticket}", self.address)
    }

    /// Address for the client that is recorded, if one is over HTTP.
    pub fn record_url(&self) -> Option<String> {
        self.recording.as_ref().and_then(Recording::url)
    }

    /// Recorder of a client on stdio, if [`RecordConfig::Stdio`] was set.
    pub fn stdio_recorder(&self) -> Option<StdioRecorder> {
        match &self.recording {
            Some(Recording::Stdio(recorder, _)) => Some(recorder.clone()),
            Some(Recording::Http(_)) | None => None,
        }
    }

    /// Serves until `until` is done. Calls that run then are cancelled, and the
    /// connections to the server are closed.
    ///
    /// # Errors
    ///
    /// [`InspectorError`] if the listener cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the calls and cuts the connections.
    pub async fn serve(self, until: impl Future<Output = ()> + Send) -> Result<(), InspectorError> {
        let mut config = HttpConfig::default();
        config.path = None;
        config.pages = true;
        config.timeouts.drain = Duration::from_secs(1);
        let endpoint = SiteEndpoint(self.site.clone());
        let server = HttpServer::new(endpoint, Gate::open(), Probes::new(), config)?;
        let recording = async {
            match self.recording {
                Some(Recording::Http(recorder)) => return recorder.serve().await,
                Some(Recording::Stdio(recorder, listener)) => {
                    drop(recorder);
                    listener.listen().await;
                }
                None => {}
            }
            // The pages stay when the recorded client has gone.
            std::future::pending().await
        };
        tokio::select! {
            served = server.serve_on(self.listener, until) => drop(served?),
            recorded = recording => recorded?,
        }
        self.site.close().await;
        Ok(())
    }
}

impl Recording {
    fn url(&self) -> Option<String> {
        match self {
            Self::Http(recorder) => Some(recorder.url()),
            Self::Stdio(..) => None,
        }
    }
}
