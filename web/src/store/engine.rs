//! The page's hand on the worker: opens images, asks questions, and tells the state what
//! comes back.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::JsCast as _;
use web_sys::{Blob, File};
use yew::{Callback, UseReducerDispatcher};

use super::lab_engine::LabHand;
use super::save::Job;
use super::{Action, Data, Source, Stage, State};
use crate::owner_map::OwnerMap;
use crate::room::Room;
use crate::route::{Address, LabPlace};
use crate::samples;
use crate::worker::lab::Seek;
use crate::worker::link::Link;
use crate::worker::protocol::{Answer, Query, Reply, Request};

/// Files of the visitor's that "back" can open again.
const REMEMBERED: usize = 8;

/// The way to the worker. Clones are the same one.
#[derive(Clone)]
pub struct Engine(Rc<Inner>);

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Engine").field(&self.0.image.get()).finish()
    }
}

pub(super) struct Inner {
    dispatch: UseReducerDispatcher<State>,
    link: RefCell<Option<Link>>,
    /// Number of the image that is shown.
    image: Cell<u32>,
    /// What is open, to be opened again after a failure.
    open: RefCell<Option<(Address, Option<Blob>)>>,
    files: RefCell<Vec<File>>,
    /// The file of a journal, and the image it was added to: to be added again with it.
    journal: RefCell<Option<(Source, File)>>,
    /// The questions that wait for an answer.
    asked: RefCell<Vec<(u32, Purpose)>>,
    next_ask: Cell<u32>,
    job: RefCell<Option<Job>>,
    /// The latest number that an image has, or is promised.
    latest: Cell<u32>,
    pub(super) lab: LabHand,
}

/// What an answer is for.
#[derive(Clone, PartialEq, Eq)]
enum Purpose {
    Show(Query),
    List { dir: u32, from: u64 },
    Save,
}

impl Engine {
    pub(super) fn new(dispatch: UseReducerDispatcher<State>) -> Self {
        let engine = Self(Rc::new(Inner {
            dispatch,
            link: RefCell::default(),
            image: Cell::new(0),
            open: RefCell::default(),
            files: RefCell::default(),
            journal: RefCell::default(),
            asked: RefCell::default(),
            next_ask: Cell::new(0),
            job: RefCell::default(),
            latest: Cell::new(0),
            lab: LabHand::default(),
        }));
        engine.start();
        engine
    }

    fn start(&self) {
        let inner = Rc::downgrade(&self.0);
        let hear = Callback::from(move |(answer, extras): (Answer, Array)| {
            if let Some(inner) = inner.upgrade() {
                Self(inner).hear(answer, &extras);
            }
        });
        match Link::start(hear) {
            Ok(link) => *self.0.link.borrow_mut() = Some(link),
            Err(error) => {
                let why = format!("The engine did not start: {error:?}");
                self.0.dispatch.dispatch(Action::Failed(why));
            }
        }
    }

    fn send(&self, request: &Request, extras: &Array) {
        if let Some(link) = &*self.0.link.borrow() {
            link.send_with(request, extras, Array::new());
        }
    }

