//! Points in time as they are written in key rings.

use std::str::FromStr;

use toml_datetime::{Datetime, Offset};

use super::KeyTextFault;
use crate::time::UnixMillis;

/// Reads RFC 3339 with an offset, as in key files.
impl FromStr for UnixMillis {
    type Err = KeyTextFault;

    fn from_str(text: &str) -> Result<Self, KeyTextFault> {
        moment(&text.parse().map_err(|_| KeyTextFault::NotATime)?)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_it_is_written() {
        for (text, read) in [
            ("2026-07-28T02:00:00+02:00", Ok("2026-07-28T00:00:00Z")),
            ("2026-07-28T00:00:00.250Z", Ok("2026-07-28T00:00:00.250Z")),
            ("2026-07-28T00:00:00", Err(KeyTextFault::NoOffset)),
            ("2026-07-28", Err(KeyTextFault::NotATime)),
            ("tomorrow", Err(KeyTextFault::NotATime)),
        ] {
            let moment = text.parse::<UnixMillis>().map(|at| at.to_string());
            assert_eq!(moment, read.map(str::to_owned), "{text}");
        }
    }
}
