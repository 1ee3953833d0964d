use std::path::PathBuf;

use clap::{Args, Subcommand};
use sterna_seal::UnixMillis;

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Open a token and show what it says, and why it would be refused
    Inspect(Box<InspectArgs>),
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// The token, or `-` to read it from stdin
    pub(crate) token: String,
    /// The key file of the server that sealed it
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: PathBuf,
    /// The audience it was sealed for: the server's name, unless configured otherwise
    #[arg(long)]
    pub(crate) audience: String,
    /// The tenant it was sealed for, if the server has tenants
    #[arg(long)]
    pub(crate) tenant: Option<String>,
    /// Show answers, results and the author's state, not only their sizes
    #[arg(long)]
    pub(crate) show_values: bool,

    /// Would it be taken at this time, such as 2026-07-28T00:00:00Z? Now, if not given
    #[arg(long, value_name = "TIME", help_heading = "Would it be taken?")]
    pub(crate) at: Option<UnixMillis>,
    /// … from a caller who was not asked who they are?
    #[arg(long, conflicts_with_all = ["subject", "issuer", "client"], help_heading = "Would it be taken?")]
    pub(crate) anonymous: bool,
    /// … from the caller whom the issuer calls this?
    #[arg(long, requires = "issuer", help_heading = "Would it be taken?")]
    pub(crate) subject: Option<String>,
    /// The issuer of the caller's credentials
    #[arg(long, requires = "subject", help_heading = "Would it be taken?")]
    pub(crate) issuer: Option<String>,
    /// The client the caller acts through
    #[arg(long, requires = "subject", help_heading = "Would it be taken?")]
    pub(crate) client: Option<String>,
    /// … for this tool?
    #[arg(long, value_name = "NAME", conflicts_with_all = ["prompt", "resource"], help_heading = "Would it be taken?")]
    pub(crate) tool: Option<String>,
    /// … for this prompt?
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "resource",
        help_heading = "Would it be taken?"
    )]
    pub(crate) prompt: Option<String>,
    /// … for this resource?
    #[arg(long, value_name = "URI", help_heading = "Would it be taken?")]
    pub(crate) resource: Option<String>,
    /// … with these arguments, as JSON? Needs the caller and the tool or prompt
    #[arg(
        long,
        value_name = "JSON",
        conflicts_with = "resource",
        help_heading = "Would it be taken?"
    )]
    pub(crate) arguments: Option<String>,
}
