//! Hints from the database.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, ready};
use std::time::Duration;

use sterna_store::{Backoff, Bell, Error};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::pool::tls;
use crate::store::random;
use crate::{Config, Hints};

/// Starts to ring `bell` whenever the database says so. The listener ends with
/// the set that is returned.
pub(crate) fn start(config: &Config, bell: &Bell) -> Result<JoinSet<()>, Error> {
    let mut tasks = JoinSet::new();
    let server = match &config.hints {
        Hints::Off => return Ok(tasks),
        Hints::Listen => config,
        Hints::ListenAt(direct) => direct,
    };
    let tls = tls(server)?;
    let command = format!("LISTEN {}", config.schema.as_str());
    let (server, bell) = (server.server.clone(), bell.clone());
    tasks.spawn(async move {
        // A hint may be missed, so a connection that is lost is nothing to
        // report: workers poll all the time.
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(30));
        loop {
            if listen(&server, tls.clone(), &command, &bell).await.is_ok() {
                backoff.reset();
            }
            sleep(backoff.pause(random())).await;
        }
    });
    Ok(tasks)
}

/// Listens until the connection ends. An error means that it never began.
async fn listen(
    server: &tokio_postgres::Config,
    tls: MakeRustlsConnect,
    command: &str,
    bell: &Bell,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = server.connect(tls).await?;
    let mut subscribe = pin!(client.batch_execute(command));
    let mut subscribed = false;
    poll_fn(|cx| {
        if !subscribed && let Poll::Ready(result) = subscribe.as_mut().poll(cx) {
            if let Err(error) = result {
                return Poll::Ready(Err(error));
            }
            subscribed = true;
        }
        loop {
            match ready!(connection.poll_message(cx)) {
                Some(Ok(AsyncMessage::Notification(notice))) => {
                    if let Ok(task) = notice.payload().parse() {
                        bell.ring(task);
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) if !subscribed => return Poll::Ready(Err(error)),
                Some(Err(_)) | None => return Poll::Ready(Ok(())),
            }
        }
    })
    .await
}
