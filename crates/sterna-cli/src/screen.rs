//! The terminal: data on stdout, messages on stderr.
//!
//! Everything that is written is a [`Text`] or escaped JSON, so that no string of
//! a server reaches the terminal as it came.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use sterna_protocol::logging::LoggingLevel;

use crate::args::Global;
use crate::exit::{Exit, Failure};
use crate::text::{JsonLayout, Text, printable_json};

/// Output of results and messages.
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

    /// Returns true if a person can be asked.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// The log messages of a server that the user wants to see.
    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        match (self.quiet, self.verbose) {
            (true, _) => None,
            (false, true) => Some(LoggingLevel::Debug),
            (false, false) => Some(LoggingLevel::Info),
        }
    }

    /// Writes the result: `json` for programs, `text` for people.
    pub(crate) fn result(&self, json: &impl Serialize, text: impl Into<Text>) -> io::Result<()> {
        if self.json {
            self.json(json)
        } else {
            write_out(text.into().as_str())
        }
    }

    /// Writes a JSON value, on several lines if a person looks at it.
    pub(crate) fn json(&self, json: &impl Serialize) -> io::Result<()> {
        let text = if io::stdout().is_terminal() {
            printable_json(&serde_json::to_string_pretty(json)?, JsonLayout::Lines)
        } else {
            printable_json(&serde_json::to_string(json)?, JsonLayout::OneLine)
        };
        write_out(&format!("{text}\n"))
    }

    /// Writes one of many results: a line of JSON for programs, `text` for
    /// people.
    pub(crate) fn line(&self, json: &impl Serialize, text: impl Into<Text>) -> io::Result<()> {
        if self.json {
            let json = printable_json(&serde_json::to_string(json)?, JsonLayout::OneLine);
            write_out(&format!("{json}\n"))
        } else {
            write_out(text.into().as_str())
        }
    }

    /// Tells the user something, unless they want to hear nothing.
    pub(crate) fn note(&self, message: impl Into<Text>) {
        if !self.quiet {
            write_err(&message.into());
        }
    }

    /// Tells the user of a probable mistake, however quiet the command is.
    pub(crate) fn warn(&self, message: impl Into<Text>) {
        write_err(&(Text::hint("warning") + ": " + message));
    }

    /// Tells the user more, if they want to hear more.
    pub(crate) fn detail(&self, message: impl Into<Text>) {
        if self.verbose {
            write_err(&message.into());
        }
    }

    /// Shows a question, however quiet the command is.
    pub(crate) fn ask(&self, message: impl Into<Text>) {
        write_err(&message.into());
    }

    /// Tells why the command ends, and what to do.
    pub(crate) fn failure(&self, failure: &Failure) {
        let mut text = Text::error("error") + format!(": {:#}", failure.error);
        if let Some(hint) = &failure.hint {
            text += Text::from("\n ") + Text::hint("hint") + ": " + hint;
        }
        write_err(&text);
        if self.json && failure.exit != Exit::Usage {
            let value = serde_json::json!({"error": {
                "exit": failure.exit as u8,
                "message": format!("{:#}", failure.error),
                "hint": failure.hint,
            }});
            // A reader that has closed stdout does not want to read it.
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

fn write_err(line: &Text) {
    let mut stderr = anstream::stderr().lock();
    // There is nowhere left to say that stderr is gone.
    let _ = writeln!(stderr, "{}", line.as_str());
}
