//! The image that is open: what the worker does for each request, without the browser.
//!
//! One request gives any number of answers at once; an expansion or a scan goes on in
//! slices, so that questions and a cancel come through between them.

mod open;
mod queries;
mod scan;

use fslab_engine::ext4::journal::{Journal, Overlay};
use fslab_engine::ext4::read::Fs;
use fslab_engine::image::{self, Limits, Medium, Opened, Opener};
use fslab_engine::view;
use fslab_engine::view::owners::{BlockMap, MapRun, Names};
use std::cell::RefCell;
use std::rc::Rc;

use self::scan::Scanning;
use super::protocol::{Answer, Request};

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
    /// Opened when somebody first asks.
    journal: RefCell<Option<Rc<OpenJournal>>>,
    map: Option<(BlockMap, Names)>,
}

/// The journal and the medium its blocks are on.
#[derive(Debug)]
struct OpenJournal {
    journal: Journal,
    medium: Medium,
}

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
    }

    /// Does what a request asks. `medium` is the file that came with it.
    pub fn hear(&mut self, request: Request, medium: Option<Medium>) -> Vec<Say> {
        match request {
            Request::Ping => vec![plain(Answer::Pong {
                version: env!("CARGO_PKG_VERSION").into(),
            })],
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
            Request::Ask { image, ask, query } => {
                let (reply, extra) = match self.answer(query) {
                    Ok((reply, extra)) => (Ok(reply), extra),
                    Err(why) => (Err(why), Extra::None),
                };
                vec![(Answer::Reply { image, ask, reply }, extra)]
            }
        }
    }

    /// Goes on with what is under way until `now`, in milliseconds, has gone on by about
    /// `slice`.
    pub fn work(&mut self, now: &dyn Fn() -> f64, slice: f64) -> Vec<Say> {
        let until = now() + slice;
        match std::mem::take(&mut self.work) {
            Work::Nothing => Vec::new(),
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

    /// The journal, opened and searched for old transactions at the first call; an error
    /// is a sentence.
    fn journal(&self) -> Result<Rc<OpenJournal>, String> {
        if let Some(open) = &*self.journal.borrow() {
            return Ok(open.clone());
        }
        let base = self.base.as_ref().ok_or("No image is open")?;
        let fs = Fs::open(base.clone()).map_err(|e| e.to_string())?;
        let (mut journal, medium) = match &self.external {
            Some(device) => {
                let journal = Journal::open_device(device, Some(&fs));
                (journal.map_err(|e| e.to_string())?, device.clone())
            }
            None => (Journal::open(&fs).map_err(|e| e.to_string())?, base.clone()),
        };
        journal.read_history(&medium, &mut |_, _| true);
        let open = Rc::new(OpenJournal { journal, medium });
        *self.journal.borrow_mut() = Some(open.clone());
        Ok(open)
    }

    /// The medium as after the journal's replay.
    fn after_replay(&self, base: &Medium) -> Result<Medium, String> {
        let open = self.journal()?;
        let map = open.journal.replay_map();
        Ok(Rc::new(Overlay::new(
            base.clone(),
            open.medium.clone(),
            map,
        )))
    }
}

/// An answer that is all data.
fn plain(answer: Answer) -> Say {
    (answer, Extra::None)
}

/// The image a request is about.
fn number(request: &Request) -> Option<u32> {
    match *request {
        Request::Ping => None,
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
