//! `sterna new`: a project that builds and passes its tests.

mod name;
mod template;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde_json::json;

use crate::args::NewArgs;
use crate::exit::{Exit, Failure};
use crate::keys;
use crate::screen::Screen;
use crate::text::Text;
use name::ProjectName;
use template::{ProjectKind, Style, Transport};

pub(crate) fn run(args: NewArgs, screen: Screen) -> Result<Exit, Failure> {
    let name = ProjectName::of_folder(&args.name)?;
    let checkout = args.path.as_deref().map(checkout).transpose()?;
    let kind = ProjectKind {
        transport: match args.stdio {
            true => Transport::Stdio,
            false => Transport::Http,
        },
        style: match args.plain {
            true => Style::Plain,
            false => Style::Asking,
        },
    };
    let folder = &args.name;
    check_empty(folder)?;
    let mut written = Vec::new();
    for file in template::files(kind, &name, checkout.as_deref()) {
        write(&folder.join(file.path), &file.text)?;
        written.push(file.path);
    }
    if kind.transport == Transport::Http {
        keys::make(&folder.join(KEY_FILE), None)?;
        written.push(KEY_FILE);
    }
    let next = next_commands(folder, kind, &name);
    let json = json!({"folder": folder, "name": name.package(), "files": written, "next": next});
    screen.result(&json, report(folder, &written, &next))?;
    if let Some(workspace) = workspace_around(folder) {
        screen.warn(format!(
            "{} is inside the workspace of {}: add it to `workspace.members` there, or to \
             `workspace.exclude`",
            folder.display(),
            workspace.display()
        ));
    }
    Ok(Exit::Done)
}

/// Refuses a folder with files in it. A repository without files is empty.
fn check_empty(folder: &Path) -> Result<(), Failure> {
    let shown = folder.display();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Failure::new(
                Exit::Failed,
                anyhow!("{shown} is not a folder, and was left alone"),
            ));
        }
        Err(error) => {
            let error = anyhow!(error).context(format!("{shown} cannot be read"));
            return Err(error.into());
        }
    };
    for entry in entries {
        let found = entry.with_context(|| format!("{shown} cannot be read"))?;
        let found = found.file_name();
        if found != ".git" {
            let error = anyhow!(
                "{shown} is not empty (it has {}), and was left alone",
                found.display()
            );
            let failure = Failure::new(Exit::Failed, error);
            return Err(failure.hint("name a folder that is empty or not there yet"));
        }
    }
    Ok(())
}

/// The absolute path of a checkout of Sterna.
fn checkout(path: &Path) -> Result<PathBuf, Failure> {
    let is_one = path.join("crates/sterna/Cargo.toml").is_file();
    let found = fs::canonicalize(path).ok().filter(|_| is_one);
    found.ok_or_else(|| {
        let shown = path.display();
        let wrong = format!("{shown} is not a checkout of Sterna: it has no crates/sterna");
        Failure::usage(wrong).hint("--path names the folder that holds `crates`")
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = || format!("{} cannot be written", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    Ok(fs::write(path, text).with_context(failed)?)
}

/// Commands that show what was made, to be typed one after the other.
fn next_commands(folder: &Path, kind: ProjectKind, name: &ProjectName) -> Vec<String> {
    let call = kind.style.call();
    let call = match kind.transport {
        Transport::Http => format!("sterna call {URL} {call}"),
        Transport::Stdio => format!("sterna call {call} -- cargo run --quiet"),
    };
    let folder = match folder.to_str() {
        Some(plain) if plain.bytes().all(is_plain) => plain.to_owned(),
        // The shell would split it; its name alone is a hint enough.
        _ => format!("'…/{}'", name.package()),
    };
    vec![
        format!("cd {folder}"),
        "cargo test".to_owned(),
        "sterna dev".to_owned(),
        call,
    ]
}

/// Returns `true` for a byte that no shell treats in a way of its own.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-".contains(&byte)
}

fn report(folder: &Path, written: &[&str], next: &[String]) -> Text {
    let mut text = Text::from(format!("{} has\n", folder.display()));
    for path in written {
        text += format!("  {path}\n");
    }
    text += Text::from("\n") + Text::bold("Next:") + "\n";
    for command in next {
        text += format!("  {command}\n");
    }
    text
}

/// The manifest of a workspace in a folder above, which cargo would take the
/// project for a part of.
fn workspace_around(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let manifests = folder.ancestors().skip(1).map(|up| up.join("Cargo.toml"));
    let is_workspace = |manifest: &PathBuf| {
        let text = fs::read_to_string(manifest).unwrap_or_default();
        text.lines().any(|line| line.starts_with("[workspace"))
    };
    manifests.into_iter().find(is_workspace)
}

const KEY_FILE: &str = "keys.toml";
const URL: &str = "http://127.0.0.1:8080/mcp";
