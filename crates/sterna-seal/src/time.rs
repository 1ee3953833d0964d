//! Points in time, handed in by the caller.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z.
///
/// Ends with the year 9999, so that every value can be written as RFC 3339 and
/// fits the 48 bits it has in a token; what lies outside is moved to the
/// nearest end.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UnixMillis(u64);

impl UnixMillis {
    /// The last millisecond of the year 9999.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// The start of 1970; a key that activates here has always been active.
    pub const MIN: Self = Self(0);

    /// The point `millis` after the start of 1970.
    pub const fn new(millis: u64) -> Self {
        if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    /// Milliseconds since the start of 1970.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The point `later` after this one.
    #[must_use]
    pub fn after(self, later: Duration) -> Self {
        let later = u64::try_from(later.as_millis()).unwrap_or(u64::MAX);
        Self::new(self.0.saturating_add(later))
    }

    /// Midnight of a day of the Gregorian calendar plus `millis`.
    pub(crate) fn from_civil(year: u16, month: u8, day: u8, millis: i64) -> Self {
        let days = days_from_civil(i64::from(year), i64::from(month), i64::from(day));
        let millis = days * MILLIS_PER_DAY + millis;
        Self::new(u64::try_from(millis).unwrap_or(0))
    }
}

impl From<SystemTime> for UnixMillis {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self::MIN.after(since)
    }
}

/// Writes RFC 3339 in UTC, with milliseconds only where there are any.
impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, millis) = (
            self.0 / MILLIS_PER_DAY.unsigned_abs(),
            self.0 % MILLIS_PER_DAY.unsigned_abs(),
        );
        let (year, month, day) = civil_from_days(days);
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        if millis != 0 {
            write!(f, ".{millis:03}")?;
        }
        f.write_str("Z")
    }
}

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;

/// Days from 0000-03-01, where the arithmetic is simplest, to 1970-01-01.
const EPOCH_FROM_MARCH_0000: i64 = 719_468;

/// Counts years from March, so that the leap day is the last of its year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + day_of_year - EPOCH_FROM_MARCH_0000
}

fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let era_days = DAYS_PER_ERA.unsigned_abs();
    let days = days + EPOCH_FROM_MARCH_0000.unsigned_abs();
    let (era, day_of_era) = (days / era_days, days % era_days);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_clock_of_the_machine_begins_with_the_epoch() {
        let later = UNIX_EPOCH + Duration::from_millis(1_785_196_800_000);
        assert_eq!(UnixMillis::from(later).to_string(), "2026-07-28T00:00:00Z");
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(UnixMillis::from(before), UnixMillis::MIN);
    }

    #[test]
    fn known_days_are_written_as_rfc_3339() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_785_196_800_000, "2026-07-28T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(UnixMillis::new(millis).to_string(), text);
        }
    }

    #[test]
    fn what_lies_before_1970_or_after_9999_is_moved_to_the_end() {
        assert_eq!(
            UnixMillis::from(UNIX_EPOCH - Duration::from_secs(1)),
            UnixMillis::MIN
        );
        assert_eq!(UnixMillis::MIN.after(Duration::MAX), UnixMillis::MAX);
        assert_eq!(UnixMillis::from_civil(1969, 12, 31, 0), UnixMillis::MIN);
        assert_eq!(
            UnixMillis::from_civil(9999, 12, 31, MILLIS_PER_DAY),
            UnixMillis::MAX
        );
    }

    proptest! {
        #[test]
        fn a_day_survives_the_way_to_a_date_and_back(days in 0_u64..2_932_896) {
            let (year, month, day) = civil_from_days(days);
            let back = days_from_civil(
                i64::try_from(year).unwrap(),
                i64::try_from(month).unwrap(),
                i64::try_from(day).unwrap(),
            );
            prop_assert_eq!(u64::try_from(back).unwrap(), days);
            prop_assert!((1..=12).contains(&month) && (1..=31).contains(&day));
        }
    }
}
