//! From a need to a session: discovery, refresh, grant.

use std::sync::{Arc, PoisonError};

use super::redeem::Purpose;
use super::{How, Keeper, Need};
use crate::oauth::config::{Dpop, MissingMetadata};
use crate::oauth::discovery::{AuthorizationServer, Demand, Resource};
use crate::oauth::error::{At, Error, Fault, Step};
use crate::oauth::grant::{OFFLINE_ACCESS, Order};
use crate::oauth::scope::Scopes;
use crate::oauth::token::{Form, Session, TokenRequest};

impl Keeper {
    pub(super) async fn run(self: &Arc<Self>, need: &Need) -> Result<(Arc<Session>, How), Error> {
        match need {
            Need::Due(session) => self.renew_due(session).await,
            Need::Refused(_, demand) | Need::Scope(_, demand) => self.answer(demand, None).await,
            Need::Unauthorized(refused, demand) => self.answer(demand, refused.as_ref()).await,
        }
    }

    /// Renews a session before it expires, without asking anybody.
    async fn renew_due(
        self: &Arc<Self>,
        session: &Arc<Session>,
    ) -> Result<(Arc<Session>, How), Error> {
        if let Some(session) = self.renewed_elsewhere(session).await? {
            return Ok((session, How::Adopted));
        }
        let server = self.server_of(&session.issuer).await?;
        if session.refresh.is_some() {
            match self.refresh(session, server.clone()).await {
                Err(error) if error.is_refusal() && !self.grant.is_interactive() => {}
                outcome => return Ok((outcome?, How::Refreshed)),
            }
        }
        let order = Order {
            server,
            resource: session.resource.clone(),
            scopes: session.requested.clone(),
            dpop: session.dpop.is_some(),
        };
        Ok((self.obtain(order).await?, How::Granted))
    }

    /// Answers a challenge of the server; `refused` is the session it did not
    /// accept, if a fresh token of the same grant may be what it wants.
    async fn answer(
        self: &Arc<Self>,
        demand: &Demand,
        refused: Option<&Arc<Session>>,
    ) -> Result<(Arc<Session>, How), Error> {
        if let Some(refused) = refused
            && let Some(session) = self.renewed_elsewhere(refused).await?
        {
            return Ok((session, How::Adopted));
        }
        // Asked again each time: the server may trust somebody else by now.
        let resource = self.resource(demand).await?;
        let previous = self.known();
        let server = self.server_for(&resource, previous.as_deref()).await?;
        let same = |session: &&Arc<Session>| {
            session.issuer == server.issuer && session.resource == resource.id
        };
        let refused = refused.filter(same).filter(|own| own.refresh.is_some());
        if let Some(session) = refused {
            match self.refresh(session, server.clone()).await {
                Err(error) if error.is_refusal() => {}
                outcome => return Ok((outcome?, How::Refreshed)),
            }
        }
        let order = Order {
            scopes: self.select(demand, &resource, &server, previous.as_deref()),
            dpop: self
                .binds(demand, &resource, &server)
                .at(Step::ServerMetadata)?,
            resource: resource.id.clone(),
            server: server.clone(),
        };
        let session = self.obtain(order).await?;
        if let Some(old) = previous.filter(|old| !same(&old)) {
            self.tools.vault.remove_session(&old).await?;
        }
        Ok((session, How::Granted))
    }

    async fn resource(&self, demand: &Demand) -> Result<Resource, Error> {
        let pointer = demand.resource_metadata.as_deref();
        match Resource::discover(&self.tools.http, &self.server, pointer).await {
            Err(Fault::NoResourceMetadata) if self.assumes_origin() => {
                Ok(Resource::assumed(&self.server))
            }
            outcome => outcome.at(Step::ResourceMetadata),
        }
    }

