//! Calls that come at once share a transaction and its commit.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_store::{BoxFuture, Error, NewTask, TaskId};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::call::{Caller, stalled};
use crate::error::{Failure, no_connection};
use crate::rows::create::create_together;
use crate::rows::read::{Read, read_together};
use crate::rows::verb::Verb;
use crate::rows::{LockedElsewhere, LockedTask, Needs, Operation, Writes};
use crate::session::Session;

/// Calls that wait for a transaction to share.
///
/// A call is put into the next transaction, together with all that wait. No call
/// waits for others to come: while one transaction commits, the calls for the next
/// one gather.
pub(crate) struct Group<C> {
    queue: Mutex<Queue<C>>,
    most_lanes: usize,
}

struct Queue<C> {
    waiting: VecDeque<C>,
    /// Transactions that are under way.
    lanes: usize,
}

impl<C: SharedCall> Group<C> {
    /// A group that uses up to `most_lanes` connections at once.
    pub(crate) fn new(most_lanes: usize) -> Self {
        let queue = Queue {
            waiting: VecDeque::new(),
            lanes: 0,
        };
        Self {
            queue: Mutex::new(queue),
            most_lanes,
        }
    }

    /// Adds a call. If a [lane](Lane) is returned, it has to be run.
    pub(crate) fn add(self: &Arc<Self>, call: C) -> Option<Lane<C>> {
        let mut queue = self.lock();
        queue.waiting.push_back(call);
        (queue.lanes < self.most_lanes).then(|| {
            queue.lanes += 1;
            Lane(Arc::clone(self))
        })
    }

    /// Takes the calls of the next transaction, at most one for each task: two
    /// decisions about a task must follow each other.
    fn take(&self) -> Vec<C> {
        let mut queue = self.lock();
        let (mut taken, mut tasks) = (Vec::new(), BTreeSet::new());
        let mut later = VecDeque::new();
        while taken.len() < MOST_TOGETHER
            && let Some(call) = queue.waiting.pop_front()
        {
            if !call.is_wanted() {
                continue;
            }
            if tasks.insert(*call.task()) {
                taken.push(call);
            } else {
                later.push_back(call);
            }
        }
        later.append(&mut queue.waiting);
        queue.waiting = later;
        taken
    }

    fn lock(&self) -> MutexGuard<'_, Queue<C>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One transaction after the other, until no call waits.
pub(crate) struct Lane<C: SharedCall>(Arc<Group<C>>);

impl<C: SharedCall> Lane<C> {
    /// Runs the transactions. A call that cannot share one is handed to `alone`.
    ///
    /// A transaction that fails leaves each of its calls to a transaction of its
    /// own: only the call that is to blame fails. Every call of a store may be
    /// repeated, so it does not matter whether the commit was lost or only its
    /// acknowledgement.
    pub(crate) async fn run(self, caller: Arc<Caller>, alone: impl Fn(BoxFuture<'static, ()>)) {
        loop {
            let mut calls = self.0.take();
            if calls.is_empty() {
                return;
            }
            let committed = share(&caller, &mut calls).await.is_ok();
            for call in calls {
                if let Err(call) = call.acknowledge(committed) {
                    alone(call.run_alone(Arc::clone(&caller)));
                }
            }
        }
    }
}

impl<C: SharedCall> Drop for Lane<C> {
    fn drop(&mut self) {
        self.0.lock().lanes -= 1;
    }
}

/// Runs `calls` in one transaction, once.
async fn share<C: SharedCall>(caller: &Caller, calls: &mut [C]) -> Result<(), Failure> {
    let connection = caller.pool.get().await.map_err(no_connection)?;
    let session = Session::new(connection, &caller.schema);
    let shared = timeout(caller.limit, async {
        let result = C::run_together(calls, &session).await;
        if !result.as_ref().is_err_and(Failure::is_fatal) {
            session.give_back().await;
        }
        result
    });
    let result = shared.await.unwrap_or_else(|_| Err(stalled()));
    caller.leave_lost_server(&result);
    result
}

/// A call that can share a transaction.
pub(crate) trait SharedCall: Sized + Send + 'static {
    /// The task that it is about.
    fn task(&self) -> &TaskId;

    /// Returns whether there is a caller that waits for it.
    fn is_wanted(&self) -> bool;

    /// Runs `calls` in one transaction. Those that need one of their own are left
    /// without a result.
    fn run_together(
        calls: &mut [Self],
        session: &Session<'_>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Tells the caller the result, if there is one and it is committed.
    fn acknowledge(self, committed: bool) -> Result<(), Self>;

    /// Runs the call in a transaction of its own.
    fn run_alone(self, caller: Arc<Caller>) -> BoxFuture<'static, ()>;
}

/// An operation, and its result before it is committed.
pub(crate) struct Pending<O: Operation> {
    operation: O,
    result: Option<Result<O::Output, Error>>,
    tell: oneshot::Sender<Result<O::Output, Error>>,
}

impl<O: Operation + 'static> Pending<O> {
    pub(crate) fn new(operation: O, tell: oneshot::Sender<Result<O::Output, Error>>) -> Self {
        Self {
            operation,
            result: None,
            tell,
        }
    }

