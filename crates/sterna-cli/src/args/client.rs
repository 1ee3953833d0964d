use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sterna_store::Rings;

use super::{AskingArgs, ConnectArgs, PresetArgs, RequestArgs};

/// `sterna call`, and commands of the same shape.
#[derive(Args, Debug)]
pub(crate) struct CallArgs {
    /// The server (not with `-- COMMAND`), the tool, and arguments: `key=text` or `key:=json`
    #[arg(value_name = "[TARGET] TOOL [ARGUMENT]...", required = true)]
    pub(crate) words: Vec<String>,
    /// A file with the arguments as a JSON object, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) args: Option<PathBuf>,
    /// Have the call become a task if it can; print its handle and leave it to itself
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// `sterna call-http`.
#[derive(Args, Debug)]
pub(crate) struct CallHttpArgs {
    /// The method, such as POST
    pub(crate) method: String,
    /// The address, which begins with http:// or https://
    pub(crate) url: String,
    /// The body: JSON, a file as `@FILE`, or `-` for stdin
    pub(crate) body: Option<String>,
    /// A header field to send, `Name: value`, without secrets; can be given several times
    #[arg(short = 'H', long = "header", value_name = "FIELD")]
    pub(crate) headers: Vec<String>,
    /// Prefer long work to become an operation, and follow that
    #[arg(long = "async")]
    pub(crate) respond_async: bool,
    /// The Idempotency-Key of the request [default: a new one for each POST]
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    #[command(flatten)]
    pub(crate) answers: PresetArgs,
    #[command(flatten)]
    pub(crate) connection: RequestArgs,
}

/// `sterna prompt`.
#[derive(Args, Debug)]
pub(crate) struct PromptArgs {
    /// The server (not with `-- COMMAND`), the prompt, and arguments: `key=text`
    #[arg(value_name = "[TARGET] PROMPT [ARGUMENT]...", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// `sterna read`.
#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    /// The server (not with `-- COMMAND`) and the URI of the resource
    #[arg(value_name = "[TARGET] URI", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// `sterna resume`.
#[derive(Args, Debug)]
pub(crate) struct ResumeArgs {
    /// The file that `--save` wrote, or `-` for stdin
    pub(crate) file: PathBuf,
    /// The server by its name in an mcp.json, or at another URL; answers and state go there
    #[arg(long, value_name = "TARGET")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// `sterna list`.
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// The kind to list; everything, if not given
    #[arg(long, value_enum)]
    pub(crate) only: Option<Kind>,
}

/// `sterna listen`.
#[derive(Args, Debug)]
pub(crate) struct ListenArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Hear of the list of tools; of all lists, if nothing is named
    #[arg(long)]
    pub(crate) tools: bool,
    /// Hear of the list of prompts
    #[arg(long)]
    pub(crate) prompts: bool,
    /// Hear of the list of resources
    #[arg(long)]
    pub(crate) resources: bool,
    /// Hear of a resource; can be given several times
    #[arg(long, value_name = "URI")]
    pub(crate) resource: Vec<String>,
    /// Hear of a task; can be given several times
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Vec<String>,
    /// End after so many changes
    #[arg(long, value_name = "NUMBER")]
    pub(crate) count: Option<u64>,
}

/// Lists of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Prompts,
    Resources,
    Templates,
    Tools,
}

/// `sterna doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Call this tool to see whether it asks: `"TOOL [key=value]..."`; can be given several times
    #[arg(long = "try", value_name = "CALL")]
    pub(crate) trials: Vec<String>,
    /// The store of the server, to see what a failover of it would lose: a SQLite file or a postgres:// URL; once for each shard
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Vec<String>,
    /// The schema of the store in PostgreSQL [default: sterna]
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(crate) schema: Option<String>,
}

/// Place where a client is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordAt {
    /// A proxy on this machine.
    Http(SocketAddr),
    /// The stdin and stdout of this command.
    Stdio,
}

