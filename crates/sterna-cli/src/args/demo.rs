use std::path::PathBuf;

use clap::Args;

/// `sterna demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Answer the questions by itself; so it does whenever stdin is not a terminal
    #[arg(long)]
    pub(crate) auto: bool,
    /// Leave the replicas running, and say what to try on them
    #[arg(long, conflicts_with = "auto")]
    pub(crate) serve: bool,
}

/// One server process of the demo.
#[derive(Args, Debug)]
pub(crate) struct ReplicaArgs {
    #[arg(long)]
    pub(crate) name: String,
    #[arg(long)]
    pub(crate) keys: PathBuf,
    /// Which build of the server to be
    #[arg(long)]
    pub(crate) build: u8,
    /// A folder for what outlives a request
    #[arg(long, value_name = "FOLDER")]
    pub(crate) store: Option<PathBuf>,
}
