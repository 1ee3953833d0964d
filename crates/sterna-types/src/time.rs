//! Timestamps, and their spelling in RFC 3339.

use std::error::Error;
use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Timestamp in milliseconds since 1970-01-01T00:00:00Z, up to the year 9999.
///
/// A value outside of these years becomes the nearer end of the range. Every
/// timestamp therefore has a spelling in RFC 3339, fits the 48 bits it has in a
/// token and the 64-bit column it has in a database.
///
/// `Display` writes RFC 3339 in UTC, with milliseconds only if they are not
/// zero. `{:.3}` always writes three digits of them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UnixMillis(i64);

impl UnixMillis {
    /// Start of 1970.
    pub const MIN: Self = Self(0);

    /// Last millisecond of the year 9999.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// Makes the timestamp `millis` milliseconds after the start of 1970.
    #[must_use]
    pub const fn new(millis: i64) -> Self {
        if millis < Self::MIN.0 {
            Self::MIN
        } else if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    /// Returns the milliseconds since the start of 1970; never negative.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Converts a duration to whole milliseconds.
    ///
    /// Rounds up, so that a short lease is not zero, and returns at most three
    /// thousand years, so that a database can add the result to a timestamp.
    #[must_use]
    pub fn span(duration: Duration) -> i64 {
        let millis = duration.as_nanos().div_ceil(1_000_000);
        i64::try_from(millis).map_or(LONGEST_SPAN, |millis| millis.min(LONGEST_SPAN))
    }
}

const LONGEST_SPAN: i64 = 100_000_000_000_000;

impl Add<Duration> for UnixMillis {
    type Output = Self;

    /// Returns the timestamp `duration` later, rounded up to a millisecond.
    fn add(self, duration: Duration) -> Self {
        let millis = duration.as_nanos().div_ceil(1_000_000);
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        Self::new(self.0.saturating_add(millis))
    }
}

impl Sub for UnixMillis {
    type Output = Duration;

    /// Returns the time since `earlier`; zero if `earlier` is later.
    fn sub(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

impl From<SystemTime> for UnixMillis {
    /// Drops fractions of a millisecond, as clocks do.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self::new(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, millis) = (self.0 / MILLIS_PER_DAY, self.0 % MILLIS_PER_DAY);
        let (year, month, day) = date_of_day(days);
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        if millis != 0 || f.precision().is_some() {
            write!(f, ".{millis:03}")?;
        }
        f.write_str("Z")
    }
}

impl FromStr for UnixMillis {
    type Err = ParseTimeError;

    /// Reads RFC 3339 with an offset, such as `2026-07-28T00:00:00Z` or
    /// `2026-07-28 02:00:00.250+02:00`. Seconds may be missing, as in TOML.
    ///
    /// # Errors
    ///
    /// [`ParseTimeError`] if the text is no date and time with an offset.
    fn from_str(text: &str) -> Result<Self, ParseTimeError> {
        let mut rest = Digits(text.as_bytes());
        let parts = rest.date_and_time().ok_or(ParseTimeError::NotATime)?;
        let offset = match rest.0 {
            [] => return Err(ParseTimeError::NoOffset),
            _ => rest.offset().ok_or(ParseTimeError::NotATime)?,
        };
        let [year, month, day, hour, minute, second, millis] = parts;
        let is_day = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        // A leap second is written as 60 and means the second after it here.
        if !is_day || hour > 23 || minute > 59 || second > 60 {
            return Err(ParseTimeError::NoSuchTime);
        }
        let seconds = (hour * 60 + minute) * 60 + second;
        let days = day_of_date(year, month, day);
        Ok(Self::new(
            days * MILLIS_PER_DAY + seconds * 1000 + millis - offset,
        ))
    }
}

/// Reason why a text is no timestamp.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParseTimeError {
    /// The text has no offset from UTC, so it means another time in every zone.
    NoOffset,
    /// The calendar does not have the day, or the day does not have the time.
    NoSuchTime,
    /// The text is no date with a time.
    NotATime,
}

impl fmt::Display for ParseTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoOffset => "a time needs an offset: write it like 2026-07-28T00:00:00Z",
            Self::NoSuchTime => "there is no such day or time",
            Self::NotATime => "this is not a time: write it like 2026-07-28T00:00:00Z",
        })
    }
}

impl Error for ParseTimeError {}

