//! Tests that run themselves again in another process.

/// The errand of the other process, if this is that process.
#[expect(
    clippy::disallowed_methods,
    reason = "the parent speaks to it this way"
)]
pub(crate) fn errand() -> Option<String> {
    std::env::var(ERRAND).ok()
}

/// Runs `test` in another process, which has to succeed.
pub(crate) async fn send(test: &str, errand: &str, environment: &[(&str, &str)]) {
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    for name in PROXIES {
        child.env_remove(name).env_remove(name.to_lowercase());
    }
    let child = child
        .args(["--exact", test, "--nocapture"])
        .env(ERRAND, errand)
        .envs(environment.iter().copied());
    let ended = child.output().await.unwrap();
    assert!(
        ended.status.success(),
        "{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
}

/// Runs `test` in another process, which aborts; what it printed until then.
pub(crate) async fn aborted(test: &str, errand: &str) -> String {
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    for name in PROXIES {
        child.env_remove(name).env_remove(name.to_lowercase());
    }
    let child = child.args(["--exact", test, "--nocapture"]);
    let ended = child.env(ERRAND, errand).output().await.unwrap();
    assert_eq!(ended.status.code(), None, "a signal ended it: {ended:?}");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

const ERRAND: &str = "STERNA_TEST_ERRAND";

/// Proxy settings of the machine must not reach the tests.
const PROXIES: [&str; 4] = ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
