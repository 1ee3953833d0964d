//! The one request that must not be lost on the way.

use std::sync::{Arc, PoisonError};

use tokio::sync::oneshot;

use super::TokenManager;
use crate::clock::{Lifetime, UnixSeconds};
use crate::error::{At, Error, Fault, Step};
use crate::grant::TokenSpec;
use crate::token::{Reply, Session, TokenRequest};

/// Purpose of a token request.
#[derive(Debug)]
pub(super) enum Purpose {
    Granted(TokenSpec),
    Renewed(Arc<Session>),
}

impl TokenManager {
    /// Sends a token request and keeps its response, even if the caller has
    /// been cancelled.
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
        let manager = self.clone();
        {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let outcome = manager.redeem_now(step, &request, &purpose).await;
                drop(redeeming);
                // The caller may be gone; the session is stored all the same.
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
        let context = &self.context;
        let mut document = request
            .send(&context.http, &context.nonces)
            .await
            .at(step)?;
        let reply = Reply::read(&mut document, request.scheme()).at(step)?;
        let margin = context.config.refresh_before.as_secs();
        let lifetime = Lifetime::new(UnixSeconds::now(), reply.expires_in, margin);
        let session = Arc::new(match purpose {
            Purpose::Renewed(session) => session.renewed(reply, lifetime),
            Purpose::Granted(spec) => Session {
                issuer: spec.server.issuer.clone(),
                resource: spec.resource.clone(),
                client: request.client.clone(),
                access: reply.access,
                scheme: reply.scheme,
                expires: lifetime.expires,
                refresh_at: lifetime.refresh_at,
                refresh: reply.refresh,
                requested: spec.scopes.clone(),
                dpop: request.dpop.clone(),
            },
        });
        self.publish(&session);
        context
            .records
            .save_session(&self.server.text, &session)
            .await?;
        Ok(session)
    }
}
