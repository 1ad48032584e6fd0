//! The image that is open: what the worker does for each request, without the browser.
//!
//! One request gives any number of answers at once; an expansion or a scan goes on in
//! slices, so that questions and a cancel come through between them.

mod journal;
mod lab;
mod open;
mod queries;
mod scan;

use fslab_engine::ext4::read::Fs;
use fslab_engine::image::{self, Limits, Medium, Opened, Opener};
use fslab_engine::view::owners::{BlockMap, MapRun, Names};
use fslab_engine::view::{self, Listing};
use std::cell::RefCell;
use std::rc::Rc;

use self::journal::JournalState;
use self::scan::Scanning;
use super::protocol::{Answer, Query, Request};

/// What goes with an answer that serde does not carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Nothing.
    None,
    /// A map: every run of it.
    Map(Vec<MapRun>),
    /// Bytes of a file.
    Bytes(Vec<u8>),
}

/// An answer and what goes with it.
pub type Say = (Answer, Extra);

/// The open image.
#[derive(Debug, Default)]
pub struct Session {
    image: u32,
    work: Work,
    opened: Option<Opened>,
    partition: Option<u32>,
    /// The filesystem's bytes as they are.
    base: Option<Medium>,
    external: Option<Medium>,
    replayed: bool,
    fs: Option<Fs<Medium>>,
    journal: JournalState,
    /// Questions that wait until the journal has been searched for older transactions.
    waiting: Vec<(u32, Query)>,
    map: Option<(BlockMap, Names)>,
    /// The directory that was asked for last.
    listing: RefCell<Option<Listing>>,
    /// When the next word of progress is due, milliseconds; `None` before the first.
    next_word: Option<f64>,
    /// The runs; they stay whatever is opened.
    lab: lab::Lab,
}

/// Milliseconds between two words of progress: the page draws each.
const WORDS: f64 = 50.0;

/// What is under way.
#[derive(Debug, Default)]
enum Work {
    #[default]
    Nothing,
    Expanding(Box<Opener>),
    Scanning(Box<Scanning>),
}

impl Session {
    /// Whether there is work to go on with.
    pub fn is_busy(&self) -> bool {
        !matches!(self.work, Work::Nothing)
            || !self.waiting.is_empty()
            || self.is_recording()
            || self.is_exploring()
    }

    /// Does what a request asks. `medium` is the file that came with it.
    pub fn hear(&mut self, request: Request, medium: Option<Medium>) -> Vec<Say> {
        match request {
            Request::Ping => vec![plain(Answer::Pong {
                version: env!("CARGO_PKG_VERSION").into(),
            })],
            Request::Lab(request) => self.hear_lab(request),
            Request::Open { image, .. } => self.open(image, medium),
            _ if number(&request) != Some(self.image) => Vec::new(),
            Request::OpenJournal { .. } => {
                self.external = medium;
                self.reopen()
            }
            Request::Choose { partition, .. } => self.choose(partition),
            Request::Replayed { on, .. } => {
                self.replayed = on;
                self.reopen()
            }
            Request::Cancel { image } => self.cancel(image),
            Request::Scan { .. } => self.scan(),
            Request::Ask { ask, query, .. } => self.ask(ask, query),
        }
    }

    fn ask(&mut self, ask: u32, query: Query) -> Vec<Say> {
        if self.has_to_wait(&query) {
            self.waiting.push((ask, query));
            return Vec::new();
        }
        vec![self.reply(ask, query)]
    }

    fn reply(&self, ask: u32, query: Query) -> Say {
        let (reply, extra) = match self.answer(query) {
            Ok((reply, extra)) => (Ok(reply), extra),
            Err(why) => (Err(why), Extra::None),
        };
        let image = self.image;
        (Answer::Reply { image, ask, reply }, extra)
    }

    /// Takes up work.
    fn start(&mut self, work: Work) {
        self.work = work;
        self.next_word = None;
    }

    /// Whether it is time for a word of progress.
    fn word_is_due(&mut self, now: f64) -> bool {
        let due = self.next_word.is_none_or(|next| now >= next);
        if due {
            self.next_word = Some(now + WORDS);
        }
        due
    }

    /// Goes on with what is under way until `now`, in milliseconds, has gone on by about
    /// `slice`.
    pub fn work(&mut self, now: &dyn Fn() -> f64, slice: f64) -> Vec<Say> {
        let until = now() + slice;
        if !self.waiting.is_empty() {
            return self.search_journal(now, until);
        }
        match std::mem::take(&mut self.work) {
            Work::Nothing if self.is_recording() => self.record(now, until),
            Work::Nothing => self.explore(now, until),
            Work::Expanding(opener) => self.expand(opener, now, until),
            Work::Scanning(scanning) => self.scan_on(scanning, now, until),
        }
    }

    fn cancel(&mut self, image: u32) -> Vec<Say> {
        match std::mem::take(&mut self.work) {
            Work::Nothing => Vec::new(),
            Work::Expanding(_) | Work::Scanning(_) => vec![plain(Answer::Cancelled { image })],
        }
    }
}

/// An answer that is all data.
fn plain(answer: Answer) -> Say {
    (answer, Extra::None)
}

/// The image a request is about.
fn number(request: &Request) -> Option<u32> {
    match *request {
        Request::Ping | Request::Lab(_) => None,
        Request::Open { image, .. }
        | Request::OpenJournal { image }
        | Request::Choose { image, .. }
        | Request::Replayed { image, .. }
        | Request::Cancel { image }
        | Request::Scan { image }
        | Request::Ask { image, .. } => Some(image),
    }
}

#[cfg(test)]
mod tests;
