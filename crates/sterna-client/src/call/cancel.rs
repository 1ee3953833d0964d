use tokio::sync::watch;

/// Takes a call back from elsewhere; see [`Call::handle`](super::Call::handle).
#[derive(Clone, Debug)]
pub struct CancelHandle(watch::Sender<bool>);

impl CancelHandle {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Cancels the call, at whatever point it is. One that has ended stays as
    /// it is.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn cancelled(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as this borrow, so waiting cannot fail.
        receiver.wait_for(|cancelled| *cancelled).await.ok();
    }
}
