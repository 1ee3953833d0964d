//! The operator's view of a store in memory.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::MemoryStore;
use super::row::Row;
use super::state::State;
use crate::{
    BoxFuture, EffectQuery, EffectSurvey, Error, KeptRows, Owner, Status, StoreUsage, StoredValue,
    Survey, SurveyedEffect, SurveyedTask, TaskDetails, TaskId, TaskQuery, TaskSurvey, UnixMillis,
};

impl Survey for MemoryStore {
    fn survey_tasks(&self, query: TaskQuery) -> BoxFuture<'_, Result<TaskSurvey, Error>> {
        self.run(move |state, now| Ok(state.survey_tasks(query, now)))
    }

    fn survey_task(
        &self,
        task: TaskId,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<TaskDetails>, Error>> {
        self.run(move |state, now| Ok(state.survey_task(task, limit, now)))
    }

    fn survey_effects(&self, query: EffectQuery) -> BoxFuture<'_, Result<EffectSurvey, Error>> {
        self.run(move |state, now| Ok(state.survey_effects(query, now)))
    }

    fn survey_usage(&self) -> BoxFuture<'_, Result<StoreUsage, Error>> {
        self.run(move |state, now| Ok(state.survey_usage(now)))
    }

    fn survey_value(
        &self,
        task: TaskId,
        value: StoredValue,
        limit: u32,
    ) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.run(move |state, _| {
            let found = state.tasks.get(&task).and_then(|row| row.stored(&value));
            Ok(found.map(|found| found.slice(..found.len().min(wide(limit)))))
        })
    }
}

impl State {
    fn survey_tasks(&self, query: TaskQuery, now: UnixMillis) -> TaskSurvey {
        let before = query
            .before
            .map(|cursor| (cursor.created_at(), cursor.id()));
        let mut found: Vec<(UnixMillis, TaskId, &Row)> = self
            .tasks
            .iter()
            .map(|(id, row)| (row.created_at, *id, row))
            .filter(|(at, id, _)| before.is_none_or(|before| (*at, *id) < before))
            .filter(|(_, _, row)| query.status.is_none_or(|only| row.control.status == only))
            .collect();
        found.sort_by_key(|(at, id, _)| std::cmp::Reverse((*at, *id)));
        let shown = found.into_iter().take(wide(query.limit).saturating_add(1));
        let shown = shown.map(|(_, id, row)| surveyed(row, id)).collect();
        TaskSurvey::cut(shown, query.limit, now)
    }

    fn survey_task(&self, id: TaskId, limit: u32, now: UnixMillis) -> Option<TaskDetails> {
        let row = self.tasks.get(&id)?;
        let request = row.stored(&StoredValue::Request);
        let size = |value: Option<Bytes>| value.map(|value| length(&value));
        let mut details = TaskDetails::new(surveyed(row, id), size(request).unwrap_or(0), now);
        details.outcome_bytes = size(row.stored(&StoredValue::Outcome));
        details.journal = row.entry_sizes().take(wide(limit)).collect();
        details.questions = row.surveyed_questions().take(wide(limit)).collect();
        Some(details)
    }

    fn survey_effects(&self, query: EffectQuery, now: UnixMillis) -> EffectSurvey {
        let mut found: Vec<SurveyedEffect> = self
            .effects
            .iter()
            .filter(|(effect, _)| query.flow.is_none_or(|flow| effect.flow == flow))
            .map(|(effect, record)| {
                let mut shown = SurveyedEffect::new(
                    effect.clone(),
                    record.claimant,
                    record.claimed_at,
                    record.expires_at,
                );
                shown.result_bytes = record.result.as_ref().map(length);
                shown
            })
            .collect();
        found.sort_by(|a, b| {
            let place = |one: &SurveyedEffect| (one.claimed_at, one.effect.clone());
            place(b).cmp(&place(a))
        });
        EffectSurvey::cut(found, query.limit, now)
    }
}

impl State {
    fn survey_usage(&self, now: UnixMillis) -> StoreUsage {
        let mut usage = StoreUsage::empty(now);
        for status in Status::ALL {
            let rows = self.tasks.values();
            let rows = rows.filter(|row| row.control.status == status);
            let kept = KeptRows::of(rows.map(|row| row.expires_at), now);
            if kept.rows > 0 {
                usage.tasks.insert(status, kept);
            }
        }
        let mut owners: BTreeMap<Owner, u64> = BTreeMap::new();
        for row in self.tasks.values() {
            if !row.control.status.is_final() {
                *owners.entry(row.principal).or_default() += 1;
            }
        }
        usage.owners = count(owners.len());
        usage.most_per_owner = owners.values().copied().max().unwrap_or_default();
        let effects = self.effects.values();
        usage.effects = KeptRows::of(effects.map(|effect| Some(effect.expires_at)), now);
        let unreported = self.effects.values();
        usage.unreported_effects = count(unreported.filter(|it| it.result.is_none()).count());
        let rounds = self.rounds.values();
        usage.rounds = KeptRows::of(rounds.map(|round| Some(round.expires_at)), now);
        let blobs = self.blobs.values();
        usage.blobs = KeptRows::of(blobs.map(|blob| Some(blob.expires_at)), now);
        usage
    }
}

fn surveyed(row: &Row, id: TaskId) -> SurveyedTask {
    let control = row.control.clone();
    let mut task = SurveyedTask::new(row.summary(id), row.principal, row.flow(), control);
    let worker = row.worker.as_ref().filter(|_| row.control.held);
    task.worker = worker.map(|worker| worker.as_str().to_owned());
    task
}

fn length(value: &Bytes) -> u64 {
    count(value.len())
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn wide(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
