//! The price of being able to pause: a route of axum alone, and the same route as
//! a pausing one, which does not pause.

use anyhow::Result;

use super::{build_others, build_route};
use crate::shell::{command, finish};

/// Puts the same load on both, and fails if the pausing route takes more CPU time
/// than it may. `options` are for the harness.
pub(crate) fn run(options: &[String]) -> Result<()> {
    let route = build_route()?.display().to_string();
    let harness = build_others(&["--bin", "bench"])?.join("bench");
    let servers = FORMS.map(|(name, form)| format!("{name}={route} --route {form}"));
    finish(
        command(
            &harness.display().to_string(),
            &["compare", "--scenarios", "route", "--flows", "0"],
        )
        .args(["--most", MOST])
        .args(options)
        .args(servers),
    )
}

/// Servers by name, and the forms of the route that they serve.
const FORMS: [(&str, &str); 3] = [
    ("axum", "bare"),
    ("pausing", "pausing"),
    ("pausing-with-store", "stored"),
];

/// CPU time of a pausing route that does not pause, in that of the same route bare.
const MOST: &str = "1.3";