    /// Chooses among the servers that the resource trusts: one we are
    /// registered with, else the one in use, else the first that answers.
    async fn server_for(
        &self,
        resource: &Resource,
        previous: Option<&Session>,
    ) -> Result<Arc<AuthorizationServer>, Error> {
        let in_use = |issuer: &str| previous.is_some_and(|session| session.issuer == issuer);
        let mut issuers: Vec<_> = resource.issuers.iter().collect();
        issuers.sort_by_key(|issuer| (!self.grant.knows(issuer), !in_use(issuer)));
        let mut failure = None;
        for issuer in issuers {
            match self.look_up(issuer).await {
                Ok(server) => return Ok(server),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.expect("a resource without issuers is not accepted"))
    }

    async fn server_of(&self, issuer: &str) -> Result<Arc<AuthorizationServer>, Error> {
        match self.last_server().filter(|server| server.issuer == issuer) {
            Some(server) => Ok(server),
            None => self.look_up(issuer).await,
        }
    }

    async fn look_up(&self, issuer: &str) -> Result<Arc<AuthorizationServer>, Error> {
        let http = &self.tools.http;
        let server = match AuthorizationServer::discover(http, issuer).await {
            Err(Fault::NoServerMetadata { .. })
                if self.assumes_origin() && issuer == self.server.endpoint.origin() =>
            {
                AuthorizationServer::assumed(http, issuer)
            }
            outcome => outcome,
        };
        let server = Arc::new(server.at(Step::ServerMetadata)?);
        let mut last = self.issuer.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(server.clone());
        Ok(server)
    }

    fn assumes_origin(&self) -> bool {
        self.tools.config.missing_metadata == MissingMetadata::AssumeOrigin
    }

    /// What to ask for: what the challenge wants, else what the application
    /// asked for, else what the server lists (AUTH-C5); and all that was asked
    /// for before (AUTH-C3).
    fn select(
        &self,
        demand: &Demand,
        resource: &Resource,
        server: &AuthorizationServer,
        previous: Option<&Session>,
    ) -> Scopes {
        let nothing = Scopes::default();
        let own = self.scopes.as_ref();
        let wanted = match (&demand.scope, own) {
            (Some(challenged), own) => challenged.union(own.unwrap_or(&nothing)),
            (None, Some(own)) => own.clone(),
            (None, None) => resource.scopes.clone().unwrap_or_default(),
        };
        let before = previous.filter(|session| session.resource == resource.id);
        let wanted = match before {
            Some(session) => wanted.union(&session.requested),
            None => wanted,
        };
        // Not a scope of the resource; asking for it where it is unknown fails.
        let known = server
            .scopes
            .as_ref()
            .is_some_and(|s| s.contains(OFFLINE_ACCESS));
        match known {
            true => wanted,
            false => wanted.without(OFFLINE_ACCESS),
        }
    }

    /// Whether the token shall be bound to a key.
    fn binds(
        &self,
        demand: &Demand,
        resource: &Resource,
        server: &AuthorizationServer,
    ) -> Result<bool, Fault> {
        let must = match self.tools.config.dpop {
            Dpop::Never => return Ok(false),
            Dpop::Required => true,
            Dpop::WhenAsked => resource.dpop_required || (demand.dpop && !demand.bearer),
        };
        match (must || demand.dpop, server.issues_dpop_tokens()) {
            (true, true) => Ok(true),
            (true, false) if must => Err(Fault::DpopUnsupported),
            _ => Ok(false),
        }
    }

    /// Goes the whole way of the grant.
    async fn obtain(self: &Arc<Self>, order: Order) -> Result<Arc<Session>, Error> {
        let request = self.grant.prepare(&self.tools, &order).await?;
        let dynamic = request.client.dynamic.is_some();
        let issuer = order.server.issuer.clone();
        let outcome = self
            .redeem(Step::Token, request, Purpose::Granted(order))
            .await;
        // The server has forgotten us; the next try introduces us again.
        if dynamic
            && outcome
                .as_ref()
                .is_err_and(|e| e.code() == Some("invalid_client"))
        {
            self.tools.vault.remove_client(&issuer).await?;
        }
        outcome
    }

    async fn refresh(
        self: &Arc<Self>,
        session: &Arc<Session>,
        server: Arc<AuthorizationServer>,
    ) -> Result<Arc<Session>, Error> {
        let token = session.refresh.as_ref();
        let mut form = Form::new("refresh_token");
        form.add_some("refresh_token", token.map(|token| token.expose()));
        form.add("resource", &session.resource);
        let request = TokenRequest {
            server,
            client: session.client.clone(),
            form,
            dpop: session.dpop.clone(),
        };
        self.redeem(Step::Refresh, request, Purpose::Renewed(session.clone()))
            .await
    }

    /// A newer session that another process has put into the store.
    async fn renewed_elsewhere(
        &self,
        session: &Arc<Session>,
    ) -> Result<Option<Arc<Session>>, Error> {
        let stored = self.load().await?;
        let newer = stored.filter(|stored| {
            let ends = stored.expires.zip(session.expires);
            ends.is_some_and(|(stored, own)| stored > own)
        });
        Ok(newer.map(|newer| {
            let newer = Arc::new(newer);
            self.publish(&newer);
            newer
        }))
    }
}
