//! A process that ends when it is idle, and the next round starts another: the
//! test is the service manager, and passes its socket on.
#![cfg(unix)]

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use serde_json::json;
use sterna_seal::{Keyring, ThreadEntropy};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::Instant;

use crate::talk::call;

/// Starts a process for each connection that finds none, as systemd does.
struct Manager {
    started: AtomicUsize,
    ended: AtomicUsize,
}

impl Manager {
    async fn run(self: Arc<Self>, listener: TcpListener, keys: PathBuf) {
        loop {
            while !has_connection(&listener).await {}
            let mut process = Process(start(&listener, &keys));
            self.started.fetch_add(1, Ordering::SeqCst);
            while process.0.try_wait().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(process.0.wait().unwrap().success());
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until no process is there.
    async fn idle(&self) {
        let patience = Instant::now() + Duration::from_secs(30);
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        while count(&self.started) != count(&self.ended) {
            assert!(Instant::now() < patience, "the process does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Waits a moment for a connection that has not been accepted.
async fn has_connection(listener: &TcpListener) -> bool {
    let listener = listener.try_clone().unwrap();
    let waiting = spawn_blocking(move || {
        let mut ready = [PollFd::new(&listener, PollFlags::IN)];
        let moment = Duration::from_millis(100).try_into().unwrap();
        poll(&mut ready, Some(&moment)).unwrap() > 0
    });
    waiting.await.unwrap()
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The shell knows the id of the process that it becomes, and moves the socket to
/// the place where `LISTEN_FDS` are counted from.
fn start(listener: &TcpListener, keys: &Path) -> Child {
    let socket = OwnedFd::from(listener.try_clone().unwrap());
    Command::new("sh")
        .arg("-c")
        .arg(r#"export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@" 3<&0 </dev/null"#)
        .args([
            "sh",
            env!("CARGO_BIN_EXE_container"),
            "--exit-when-idle",
            "1",
        ])
        .arg("--key-file")
        .arg(keys)
        .stdin(socket)
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn a_process_ends_when_idle_and_the_next_round_starts_another() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.toml");
    let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
    std::fs::write(&keys, ring.to_toml().as_str()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let manager = Arc::new(Manager {
        started: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
    });
    let mut running = JoinSet::new();
    running.spawn(Arc::clone(&manager).run(listener, keys));

    let arguments = json!({"questions": 3});
    let mut more = json!({});
    for round in 1..=3 {
        let asked = call(&address, "interview", &arguments, more).await;
        let key = format!("q{round}");
        let answer = json!({"action": "accept", "content": {&key: format!("a{round}")}});
        more = json!({
            "requestState": asked.result()["requestState"],
            "inputResponses": {&key: answer},
        });
        manager.idle().await;
        assert_eq!(manager.ended.load(Ordering::SeqCst), round);
    }
    let done = call(&address, "interview", &arguments, more).await;
    let text = done.result()["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("a1 (process ") && text.contains("a3"),
        "{text}"
    );
    manager.idle().await;
    assert_eq!(manager.ended.load(Ordering::SeqCst), 4);
}
