//! `sterna gateway`: one endpoint in front of many servers.

mod check;
mod settings;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use sterna_gateway::{Gateway, GatewayConfig, StartError};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{Server, Store};
use sterna_store_postgres::PostgresStore;
use sterna_store_sqlite::SqliteStore;

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
    let config = GatewayConfig::new(settings.servers.clone());
    let gateway = match &args.store {
        Some(store) => Gateway::start_with_store(config, open_store(store).await?).await,
        None => Gateway::start(config).await,
    };
    let gateway = gateway.map_err(|error| match error {
        StartError::Config(_) | StartError::NoServer => {
            Failure::usage(format!("{}: {error}", file.display()))
        }
        error => {
            let failure = Failure::new(Exit::Failed, anyhow::anyhow!("{error}"));
            failure.hint(format!(
                "`sterna gateway check {}` shows all servers",
                file.display()
            ))
        }
    })?;
    let served = serve(&gateway, &args, settings).await;
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
    if let Some(keys) = args.key_file.clone().or(settings.keys) {
        server = server.key_file(keys);
    }
    if let Some(audience) = settings.audience {
        server = server.configure(|config| config.audience = Some(audience));
    }
    if let Some(tokens) = settings.tokens {
        server = server.gate(Gate::guarded(read_tokens(tokens)?));
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
        failure.hint("--listen names another address; off loopback a gateway needs --key-file, and `tokens` in a TOML file")
    })?;
    Ok(Exit::Done)
}

fn read_tokens(file: PathBuf) -> Result<StaticTokens, Failure> {
    let tokens = StaticTokens::from_file(&file);
    Ok(tokens.with_context(|| format!("{} has no tokens of callers", file.display()))?)
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
