//! Reading traces.

use super::{SECTOR, Traced};
use crate::event::Io;

/// Most requests that are taken from a trace.
const MOST: usize = 10_000_000;

/// What is wrong with a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TraceError {
    /// A line is not as its format wants it.
    #[error("line {line}: {words}")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        words: String,
    },
    /// There is nothing in it.
    #[error(
        "there is no request in this trace: neither a line of blkparse with the action Q, D or C, nor a row of CSV"
    )]
    Empty,
    /// It is too long.
    #[error("a trace may have {MOST} requests, and this has more")]
    TooLong,
}

/// A row of a trace: the action where there is one, and the request, its time from the
/// trace's own beginning of time.
type Row = Option<(char, Traced)>;

/// How the rows of a CSV file lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Columns {
    /// MSR Cambridge: Timestamp (100 ns), Hostname, DiskNumber, Type, Offset, Size,
    /// ResponseTime.
    Msr,
    /// SYSTOR '17: Timestamp (s), Response, IOType, LUN, Offset, Size.
    Systor,
}

/// The requests of a trace, in the order of their times, the first at time 0. Of blkparse's
/// lines those that tell of queueing count (Q), where there are none those of issuing (D),
/// else those of completion (C).
pub fn parse(text: &str) -> Result<Vec<Traced>, TraceError> {
    let mut found: [Vec<Traced>; 3] = Default::default();
    let (mut columns, mut is_blkparse) = (None, false);
    for (line, row) in (1..).zip(text.lines()) {
        let at = |words: String| TraceError::Line { line, words };
        let row = row.trim();
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        // Behind its lines blkparse prints a summary, which has commas of its own.
        is_blkparse |= looks_like_blkparse(row);
        let read = match row.contains(',') && !is_blkparse {
            true => csv(row, &mut columns).map_err(at)?,
            false => blkparse(row).map_err(at)?,
        };
        let Some((action, request)) = read else {
            continue;
        };
        let list = match action {
            'Q' => &mut found[0],
            'D' => &mut found[1],
            _ => &mut found[2],
        };
        if list.len() >= MOST {
            return Err(TraceError::TooLong);
        }
        list.push(request);
    }
    let mut all = found
        .into_iter()
        .find(|list| !list.is_empty())
        .ok_or(TraceError::Empty)?;
    all.sort_by_key(|r| r.at_ns);
    let first = all.first().map_or(0, |r| r.at_ns);
    for request in &mut all {
        request.at_ns -= first;
    }
    Ok(all)
}

/// Lines of blkparse begin with the device's numbers: `8,0`.
fn looks_like_blkparse(row: &str) -> bool {
    let device = row.split_whitespace().next().unwrap_or_default();
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    device
        .split_once(',')
        .is_some_and(|(a, b)| digits(a) && digits(b))
}

/// `8,0 3 1 0.000000000 697 Q W 223490 + 8 [kjournald]`; lines of other actions, and the
/// summary behind them, are passed over.
fn blkparse(row: &str) -> Result<Row, String> {
    if !looks_like_blkparse(row) {
        return Ok(None);
    }
    let words: Vec<&str> = row.split_whitespace().collect();
    let [_, _, _, time, _, action, rwbs, rest @ ..] = &words[..] else {
        return Ok(None);
    };
    let action = match *action {
        "Q" => 'Q',
        "D" => 'D',
        "C" => 'C',
        _ => return Ok(None),
    };
    let at_ns = seconds(time).ok_or_else(|| {
        format!("`{time}` is no time: seconds with nine digits behind the point are expected")
    })?;
    let Some(kind) = kind_of(rwbs) else {
        return Ok(None);
    };
    let (offset, len) = match rest {
        [first, "+", count, ..] => {
            let number = |word: &str| {
                word.parse::<u64>()
                    .ok()
                    .and_then(|n| n.checked_mul(SECTOR))
                    .ok_or_else(|| format!("`{word}` is no number of sectors"))
            };
            (number(first)?, number(count)?)
        }
        _ if kind == Io::Flush => (0, 0),
        _ => {
            return Err(
                "a first sector, a `+` and a number of sectors are expected behind the kind".into(),
            );
        }
    };
    let kind = if len == 0 { Io::Flush } else { kind };
    let request = Traced {
        at_ns,
        kind,
        offset: if kind == Io::Flush { 0 } else { offset },
        len,
    };
    Ok(Some((action, request)))
}

