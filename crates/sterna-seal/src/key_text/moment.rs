//! Points in time as they are written in key rings.

use toml_datetime::{Datetime, Offset};

use super::KeyTextFault;
use crate::time::UnixMillis;

/// The point in time that an RFC 3339 text names.
pub(super) fn moment(written: &Datetime) -> Result<UnixMillis, KeyTextFault> {
    let (Some(date), Some(time)) = (written.date, written.time) else {
        return Err(KeyTextFault::NotATime);
    };
    let offset = match written.offset {
        Some(Offset::Z) => 0,
        Some(Offset::Custom { minutes }) => i64::from(minutes),
        None => return Err(KeyTextFault::NoOffset),
    };
    let minutes = i64::from(time.hour) * 60 + i64::from(time.minute) - offset;
    let seconds = minutes * 60 + i64::from(time.second.unwrap_or(0));
    let millis = seconds * 1000 + i64::from(time.nanosecond.unwrap_or(0) / 1_000_000);
    Ok(UnixMillis::from_civil(
        date.year, date.month, date.day, millis,
    ))
}
