//! What the bare servers of the benchmark share.

mod bare;

use std::net::{SocketAddr, TcpListener};

pub use bare::Bare;

/// Binds the address of `--listen ADDR` and says so in the first line of output.
///
/// # Errors
///
/// The arguments or the address are not usable.
pub fn listen() -> anyhow::Result<tokio::net::TcpListener> {
    let mut args = std::env::args().skip_while(|arg| arg != "--listen");
    let address: SocketAddr = args.nth(1).unwrap_or("127.0.0.1:0".into()).parse()?;
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(tokio::net::TcpListener::from_std(listener)?)
}
