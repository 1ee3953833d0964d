//! The operating system's wish that we stop.

/// Waits until the process is asked to stop: by Ctrl-C, or by `SIGTERM` where
/// there is one.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the wish it would have seen.
pub async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = terminate.recv() => {}
                    () = ctrl_c() => {}
                }
            }
            Err(_) => ctrl_c().await,
        }
    }
    #[cfg(not(unix))]
    ctrl_c().await;
}

async fn ctrl_c() {
    // Without a handler there is nothing to wait for; the system's own way of stopping remains.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