/// The unread part of a timestamp's text.
struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    /// Reads year, month, day, hour, minute, second and millisecond.
    fn date_and_time(&mut self) -> Option<[i64; 7]> {
        let year = self.number(4)?;
        let month = self.after(b"-", 2)?;
        let day = self.after(b"-", 2)?;
        let hour = self.after(b"Tt ", 2)?;
        let minute = self.after(b":", 2)?;
        let second = match self.0 {
            [b':', ..] => self.after(b":", 2)?,
            _ => 0,
        };
        Some([year, month, day, hour, minute, second, self.fraction()?])
    }

    /// Reads the milliseconds of a fraction, which may be missing. Digits after
    /// the third are dropped.
    fn fraction(&mut self) -> Option<i64> {
        let [b'.', rest @ ..] = self.0 else {
            return Some(0);
        };
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = rest.split_at(len);
        self.0 = rest;
        let padded = digits.iter().chain(b"00").take(3);
        let millis = padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        (len > 0).then_some(millis)
    }

    /// Reads the whole rest as an offset, in milliseconds.
    fn offset(&mut self) -> Option<i64> {
        if let b"Z" | b"z" = self.0 {
            return Some(0);
        }
        let sign = match self.0.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = self.after(b"+-", 2)?;
        let minutes = self.after(b":", 2)?;
        let is_whole = self.0.is_empty() && hours <= 23 && minutes <= 59;
        is_whole.then_some(sign * (hours * 60 + minutes) * 60_000)
    }

    /// Reads one of the bytes of `separator` and a number of `len` digits.
    fn after(&mut self, separator: &[u8], len: usize) -> Option<i64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        separator.contains(first).then(|| self.number(len))?
    }

    fn number(&mut self, len: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        digits.iter().try_fold(0, |sum, digit| {
            let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
            Some(sum * 10 + digit)
        })
    }
}

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Returns the day of a date, counted from 1970-01-01.
///
/// Counts years from March, so that the leap day is the last of its year.
fn day_of_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + day_of_year - EPOCH
}

/// Returns the year, month and day of a day counted from 1970-01-01.
fn date_of_day(day: i64) -> (i64, i64, i64) {
    let day = day + EPOCH;
    let (era, day_of_era) = (day / DAYS_PER_ERA, day % DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
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
            (i64::MIN, "1970-01-01T00:00:00Z"),
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_785_196_800_000, "2026-07-28T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(UnixMillis::new(millis).to_string(), text);
        }
    }

    #[test]
    fn a_precision_writes_the_milliseconds_of_every_timestamp() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_826_153_007, "2000-02-29T12:09:13.007Z"),
            (1_785_231_000_000, "2026-07-28T09:30:00.000Z"),
        ] {
            assert_eq!(format!("{:.3}", UnixMillis::new(millis)), text);
        }
    }

    #[test]
    fn rfc_3339_is_read_with_its_offset() {
        use ParseTimeError::{NoOffset, NoSuchTime, NotATime};
        for (text, read) in [
            ("2026-07-28T02:00:00+02:00", Ok("2026-07-28T00:00:00Z")),
            ("2026-07-27T22:30:00-01:30", Ok("2026-07-28T00:00:00Z")),
            ("2026-07-28 00:00Z", Ok("2026-07-28T00:00:00Z")),
            ("2026-07-28t00:00:00.250z", Ok("2026-07-28T00:00:00.250Z")),
            ("2026-07-28T00:00:00.5Z", Ok("2026-07-28T00:00:00.500Z")),
            (
                "2026-07-28T00:00:00.123456Z",
                Ok("2026-07-28T00:00:00.123Z"),
            ),
            ("2016-12-31T23:59:60Z", Ok("2017-01-01T00:00:00Z")),
            ("2000-02-29T00:00:00Z", Ok("2000-02-29T00:00:00Z")),
            ("1969-12-31T00:00:00Z", Ok("1970-01-01T00:00:00Z")),
            ("9999-12-31T23:59:59-23:00", Ok("9999-12-31T23:59:59.999Z")),
            ("2026-07-28T00:00:00", Err(NoOffset)),
            ("2026-07-28T00:00", Err(NoOffset)),
            ("2100-02-29T00:00:00Z", Err(NoSuchTime)),
            ("2026-04-31T00:00:00Z", Err(NoSuchTime)),
            ("2026-13-01T00:00:00Z", Err(NoSuchTime)),
            ("2026-07-28T24:00:00Z", Err(NoSuchTime)),
            ("2026-07-28T00:60:00Z", Err(NoSuchTime)),
            ("2026-07-28T00:00:00.Z", Err(NotATime)),
            ("2026-07-28T00:00:00Zulu", Err(NotATime)),
            ("2026-07-28T00:00:00+2:00", Err(NotATime)),
            ("2026-07-28T00:00:00+24:00", Err(NotATime)),
            ("2026-07-28", Err(NotATime)),
            ("+026-07-28T00:00:00Z", Err(NotATime)),
            ("tomorrow", Err(NotATime)),
            ("", Err(NotATime)),
        ] {
            let parsed = text.parse::<UnixMillis>().map(|time| time.to_string());
            assert_eq!(parsed, read.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn sums_stay_in_the_range_and_differences_are_not_negative() {
        assert_eq!(UnixMillis::MIN + Duration::MAX, UnixMillis::MAX);
        let now = UnixMillis::new(5);
        assert_eq!(now + Duration::from_nanos(1), UnixMillis::new(6));
        assert_eq!(now - UnixMillis::new(2), Duration::from_millis(3));
        assert_eq!(now - UnixMillis::new(9), Duration::ZERO);
    }

    #[test]
    fn a_span_is_rounded_up_and_bounded() {
        assert_eq!(UnixMillis::span(Duration::from_nanos(1)), 1);
        assert_eq!(UnixMillis::span(Duration::ZERO), 0);
        assert_eq!(UnixMillis::span(Duration::MAX), LONGEST_SPAN);
    }

    proptest! {
        #[test]
        fn a_timestamp_survives_being_written_and_read(millis in 0..=UnixMillis::MAX.0) {
            let time = UnixMillis::new(millis);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            prop_assert_eq!(format!("{time:.3}").parse(), Ok(time));
        }
    }
}
