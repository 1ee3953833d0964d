use std::fmt;
use std::fs::OpenOptions;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::patroni::{ANSWER, KEEP, Node, free_ports};
use crate::processes;
use crate::programs::Programs;

/// Three servers under Patroni, which promotes one of them when the primary is
/// gone. They run until the value is dropped.
pub struct Cluster {
    /// Ends everything and removes the folder when its input ends, which it does
    /// even when this process is killed.
    keeper: Child,
    folder: PathBuf,
    programs: Programs,
    commits: Commits,
    nodes: Vec<Node>,
    /// The programs that were started, for their ends to be collected.
    started: Mutex<Vec<Child>>,
}

/// What the primary waits for before it acknowledges a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "Patroni has these two modes")]
pub enum Commits {
    /// One of the two standbys has it. Patroni chooses the one, and promotes no
    /// other.
    OnAStandby,
    /// Its own disk has it.
    OnItsOwnDisk,
}

impl Cluster {
    /// Starts three servers, and waits until one is the primary and the others
    /// follow it; `None` if this machine lacks PostgreSQL, Patroni or etcd.
    ///
    /// # Errors
    ///
    /// It has them, and they do not start.
    pub fn start(commits: Commits) -> io::Result<Option<Self>> {
        let Some(programs) = Programs::find() else {
            return Ok(None);
        };
        if !["patroni", "etcd"].into_iter().all(is_installed) {
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix("sterna-pg").tempdir()?;
        let folder = folder.keep();
        programs.give(&folder)?;
        let keeper = programs
            .shell(KEEP)
            .arg(&folder)
            .arg(programs.folder())
            .current_dir("/")
            .stdin(Stdio::piped())
            .spawn()?;
        let [etcd, peer, ports @ ..] = free_ports::<8>()?;
        let nodes = ports.chunks(2).map(|pair| Node {
            port: pair[0],
            health: pair[1],
        });
        let cluster = Self {
            keeper,
            folder,
            programs,
            commits,
            nodes: nodes.collect(),
            started: Mutex::default(),
        };
        cluster.run_etcd(etcd, peer)?;
        for node in 0..cluster.nodes.len() {
            cluster.configure(node, etcd)?;
            cluster.start_node(node)?;
        }
        cluster.wait(
            Duration::from_secs(90),
            "a primary with two standbys",
            || cluster.is_whole().then_some(()),
        )?;
        Ok(Some(cluster))
    }

    /// How to reach the primary, whichever it is.
    #[must_use]
    pub fn connection(&self) -> String {
        let hosts = vec!["127.0.0.1"; self.nodes.len()].join(",");
        let ports = self.nodes.iter().map(|node| node.port.to_string());
        let ports = ports.collect::<Vec<_>>().join(",");
        format!("host={hosts} port={ports} user=sterna dbname=postgres")
    }

    /// The primary, while there is one that Patroni has seen at work.
    #[must_use]
    pub fn primary(&self) -> Option<usize> {
        (0..self.nodes.len()).find(|node| self.nodes[*node].has_role("leader"))
    }

    /// Returns whether two standbys follow a primary, and commits wait for one of
    /// them if they are to.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let count = |role| {
            let nodes = 0..self.nodes.len();
            nodes
                .filter(|node| self.nodes[*node].has_role(role))
                .count()
        };
        let synchronous = match self.commits {
            Commits::OnAStandby => 1,
            Commits::OnItsOwnDisk => 0,
        };
        // With the parameter, a standby that is far behind does not count.
        let follow = count("leader") == 1 && count("replica?lag=1MB") == 2;
        follow && count("synchronous") == synchronous
    }

    /// Waits until another server than `old` is the primary.
    ///
    /// # Errors
    ///
    /// None has become it within two minutes.
    pub fn wait_for_another(&self, old: usize) -> io::Result<usize> {
        self.wait(LONGEST, "another primary", || {
            self.primary().filter(|primary| *primary != old)
        })
    }

    /// Waits until [`is_whole`](Self::is_whole).
    ///
    /// # Errors
    ///
    /// It is not, for two minutes.
    pub fn wait_until_whole(&self) -> io::Result<()> {
        self.wait(LONGEST, "a primary with two standbys", || {
            self.is_whole().then_some(())
        })
    }

    /// Has the primary send nothing to its standbys from here on, as when their
    /// network fails before the primary does.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn cut_off(&self, primary: usize) -> io::Result<()> {
        processes::signal_named(&self.data(primary), "walsender", "STOP")
    }

    /// Kills a server as a crash does, and not the Patroni beside it.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn kill_server(&self, node: usize) -> io::Result<()> {
        processes::signal_server(&self.data(node), "KILL")
    }

    /// Sends a signal to a server and the Patroni beside it, as if it was sent to
    /// their machine: `KILL`, `STOP` or `CONT`.
    ///
    /// # Errors
    ///
    /// One of them does not run.
    pub fn signal_node(&self, node: usize, signal: &str) -> io::Result<()> {
        let patroni = std::fs::read_to_string(self.folder.join(format!("node{node}.pid")))?;
        processes::send(patroni.trim(), signal)?;
        processes::signal_server(&self.data(node), signal)
    }

    /// Starts the Patroni of a node, which starts the server.
    ///
    /// # Errors
    ///
    /// The program cannot be run.
    fn start_node(&self, node: usize) -> io::Result<()> {
        let name = format!("node{node}");
        self.spawn(&name, "patroni", &[&format!("{name}.yml")])
    }

    /// Puts an empty machine into the place of a node, whose server becomes a standby:
    /// Patroni copies the primary to it.
    ///
    /// # Errors
    ///
    /// The files of the old one cannot be removed, or the program cannot be run.
    pub fn replace_node(&self, node: usize) -> io::Result<()> {
        let data = self.data(node);
        // Either may have ended already.
        let _ = self.signal_node(node, "KILL");
        if data.exists() {
            std::fs::remove_dir_all(data)?;
        }
        self.start_node(node)
    }

    fn run_etcd(&self, port: u16, peer: u16) -> io::Result<()> {
        let (here, peer) = (
            format!("http://127.0.0.1:{port}"),
            format!("http://127.0.0.1:{peer}"),
        );
        let cluster = format!("default={peer}");
        // What it keeps ends with the test, so its disk does not matter.
        self.spawn(
            "etcd",
            "etcd",
            &[
                "--enable-v2",
                "--unsafe-no-fsync",
                "--data-dir=etcd",
                "--listen-client-urls",
                &here,
                "--advertise-client-urls",
                &here,
                "--listen-peer-urls",
                &peer,
                "--initial-advertise-peer-urls",
                &peer,
                "--initial-cluster",
                &cluster,
            ],
        )?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        self.wait(Duration::from_secs(20), "etcd", || {
            TcpStream::connect_timeout(&address, ANSWER).ok()
        })?;
        Ok(())
    }

    /// Starts a program that writes `NAME.log` and is found by `NAME.pid`.
    fn spawn(&self, name: &str, program: &str, args: &[&str]) -> io::Result<()> {
        let mut log = OpenOptions::new();
        let log = log
            .create(true)
            .append(true)
            .open(self.folder.join(format!("{name}.log")))?;
        let child = self
            .programs
            .other(program)
            .args(args)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let id = child.id();
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that were killed have left something to be collected.
        started.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        started.push(child);
        std::fs::write(self.folder.join(format!("{name}.pid")), format!("{id}\n"))
    }

    fn configure(&self, node: usize, etcd: u16) -> io::Result<()> {
        let synchronous = self.commits == Commits::OnAStandby;
        let programs = self.programs.folder();
        let text = self.nodes[node].configuration(node, etcd, synchronous, &self.folder, programs);
        std::fs::write(self.folder.join(format!("node{node}.yml")), text)
    }

    fn data(&self, node: usize) -> PathBuf {
        self.folder.join(format!("data{node}"))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "other programs do the work, and tell nobody when it is done"
    )]
    fn wait<T>(
        &self,
        longest: Duration,
        what: &str,
        done: impl Fn() -> Option<T>,
    ) -> io::Result<T> {
        let since = Instant::now();
        loop {
            if let Some(done) = done() {
                return Ok(done);
            }
            if since.elapsed() > longest {
                return Err(io::Error::other(format!(
                    "{what} did not come in {longest:?}: {}",
                    self.last_words()
                )));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// What each Patroni said last.
    fn last_words(&self) -> String {
        let mut words = String::new();
        for node in 0..self.nodes.len() {
            let log = std::fs::read_to_string(self.folder.join(format!("node{node}.log")));
            let log = log.unwrap_or_default();
            // The server beside it writes into the same log.
            let own = log.lines().filter(|line| line.contains(" INFO: "));
            let own: Vec<_> = own.collect();
            for line in &own[own.len().saturating_sub(3)..] {
                words += &format!("\n  node{node}: {line}");
            }
        }
        words
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // What it says after that helps nobody.
        let _ = self.keeper.wait();
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("folder", &self.folder)
            .field("commits", &self.commits)
            .finish_non_exhaustive()
    }
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_ok()
}

/// Longest wait for Patroni: a server that it loses is noticed after twenty
/// seconds, and the old primary may have to copy its files anew.
const LONGEST: Duration = Duration::from_secs(120);