    pub(super) fn say(&self, request: &Request) {
        self.send(request, &Array::new());
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(super) fn dispatch(&self, action: Action) {
        self.0.dispatch.dispatch(action);
    }

    /// A number for an image to come.
    pub(super) fn next_image(&self) -> u32 {
        let nr = self.0.latest.get() + 1;
        self.0.latest.set(nr);
        nr
    }

    /// The image of this number is what is shown from now on.
    pub(super) fn take_image(&self, nr: u32) {
        self.0.image.set(nr);
        self.0.asked.borrow_mut().clear();
        *self.0.job.borrow_mut() = None;
    }

    /// A number for a question.
    pub(super) fn next_ask(&self) -> u32 {
        let ask = self.0.next_ask.get().wrapping_add(1);
        self.0.next_ask.set(ask);
        ask
    }

    /// Goes to the room for images: to the one that was open there, or to a sample.
    pub fn enter_explore(&self) {
        if !self.reopen() {
            self.open_address(Address {
                source: samples::SAMPLES
                    .first()
                    .map(|s| Source::Sample(s.name.into())),
                ..Address::default()
            });
        }
    }

    /// Opens the image again that was open; whether there was one.
    fn reopen(&self) -> bool {
        let open = self.0.open.borrow().clone();
        let was_open = open.is_some();
        match open {
            Some((at, Some(blob))) => {
                self.begin(at, Stage::Opening);
                self.send_blob(blob);
            }
            Some((at, None)) => self.open_address(at),
            None => {}
        }
        was_open
    }

    /// Starts the engine anew after it stopped, and opens what was open.
    pub fn restart(&self, state: &State) {
        *self.0.link.borrow_mut() = None;
        self.0.asked.borrow_mut().clear();
        self.start();
        self.0.dispatch.dispatch(Action::Restarted);
        if state.room == Room::Lab {
            return self.restart_lab(state.lab.event());
        }
        self.reopen();
    }

    /// Goes to an address: opens its image if another is open, and chooses its place.
    pub fn go(&self, at: Address, state: &State) {
        if let Some(place) = at.lab.clone() {
            let here = state.room == Room::Lab && LabPlace::of(state).source == place.source;
            match place.event {
                Some(event) if here => self.seek(Seek::Event(event)),
                _ if here => {}
                _ => self.open_lab(place),
            }
            return self.0.dispatch.dispatch(Action::Place(at));
        }
        let here = match (&at.source, &state.image.source) {
            (Some(there), Some(here)) => {
                there.same(here)
                    && state.image.stage != Stage::Wanted
                    && (at.partition == state.image.partition || at.partition.is_none())
            }
            (None, None) => true,
            _ => false,
        };
        if !here {
            return self.open_address(at);
        }
        if at.replayed != state.image.replayed {
            self.replay(at.replayed);
        }
        self.0.dispatch.dispatch(Action::Place(at));
    }

    /// Opens the image that an address names.
    pub fn open_address(&self, at: Address) {
        match at.source.clone() {
            None | Some(Source::Run) => self.close(),
            Some(Source::Sample(name)) => self.open_sample(&name, at),
            Some(Source::File { name, .. }) => {
                let known = self
                    .0
                    .files
                    .borrow()
                    .iter()
                    .find(|f| f.name() == name)
                    .cloned();
                match known {
                    Some(file) => self.open_file_at(file, at),
                    None => {
                        self.begin(at, Stage::Wanted);
                    }
                }
            }
        }
    }

    /// Opens a file of the visitor's. `state` may wait for it, with a place to go on to.
    pub fn open_file(&self, file: File, state: &State) {
        let source = Source::File {
            name: file.name(),
            size: Some(file.size() as u64),
        };
        let waits = state.image.stage == Stage::Wanted
            && state.image.source.as_ref().is_some_and(|s| s.same(&source));
        let mut at = if waits {
            Address::of(state)
        } else {
            Address::default()
        };
        at.source = Some(source);
        self.open_file_at(file, at);
    }

    fn open_file_at(&self, file: File, at: Address) {
        let mut files = self.0.files.borrow_mut();
        files.retain(|known| known.name() != file.name());
        files.push(file.clone());
        if files.len() > REMEMBERED {
            files.remove(0);
        }
        drop(files);
        self.begin(at, Stage::Opening);
        self.send_blob(file.unchecked_into());
    }

    fn open_sample(&self, name: &str, at: Address) {
        let nr = self.begin(at, Stage::Opening);
        let Some(sample) = samples::find(name) else {
            let message = format!("There is no sample named “{name}”");
            return self.0.dispatch.dispatch(Action::Refused { nr, message });
        };
        let engine = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let blob = samples::fetch(sample).await;
            if engine.0.image.get() != nr {
                return;
            }
            match blob {
                Ok(blob) => engine.send_blob(blob),
                Err(message) => engine.0.dispatch.dispatch(Action::Refused { nr, message }),
            }
        });
    }

    /// Takes a new number; from now on the image before is gone.
    fn begin(&self, at: Address, stage: Stage) -> u32 {
        let nr = self.renumber();
        *self.0.open.borrow_mut() = Some((at.clone(), None));
        self.0.dispatch.dispatch(Action::Open { nr, at, stage });
        nr
    }

    fn renumber(&self) -> u32 {
        let nr = self.next_image();
        self.take_image(nr);
        *self.0.open.borrow_mut() = None;
        nr
    }

    fn send_blob(&self, blob: Blob) {
        let source = {
            let mut open = self.0.open.borrow_mut();
            let Some((at, kept)) = open.as_mut() else {
                return;
            };
            *kept = Some(blob.clone());
            at.source.clone()
        };
        let request = Request::Open {
            image: self.0.image.get(),
            name: source
                .as_ref()
                .map_or_else(String::new, |s| s.name().to_owned()),
        };
        self.send(&request, &Array::of1(&blob));
        if let (Some((of, file)), Some(source)) = (&*self.0.journal.borrow(), source)
            && of.same(&source)
        {
            self.send_journal(file);
        }
    }

    fn send_journal(&self, file: &File) {
        let image = self.0.image.get();
        self.send(&Request::OpenJournal { image }, &Array::of1(file));
    }

    /// Closes the image.
    pub fn close(&self) {
        // Stops what the worker is at; it forgets the image when the next is opened.
        self.cancel();
        let nr = self.renumber();
        self.0.dispatch.dispatch(Action::Close { nr });
    }

    /// Opens a partition.
    pub fn choose(&self, partition: u32) {
        let image = self.0.image.get();
        self.say(&Request::Choose { image, partition });
    }

    /// Adds a file that holds the journal.
    pub fn open_journal(&self, file: &File) {
        let open = self.0.open.borrow();
        let source = open.as_ref().and_then(|(at, _)| at.source.clone());
        *self.0.journal.borrow_mut() = source.map(|source| (source, file.clone()));
        drop(open);
        self.forget();
        self.send_journal(file);
    }

    /// Looks at the image as after its journal's replay, or as it is.
    pub fn replay(&self, on: bool) {
        let image = self.0.image.get();
        self.forget();
        self.say(&Request::Replayed { image, on });
    }

    /// Answers that are under way are of an image that is no longer looked at.
    fn forget(&self) {
        self.0.asked.borrow_mut().clear();
        *self.0.job.borrow_mut() = None;
        self.0.dispatch.dispatch(Action::Forget);
    }

    /// Stops an expansion or a scan.
    pub fn cancel(&self) {
        let image = self.0.image.get();
        self.say(&Request::Cancel { image });
    }

    /// Scans for the owners of blocks.
    pub fn scan(&self) {
        let image = self.0.image.get();
        self.say(&Request::Scan { image });
    }

    /// Asks, unless the same has been asked and not been answered.
    pub fn ask(&self, query: Query) {
        self.put(Purpose::Show(query.clone()), query);
    }

    /// Asks for a page of a directory for the tree of files.
    pub fn list(&self, dir: u32, from: u64) {
        self.put(Purpose::List { dir, from }, Query::Dir { inode: dir, from });
    }

    fn put(&self, purpose: Purpose, query: Query) {
        let mut asked = self.0.asked.borrow_mut();
        if asked.iter().any(|(_, p)| *p == purpose) {
            return;
        }
        let ask = self.next_ask();
        asked.push((ask, purpose));
        drop(asked);
        self.say(&Request::Ask {
            image: self.0.image.get(),
            ask,
            query,
        });
    }

    /// Saves a file's contents on the visitor's disk.
    pub fn save(&self, inode: u32, name: String, size: u64) {
        // A piece of another file that is still on its way would be taken for the first.
        self.stop_saving();
        let job = Job::new(inode, name, size);
        self.0
            .dispatch
            .dispatch(Action::Saving(Some(job.progress())));
        *self.0.job.borrow_mut() = Some(job);
        self.save_more();
    }

    /// Stops saving, or takes away the word of a failure.
    pub fn stop_saving(&self) {
        *self.0.job.borrow_mut() = None;
        self.0
            .asked
            .borrow_mut()
            .retain(|(_, p)| *p != Purpose::Save);
        self.0.dispatch.dispatch(Action::Saving(None));
    }

    fn save_more(&self) {
        let next = self.0.job.borrow().as_ref().map(Job::next);
        match next {
            Some(Some(query)) => self.put(Purpose::Save, query),
            Some(None) => {
                if let Some(job) = self.0.job.borrow_mut().take() {
                    let left = job.finish().err();
                    self.0.dispatch.dispatch(Action::Saving(left));
                }
            }
            None => {}
        }
    }

    fn hear(&self, answer: Answer, extras: &Array) {
        if let Answer::Reply { image, ask, reply } = answer {
            if image == self.0.image.get() {
                self.reply(ask, reply, extras);
            }
            return;
        }
        if let Answer::Lab(answer) = answer {
            return self.hear_lab(*answer, extras);
        }
        let map = match &answer {
            Answer::Scanning { preview: true, .. } | Answer::Mapped { .. } => {
                OwnerMap::from_extras(extras).map(Rc::new)
            }
            _ => None,
        };
        let Some((answer, map)) = self.keep_for_lab(answer, map) else {
            return;
        };
        let follow = self.follow(&answer);
        self.0.dispatch.dispatch(Action::Told { answer, map });
        if let Some(request) = follow {
            self.say(&request);
        }
    }

    /// What is to be asked next without anybody's wish.
    fn follow(&self, answer: &Answer) -> Option<Request> {
        let current = self.0.image.get();
        let mut open = self.0.open.borrow_mut();
        let wanted = open.as_mut().map(|(at, _)| at);
        match *answer {
            Answer::Partitions { image, .. } if image == current => {
                let partition = wanted?.partition?;
                Some(Request::Choose { image, partition })
            }
            Answer::Opened {
                image,
                replayed,
                partition,
                ..
            } if image == current => {
                let wanted = wanted?;
                wanted.partition = partition;
                if std::mem::take(&mut wanted.replayed) && !replayed {
                    return Some(Request::Replayed { image, on: true });
                }
                Some(Request::Scan { image })
            }
            _ => None,
        }
    }

    fn reply(&self, ask: u32, reply: Result<Reply, String>, extras: &Array) {
        let purpose = {
            let mut asked = self.0.asked.borrow_mut();
            let Some(at) = asked.iter().position(|(nr, _)| *nr == ask) else {
                return;
            };
            asked.swap_remove(at).1
        };
        let action = match purpose {
            Purpose::Save => return self.saved(reply, extras),
            Purpose::Show(query) => Action::Replied {
                query,
                reply: reply
                    .map(|reply| Rc::new(Data::new(reply, extras)))
                    .map_err(Into::into),
            },
            Purpose::List { dir, from } => Action::Listed {
                dir,
                from,
                page: match reply {
                    Ok(Reply::Dir(page)) => Ok(Rc::new(page)),
                    Ok(_) => Err("The engine answered something else".into()),
                    Err(why) => Err(why.into()),
                },
            },
        };
        self.0.dispatch.dispatch(action);
    }

    fn saved(&self, reply: Result<Reply, String>, extras: &Array) {
        let progress = {
            let mut job = self.0.job.borrow_mut();
            let Some(job) = job.as_mut() else { return };
            match reply {
                Ok(Reply::Bytes { len }) => job.add(extras.get(0), len),
                Ok(_) => job.fail("The engine answered something else".into()),
                Err(why) => job.fail(why),
            }
            job.progress()
        };
        let failed = progress.failed.is_some();
        self.0.dispatch.dispatch(Action::Saving(Some(progress)));
        if failed {
            *self.0.job.borrow_mut() = None;
        } else {
            self.save_more();
        }
    }
}

impl Data {
    fn new(reply: Reply, extras: &Array) -> Self {
        let bytes = match extras.get(0).dyn_into::<ArrayBuffer>() {
            Ok(buffer) => Uint8Array::new(&buffer).to_vec(),
            Err(_) => Vec::new(),
        };
        Self { reply, bytes }
    }
}
