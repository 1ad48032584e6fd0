//! From a file to an open filesystem: expansion, partitions, the superblock.

use super::*;
use crate::worker::protocol::PartitionRow;
use fslab_engine::image::{Identity, Kind, Partition, PartitionTable, TableKind};

/// Compressed bytes are expanded by so much before the clock is looked at again.
const EXPAND: u64 = 1 << 20;

impl Session {
    pub(super) fn open(&mut self, image: u32, medium: Option<Medium>) -> Vec<Say> {
        *self = Self {
            image,
            lab: std::mem::take(&mut self.lab),
            ..Self::default()
        };
        self.lab.forget_shown();
        let Some(medium) = medium else {
            return vec![self.refused("The page sent no file to open".into(), None)];
        };
        let opener = Opener::new(medium, Limits::default());
        self.start(Work::Expanding(Box::new(opener)));
        Vec::new()
    }

    pub(super) fn expand(
        &mut self,
        mut opener: Box<Opener>,
        now: &dyn Fn() -> f64,
        until: f64,
    ) -> Vec<Say> {
        loop {
            let progress = opener.step(EXPAND);
            if progress.done {
                return self.expanded(opener.finish());
            }
            let time = now();
            if time >= until {
                self.work = Work::Expanding(opener);
                if !self.word_is_due(time) {
                    return Vec::new();
                }
                return vec![plain(Answer::Expanding {
                    image: self.image,
                    done: progress.consumed,
                    of: progress.input_len,
                    produced: progress.produced,
                })];
            }
        }
    }

    fn expanded(&mut self, opened: Result<Opened, image::ImageError>) -> Vec<Say> {
        let opened = match opened {
            Ok(opened) => opened,
            Err(e) => return vec![self.refused(sentence(&e.to_string()), None)],
        };
        let table = opened
            .table
            .clone()
            .filter(|_| opened.identity.kind != Kind::Ext);
        let opened = self.opened.insert(opened);
        match table {
            Some(table) => {
                let answer = partitions(self.image, opened, &table);
                vec![plain(answer)]
            }
            None => {
                self.base = Some(opened.content.clone());
                self.reopen()
            }
        }
    }

    pub(super) fn choose(&mut self, partition: u32) -> Vec<Say> {
        let Some(opened) = &self.opened else {
            return Vec::new();
        };
        match opened.partition(partition) {
            Ok(window) => {
                self.base = Some(Rc::new(window));
                self.partition = Some(partition);
                self.reopen()
            }
            Err(e) => vec![self.refused(sentence(&e.to_string()), None)],
        }
    }

    /// Opens the filesystem anew, from the same bytes, with the settings as they are now;
    /// nothing where it is not known yet which bytes.
    pub(super) fn reopen(&mut self) -> Vec<Say> {
        let Some(base) = self.base.clone() else {
            return Vec::new();
        };
        self.work = Work::Nothing;
        self.fs = None;
        self.map = None;
        self.listing.take();
        self.journal = JournalState::Closed;
        self.waiting.clear();
        let mut notes = Vec::new();
        let mut medium = base.clone();
        if self.replayed {
            match self.after_replay(&base) {
                Ok(after) => medium = after,
                Err(why) => {
                    self.replayed = false;
                    notes.push(format!(
                        "It cannot be shown as after its journal's replay: {why}"
                    ));
                }
            }
        }
        let identity = image::identify(&base);
        if !matches!(identity.kind, Kind::Ext | Kind::Unknown | Kind::Zeros) {
            return vec![self.refused(identity.sentence, self.what_lacks(None))];
        }
        match Fs::open(medium) {
            Ok(fs) => vec![self.is_open(fs, notes)],
            Err(e) => vec![self.not_ext(&identity, &e.to_string())],
        }
    }

    fn is_open(&mut self, fs: Fs<Medium>, notes: Vec<String>) -> Say {
        let mut summary = if self.replayed {
            let left_out = self
                .journal()
                .map_or(0, |open| view::fast_commits_left_out(&open.journal));
            view::summary_after_replay(&fs, left_out)
        } else {
            view::summary(&fs)
        };
        summary.state.splice(0..0, notes);
        self.fs = Some(fs);
        plain(Answer::Opened {
            image: self.image,
            layers: self.opened.as_ref().map_or_else(Vec::new, layers),
            partition: self.partition,
            replayed: self.replayed,
            summary: Box::new(summary),
        })
    }

    /// Something that is no filesystem we know, or one too damaged.
    fn not_ext(&self, identity: &Identity, why: &str) -> Say {
        if identity.kind == Kind::Ext {
            let advice = "No sound backup of the superblock was found either.";
            return self.refused(sentence(why), self.what_lacks(Some(advice.into())));
        }
        let advice = (identity.kind == Kind::Unknown)
            .then(|| format!("As ext4 it cannot be opened: {why}."));
        self.refused(identity.sentence.clone(), self.what_lacks(advice))
    }

    /// What could not be unpacked, before what else there is to say: it may be why nothing
    /// is known in the rest.
    fn what_lacks(&self, advice: Option<String>) -> Option<String> {
        let problems = self.opened.iter().flat_map(|opened| &opened.problems);
        let words = problems.map(|problem| sentence(&problem.to_string()) + ".");
        let all: Vec<String> = words.chain(advice).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    fn refused(&self, message: String, advice: Option<String>) -> Say {
        plain(Answer::Refused {
            image: self.image,
            message,
            advice,
        })
    }
}

/// What was peeled off, and what was odd about it.
fn layers(opened: &Opened) -> Vec<String> {
    let of_layer = |l: &image::Layer| {
        std::iter::once(l.text.clone())
            .chain(l.notes.clone())
            .collect::<Vec<_>>()
    };
    let mut words: Vec<String> = opened.layers.iter().flat_map(of_layer).collect();
    words.extend(opened.problems.iter().map(|p| sentence(&p.to_string())));
    words
}

fn partitions(image: u32, opened: &Opened, table: &PartitionTable) -> Answer {
    Answer::Partitions {
        image,
        layers: layers(opened),
        table: match table.kind {
            TableKind::Mbr => "MBR",
            TableKind::Gpt => "GPT",
        }
        .into(),
        rows: table.partitions.iter().map(|p| row(opened, p)).collect(),
        notes: table.notes.clone(),
    }
}

fn row(opened: &Opened, p: &Partition) -> PartitionRow {
    let mut words = p.type_name.clone();
    if !p.name.is_empty() {
        words = format!("{words}, “{}”", p.name);
    }
    if !p.note.is_empty() {
        words = format!("{words}. {}", p.note);
    }
    let identity = opened
        .identify_partition(p.number)
        .ok()
        .filter(|_| !p.container);
    PartitionRow {
        number: p.number,
        start: p.start_byte,
        len: p.len_bytes,
        words,
        content: identity
            .as_ref()
            .map_or_else(String::new, |i| i.name.into()),
        // One whose superblock is gone may still open by a backup.
        readable: identity.is_some_and(|i| matches!(i.kind, Kind::Ext | Kind::Unknown)),
    }
}

/// With a capital at the start.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}