    fn acknowledge(mut self, committed: bool) -> Result<(), Self> {
        match self.result.take().filter(|_| committed) {
            Some(result) => {
                // Fails if the caller has given up meanwhile: it needs no result.
                let _ = self.tell.send(result);
                Ok(())
            }
            None => Err(self),
        }
    }

    async fn run_alone(self, caller: Arc<Caller>) {
        caller.call(&self.operation, self.tell).await;
    }
}

impl SharedCall for Pending<NewTask> {
    fn task(&self) -> &TaskId {
        &self.operation.id
    }

    fn is_wanted(&self) -> bool {
        !self.tell.is_closed()
    }

    async fn run_together(calls: &mut [Self], session: &Session<'_>) -> Result<(), Failure> {
        let tasks: Vec<_> = calls.iter().map(|call| &call.operation).collect();
        let created = create_together(session, &tasks).await?;
        for (call, created) in calls.iter_mut().zip(created) {
            call.result = created.map(Ok);
        }
        Ok(())
    }

    fn acknowledge(self, committed: bool) -> Result<(), Self> {
        self.acknowledge(committed)
    }

    fn run_alone(self, caller: Arc<Caller>) -> BoxFuture<'static, ()> {
        Box::pin(self.run_alone(caller))
    }
}

impl SharedCall for Pending<Read> {
    fn task(&self) -> &TaskId {
        &self.operation.task
    }

    fn is_wanted(&self) -> bool {
        !self.tell.is_closed()
    }

    async fn run_together(calls: &mut [Self], session: &Session<'_>) -> Result<(), Failure> {
        let reads: Vec<_> = calls.iter().map(|call| &call.operation).collect();
        let tasks = read_together(session, &reads).await?;
        for (call, task) in calls.iter_mut().zip(tasks) {
            call.result = Some(Ok(task));
        }
        Ok(())
    }

    fn acknowledge(self, committed: bool) -> Result<(), Self> {
        self.acknowledge(committed)
    }

    fn run_alone(self, caller: Arc<Caller>) -> BoxFuture<'static, ()> {
        Box::pin(self.run_alone(caller))
    }
}

/// A [`Verb`] that waits, with its type forgotten.
pub(crate) trait PendingVerb: Send {
    fn task(&self) -> &TaskId;

    fn is_wanted(&self) -> bool;

    fn add_needs<'a>(&'a self, needs: &mut Needs<'a>);

    /// Decides about the task, which is locked if it exists.
    fn decide(&mut self, task: Result<LockedTask, Error>, writes: &mut Writes);

    fn acknowledge(self: Box<Self>, committed: bool) -> Result<(), Box<dyn PendingVerb>>;

    fn run_alone(self: Box<Self>, caller: Arc<Caller>) -> BoxFuture<'static, ()>;
}

impl<V: Verb> PendingVerb for Pending<V> {
    fn task(&self) -> &TaskId {
        self.operation.task()
    }

    fn is_wanted(&self) -> bool {
        !self.tell.is_closed()
    }

    fn add_needs<'a>(&'a self, needs: &mut Needs<'a>) {
        self.operation.add_needs(needs);
    }

    fn decide(&mut self, task: Result<LockedTask, Error>, writes: &mut Writes) {
        let decide = |task| self.operation.decide(Some(task), writes);
        self.result = Some(task.and_then(decide));
    }

    fn acknowledge(self: Box<Self>, committed: bool) -> Result<(), Box<dyn PendingVerb>> {
        let acknowledged = Self::acknowledge(*self, committed);
        acknowledged.map_err(|call| Box::new(call) as _)
    }

    fn run_alone(self: Box<Self>, caller: Arc<Caller>) -> BoxFuture<'static, ()> {
        Box::pin(Self::run_alone(*self, caller))
    }
}

impl SharedCall for Box<dyn PendingVerb> {
    fn task(&self) -> &TaskId {
        (**self).task()
    }

    fn is_wanted(&self) -> bool {
        (**self).is_wanted()
    }

    async fn run_together(calls: &mut [Self], session: &Session<'_>) -> Result<(), Failure> {
        let mut needs = Needs::default();
        for call in &*calls {
            call.add_needs(&mut needs);
        }
        let mut locked = needs.lock(session, LockedElsewhere::Skip).await?;
        let mut writes = Writes::default();
        for call in calls {
            // A task that is not there is locked by another transaction or does not
            // exist. A transaction of its own tells the two apart.
            if let Some(task) = locked.remove((**call).task()) {
                call.decide(task, &mut writes);
            }
        }
        let channel = session.schema().as_str();
        session.commit(writes.statements(channel)).await?;
        Ok(())
    }

    fn acknowledge(self, committed: bool) -> Result<(), Self> {
        PendingVerb::acknowledge(self, committed)
    }

    fn run_alone(self, caller: Arc<Caller>) -> BoxFuture<'static, ()> {
        PendingVerb::run_alone(self, caller)
    }
}

/// Largest number of calls in one transaction: far more than a busy instance has at
/// once, and few enough that a statement stays small.
const MOST_TOGETHER: usize = 256;
