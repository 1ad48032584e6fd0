//! The journal: opened when somebody first asks for it, and searched for older
//! transactions in slices, as it may be as long as a gigabyte.

use super::*;
use fslab_engine::ext4::journal::{HistorySearch, Journal, JournalHome, Overlay};

/// Blocks that are looked at before the clock is.
const LOOK: u32 = 64;

/// What is known of the journal.
#[derive(Debug, Default)]
pub(super) enum JournalState {
    /// Nobody has asked.
    #[default]
    Closed,
    /// There is none, or it cannot be read: why, in a sentence.
    Unreadable(String),
    /// What a replay would do is known.
    Open(Box<OpenJournal>),
}

/// A journal and the medium that its blocks are on.
#[derive(Debug)]
pub(super) struct OpenJournal {
    pub journal: Journal,
    pub medium: Medium,
    /// The search for older transactions; `None` once it is complete.
    search: Option<HistorySearch>,
}

impl Session {
    /// Whether a question needs what has to be searched for first.
    pub(super) fn has_to_wait(&mut self, query: &Query) -> bool {
        let of_journal = matches!(
            query,
            Query::Journal | Query::Versions { .. } | Query::Version { .. }
        );
        of_journal && self.fs.is_some() && self.load_journal().is_ok_and(|j| j.search.is_some())
    }

    /// Goes on with the search that questions wait for, and answers them at its end.
    pub(super) fn search_journal(&mut self, now: &dyn Fn() -> f64, until: f64) -> Vec<Say> {
        if let JournalState::Open(open) = &mut self.journal
            && let Some((done, of)) = open.search_on(now, until)
        {
            if !self.word_is_due(now()) {
                return Vec::new();
            }
            return vec![plain(Answer::Searching {
                image: self.image,
                done: done.into(),
                of: of.into(),
            })];
        }
        let waiting = std::mem::take(&mut self.waiting);
        let replies = waiting
            .into_iter()
            .map(|(ask, query)| self.reply(ask, query));
        replies.collect()
    }

    /// The journal; opened at the first call.
    pub(super) fn load_journal(&mut self) -> Result<&OpenJournal, String> {
        if matches!(self.journal, JournalState::Closed) {
            self.journal = match self.open_journal() {
                Ok(open) => JournalState::Open(Box::new(open)),
                Err(why) => JournalState::Unreadable(why),
            };
        }
        self.journal()
    }

    /// The journal, once it is opened.
    pub(super) fn journal(&self) -> Result<&OpenJournal, String> {
        match &self.journal {
            JournalState::Open(open) => Ok(open),
            JournalState::Unreadable(why) => Err(why.clone()),
            JournalState::Closed => Err("The journal has not been read".into()),
        }
    }

    fn open_journal(&self) -> Result<OpenJournal, String> {
        let base = self.base.as_ref().ok_or("No image is open")?;
        // The filesystem as it is: after a replay there would be nothing left to replay.
        let fs = Fs::open(base.clone()).map_err(|e| e.to_string())?;
        let (journal, medium) = match &self.external {
            Some(device) => (Journal::open_device(device, Some(&fs)), device),
            None => (Journal::open(&fs), base),
        };
        let journal = journal.map_err(|e| e.to_string())?;
        let search = HistorySearch::new(&journal, medium);
        Ok(OpenJournal {
            journal,
            medium: medium.clone(),
            search: Some(search),
        })
    }

    /// The medium as after the journal's replay.
    pub(super) fn after_replay(&mut self, base: &Medium) -> Result<Medium, String> {
        let open = self.load_journal()?;
        let map = open.journal.replay_map();
        let after = Overlay::new(base.clone(), open.medium.clone(), map);
        Ok(Rc::new(after))
    }

    /// The journal's picture; `None` for a filesystem that has no journal.
    pub(super) fn journal_view(&self) -> Result<Option<view::journal::JournalView>, String> {
        let fs = self.fs.as_ref().ok_or("No filesystem is open")?;
        if matches!(Journal::home(fs), JournalHome::None) {
            return Ok(None);
        }
        Ok(Some(view::journal::journal(&self.journal()?.journal, 0, 0)))
    }
}

impl OpenJournal {
    /// Goes on with the search; how far it is, if there is more to do.
    fn search_on(&mut self, now: &dyn Fn() -> f64, until: f64) -> Option<(u32, u32)> {
        let search = self.search.as_mut()?;
        while search.step(&self.journal, &self.medium, LOOK) {
            if now() >= until {
                return Some(search.progress(&self.journal));
            }
        }
        self.search.take()?.finish(&mut self.journal);
        None
    }
}
