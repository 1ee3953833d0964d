//! What the user sees: data on stdout, messages on stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::args::Global;
use crate::exit::{Exit, Failure};

/// How results and messages are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Results are JSON, one value on stdout and nothing else there.
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
}

impl Screen {
    pub(crate) fn new(global: &Global) -> Self {
        Self {
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
        }
    }

    /// Whether a person is there to be asked.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Writes the result: `json` for programs, `text` for people.
    pub(crate) fn result(&self, json: &impl Serialize, text: impl AsRef<str>) -> io::Result<()> {
        if self.json {
            self.json(json)
        } else {
            write_out(text.as_ref())
        }
    }

    /// Writes a JSON value, on several lines if a person looks at it.
    pub(crate) fn json(&self, json: &impl Serialize) -> io::Result<()> {
        let text = if io::stdout().is_terminal() {
            serde_json::to_string_pretty(json)?
        } else {
            serde_json::to_string(json)?
        };
        write_out(&format!("{text}\n"))
    }

    /// Writes one of many results: a line of JSON for programs, `text` for
    /// people.
    pub(crate) fn line(&self, json: &impl Serialize, text: impl AsRef<str>) -> io::Result<()> {
        match self.json {
            true => write_out(&format!("{}\n", serde_json::to_string(json)?)),
            false => write_out(text.as_ref()),
        }
    }

    /// Tells the user something, unless they want to hear nothing.
    pub(crate) fn note(&self, message: impl AsRef<str>) {
        if !self.quiet {
            write_err(message.as_ref());
        }
    }

    /// Tells the user more, if they want to hear more.
    pub(crate) fn detail(&self, message: impl AsRef<str>) {
        if self.verbose {
            write_err(message.as_ref());
        }
    }

    /// Says what is asked; a question is heard however quiet it is.
    pub(crate) fn ask(&self, message: impl AsRef<str>) {
        write_err(message.as_ref());
    }

    /// Tells why the command ends, and what to do.
    pub(crate) fn failure(&self, failure: &Failure) {
        let error = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let hint = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let mut text = format!("{error}error{error:#}: {:#}", failure.error);
        if let Some(line) = &failure.hint {
            text.push_str(&format!("\n {hint}hint{hint:#}: {line}"));
        }
        write_err(&text);
        if self.json && failure.exit != Exit::Usage {
            let value = serde_json::json!({"error": {
                "exit": failure.exit as u8,
                "message": format!("{:#}", failure.error),
                "hint": failure.hint,
            }});
            // Whoever has closed stdout does not want to read it.
            let _ = self.json(&value);
        }
    }
}

/// Writes to stdout; a reader that has seen enough, such as `head`, is no error.
fn write_out(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn write_err(line: &str) {
    let mut stderr = anstream::stderr().lock();
    // There is nowhere left to say that stderr is gone.
    let _ = writeln!(stderr, "{line}");
}

/// For headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// For what matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// For what is as it should be.
pub(crate) const GOOD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// For what is not.
pub(crate) const BAD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
