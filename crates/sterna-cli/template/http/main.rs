//! Serves over HTTP. Settings come from the environment; README.md lists them.

use std::env;
use std::error::Error;

use mimalloc::MiMalloc;
use sterna::server::auth::{Gate, StaticTokens};
use sterna::server::http::HttpConfig;

use my_server::server;

/// A request allocates some twenty times, and each costs less here than in the
/// C library.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::var("ADDRESS").unwrap_or("127.0.0.1:8080".to_owned());
    let keys = env::var("KEY_FILE").unwrap_or("keys.toml".to_owned());
    let mut http = HttpConfig::default();
    http.hosts.extend(env::var("PUBLIC_HOST"));
    let mut server = server().key_file(keys).http(http).log_to_stderr();
    // On an address that others can reach, the server wants to know who calls.
    if let Ok(file) = env::var("TOKEN_FILE") {
        server = server.gate(Gate::guarded(StaticTokens::from_file(file)?));
    }
    server.serve(address).await?;
    Ok(())
}
