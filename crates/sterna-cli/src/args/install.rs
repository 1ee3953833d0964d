use clap::{Args, ValueEnum};

/// `sterna install`.
#[derive(Args, Debug)]
pub(crate) struct InstallArgs {
    /// The host that is to use the server
    pub(crate) host: Host,
    /// Name of the server in the host
    pub(crate) name: String,
    /// The URL of the server (not with `-- COMMAND`)
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// The command that starts the server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// A variable of the server's environment; hosts put variables of their own in for `${…}`
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, requires = "command")]
    pub(crate) env: Vec<(String, String)>,
    /// Write into the configuration of the project in this folder, not of the user
    #[arg(long)]
    pub(crate) project: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// Write without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Program that uses MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
