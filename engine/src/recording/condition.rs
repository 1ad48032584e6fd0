//! Where a run is to stop: breakpoints.

use crate::event::{Actor, Event, Kind, What};
use crate::jbd2::Phase;
use crate::machine::Gauges;
use crate::units::{BlockNr, GroupNr, InodeNr, SimTime};
use std::str::FromStr;
use strum::IntoEnumIterator;

/// What has to be true of an event. Written as words with spaces between; all have to hold:
/// `kind=Allocated inode=12`, `block=8193`, `group=3`, `tid=7`, `process=2`, `request=40`,
/// `call=fsync`, `error`, `commit`, `time=5000000` (ns), `event=1234`, `dirty_pages>64`,
/// `journal_used_blocks<10`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// An event of a kind.
    Kind(Kind),
    /// An event with at least this number.
    Event(u64),
    /// Something a process does.
    Process(u32),
    /// Something about an inode.
    Inode(InodeNr),
    /// Something about a block.
    Block(BlockNr),
    /// Something about a group.
    Group(GroupNr),
    /// Something about a transaction.
    Transaction(u32),
    /// Something about a request.
    Request(u64),
    /// A call whose text begins so.
    Call(String),
    /// Something went wrong.
    Error,
    /// A transaction is committed: a crash would replay it.
    Commit,
    /// At or after a time.
    Time(SimTime),
    /// A gauge goes over (or under) a value that it was not over (or under) before.
    Crosses {
        /// Which.
        gauge: String,
        /// Up, or down.
        up: bool,
        /// The value.
        value: u64,
    },
    /// All of these.
    All(Vec<Condition>),
}

/// Why words are no condition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadCondition {
    /// Nothing was said.
    #[error("a condition is needed, as `kind=Allocated inode=12` or `error`")]
    Empty,
    /// A word that is not known.
    #[error(
        "`{0}` is no condition; known are kind=, event=, process=, inode=, block=, group=, tid=, request=, call=, time=, error, commit, and a counter with < or >"
    )]
    Unknown(String),
    /// A number was expected.
    #[error("`{0}` wants a number")]
    Number(String),
    /// No such kind.
    #[error("there is no kind of event named `{0}`{nearest}", nearest = .1.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    NoKind(String, Option<String>),
    /// No such counter.
    #[error("there is no counter named `{0}`; there are {names}", names = Gauges::NAMES.join(", "))]
    NoGauge(String),
}

impl Condition {
    /// Whether it can hold for an event of a kind: asked first, since kinds are at hand.
    pub(super) fn may_hold(&self, kind: Kind) -> bool {
        match self {
            Self::Kind(k) => *k == kind,
            Self::Call(_) => kind == Kind::Call,
            Self::Transaction(_) => matches!(
                kind,
                Kind::Transaction
                    | Kind::Logged
                    | Kind::TailMoved
                    | Kind::Recovered
                    | Kind::Replayed
                    | Kind::RecoveryPass
            ),
            Self::Commit => kind == Kind::Transaction,
            Self::Request(_) => matches!(kind, Kind::Queued | Kind::Started | Kind::Completed),
            Self::Error => matches!(
                kind,
                Kind::Error | Kind::ReadOnly | Kind::ProcessFailed | Kind::Returned
            ),
            Self::All(all) => all.iter().all(|c| c.may_hold(kind)),
            _ => true,
        }
    }

    /// Whether the gauges have to be read for it.
    pub(super) fn wants_gauges(&self) -> bool {
        match self {
            Self::Crosses { .. } => true,
            Self::All(all) => all.iter().any(Self::wants_gauges),
            _ => false,
        }
    }

    /// Whether it holds for an event. `gauges`: before its step and after.
    pub fn holds(&self, event: &Event, gauges: Option<(&Gauges, &Gauges)>) -> bool {
        let about = event.what.subject();
        match self {
            Self::Kind(kind) => Kind::from(&event.what) == *kind,
            Self::Event(n) => event.id.0 >= *n,
            Self::Process(pid) => event.actor == Actor::Process(*pid),
            Self::Inode(inode) => about.inode == Some(*inode),
            Self::Block(block) => about.has_block(*block),
            Self::Group(group) => about.group == Some(*group),
            Self::Transaction(tid) => about.tid == Some(*tid),
            Self::Request(request) => about.request == Some(*request),
            Self::Call(name) => {
                matches!(&event.what, What::Call { text } if text.starts_with(name.as_str()))
            }
            Self::Error => event.what.is_error(),
            Self::Commit => matches!(
                event.what,
                What::Transaction {
                    phase: Phase::Committed,
                    ..
                }
            ),
            Self::Time(at) => event.at >= *at,
            Self::Crosses { gauge, up, value } => gauges.is_some_and(|(before, after)| {
                let of = |g: &Gauges| g.get(gauge).unwrap_or(0);
                if *up {
                    of(before) <= *value && of(after) > *value
                } else {
                    of(before) >= *value && of(after) < *value
                }
            }),
            Self::All(all) => all.iter().all(|c| c.holds(event, gauges)),
        }
    }

    fn word(word: &str) -> Result<Self, BadCondition> {
        match word {
            "error" => return Ok(Self::Error),
            "commit" => return Ok(Self::Commit),
            _ => {}
        }
        if let Some(at) = word.find(['<', '>']) {
            let (gauge, value) = (&word[..at], &word[at + 1..]);
            if !Gauges::NAMES.contains(&gauge) {
                return Err(BadCondition::NoGauge(gauge.to_owned()));
            }
            return Ok(Self::Crosses {
                gauge: gauge.to_owned(),
                up: word[at..].starts_with('>'),
                value: number(word, value)?,
            });
        }
        let Some((name, value)) = word.split_once('=') else {
            return Err(BadCondition::Unknown(word.to_owned()));
        };
        Ok(match name {
            "kind" => Self::Kind(kind(value)?),
            "event" => Self::Event(number(word, value)?),
            "process" => Self::Process(number(word, value)?),
            "inode" => Self::Inode(InodeNr(number(word, value)?)),
            "block" => Self::Block(BlockNr(number(word, value)?)),
            "group" => Self::Group(GroupNr(number(word, value)?)),
            "tid" => Self::Transaction(number(word, value)?),
            "request" => Self::Request(number(word, value)?),
            "time" => Self::Time(SimTime(number(word, value)?)),
            "call" => Self::Call(value.to_owned()),
            _ => return Err(BadCondition::Unknown(word.to_owned())),
        })
    }
}

fn number<N: FromStr>(word: &str, value: &str) -> Result<N, BadCondition> {
    value
        .parse()
        .map_err(|_| BadCondition::Number(word.to_owned()))
}

fn kind(name: &str) -> Result<Kind, BadCondition> {
    let all = || Kind::iter().map(<&'static str>::from);
    Kind::iter()
        .find(|k| <&str>::from(k).eq_ignore_ascii_case(name))
        .ok_or_else(|| {
            let lower = name.to_ascii_lowercase();
            let near = all().find(|k| {
                let k = k.to_ascii_lowercase();
                k.contains(&lower) || lower.contains(&k)
            });
            BadCondition::NoKind(name.to_owned(), near.map(str::to_owned))
        })
}

impl FromStr for Condition {
    type Err = BadCondition;

    fn from_str(words: &str) -> Result<Self, BadCondition> {
        let mut all: Vec<Self> = words
            .split_whitespace()
            .map(Self::word)
            .collect::<Result<_, _>>()?;
        match all.len() {
            0 => Err(BadCondition::Empty),
            1 => Ok(all.remove(0)),
            _ => Ok(Self::All(all)),
        }
    }
}
