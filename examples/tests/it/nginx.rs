//! A real load balancer in front of processes of ours.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpStream;

/// An nginx that hands requests to its upstreams in turn.
pub(crate) struct Nginx {
    child: Child,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Nginx {
    pub(crate) async fn in_front_of(upstreams: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let path = folder.path().join("nginx.conf");
        std::fs::write(&path, config(folder.path(), &address, upstreams)).unwrap();
        let child = Command::new(program())
            .arg("-c")
            .arg(&path)
            .arg("-p")
            .arg(folder.path())
            .arg("-e")
            .arg(folder.path().join("error.log"))
            .spawn()
            .unwrap();
        let nginx = Self {
            child,
            address,
            _folder: folder,
        };
        let ready = tokio::time::timeout(Duration::from_secs(20), nginx.ready());
        ready.await.expect("nginx listens");
        nginx
    }

    /// It does not tell when it listens, so it is tried.
    async fn ready(&self) {
        let mut turns = tokio::time::interval(Duration::from_millis(5));
        while TcpStream::connect(&self.address).await.is_err() {
            turns.tick().await;
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A machine without nginx cannot say that the fleet works.
fn program() -> PathBuf {
    let places = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"];
    let mut places = places.iter().map(Path::new);
    let found = places.find(|place| place.exists());
    found
        .expect("nginx is not installed: `apt-get install nginx-light`")
        .to_owned()
}

fn config(folder: &Path, address: &str, upstreams: &[&str]) -> String {
    let folder = folder.display();
    let servers: String = upstreams
        .iter()
        .map(|upstream| format!("server {upstream} max_fails=0;"))
        .collect();
    format!(
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
        events {{ worker_connections 1024; }}
        http {{
            access_log off;
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
            upstream fleet {{ {servers} }}
            server {{
                listen {address};
                location / {{
                    proxy_pass http://fleet;
                    proxy_http_version 1.1;
                    proxy_set_header Host $http_host;
                    proxy_set_header Connection \"\";
                    proxy_next_upstream error timeout non_idempotent;
                    add_header X-Served-By $upstream_addr always;
                }}
            }}
        }}"
    )
}
