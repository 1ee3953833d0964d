//! From a reason to a session: discovery, refresh, grant.

use std::mem::discriminant;
use std::sync::{Arc, PoisonError};

use super::redeem::Purpose;
use super::{TokenManager, TokenSource};
use crate::clock::UnixSeconds;
use crate::config::{Dpop, MissingMetadata};
use crate::discovery::{AuthorizationServer, Challenges, Resource};
use crate::error::{At, Error, Fault, Step};
use crate::form::Form;
use crate::grant::{OFFLINE_ACCESS, TokenSpec};
use crate::scope::Scopes;
use crate::token::{Session, TokenRequest};

impl TokenManager {
    pub(super) async fn run(
        self: &Arc<Self>,
        reason: &RenewalReason,
    ) -> Result<(Arc<Session>, TokenSource), Error> {
        match reason {
            RenewalReason::Due(session) => self.renew_due(session).await,
            RenewalReason::Refused(_, challenges) | RenewalReason::Scope(_, challenges) => {
                self.answer(challenges, None).await
            }
            RenewalReason::Unauthorized(refused, challenges) => {
                self.answer(challenges, refused.as_ref()).await
            }
        }
    }

    /// Renews a session before it expires, without user interaction.
    async fn renew_due(
        self: &Arc<Self>,
        session: &Arc<Session>,
    ) -> Result<(Arc<Session>, TokenSource), Error> {
        if let Some(session) = self.renewed_elsewhere(session).await? {
            return Ok((session, TokenSource::Adopted));
        }
        let server = self.server_of(&session.issuer).await?;
        if session.refresh.is_some() {
            match self.refresh(session, server.clone()).await {
                Err(error) if error.is_refusal() && !self.grant.is_interactive() => {}
                outcome => return Ok((outcome?, TokenSource::Refreshed)),
            }
        }
        let spec = TokenSpec {
            server,
            resource: session.resource.clone(),
            scopes: session.requested.clone(),
            dpop: session.dpop.is_some(),
        };
        Ok((self.obtain(spec).await?, TokenSource::Granted))
    }

    /// Answers a challenge of the server; `refused` is the session it did not
    /// accept, if a fresh token of the same grant may be what it wants.
    async fn answer(
        self: &Arc<Self>,
        challenges: &Challenges,
        refused: Option<&Arc<Session>>,
    ) -> Result<(Arc<Session>, TokenSource), Error> {
        if let Some(refused) = refused
            && let Some(session) = self.renewed_elsewhere(refused).await?
        {
            return Ok((session, TokenSource::Adopted));
        }
        // Fetched each time: the server may trust another issuer by now.
        let resource = self.resource(challenges).await?;
        let previous = self.known();
        let server = self.server_for(&resource, previous.as_deref()).await?;
        let same = |session: &&Arc<Session>| {
            session.issuer == server.issuer && session.resource == resource.id
        };
        let refused = refused.filter(same).filter(|own| own.refresh.is_some());
        if let Some(session) = refused {
            match self.refresh(session, server.clone()).await {
                Err(error) if error.is_refusal() => {}
                outcome => return Ok((outcome?, TokenSource::Refreshed)),
            }
        }
        let spec = TokenSpec {
            scopes: self.select(challenges, &resource, &server, previous.as_deref()),
            dpop: self
                .binds(challenges, &resource, &server)
                .at(Step::ServerMetadata)?,
            resource: resource.id.clone(),
            server: server.clone(),
        };
        let session = self.obtain(spec).await?;
        if let Some(old) = previous.filter(|old| !same(&old)) {
            self.context.records.remove_session(&old).await?;
        }
        Ok((session, TokenSource::Granted))
    }

