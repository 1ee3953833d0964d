//! Files of sealing keys that are not as they should be.
#![cfg(unix)]

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};
use sterna_seal::{Keyring, ThreadEntropy};
use sterna_server::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::telemetry::capture::Capture;

fn write_keys(path: &Path, mode: u32) {
    let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
    std::fs::write(path, ring.to_toml().as_str()).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_key_file_that_cannot_be_used_is_named_with_the_command_that_makes_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    let text = || {
        let error = Server::new("keys", "1").key_file(&path).build();
        error.unwrap_err().to_string()
    };
    let command = format!("make a key file with `sterna keys new {}`", path.display());
    let missing = text();
    assert!(
        missing.contains("MR0208") && missing.contains(&command),
        "{missing}"
    );
    std::fs::write(&path, "half a fi").unwrap();
    let broken = text();
    assert!(
        broken.contains("MR0208") && broken.contains(&command),
        "{broken}"
    );
    write_keys(&path, 0o600);
    assert!(Server::new("keys", "1").key_file(&path).build().is_ok());
}

#[test]
fn a_key_file_that_every_user_can_read_is_mentioned_with_the_command_that_helps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    for (mode, mentioned) in [(0o600, false), (0o640, false), (0o644, true), (0o602, true)] {
        write_keys(&path, mode);
        let (capture, _guard) = Capture::start();
        Server::new("keys", "1").key_file(&path).build().unwrap();
        let said = capture.text();
        assert_eq!(said.contains("MR0150"), mentioned, "{mode:o}: {said}");
        let command = format!("chmod 600 {}", path.display());
        assert_eq!(said.contains(&command), mentioned, "{mode:o}: {said}");
    }
}

#[test]
fn a_key_file_that_cannot_be_read_stops_neither_service_nor_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    write_keys(&path, 0o600);
    let server = Server::new("keys", "1")
        .key_file(&path)
        .configure(|config| {
            config.reload_keys = Duration::from_millis(10);
        });
    let service = server.build().unwrap();
    std::fs::remove_file(&path).unwrap();
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let (end, ended) = channel();
    std::thread::spawn(move || {
        let (capture, _guard) = Capture::start();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let until = async {
                while !capture.text().contains("MR0151") {
                    assert_eq!(readiness(address).await.0, 200);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            service.serve_on(listener, until).await.unwrap();
        });
        // This waits for all threads that the runtime owns.
        drop(runtime);
        let _ = end.send(());
    });
    let waited = ended.recv_timeout(Duration::from_secs(30));
    assert!(waited.is_ok(), "the server does not end");
}

#[tokio::test(start_paused = true)]
async fn sealing_keys_follow_their_file_and_a_broken_file_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    let ring = || Keyring::generate(&mut ThreadEntropy).unwrap();
    let id = |ring: &Keyring| ring.keys().next().unwrap().id().to_string();
    let (first, second) = (ring(), ring());
    std::fs::write(&path, first.to_toml().as_str()).unwrap();
    let server = Server::new("keys", "1").key_file(&path);
    let service = server.build().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = tokio::task::JoinSet::new();
    serving.spawn(service.serve_on(listener, std::future::pending()));

    for (text, expected) in [
        (None, &first),
        (Some(second.to_toml().as_str()), &second),
        (Some("half a fi"), &second),
    ] {
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
            tokio::time::sleep(Duration::from_secs(11)).await;
        }
        let (_, report) = readiness(address).await;
        let keys = json!({"passing": true, "ids": [id(expected)]});
        assert_eq!(report["checks"]["keys"], keys);
    }
}

/// The status and the report of `/readyz`.
async fn readiness(address: SocketAddr) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}
