//! What a power cut lost, as a person would tell it.

use crate::crash::{Atom, Pending, SECTOR};
use crate::event::{Meta, What};
use crate::jbd2::Part;
use crate::machine::Machine;
use crate::recording::Recording;
use crate::units::InodeNr;
use crate::view::escape;
use crate::view::lab::words::meta;
use std::collections::{BTreeMap, BTreeSet};

/// Inodes whose names are looked for.
const MOST_NAMES: usize = 10_000;
/// Events before the first pending write that are looked through for what blocks hold.
const MOST_BEFORE: u64 = 50_000;
/// Blocks of one discard that are told of.
const MOST_DISCARDED: u64 = 1 << 16;
/// Things that a sentence names one by one.
const MOST_NAMED: usize = 4;

/// Knows what the writes of a run were for.
#[derive(Clone, Debug)]
pub struct Teller {
    /// What each block was written as, by its first byte: the last time before now.
    blocks: BTreeMap<u64, What>,
    /// What the blocks of metadata hold.
    kinds: BTreeMap<u64, Meta>,
    names: BTreeMap<InodeNr, String>,
    block_size: u64,
}

impl Teller {
    /// Tells of the writes that are pending at an instant of a recording.
    pub fn new(recording: &Recording, event: u64, machine: &Machine, pending: &Pending) -> Self {
        let block_size = machine.mount().vol.block_size() as u64;
        let (blocks, kinds) = written(recording, event, pending, block_size);
        Self {
            blocks,
            kinds,
            names: names(machine),
            block_size,
        }
    }

    /// Tells of writes of which only the bytes are known.
    pub fn of_bytes(pending: &Pending) -> Self {
        use crate::disk::ReadAt;
        // Where there is no filesystem, sectors are told.
        let fs = crate::ext4::read::Fs::open(pending.stable() as &dyn ReadAt);
        Self {
            blocks: BTreeMap::new(),
            kinds: BTreeMap::new(),
            names: BTreeMap::new(),
            block_size: fs.map_or(SECTOR, |fs| fs.geometry().block_size.into()),
        }
    }

    /// What a part of a write is, as "block 8193, contents of /file".
    pub fn part(&self, pending: &Pending, atom: Atom) -> String {
        let (from, to) = pending.sectors(atom);
        let block = from * SECTOR / self.block_size;
        let last = (to * SECTOR).saturating_sub(1) / self.block_size;
        let place = match last > block {
            true => format!("blocks {block} to {last}"),
            false => format!("block {block}"),
        };
        match self.blocks.get(&(block * self.block_size)) {
            Some(what) => format!("{place}, {}", self.what(what, block)),
            None => place,
        }
    }

    fn what(&self, what: &What, block: u64) -> String {
        match what {
            What::DataWritten { inode, .. } => match self.names.get(inode) {
                Some(name) => format!("contents of {name}"),
                None => format!("contents of inode {inode}, which has no name"),
            },
            What::Logged { tid, part, .. } => match part {
                Part::Descriptor => format!("the descriptor of transaction {tid}"),
                Part::Revoke => format!("the revoked blocks of transaction {tid}"),
                Part::Commit => format!("the commit block of transaction {tid}"),
                Part::Copy(home) => format!(
                    "transaction {tid}’s copy of {}, block {home}",
                    self.kind(home.0)
                ),
            },
            What::BufferWritten { .. } => self.kind(block),
            _ => "no longer needed".into(),
        }
    }

    fn kind(&self, block: u64) -> String {
        let kind = self.kinds.get(&block);
        kind.map_or_else(|| "metadata".into(), |k| begun_small(meta(*k)))
    }

    /// A sentence: what has to be lost, the rest being there.
    pub fn sentence(&self, pending: &Pending, lost: &BTreeSet<Atom>) -> String {
        let mut told: BTreeMap<String, u32> = BTreeMap::new();
        let mut order = Vec::new();
        for atom in lost {
            let words = self.part(pending, *atom);
            let count = told.entry(words.clone()).or_default();
            if *count == 0 {
                order.push(words);
            }
            *count += 1;
        }
        match &order[..] {
            [] => "Everything reached the disk".into(),
            [one] => format!("Everything reached the disk but {one}"),
            more => {
                let named = more.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>();
                let rest = more.len() - named.len();
                let rest = match rest {
                    0 => String::new(),
                    1 => "; and one more".into(),
                    n => format!("; and {n} more"),
                };
                format!("Everything reached the disk but {}{rest}", named.join("; "))
            }
        }
    }
}

/// What the pending blocks were written as, and what the blocks of metadata hold.
fn written(
    recording: &Recording,
    event: u64,
    pending: &Pending,
    size: u64,
) -> (BTreeMap<u64, What>, BTreeMap<u64, Meta>) {
    let (mut blocks, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    // Who unmounts has no event to follow from.
    let causes = pending
        .writes()
        .iter()
        .map(|w| w.cause.map_or(event, |c| c.0));
    // A block that was changed earlier than this is told of without its kind.
    let from = causes.min().unwrap_or(event).saturating_sub(MOST_BEFORE);
    let most = usize::try_from(event.saturating_sub(from) + 1).unwrap_or(usize::MAX);
    for e in recording.events(from, event + 1, most) {
        let home = |block: u64| block * size;
        match e.what {
            What::BufferDirtied { block, kind } => _ = kinds.insert(block.0, kind),
            What::DataWritten { block, len, .. } => {
                for n in 0..u64::from(len) {
                    blocks.insert(home(block.0 + n), e.what.clone());
                }
            }
            What::BufferWritten { block } | What::Logged { block, .. } => {
                blocks.insert(home(block.0), e.what);
            }
            What::Discarded { block, len } => {
                for n in 0..len.min(MOST_DISCARDED) {
                    blocks.insert(home(block.0 + n), e.what.clone());
                }
            }
            _ => {}
        }
    }
    (blocks, kinds)
}

fn begun_small(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

/// The shortest path of each inode, as far as the kernel has names.
fn names(machine: &Machine) -> BTreeMap<InodeNr, String> {
    let mut names = BTreeMap::new();
    let Ok(fs) = crate::ext4::read::Fs::open(machine.mount().vol.seen()) else {
        return names;
    };
    let mut waiting = std::collections::VecDeque::from([(InodeNr(2), String::new())]);
    names.insert(InodeNr(2), "/".to_owned());
    while let Some((dir, path)) = waiting.pop_front() {
        let Ok(inode) = fs.inode(dir) else {
            continue;
        };
        for entry in fs.read_dir(&inode).0 {
            if names.len() >= MOST_NAMES {
                return names;
            }
            if entry.name == b"." || entry.name == b".." || names.contains_key(&entry.inode) {
                continue;
            }
            let own = format!("{path}/{}", escape(&entry.name));
            names.insert(entry.inode, own.clone());
            let child = fs.inode(entry.inode).map(|i| i.file_type());
            if matches!(child, Ok(crate::ext4::layout::FileType::Directory)) {
                waiting.push_back((entry.inode, own));
            }
        }
    }
    names
}
