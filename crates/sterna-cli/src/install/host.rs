//! Hosts: where each has its configuration, and the shape of an entry there.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::args::Host;
use crate::environment;
use crate::exit::Failure;

/// Owner of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The project in the current folder.
    Project,
    User,
}

/// A server, as a host is told of it.
#[derive(Clone, Debug)]
pub(super) enum Offered {
    Command {
        program: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
    },
    Url(String),
}

/// Folders of a user.
#[derive(Clone, Debug)]
pub(super) struct UserFolders {
    system: System,
    home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`
    config: Option<PathBuf>,
    /// `%APPDATA%`
    app_data: Option<PathBuf>,
    /// `$CLAUDE_CONFIG_DIR`
    claude: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Linux,
    MacOs,
    Windows,
}

impl UserFolders {
    pub(super) fn of_environment() -> Self {
        let folder = |name| environment::var(name).map(PathBuf::from);
        let system = match std::env::consts::OS {
            "macos" => System::MacOs,
            "windows" => System::Windows,
            _ => System::Linux,
        };
        Self {
            system,
            home: folder(match system {
                System::Windows => "USERPROFILE",
                System::Linux | System::MacOs => "HOME",
            }),
            config: folder("XDG_CONFIG_HOME"),
            app_data: folder("APPDATA"),
            claude: folder("CLAUDE_CONFIG_DIR"),
        }
    }

    /// The folder in which programs of the desktop have their settings.
    fn applications(&self) -> Option<PathBuf> {
        match self.system {
            System::Linux => {
                let own = || Some(self.home.as_ref()?.join(".config"));
                self.config.clone().or_else(own)
            }
            System::MacOs => Some(self.home.as_ref()?.join("Library/Application Support")),
            System::Windows => self.app_data.clone(),
        }
    }
}

impl Host {
    /// Name for people.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
        }
    }

    /// The file in which the host looks for servers.
    pub(super) fn file(self, scope: Scope, folders: &UserFolders) -> Result<PathBuf, Failure> {
        let file = match (self, scope) {
            (Self::ClaudeDesktop, Scope::Project) => {
                let wrong = "Claude Desktop has no configuration of a project";
                return Err(Failure::usage(wrong).hint("leave --project out"));
            }
            (Self::ClaudeCode, Scope::Project) => Some(".mcp.json".into()),
            (Self::Cursor, Scope::Project) => Some(".cursor/mcp.json".into()),
            (Self::VsCode, Scope::Project) => Some(".vscode/mcp.json".into()),
            (Self::ClaudeCode, Scope::User) => {
                let folder = folders.claude.as_ref().or(folders.home.as_ref());
                folder.map(|folder| folder.join(".claude.json"))
            }
            (Self::Cursor, Scope::User) => {
                let home = folders.home.as_ref();
                home.map(|home| home.join(".cursor/mcp.json"))
            }
            (Self::ClaudeDesktop, Scope::User) => {
                let folder = folders.applications();
                folder.map(|folder| folder.join("Claude/claude_desktop_config.json"))
            }
            (Self::VsCode, Scope::User) => {
                let folder = folders.applications();
                folder.map(|folder| folder.join("Code/User/mcp.json"))
            }
        };
        let title = self.title();
        file.ok_or_else(|| {
            Failure::usage(format!(
                "the folder of {title} is not known: $HOME is not set"
            ))
            .hint("--print shows what to write")
        })
    }

    /// The member that holds the servers.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor => "mcpServers",
        }
    }

    /// The entry for a server.
    pub(super) fn entry(self, server: &Offered) -> Result<Value, Failure> {
        let names_type = matches!(self, Self::ClaudeCode | Self::VsCode);
        let mut entry = Map::new();
        match server {
            Offered::Command { program, args, env } => {
                if names_type {
                    entry.insert("type".to_owned(), "stdio".into());
                }
                entry.insert("command".to_owned(), json!(program));
                entry.insert("args".to_owned(), json!(args));
                if !env.is_empty() {
                    let env = env.iter().map(|(name, value)| (name.clone(), json!(value)));
                    entry.insert("env".to_owned(), Value::Object(env.collect()));
                }
            }
            Offered::Url(_) if self == Self::ClaudeDesktop => {
                let wrong = "the configuration of Claude Desktop has no servers with a URL";
                return Err(
                    Failure::usage(wrong).hint("add it in the program, under Settings, Connectors")
                );
            }
            Offered::Url(url) => {
                if names_type {
                    entry.insert("type".to_owned(), "http".into());
                }
                entry.insert("url".to_owned(), json!(url));
            }
        }
        Ok(Value::Object(entry))
    }

    /// A program that lies in the project, by a path that holds on every machine.
    pub(super) fn in_project(self, program: &str) -> String {
        match self {
            Self::Cursor | Self::VsCode => {
                let path = program.trim_start_matches("./");
                format!("${{workspaceFolder}}/{path}")
            }
            Self::ClaudeCode | Self::ClaudeDesktop => program.to_owned(),
        }
    }

    /// Advice for the time after an entry was written.
    pub(super) const fn next(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code connects to it in its next session; `/mcp` shows it",
            Self::ClaudeDesktop => "quit Claude Desktop and start it again to use the server",
            Self::Cursor => "Cursor shows it under Settings, MCP, where it can be turned on",
            Self::VsCode => "start it in VS Code with the command \"MCP: List Servers\"",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::expect;

    use super::*;

    #[test]
    fn every_system_has_its_places() {
        let mut shown = String::new();
        for system in [System::Linux, System::MacOs, System::Windows] {
            let folders = UserFolders {
                system,
                home: Some("~".into()),
                config: None,
                app_data: Some("%APPDATA%".into()),
                claude: None,
            };
            for host in [
                Host::ClaudeCode,
                Host::ClaudeDesktop,
                Host::Cursor,
                Host::VsCode,
            ] {
                let file = host.file(Scope::User, &folders).unwrap();
                let file = file.display().to_string().replace('\\', "/");
                writeln!(shown, "{system:?} {}: {file}", host.title()).unwrap();
            }
        }
        expect![[r"
            Linux Claude Code: ~/.claude.json
            Linux Claude Desktop: ~/.config/Claude/claude_desktop_config.json
            Linux Cursor: ~/.cursor/mcp.json
            Linux VS Code: ~/.config/Code/User/mcp.json
            MacOs Claude Code: ~/.claude.json
            MacOs Claude Desktop: ~/Library/Application Support/Claude/claude_desktop_config.json
            MacOs Cursor: ~/.cursor/mcp.json
            MacOs VS Code: ~/Library/Application Support/Code/User/mcp.json
            Windows Claude Code: ~/.claude.json
            Windows Claude Desktop: %APPDATA%/Claude/claude_desktop_config.json
            Windows Cursor: ~/.cursor/mcp.json
            Windows VS Code: %APPDATA%/Code/User/mcp.json
        "]]
        .assert_eq(&shown);
    }
}
