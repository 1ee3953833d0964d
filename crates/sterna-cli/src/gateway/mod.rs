//! `sterna gateway`: one endpoint in front of many servers.

mod access;
mod check;
mod reload;
mod settings;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use sterna_gateway::{Gateway, GatewayConfig, StartError};
use sterna_server::http::HttpConfig;
use sterna_server::{Server, Store};
use sterna_store_postgres::PostgresStore;
use sterna_store_sqlite::SqliteStore;
use tokio::task::JoinSet;

use crate::args::{GatewayArgs, GatewayCommand};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use settings::GatewaySettings;

pub(crate) async fn run(args: GatewayArgs, screen: Screen) -> Result<Exit, Failure> {
    if let Some(GatewayCommand::Check { file }) = &args.command {
        return check::run(file, screen).await;
    }
    let file = args.file.as_deref();
    let file = file.ok_or_else(|| Failure::usage("no file with servers is named"))?;
    let settings = GatewaySettings::read(file)?;
    if args.stdio && access::trades_tokens(&settings) {
        let reason =
            "a client on standard input shows no token that could be exchanged; serve over HTTP";
        return Err(Failure::usage(format!("{}: {reason}", file.display())));
    }
    let mut config = GatewayConfig::new(settings.servers.clone());
    config.audit.clone_from(&settings.audit);
    if let Some(store) = &args.store {
        config.store = Some(open_store(store).await?.into());
    }
    let gateway = Gateway::start(config).await;
    let gateway = gateway.map_err(|error| match error {
        StartError::Config(_) | StartError::NoServer => {
            Failure::usage(format!("{}: {error}", file.display()))
        }
        error @ StartError::Audit(_) => Failure::new(Exit::Failed, error),
        error => {
            let failure = Failure::new(Exit::Failed, anyhow::anyhow!("{error}"));
            failure.hint(format!(
                "`sterna gateway check {}` shows all servers",
                file.display()
            ))
        }
    })?;
    let mut watching = JoinSet::new();
    let watch = reload::watch(gateway.clone(), file.to_owned(), settings.clone());
    watching.spawn(watch);
    let served = serve(&gateway, &args, settings).await;
    watching.shutdown().await;
    gateway.close().await;
    served
}

async fn serve(
    gateway: &Gateway,
    args: &GatewayArgs,
    settings: GatewaySettings,
) -> Result<Exit, Failure> {
    let mut server = gateway
        .server("sterna-gateway", env!("CARGO_PKG_VERSION"))
        .log_to_stderr();
    if let Some(keys) = args.key_file.clone().or_else(|| settings.keys.clone()) {
        server = server.key_file(keys);
    }
    let (gate, probes) = access::read(&settings, gateway.probes())?;
    server = server.probes(probes);
    if let Some(gate) = gate {
        server = server.gate(gate);
    }
    if settings.metrics {
        let mut http = HttpConfig::default();
        http.metrics = true;
        server = server.http(http);
    }
    if let Some(audience) = settings.audience {
        server = server.configure(|config| config.audience = Some(audience));
    }
    if args.stdio {
        server.stdio().await?;
        return Ok(Exit::Done);
    }
    let address = args.listen.or(settings.listen).unwrap_or(DEFAULT_ADDRESS);
    listen(server, address).await
}

async fn listen(server: Server, address: SocketAddr) -> Result<Exit, Failure> {
    let served = server.serve(address).await;
    served.map_err(|error| {
        let failure = Failure::from(error);
        failure.hint("--listen names another address; off loopback a gateway needs --key-file, and `tokens` or `[auth]` in a TOML file")
    })?;
    Ok(Exit::Done)
}

/// Opens a store: a file, or a database of PostgreSQL.
async fn open_store(store: &str) -> Result<Arc<dyn Store>, Failure> {
    let failed = |error: sterna_store::Error| {
        Failure::from(anyhow::Error::from(error).context("the store cannot be opened"))
    };
    if store.starts_with("postgres://") || store.starts_with("postgresql://") {
        let config = sterna_store_postgres::Config::new(store).map_err(failed)?;
        let store = PostgresStore::connect(config).await.map_err(failed)?;
        return Ok(Arc::new(store));
    }
    let path = store.strip_prefix("sqlite:").unwrap_or(store);
    let path = path.strip_prefix("//").unwrap_or(path);
    Ok(Arc::new(
        SqliteStore::open(path, sterna_store_sqlite::Config::default()).map_err(failed)?,
    ))
}

const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
