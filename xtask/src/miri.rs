//! The core's tests in an interpreter that sees every misuse of memory.
//!
//! No crate of ours has `unsafe` code; what is looked for is a safe function of
//! somebody else's that is not safe with what we hand it.

use anyhow::{Result, ensure};

use crate::shell::{command, finish, under_ci, works};

pub(crate) fn run() -> Result<()> {
    if !works("cargo", &["+nightly", "miri", "--version"]) {
        ensure!(!under_ci(), "Miri is missing");
        println!("skipped: Miri, rustup component add miri rust-src --toolchain nightly");
        return Ok(());
    }
    for (package, filters) in PARTS {
        let test = ["+nightly", "miri", "test", "--locked", "--lib", "--package"];
        finish(
            command("cargo", &test)
                .arg(package)
                .arg("--")
                .args(*filters)
                // Tests read expectations and environment variables.
                .env("MIRIFLAGS", "-Zmiri-disable-isolation")
                .env("PROPTEST_CASES", "2"),
        )?;
    }
    Ok(())
}

/// What can be interpreted in a few minutes: everything but tests of a thousand
/// cases, and but what calls `ring`, whose assembly Miri cannot follow.
const PARTS: &[(&str, &[&str])] = &[
    (
        "sterna-protocol",
        &[
            "jsonrpc",
            "json::",
            "lines",
            "sse",
            "http",
            "elicitation",
            "--skip",
            "laws",
            // A hundred thousand brackets, each of them interpreted.
            "--skip",
            "text_nested_without_end",
            "--skip",
            "the_limit_is_where_serde_json_has_it",
        ],
    ),
    (
        "sterna-seal",
        &["canonical::", "v1::", "budget::", "time::"],
    ),
    (
        "sterna-flow",
        &[
            "journal::",
            "decide::",
            "key::",
            "random::",
            "fingerprint::",
        ],
    ),
    (
        "sterna-store",
        &[
            "machine::",
            "status::",
            "text::",
            "id::",
            "list::",
            "backoff::",
            "time::",
        ],
    ),
];
