//! Signals to a server and to the processes that it started.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Sends a signal to the server whose files are in `data`, and to its processes.
///
/// # Errors
///
/// It does not run.
pub(crate) fn signal_server(data: &Path, signal: &str) -> io::Result<()> {
    let server = server(data)?;
    // Those of a server that was killed are no longer its children.
    let children = children(&server)?;
    // The server first, so that it starts no process that is not stopped.
    send(&server, signal)?;
    for (process, _) in children {
        send(&process, signal)?;
    }
    Ok(())
}

/// Sends a signal to those processes of a server that are called `name`.
///
/// # Errors
///
/// It does not run.
pub(crate) fn signal_named(data: &Path, name: &str, signal: &str) -> io::Result<()> {
    for (process, title) in children(&server(data)?)? {
        if title.contains(name) {
            send(&process, signal)?;
        }
    }
    Ok(())
}

/// Sends a signal to a process; one that has ended needs none.
///
/// # Errors
///
/// `kill` cannot be run.
pub(crate) fn send(process: &str, signal: &str) -> io::Result<()> {
    let mut kill = Command::new("kill");
    kill.args(["-s", signal, process]).stderr(Stdio::null());
    kill.status().map(drop)
}

fn server(data: &Path) -> io::Result<String> {
    let file = std::fs::read_to_string(data.join("postmaster.pid"))?;
    Ok(file.lines().next().unwrap_or_default().trim().to_owned())
}

/// The processes that a server has started, with their titles.
fn children(server: &str) -> io::Result<Vec<(String, String)>> {
    let listed = Command::new("ps")
        .args(["-o", "pid=,args=", "--ppid", server])
        .output()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let children = listed.lines().filter_map(|line| {
        let (process, title) = line.trim().split_once(' ')?;
        Some((process.to_owned(), title.to_owned()))
    });
    Ok(children.collect())
}
