//! Moments of a store as ISO 8601.

use sterna_store::UnixMillis;

/// `moment` as `2026-07-28T09:30:00.000Z`.
pub(super) fn iso(moment: UnixMillis) -> String {
    let millis = moment.get();
    let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, milli) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The date `days` days after the beginning of 1970.
///
/// Years are counted from March, so that the day that comes and goes is the
/// last one; eras of 400 years all have the same length.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

const DAY: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_people_read_them() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_826_153_007, "2000-02-29T12:09:13.007Z"),
            (1_785_231_000_000, "2026-07-28T09:30:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso(UnixMillis::new(millis)), text);
        }
    }
}
