//! The operator's view of several shards.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::ring::Rings;
use super::set::together;
use crate::{
    BoxFuture, Cursor, EffectQuery, EffectSurvey, Error, ErrorKind, StoreUsage, StoredValue,
    Survey, TaskDetails, TaskId, TaskQuery, TaskSurvey,
};

/// Operator's view of [`Shards`](crate::Shards), made of the views of its stores.
///
/// It fails while a shard does not answer, because a list that leaves tasks out
/// would look complete. Times of leases are those of the clock of their shard.
pub struct ShardsSurvey {
    surveys: Vec<Arc<dyn Survey>>,
    rings: Rings,
}

impl ShardsSurvey {
    /// Puts the views together, in the order of the shards.
    ///
    /// # Errors
    ///
    /// `Misuse` if there are more or fewer of them than `rings` say.
    pub fn new(surveys: Vec<Arc<dyn Survey>>, rings: Rings) -> Result<Self, Error> {
        if surveys.len() != rings.shards() {
            let text = "there must be one view for each shard of the last ring";
            return Err(Error::new(ErrorKind::Misuse, text));
        }
        Ok(Self { surveys, rings })
    }

    /// Asks all shards.
    async fn all<'a, T: 'a>(
        &'a self,
        call: impl Fn(&'a dyn Survey) -> BoxFuture<'a, Result<T, Error>>,
    ) -> Result<Vec<T>, Error> {
        let calls = self.surveys.iter().map(|survey| call(&**survey));
        together(calls).await.into_iter().collect()
    }

    fn of_task(&self, task: TaskId) -> Result<&dyn Survey, Error> {
        Ok(&*self.surveys[self.rings.of_task(task)?])
    }
}

impl Survey for ShardsSurvey {
    fn survey_tasks(&self, query: TaskQuery) -> BoxFuture<'_, Result<TaskSurvey, Error>> {
        Box::pin(async move {
            let surveys = self.all(|survey| survey.survey_tasks(query)).await?;
            let now = surveys.iter().map(|survey| survey.now).max();
            let more = surveys.iter().any(|survey| survey.next.is_some());
            let mut tasks: Vec<_> = surveys.into_iter().flat_map(|one| one.tasks).collect();
            tasks.sort_by_key(|task| {
                std::cmp::Reverse(Cursor::new(task.summary.created_at, task.summary.id))
            });
            let last = usize::try_from(query.limit).unwrap_or(usize::MAX);
            let last = tasks.get(last.saturating_sub(1)).filter(|_| more);
            let next = last.map(|task| Cursor::new(task.summary.created_at, task.summary.id));
            let cut = TaskSurvey::cut(tasks, query.limit, now.unwrap_or_default());
            let next = cut.next.or(next);
            Ok(TaskSurvey { next, ..cut })
        })
    }

    fn survey_task(
        &self,
        task: TaskId,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<TaskDetails>, Error>> {
        Box::pin(async move { self.of_task(task)?.survey_task(task, limit).await })
    }

    fn survey_effects(&self, query: EffectQuery) -> BoxFuture<'_, Result<EffectSurvey, Error>> {
        Box::pin(async move {
            if let Some(flow) = query.flow {
                let survey = &self.surveys[self.rings.of_flow(flow)?];
                return survey.survey_effects(query).await;
            }
            let surveys = self.all(|survey| survey.survey_effects(query)).await?;
            let now = surveys.iter().map(|survey| survey.now).max();
            let is_cut = surveys.iter().any(|survey| survey.is_cut);
            let mut effects: Vec<_> = surveys.into_iter().flat_map(|one| one.effects).collect();
            effects.sort_by_key(|effect| std::cmp::Reverse(effect.claimed_at));
            let mut cut = EffectSurvey::cut(effects, query.limit, now.unwrap_or_default());
            cut.is_cut |= is_cut;
            Ok(cut)
        })
    }

    fn survey_usage(&self) -> BoxFuture<'_, Result<StoreUsage, Error>> {
        Box::pin(async move {
            let usages = self.all(|survey| survey.survey_usage()).await?;
            let mut all = StoreUsage::default();
            for usage in &usages {
                all.add(usage);
            }
            Ok(all)
        })
    }

    fn survey_value(
        &self,
        task: TaskId,
        value: StoredValue,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        Box::pin(async move { self.of_task(task)?.survey_value(task, value, limit).await })
    }
}

impl fmt::Debug for ShardsSurvey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardsSurvey")
            .field("rings", &self.rings)
            .finish_non_exhaustive()
    }
}
