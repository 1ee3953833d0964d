//! The one request that must not be lost on the way.

use std::sync::{Arc, PoisonError};

use tokio::sync::oneshot;

use super::Keeper;
use crate::clock::UnixSeconds;
use crate::oauth::error::{At, Error, Fault, Step};
use crate::oauth::grant::Order;
use crate::oauth::token::{Lifetime, Reply, Session, TokenRequest};

/// What a token request is for.
#[derive(Debug)]
pub(super) enum Purpose {
    Granted(Order),
    Renewed(Arc<Session>),
}

impl Keeper {
    /// Sends a token request and keeps what it brings, even if nobody waits
    /// for it any more.
    ///
    /// A code or a refresh token is used up by being sent. If the caller's
    /// cancellation took the answer with it, the user would have to sign in
    /// again; so the request runs as a task of its own.
    pub(super) async fn redeem(
        self: &Arc<Self>,
        step: Step,
        request: TokenRequest,
        purpose: Purpose,
    ) -> Result<Arc<Session>, Error> {
        let redeeming = self.redeeming.clone().lock_owned().await;
        let (done, outcome) = oneshot::channel();
        let keeper = self.clone();
        {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let outcome = keeper.redeem_now(step, &request, &purpose).await;
                drop(redeeming);
                // Nobody may be waiting; then the session alone is the result.
                let _ = done.send(outcome);
            });
        }
        let lost = |_| Error::new(step, Fault::Lost);
        outcome.await.map_err(lost)?
    }

    async fn redeem_now(
        &self,
        step: Step,
        request: &TokenRequest,
        purpose: &Purpose,
    ) -> Result<Arc<Session>, Error> {
        let tools = &self.tools;
        let mut document = request.send(&tools.http, &tools.nonces).await.at(step)?;
        let reply = Reply::read(&mut document, request.scheme()).at(step)?;
        let margin = tools.config.refresh_before.as_secs();
        let lifetime = Lifetime::new(UnixSeconds::now(), reply.expires_in, margin);
        let session = Arc::new(match purpose {
            Purpose::Renewed(session) => session.renewed(reply, lifetime),
            Purpose::Granted(order) => Session {
                issuer: order.server.issuer.clone(),
                resource: order.resource.clone(),
                client: request.client.clone(),
                access: reply.access,
                scheme: reply.scheme,
                expires: lifetime.expires,
                refresh_at: lifetime.refresh_at,
                refresh: reply.refresh,
                requested: order.scopes.clone(),
                dpop: request.dpop.clone(),
            },
        });
        self.publish(&session);
        tools
            .vault
            .save_session(&self.server.text, &session)
            .await?;
        Ok(session)
    }
}
