//! `sterna inspect --record stdio`: in front of a server that a client starts.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use sterna_inspect::{Inspector, StdioRecorder};
use tokio::process::Child;
use tokio::sync::oneshot;

use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::target::Server;

/// Starts the server, passes its messages on, and ends when it has ended.
pub(crate) async fn run(
    inspector: Inspector,
    recorder: StdioRecorder,
    server: &Server,
) -> Result<Exit, Failure> {
    let (mut child, output) = start(recorder, server)?;
    let (end, ended) = oneshot::channel::<()>();
    let pages = inspector.serve(async {
        ended.await.ok();
    });
    let passing = async {
        let status = end_of(&mut child).await;
        tokio::time::timeout(LAST_OUTPUT, output).await.ok();
        // The pages end with the server.
        drop(end);
        status
    };
    let (served, status) = tokio::join!(pages, passing);
    served.map_err(anyhow::Error::from)?;
    match status.context("the server cannot be waited for")? {
        Some(status) if !status.success() => {
            Err(Failure::from(anyhow!("the server has ended: {status}")))
        }
        Some(_) | None => Ok(Exit::Done),
    }
}

/// Starts the server between two threads that pass its input and its output on, so
/// that no page can hold them up. The receiver hears of the end of its output.
fn start(
    recorder: StdioRecorder,
    server: &Server,
) -> Result<(Child, oneshot::Receiver<()>), Failure> {
    let Server::Command {
        program,
        args,
        env,
        folder,
    } = server
    else {
        return Err(Failure::usage("`--record stdio` records a command"));
    };
    let (for_server, to_server) = io::pipe().context("no pipe to the server")?;
    let (from_server, of_server) = io::pipe().context("no pipe from the server")?;
    let mut command = tokio::process::Command::new(program);
    command
        .args(args)
        .envs(env)
        .stdin(for_server)
        .stdout(of_server)
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let child = command.spawn();
    let child = child.with_context(|| format!("`{program}` cannot be started"))?;
    // It holds the server's ends of the pipes, which would stay open with it.
    drop(command);
    let input = recorder.clone();
    // The end of the client's input closes that of the server.
    let _input = thread_named("input", move || {
        input.pass_to_server(io::stdin().lock(), to_server)
    })?;
    let (all, passed) = oneshot::channel();
    let _output = thread_named("output", move || {
        let passed = recorder.pass_to_client(from_server, io::stdout().lock());
        all.send(()).ok();
        passed
    })?;
    Ok((child, passed))
}

fn thread_named(
    name: &str,
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<JoinHandle<io::Result<()>>, Failure> {
    let thread = thread::Builder::new().name(name.to_owned());
    Ok(thread.spawn(work).context("no thread can be started")?)
}

/// Waits for the end of the server. A signal to end is passed on to it; it is
/// killed if it does not follow. `None` if it was told to end.
async fn end_of(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    tokio::select! {
        status = child.wait() => return status.map(Some),
        () = told_to_end() => {}
    }
    tell_to_end(child);
    let left = tokio::time::timeout(GRACE, child.wait()).await;
    if left.is_err() {
        child.kill().await?;
    }
    Ok(None)
}

#[cfg(unix)]
async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};

    let told = async {
        // Where it cannot be heard, it ends this process by itself.
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => terminate.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = told => {}
        () = interrupt::heard() => {}
    }
}

#[cfg(not(unix))]
async fn told_to_end() {
    interrupt::heard().await;
}

#[cfg(unix)]
fn tell_to_end(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};

    // Until the child has been waited for, no other process has its id.
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(id) = id.and_then(Pid::from_raw) {
        // One that has just ended needs no signal.
        let _ = kill_process(id, Signal::TERM);
    }
}

#[cfg(not(unix))]
fn tell_to_end(_: &Child) {}

/// Longest wait for a server that was told to end.
const GRACE: Duration = Duration::from_secs(5);

/// Longest wait for the client to read the last output. A process that the server
/// has started may hold the pipe open for ever.
const LAST_OUTPUT: Duration = Duration::from_secs(5);
