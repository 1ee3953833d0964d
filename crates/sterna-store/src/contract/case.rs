//! Cases, how they break, and what comes of running them.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error as ThisError;

use crate::{BoxFuture, Error, ErrorKind};

/// One sentence of the contract.
pub(super) struct Case<S: ?Sized + 'static> {
    name: &'static str,
    run: fn(Subject<S>) -> BoxFuture<'static, Result<(), Broken>>,
}

impl<S: ?Sized> Case<S> {
    pub(super) const fn new(
        name: &'static str,
        run: fn(Subject<S>) -> BoxFuture<'static, Result<(), Broken>>,
    ) -> Self {
        Self { name, run }
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }
}

impl<S: ?Sized> Clone for Case<S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

/// Lists `async fn`s as cases; a function cannot take the name of another.
macro_rules! cases {
    ($store:ty: $($case:ident,)+) => {
        pub(super) fn cases() -> Vec<super::case::Case<$store>> {
            vec![$(super::case::Case::new(stringify!($case), |subject| Box::pin($case(subject))),)+]
        }
    };
}
pub(super) use cases;

/// Runs `cases`, each on a store of its own.
pub(super) async fn check<S: ?Sized>(
    cases: &[Case<S>],
    fresh: impl Fn() -> BoxFuture<'static, Result<Subject<S>, Error>>,
) -> Report {
    let mut report = Report::default();
    for case in cases {
        let result = match fresh().await {
            Ok(subject) => (case.run)(subject).await,
            Err(error) => Err(error.into()),
        };
        match result {
            Ok(()) => report.kept.push(case.name),
            Err(broken) => report.broken.push((case.name, broken)),
        }
    }
    report
}

/// Which sentences of the contract a store keeps.
#[derive(Debug, Default)]
pub struct Report {
    kept: Vec<&'static str>,
    broken: Vec<(&'static str, Broken)>,
}

impl Report {
    /// Returns whether the store kept every case.
    pub fn is_kept(&self) -> bool {
        self.broken.is_empty()
    }

    /// The sentences that hold.
    pub fn kept(&self) -> &[&'static str] {
        &self.kept
    }

    /// The sentences that do not, and why.
    pub fn broken(&self) -> &[(&'static str, Broken)] {
        &self.broken
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.broken.extend(other.broken);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} kept, {} broken", self.kept.len(), self.broken.len())?;
        for (name, broken) in &self.broken {
            writeln!(f, "- {}\n  {broken}", name.replace('_', " "))?;
        }
        Ok(())
    }
}

/// A broken rule of the contract, with the line of the case that found it.
#[derive(Debug, ThisError)]
#[error("{message} ({at})")]
pub struct Broken {
    message: String,
    at: &'static Location<'static>,
    source: Option<Error>,
}

impl Broken {
    #[track_caller]
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: Location::caller(),
            source: None,
        }
    }
}

impl From<Error> for Broken {
    #[track_caller]
    fn from(error: Error) -> Self {
        Self {
            message: format!("the store failed: {error} [{:?}]", error.kind()),
            at: Location::caller(),
            source: Some(error),
        }
    }
}

/// Insists that `got` is `wanted`.
#[track_caller]
pub(super) fn same<T: PartialEq + fmt::Debug>(got: T, wanted: T) -> Result<(), Broken> {
    if got == wanted {
        Ok(())
    } else {
        Err(Broken::new(format!("got {got:?}, wanted {wanted:?}")))
    }
}

/// Insists that the store refused, for the right reason.
#[track_caller]
pub(super) fn refused<T: fmt::Debug>(
    result: Result<T, Error>,
    kind: ErrorKind,
) -> Result<(), Broken> {
    match result {
        Err(error) if error.kind() == kind => Ok(()),
        Err(error) => Err(Broken::new(format!(
            "refused as {:?} ({error}), wanted {kind:?}",
            error.kind()
        ))),
        Ok(value) => Err(Broken::new(format!("got {value:?}, wanted {kind:?}"))),
    }
}

/// An empty store, and a way to let its time pass.
pub struct Subject<S: ?Sized> {
    store: Arc<S>,
    advance: Advance,
}

type Advance = Box<dyn Fn(Duration) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

impl<S: ?Sized> Subject<S> {
    /// A store, and what makes its time go on.
    pub fn new(
        store: Arc<S>,
        advance: impl Fn(Duration) -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            store,
            advance: Box::new(advance),
        }
    }

    pub(super) fn store(&self) -> &S {
        &self.store
    }

    pub(super) async fn advance(&self, by: Duration) -> Result<(), Error> {
        (self.advance)(by).await
    }

    pub(super) fn narrow<T: ?Sized>(self, view: fn(Arc<S>) -> Arc<T>) -> Subject<T> {
        Subject {
            store: view(self.store),
            advance: self.advance,
        }
    }
}

impl<S: ?Sized> fmt::Debug for Subject<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}
