use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `sterna gateway`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct GatewayArgs {
    #[command(subcommand)]
    pub(crate) command: Option<GatewayCommand>,
    /// The servers: an mcp.json as other hosts write it, or a TOML file that says more
    #[arg(value_name = "FILE", required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "stdio")]
    pub(crate) listen: Option<SocketAddr>,
    /// The keys that seal request state; needed off loopback, the same for every replica
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// A store for all replicas, so that a lost response is sent again and answers reach the replica
    /// that holds a call: a SQLite file or a postgres:// URL
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Serve one client on standard input and output
    #[arg(long)]
    pub(crate) stdio: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    /// Look at each server, and say what to expect of it
    Check {
        /// The file with the servers
        file: PathBuf,
    },
}