fn record_at(text: &str) -> Result<RecordAt, String> {
    match text {
        "stdio" => Ok(RecordAt::Stdio),
        address => listen_address(address).map(RecordAt::Http),
    }
}

/// Reads `PORT`, `localhost:PORT` or an address of this machine alone.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("`{text}` is no address such as 127.0.0.1:8700, and not `stdio`");
    let address = match text.parse::<u16>() {
        Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Err(_) => {
            let text = text.replacen("localhost:", "127.0.0.1:", 1);
            text.parse().map_err(|_| wrong())?
        }
    };
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err("only this machine can be listened to: write 127.0.0.1:PORT".to_owned()),
    }
}

/// `sterna inspect`.
#[derive(Args, Debug)]
pub(crate) struct InspectServerArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// The key file of the server, to open its request state
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// The audience of its request state: the server's name, unless configured otherwise
    #[arg(long, requires = "keys")]
    pub(crate) audience: Option<String>,
    /// The tenant of its request state, if the server has tenants
    #[arg(long, requires = "keys")]
    pub(crate) tenant: Option<String>,
    /// The store of the server, read only: a SQLite file or a postgres:// URL; once for each shard
    #[arg(long, value_name = "URL", env = "STERNA_STORE", hide_env_values = true)]
    pub(crate) store: Vec<String>,
    /// Numbers of shards before and since more of them were added, such as 2,4
    #[arg(long, value_name = "RINGS", requires = "store")]
    pub(crate) rings: Option<Rings>,
    /// The schema of the store in PostgreSQL [default: sterna]
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(crate) schema: Option<String>,
    /// Record a client: listen here, such as 127.0.0.1:8700, and send its requests on to the server; or `stdio`, for a client that starts this command instead of the server
    #[arg(long, value_name = "LISTEN", value_parser = record_at)]
    pub(crate) record: Option<RecordAt>,
    /// Write the address of the page to this file, which only you can read
    #[arg(long, value_name = "FILE")]
    pub(crate) url_file: Option<PathBuf>,
    /// A command that writes for the model: the messages on stdin, the answer on stdout
    #[arg(long, value_name = "COMMAND")]
    pub(crate) sampler: Option<String>,
    /// Print the address, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// `sterna discover`, and commands that take nothing but a server.
#[derive(Args, Debug)]
pub(crate) struct TargetArgs {
    /// The server (not with `-- COMMAND`)
    #[arg(value_name = "TARGET")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: ConnectArgs,
}

/// `sterna complete`.
#[derive(Args, Debug)]
pub(crate) struct CompleteArgs {
    /// The server (not with `-- COMMAND`), the argument as typed so far, and known ones: `key=text`
    #[arg(value_name = "[TARGET] ARGUMENT=TEXT [KNOWN=TEXT]...", required = true)]
    pub(crate) words: Vec<String>,
    /// The prompt that takes the argument
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "template",
        conflicts_with = "template"
    )]
    pub(crate) prompt: Option<String>,
    /// The resource template that takes it
    #[arg(long, value_name = "PATTERN")]
    pub(crate) template: Option<String>,
    #[command(flatten)]
    pub(crate) connect: ConnectArgs,
}

/// `sterna task …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Answer what a task asks, and leave it to itself
    Answer(Box<AnswerTaskArgs>),
    /// Ask that a task be called off
    Cancel(Box<TaskArgs>),
    /// Follow a task to its end, and answer what it asks
    Follow(Box<AnswerTaskArgs>),
    /// Show how a task stands
    Get(Box<TaskArgs>),
}

/// `sterna task get` and `sterna task cancel`.
#[derive(Args, Debug)]
pub(crate) struct TaskArgs {
    /// The server (not with `-- COMMAND`) and the id of the task
    #[arg(value_name = "[TARGET] TASK", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: ConnectArgs,
}

/// `sterna task follow` and `sterna task answer`.
#[derive(Args, Debug)]
pub(crate) struct AnswerTaskArgs {
    /// The server (not with `-- COMMAND`) and the id of the task
    #[arg(value_name = "[TARGET] TASK", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}