/// The letters of a request: a leading F asks for a flush before, a trailing one for forced
/// unit access (fill_rwbs in the kernel's blktrace.c).
fn kind_of(rwbs: &str) -> Option<Io> {
    let (flush, rest) = match rwbs.strip_prefix('F') {
        Some(rest) => (true, rest),
        None => (false, rwbs),
    };
    match rest.chars().next() {
        Some('W') if rest[1..].contains('F') => Some(Io::WriteFua),
        Some('W') => Some(Io::Write),
        Some('R') => Some(Io::Read),
        Some('D') => Some(Io::Discard),
        _ if flush => Some(Io::Flush),
        _ => None,
    }
}

/// Seconds with up to nine digits behind the point, as ns.
fn seconds(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.').unwrap_or((word, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if !digits(part) || !digits(whole) || whole.is_empty() {
        return None;
    }
    let part: String = part.chars().chain("000000000".chars()).take(9).collect();
    let whole: u64 = whole.parse().ok()?;
    whole
        .checked_mul(1_000_000_000)?
        .checked_add(part.parse().ok()?)
}

fn csv(row: &str, columns: &mut Option<Columns>) -> Result<Row, String> {
    let cells: Vec<&str> = row.split(',').map(str::trim).collect();
    if cells
        .first()
        .is_some_and(|c| c.eq_ignore_ascii_case("timestamp"))
    {
        let response = cells
            .get(1)
            .is_some_and(|c| c.eq_ignore_ascii_case("response"));
        *columns = Some(if response {
            Columns::Systor
        } else {
            Columns::Msr
        });
        return Ok(None);
    }
    let usual = || match cells.len() {
        7 => Ok(Columns::Msr),
        6 => Ok(Columns::Systor),
        n => Err(format!(
            "{n} columns: MSR Cambridge has 7 (Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime), SYSTOR '17 has 6 (Timestamp,Response,IOType,LUN,Offset,Size)"
        )),
    };
    let layout = match *columns {
        Some(layout) => layout,
        None => usual()?,
    };
    *columns = Some(layout);
    let cell = |nr: usize, name: &str| {
        let found = cells.get(nr).copied().filter(|c| !c.is_empty());
        found.ok_or_else(|| format!("column {} ({name}) is missing", nr + 1))
    };
    let number = |nr: usize, name: &str| -> Result<u64, String> {
        let word = cell(nr, name)?;
        word.parse()
            .map_err(|_| format!("`{word}` in column {} ({name}) is no number", nr + 1))
    };
    let (at_ns, kind, offset, len) = match layout {
        Columns::Msr => {
            let ticks = number(0, "Timestamp")?;
            let at = ticks.checked_mul(100);
            // Ticks since 1601 have 18 digits: times 100 they would not fit.
            let at = at.unwrap_or_else(|| ticks.wrapping_mul(100));
            (
                at,
                cell(3, "Type")?,
                number(4, "Offset")?,
                number(5, "Size")?,
            )
        }
        Columns::Systor => {
            let word = cell(0, "Timestamp")?;
            let at = seconds(word)
                .ok_or_else(|| format!("`{word}` in column 1 (Timestamp) is no time in seconds"))?;
            (
                at,
                cell(2, "IOType")?,
                number(4, "Offset")?,
                number(5, "Size")?,
            )
        }
    };
    let kind = match kind.to_ascii_lowercase().as_str() {
        "read" | "r" => Io::Read,
        "write" | "w" => Io::Write,
        other => {
            return Err(format!(
                "`{other}` is no kind of request: Read or Write is expected"
            ));
        }
    };
    let request = Traced {
        at_ns,
        kind,
        offset,
        len,
    };
    Ok((len > 0).then_some(('Q', request)))
}