    async fn resource(&self, challenges: &Challenges) -> Result<Resource, Error> {
        if let Some(named) = &self.named {
            return Ok(Resource::named(&self.server, named.url()));
        }
        let pointer = challenges.resource_metadata.as_deref();
        match Resource::discover(&self.context.http, &self.server, pointer).await {
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
        let http = &self.context.http;
        if let Some(named) = &self.named {
            let http = named.reach(http, "issuer").at(Step::ServerMetadata)?;
            let server = named.find(&http, "issuer").await;
            return Ok(self.note(server.at(Step::ServerMetadata)?));
        }
        let server = match AuthorizationServer::discover(http, issuer).await {
            Err(Fault::NoServerMetadata { .. })
                if self.assumes_origin() && issuer == self.server.endpoint.origin() =>
            {
                AuthorizationServer::assumed(http, issuer)
            }
            outcome => outcome,
        };
        Ok(self.note(server.at(Step::ServerMetadata)?))
    }

    fn note(&self, server: AuthorizationServer) -> Arc<AuthorizationServer> {
        let server = Arc::new(server);
        let mut last = self.issuer.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(server.clone());
        server
    }

    fn assumes_origin(&self) -> bool {
        self.context.config.missing_metadata == MissingMetadata::AssumeOrigin
    }

    /// Selects the scopes: those of the challenge, else those of the application,
    /// else those that the server lists (AUTH-C5); and all that were requested
    /// before (AUTH-C3).
    fn select(
        &self,
        challenges: &Challenges,
        resource: &Resource,
        server: &AuthorizationServer,
        previous: Option<&Session>,
    ) -> Scopes {
        let nothing = Scopes::default();
        let own = self.scopes.as_ref();
        let wanted = match (&challenges.scope, own) {
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

    /// Returns true if the token is to be bound to a key.
    fn binds(
        &self,
        challenges: &Challenges,
        resource: &Resource,
        server: &AuthorizationServer,
    ) -> Result<bool, Fault> {
        let must = match self.context.config.dpop {
            Dpop::Never => return Ok(false),
            Dpop::Required => true,
            Dpop::WhenAsked => resource.dpop_required || (challenges.dpop && !challenges.bearer),
        };
        match (must || challenges.dpop, server.issues_dpop_tokens()) {
            (true, true) => Ok(true),
            (true, false) if must => Err(Fault::DpopUnsupported),
            _ => Ok(false),
        }
    }

    /// Goes the whole way of the grant.
    async fn obtain(self: &Arc<Self>, spec: TokenSpec) -> Result<Arc<Session>, Error> {
        let request = self.grant.prepare(&self.context, &spec).await?;
        let dynamic = request.client.dynamic.is_some();
        let issuer = spec.server.issuer.clone();
        let outcome = self
            .redeem(Step::Token, request, Purpose::Granted(spec))
            .await;
        // The server has forgotten us; the next try introduces us again.
        if dynamic
            && outcome
                .as_ref()
                .is_err_and(|e| e.code() == Some("invalid_client"))
        {
            self.context.records.remove_client(&issuer).await?;
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

/// Reason why the session in use must be replaced.
#[derive(Clone, Debug)]
pub(crate) enum RenewalReason {
    /// It is about to expire.
    Due(Arc<Session>),
    /// The server does not accept it, although it was just refreshed: only a
    /// new grant can help.
    Refused(Arc<Session>, Challenges),
    /// It lacks scopes.
    Scope(Arc<Session>, Challenges),
    /// The server does not accept it, or there was none.
    Unauthorized(Option<Arc<Session>>, Challenges),
}

impl RenewalReason {
    /// Returns true if `session`, which another caller obtained, removes the reason.
    pub(super) fn is_met_by(&self, session: &Arc<Session>, now: UnixSeconds) -> bool {
        let used = self.used().is_some_and(|used| Arc::ptr_eq(used, session));
        let narrow = match self {
            Self::Scope(_, challenges) => {
                let scope = challenges.scope.as_ref();
                scope.is_some_and(|scope| !session.requested.covers(scope))
            }
            Self::Due(_) | Self::Refused(..) | Self::Unauthorized(..) => false,
        };
        !used && !narrow && !session.is_expired(now)
    }

    /// Returns true if one renewal serves both: same reason, same session.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_session = match (self.used(), other.used()) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        let same_trouble = discriminant(self) == discriminant(other);
        same_session && same_trouble && self.challenges() == other.challenges()
    }

    fn used(&self) -> Option<&Arc<Session>> {
        match self {
            Self::Due(session) | Self::Refused(session, _) | Self::Scope(session, _) => {
                Some(session)
            }
            Self::Unauthorized(session, _) => session.as_ref(),
        }
    }

    fn challenges(&self) -> Option<&Challenges> {
        match self {
            Self::Due(_) => None,
            Self::Refused(_, challenges)
            | Self::Scope(_, challenges)
            | Self::Unauthorized(_, challenges) => Some(challenges),
        }
    }
}
