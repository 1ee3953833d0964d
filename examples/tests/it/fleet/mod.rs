//! Two instances behind a load balancer, one of which dies and comes back.

mod flows;
mod sessions;

use std::sync::atomic::{AtomicUsize, Ordering};

use sterna_seal::{Keyring, ThreadEntropy};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::nginx::Nginx;
use crate::process::Process;
use crate::talk::Reply;

/// The instances share a key file and nothing else.
struct Fleet {
    folder: TempDir,
    one: Process,
    other: Process,
    nginx: Nginx,
}

impl Fleet {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
        std::fs::write(folder.path().join(KEYS), ring.to_toml().as_str()).unwrap();
        let one = instance(&folder, "127.0.0.1:0");
        let other = instance(&folder, "127.0.0.1:0");
        let nginx = Nginx::in_front_of(&[&one.address, &other.address]).await;
        Self {
            folder,
            one,
            other,
            nginx,
        }
    }

    fn restart_one(&mut self) {
        let address = self.one.address.clone();
        self.one = instance(&self.folder, &address);
    }

    fn addresses(&self) -> [&String; 2] {
        [&self.one.address, &self.other.address]
    }
}

fn instance(folder: &TempDir, listen: &str) -> Process {
    let keys = folder.path().join(KEYS);
    let arguments = ["--key-file", keys.to_str().unwrap(), "--listen", listen];
    Process::serve(env!("CARGO_BIN_EXE_fleet"), &arguments)
}

/// Which instance answered.
fn served_by(reply: &Reply) -> String {
    // After a retry nginx names the one that failed first.
    let by = reply.header("x-served-by").rsplit(", ").next();
    by.unwrap().to_owned()
}

/// Requests that have been answered, for whoever waits for more of them.
#[derive(Default)]
struct Progress {
    answered: AtomicUsize,
    moved: Notify,
}

impl Progress {
    fn step(&self) {
        self.answered.fetch_add(1, Ordering::SeqCst);
        self.moved.notify_waiters();
    }

    async fn reach(&self, count: usize) {
        loop {
            let moved = self.moved.notified();
            if self.answered.load(Ordering::SeqCst) >= count {
                return;
            }
            moved.await;
        }
    }
}

const KEYS: &str = "keys.toml";
