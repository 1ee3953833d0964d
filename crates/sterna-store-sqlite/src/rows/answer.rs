//! A client answers.

use rusqlite::Connection;
use sterna_store::{Answer, Answered, Error, Owner, TaskId, UnixMillis};

use super::codec::count;
use super::head::Head;
use super::inbox;
use crate::error::explain;

pub(crate) fn answer(
    connection: &Connection,
    caller: Owner,
    id: TaskId,
    answers: &[Answer],
    now: UnixMillis,
) -> Result<Option<Answered>, Error> {
    let Some(mut head) = Head::of(connection, caller, id)? else {
        return Ok(None);
    };
    let asked = inbox::asked(connection, id)?;
    let accepted = head.control.answer(&asked, answers, now);
    if !accepted.is_empty() {
        let mut statement = connection
            .prepare_cached(
                "UPDATE sterna_question SET phase = 'answered', response = ?3, heard = ?4
                 WHERE task = ?1 AND key = ?2",
            )
            .map_err(explain)?;
        for answer in &accepted {
            head.heard = head.heard.saturating_add(1);
            let (key, response) = (answer.key.as_str(), &answer.response[..]);
            statement
                .execute((id.as_bytes(), key, response, head.heard))
                .map_err(explain)?;
        }
        head.updated_at = now;
        head.save(connection)?;
    }
    let accepted = count(accepted.len());
    Ok(Some(Answered::new(accepted, head.control.status)))
}
