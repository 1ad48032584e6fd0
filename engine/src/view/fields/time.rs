//! Points in time as RFC 3339 text in UTC.

use crate::ext4::layout::Timestamp;

const DAY: i64 = 86_400;
/// Days of 400 years of the Gregorian calendar, after which it repeats.
const ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Year, month and day of a day counted from 1970-01-01. Years are counted from March, so
/// that the leap day is the last of its year and months fall on a straight line.
fn civil(days: i64) -> (i64, i64, i64) {
    let n = days + EPOCH;
    let era = n.div_euclid(ERA);
    let day_of_era = n.rem_euclid(ERA);
    // Leap days before this one: one in 4 years, but none in 100, but one in 400.
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Date and time without a fraction: "2011-02-03T04:05:06"; `None` outside the years 0 to
/// 9999, which RFC 3339 cannot say.
fn date_time(secs: i64) -> Option<String> {
    const LAST: i64 = 253_402_300_799;
    const FIRST: i64 = -62_167_219_200;
    if !(FIRST..=LAST).contains(&secs) {
        return None;
    }
    let (year, month, day) = civil(secs.div_euclid(DAY));
    let s = secs.rem_euclid(DAY);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        s / 3600,
        s / 60 % 60,
        s % 60
    ))
}

/// A time with nanoseconds: "2011-02-03T04:05:06.000000007Z". Nanoseconds that are not
/// less than a second, which only damage makes, are told apart.
pub fn time_text(t: Timestamp) -> String {
    match date_time(t.secs) {
        Some(text) if t.nanos < 1_000_000_000 => format!("{text}.{:09}Z", t.nanos),
        Some(text) => format!("{text}Z and {} nanoseconds", t.nanos),
        None => format!("{} seconds from 1970", t.secs),
    }
}

/// A time of whole seconds: "2011-02-03T04:05:06Z".
pub fn seconds_text(secs: i64) -> String {
    date_time(secs).map_or_else(|| format!("{secs} seconds from 1970"), |text| text + "Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @N +%FT%TZ` of GNU coreutils 9.1. The first and last are the ends of
    /// what an inode can say.
    const BY_DATE: &[(i64, &str)] = &[
        (-2_147_483_648, "1901-12-13T20:45:52Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_078_012_800, "2004-02-29T00:00:00Z"),
        (2_147_483_647, "2038-01-19T03:14:07Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (15_032_385_535, "2446-05-10T22:38:55Z"),
    ];

    #[test]
    fn agrees_with_date() {
        for &(secs, text) in BY_DATE {
            assert_eq!(seconds_text(secs), text);
        }
    }

    /// Asks the `date` of this machine for days all over the range.
    #[test]
    fn agrees_with_date_over_the_whole_range() {
        use std::io::Write;
        let steps = (0..2000).map(|i| -2_147_483_648 + i * 8_589_934);
        let all: Vec<i64> = steps
            .chain((0..800).map(|i| 946_684_800 + i * DAY))
            .collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for secs in &all {
            writeln!(file, "@{secs}").unwrap();
        }
        let date = std::process::Command::new("date")
            .args(["-u", "+%Y-%m-%dT%H:%M:%SZ", "-f"])
            .arg(file.path())
            .output();
        let Ok(out) = date.map_err(|e| eprintln!("skipped: date does not run: {e}")) else {
            return;
        };
        if !out.status.success() {
            return eprintln!("skipped: date has no -f");
        }
        let said = String::from_utf8(out.stdout).unwrap();
        assert_eq!(said.lines().count(), all.len());
        for (secs, line) in all.iter().zip(said.lines()) {
            assert_eq!(seconds_text(*secs), line);
        }
    }

    #[test]
    fn what_is_no_date_is_said_in_seconds() {
        assert_eq!(
            seconds_text(i64::MAX),
            "9223372036854775807 seconds from 1970"
        );
        let damaged = Timestamp {
            secs: 0,
            nanos: 1_000_000_000,
        };
        assert_eq!(
            time_text(damaged),
            "1970-01-01T00:00:00Z and 1000000000 nanoseconds"
        );
    }
}
