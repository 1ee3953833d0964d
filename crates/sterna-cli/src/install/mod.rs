//! `sterna install`: the entry of a server in the configuration of a host.

mod edit;
mod host;

mod host_config;

use std::path::{MAIN_SEPARATOR, Path};

use anyhow::{Context as _, anyhow};
use inquire::InquireError;
use serde_json::{Value, json};

use crate::args::InstallArgs;
use crate::ask::Prompt;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::text::{Text, excerpt};
use edit::Edited;
use host::{Offered, Scope, UserFolders};
use host_config::HostConfig;

pub(crate) fn run(args: InstallArgs, screen: Screen) -> Result<Exit, Failure> {
    check_name(&args.name)?;
    let scope = match args.project {
        true => Scope::Project,
        false => Scope::User,
    };
    let host = args.host;
    let server = offered(&args, scope, screen)?;
    let entry = host.entry(&server)?;
    let path = host.file(scope, &UserFolders::of_environment());
    let whole = json!({host.member(): {args.name.as_str(): entry}});
    if args.print {
        return print(path.as_deref().ok(), &whole, screen);
    }
    let file = HostConfig::read(path?)?;
    let edited = edit::set(file.text(), host.member(), &args.name, &entry);
    let edited = edited.map_err(|error| {
        let shown = file.path().display();
        let error = anyhow!(error).context(format!("{shown} was left alone"));
        let member = host.member();
        Failure::new(Exit::Failed, error).hint(format!(
            "add this to `{member}` in it:\n\"{}\": {entry:#}",
            args.name
        ))
    })?;
    let (text, replaced) = match edited {
        Edited::Changed { text, replaced } => (text, replaced),
        Edited::Unchanged => {
            let shown = file.path().display();
            screen.note(format!(
                "{shown} has this entry already; nothing was written"
            ));
            return report(&file, None, &entry, screen);
        }
    };
    if !args.yes && !agreed(&args, &file, &entry, replaced.as_ref(), screen)? {
        screen.note("nothing was written");
        return Ok(Exit::Declined);
    }
    let backup = file.replace(&text, scope)?;
    if let Some(backup) = &backup {
        screen.note(format!("the file of before is {}", backup.display()));
    }
    screen.note(host.next());
    report(&file, backup.as_deref(), &entry, screen)
}

fn print(path: Option<&Path>, whole: &Value, screen: Screen) -> Result<Exit, Failure> {
    if let Some(path) = path {
        screen.note(format!("for {}", path.display()));
    }
    let json = json!({"file": path, "config": whole});
    screen.result(&json, format!("{whole:#}\n"))?;
    Ok(Exit::Done)
}

fn report(
    file: &HostConfig,
    backup: Option<&Path>,
    entry: &Value,
    screen: Screen,
) -> Result<Exit, Failure> {
    let path = file.path();
    let json = json!({"file": path, "backup": backup, "entry": entry});
    screen.result(&json, format!("{}\n", path.display()))?;
    Ok(Exit::Done)
}

/// Shows what is to be written, and asks.
fn agreed(
    args: &InstallArgs,
    file: &HostConfig,
    entry: &Value,
    replaced: Option<&Value>,
    screen: Screen,
) -> Result<bool, Failure> {
    let path = file.path().display();
    if !Screen::is_interactive() {
        let missing = anyhow!("there is no terminal on which to agree to a change of {path}");
        return Err(Failure::new(Exit::InputRequired, missing)
            .hint("--yes writes without asking, --print only shows"));
    }
    let mut text = Text::bold(format!("{path}")) + " gets\n";
    text += format!("\"{}\": {entry:#}\n", args.name);
    if let Some(replaced) = replaced {
        text += Text::bold("in the place of") + format!("\n{replaced:#}\n");
    }
    screen.ask(text);
    let labels = ["Yes, write it", "No, leave the file alone"];
    match Prompt::new("Write this?").pick(&labels, 0) {
        Ok(picked) => Ok(picked == Some(0)),
        Err(InquireError::OperationInterrupted) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A name that every host takes: Claude Code is the strictest.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match !name.is_empty() && name.bytes().all(is_plain) {
        true => Ok(()),
        false => Err(
            Failure::usage(format!("`{}` is no name that hosts take", excerpt(name)))
                .hint("use letters from a to z, digits, `-` and `_`"),
        ),
    }
}

fn offered(args: &InstallArgs, scope: Scope, screen: Screen) -> Result<Offered, Failure> {
    if let Some(url) = &args.url {
        let is_http =
            url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        return match is_http {
            true => Ok(Offered::Url(url.clone())),
            false => Err(Failure::usage(format!("`{}` is not a URL", excerpt(url)))
                .hint("a URL begins with http:// or https://; a command stands after `--`")),
        };
    }
    let [program, rest @ ..] = args.command.as_slice() else {
        return Err(Failure::usage("no command stands after `--`"));
    };
    Ok(Offered::Command {
        program: program_for(program, args, scope, screen)?,
        args: rest.to_vec(),
        env: args.env.clone(),
    })
}

/// The program as a host finds it, which starts it in a folder of its own choice.
fn program_for(
    program: &str,
    args: &InstallArgs,
    scope: Scope,
    screen: Screen,
) -> Result<String, Failure> {
    let is_path = program.contains(['/', MAIN_SEPARATOR]);
    if !is_path {
        if !args.print && !is_in_path(program) {
            screen.warn(format!(
                "`{}` is in no folder of $PATH; a host will not find it either",
                excerpt(program)
            ));
        }
        return Ok(program.to_owned());
    }
    if !args.print && !Path::new(program).is_file() {
        let missing = anyhow!("the program {} is not there", excerpt(program));
        return Err(Failure::new(Exit::Failed, missing)
            .hint("build it first, such as with `cargo build --release`"));
    }
    match (Path::new(program).is_absolute(), scope) {
        (true, _) => Ok(program.to_owned()),
        (false, Scope::Project) => Ok(args.host.in_project(program)),
        (false, Scope::User) => {
            let absolute = std::path::absolute(program).context("this folder is not known")?;
            let path = absolute.into_os_string().into_string();
            path.map_err(|path| anyhow!("{} cannot be written as text", path.display()).into())
        }
    }
}

fn is_in_path(program: &str) -> bool {
    let path = environment::var("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let endings = ["", ".exe", ".cmd", ".bat"];
    folders.any(|folder| {
        let mut names = endings.iter().map(|ending| format!("{program}{ending}"));
        names.any(|name| folder.join(name).is_file())
    })
}
