//! `sterna dev`: the project of this folder, built again and restarted when a
//! file changes.

mod sources;

mod project;

mod server;

mod inspector;

use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::sync::mpsc;

use crate::args::DevArgs;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::keys;
use crate::screen::Screen;
use crate::text::Text;
use inspector::{Inspected, InspectorProcess};
use project::{Build, Program, Project};
use server::{ServerEvent, ServerProcess};
use sources::Snapshot;

pub(crate) async fn run(args: DevArgs, screen: Screen) -> Result<Exit, Failure> {
    let project = Project::here(&args).await?;
    make_key_file(&project, screen)?;
    let mut dev = Dev::new(project, args, screen);
    let ended = tokio::select! {
        // First, so that a build that is interrupted is not told as one that failed.
        biased;
        () = interrupt::heard() => Ok(Exit::Done),
        told = told_to_end() => told.map(|()| Exit::Done),
        failed = dev.work() => failed,
    };
    dev.end().await;
    ended
}

/// The server under development, and the processes around it.
struct Dev {
    args: DevArgs,
    screen: Screen,
    project: Project,
    server: Option<ServerProcess>,
    inspector: Option<InspectorProcess>,
    events: mpsc::UnboundedReceiver<ServerEvent>,
    sink: mpsc::UnboundedSender<ServerEvent>,
    /// The program that runs, or that the inspector runs.
    current: Option<Program>,
    /// The server speaks on standard streams: the inspector runs it.
    on_stdio: bool,
}

impl Dev {
    fn new(project: Project, args: DevArgs, screen: Screen) -> Self {
        let (sink, events) = mpsc::unbounded_channel();
        Self {
            args,
            screen,
            project,
            server: None,
            inspector: None,
            events,
            sink,
            current: None,
            on_stdio: false,
        }
    }

    /// Builds and restarts until it is dropped or cannot go on.
    async fn work(&mut self) -> Result<Exit, Failure> {
        loop {
            let (before, begun) = (self.project.snapshot(), environment::system_time());
            match self.project.build(&self.args).await? {
                Build::Failed if self.current.is_some() => {
                    self.say("the build failed; the server of before keeps running");
                }
                Build::Failed => self.say("the build failed; waiting for a change"),
                // It may have been linked again without being another program.
                Build::Done(program) if self.current.as_ref() == Some(&program) => {}
                Build::Done(program) => self.take_over(program).await?,
            }
            let built = self.project.snapshot();
            let path = match before.change_during_build(&built, begun) {
                Some(path) => path,
                None => self.next_change(built).await?,
            };
            self.say(format!("{path} has changed; building"));
        }
    }

    /// Runs a new program in the place of the one before.
    async fn take_over(&mut self, program: Program) -> Result<(), Failure> {
        if let Some(server) = self.server.take() {
            server.end().await;
        }
        if self.on_stdio {
            self.say("built; \"Connect again\" on the page of the wire has the inspector run it");
        } else {
            let folder = self.project.folder();
            let started =
                ServerProcess::start(&program, folder, &self.args.server_args, self.sink.clone());
            self.server = Some(started?);
        }
        self.current = Some(program);
        Ok(())
    }

    /// Waits until a source differs from `built`; attends to the server meanwhile.
    async fn next_change(&mut self, built: Snapshot) -> Result<String, Failure> {
        let mut tick = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                _ = tick.tick() => {
                    let seen = self.project.snapshot();
                    if let Some(path) = built.difference(&seen) {
                        self.settle(seen).await;
                        return Ok(path);
                    }
                }
                Some(event) = self.events.recv() => self.attend(event).await?,
            }
        }
    }

    /// Waits until the files stay as they are: an editor, or git, writes many.
    async fn settle(&self, mut seen: Snapshot) {
        loop {
            tokio::time::sleep(LOOK / 2).await;
            let next = self.project.snapshot();
            if seen == next {
                return;
            }
            seen = next;
        }
    }

    async fn attend(&mut self, event: ServerEvent) -> Result<(), Failure> {
        let of_current = self.server.as_ref().map(ServerProcess::number);
        if of_current != Some(event.number()) {
            // The last words of a server that has been replaced.
            return Ok(());
        }
        match event {
            ServerEvent::Listens { url, .. } => {
                if self.inspector.as_ref().is_none_or(|open| !open.shows(&url)) {
                    self.screen
                        .line(&json!({"server": url}), format!("{url}\n"))?;
                    self.inspect(Inspected::Url(url)).await?;
                    self.warn_of_lost_keys();
                }
            }
            ServerEvent::Ended {
                is_success: true,
                has_listened: false,
                ..
            } => {
                // It has found no input: it waits for messages on standard input.
                self.server = None;
                self.on_stdio = true;
                self.say("the server speaks on standard input and output; the inspector runs it");
                if let Some(program) = &self.current {
                    let mut command = vec![program.path().display().to_string()];
                    command.extend(self.args.server_args.iter().cloned());
                    self.inspect(Inspected::Command(command)).await?;
                }
            }
            ServerEvent::Ended { status, .. } => {
                self.server = None;
                self.say(format!(
                    "the server has ended ({status}); waiting for a change"
                ));
            }
        }
        Ok(())
    }

    /// Starts an inspector; without one, the server is served all the same.
    async fn inspect(&mut self, inspected: Inspected) -> Result<(), Failure> {
        if let Some(before) = self.inspector.take() {
            before.end().await;
        }
        let keys = self.project.key_file();
        match InspectorProcess::start(inspected, keys, self.args.no_open).await {
            Ok(inspector) => {
                let url = inspector.url();
                self.screen
                    .line(&json!({"inspector": url}), format!("{url}\n"))?;
                self.inspector = Some(inspector);
            }
            Err(error) => self.screen.warn(format!("no inspector: {error:#}")),
        }
        self.say("waiting for changes; Ctrl-C ends server and inspector");
        Ok(())
    }

    /// A server without a key file draws a new key with every start.
    fn warn_of_lost_keys(&self) {
        if !self
            .project
            .mentions(&["key_file", "key_source", "shared_keys", ".keys("])
        {
            self.screen.warn(
                "the server has no key file: a call that waits for an answer is lost when it \
                 restarts. `sterna keys new keys.toml` makes one for `Server::key_file`",
            );
        }
    }

    fn say(&self, what: impl AsRef<str>) {
        self.screen.note(Text::bold("dev") + ": " + what.as_ref());
    }

    /// Ends what was started.
    async fn end(self) {
        if let Some(inspector) = self.inspector {
            inspector.end().await;
        }
        if let Some(server) = self.server {
            server.end().await;
        }
    }
}

/// Makes the key file that a project reads and that its repository does not have.
fn make_key_file(project: &Project, screen: Screen) -> Result<(), Failure> {
    if project.key_file().is_none() && project.mentions(&["\"keys.toml\""]) {
        let file = project.folder().join(project::KEY_FILE);
        let id = keys::make(&file, None)?;
        screen.note(format!("{} made, with key {id}", file.display()));
    }
    Ok(())
}

/// Waits until the process is told to end, by `kill` or by a terminal that is gone.
#[cfg(unix)]
async fn told_to_end() -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate()).context("no signal can be heard")?;
    let mut hang_up = signal(SignalKind::hangup()).context("no signal can be heard")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn told_to_end() -> Result<(), Failure> {
    std::future::pending().await
}

/// Time between two looks at the sources. Some hundred files take a millisecond.
const LOOK: Duration = Duration::from_millis(300);
