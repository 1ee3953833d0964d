use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use sterna_seal::UnixMillis;

use crate::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key file with one key; a file that exists is left alone
    New {
        /// The file to make
        file: PathBuf,
        /// Something to remember the key by
        #[arg(long)]
        comment: Option<String>,
    },
    /// List the keys of a file: what each does now, never the secrets
    List {
        /// The key file
        file: PathBuf,
    },
    /// Add a key that takes over later, and say what to deploy and when
    Rotate {
        /// The key file
        file: PathBuf,
        /// Time until every replica has the file
        #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration::parse)]
        rollout: Duration,
        /// The longest round that any tool of the server allows
        #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration::parse)]
        longest_round: Duration,
        /// Something to remember the key by
        #[arg(long)]
        comment: Option<String>,
        /// Show what would be done, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Check that servers can use a file, now or at a given time
    Check {
        /// The key file
        file: PathBuf,
        /// The time to check for, such as 2026-07-28T00:00:00Z
        #[arg(long, value_name = "TIME")]
        at: Option<UnixMillis>,
    },
}
