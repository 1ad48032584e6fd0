//! What the tests of journals share: our findings in the oracle's terms.

use crate::oracle::{self, BUSY, BusyImage, JournalRecord};
use fslab_engine::disk::{FileReader, ReadAt};
use fslab_engine::ext4::journal::{Journal, LogBlockKind, Overlay, Transaction};
use fslab_engine::ext4::layout::FileType;
use fslab_engine::ext4::read::{Fs, InodeBuf};
use fslab_engine::units::InodeNr;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

pub type Reader = Fs<Rc<FileReader>>;

pub fn open(path: &Path) -> Reader {
    Fs::open(Rc::new(FileReader::open(path).unwrap())).unwrap()
}

/// The filesystem as after a replay.
pub fn after_replay(fs: &Reader, journal: &Journal) -> Fs<Overlay<Rc<FileReader>>> {
    let medium = fs.medium();
    Fs::open(Overlay::new(
        medium.clone(),
        medium.clone(),
        journal.replay_map(),
    ))
    .unwrap()
}

/// Our transactions in the oracle's terms.
pub fn as_dumped(ours: &[Transaction]) -> Vec<oracle::Transaction> {
    ours.iter().map(dumped).collect()
}

pub fn dumped(t: &Transaction) -> oracle::Transaction {
    let mut records = Vec::new();
    for b in &t.blocks {
        let block = b.block.into();
        match &b.kind {
            LogBlockKind::Descriptor { .. } => {
                records.push(JournalRecord::Descriptor {
                    block,
                    tags: Vec::new(),
                });
            }
            // debugfs prints the low half of a block number only.
            LogBlockKind::Copy(copy) => match records.last_mut() {
                Some(JournalRecord::Descriptor { tags, .. }) => {
                    tags.push((copy.home & 0xFFFF_FFFF, block, copy.flags.into()));
                }
                other => panic!("a copy after {other:?}"),
            },
            LogBlockKind::Revoke { revoked, .. } => {
                records.push(JournalRecord::Revoke {
                    block,
                    blocks: revoked.clone(),
                });
            }
            LogBlockKind::Commit => records.push(JournalRecord::Commit { block }),
        }
    }
    oracle::Transaction {
        sequence: t.sequence,
        records,
    }
}

/// Runs on each busy image.
pub fn on_busy(test: impl Fn(&BusyImage, &Reader, &Journal)) {
    for busy in BUSY {
        let Some(image) = oracle::busy_image(busy) else {
            return;
        };
        let fs = open(&image.path);
        let journal = Journal::open(&fs).unwrap();
        eprintln!("{}: {:?}", busy.name, journal.outcome());
        test(&image, &fs, &journal);
    }
}

pub fn read<R: ReadAt>(
    fs: &Fs<R>,
    inode: &InodeBuf,
    offset: u64,
    len: usize,
) -> Result<Vec<u8>, String> {
    let mut buf = vec![0; len];
    let content = fs.content(inode);
    let n = fs
        .read_content(&content, offset, &mut buf)
        .map_err(|e| e.to_string())?;
    buf.truncate(n);
    Ok(buf)
}

/// Every path with its inode.
pub fn tree<R: ReadAt>(fs: &Fs<R>) -> BTreeMap<Vec<u8>, u32> {
    let mut out = BTreeMap::from([(b"/".to_vec(), 2)]);
    let mut todo = vec![(Vec::new(), InodeNr(2))];
    while let Some((path, dir)) = todo.pop() {
        let inode = fs.inode(dir).unwrap();
        for entry in fs.read_dir(&inode).0 {
            if entry.name == b"." || entry.name == b".." {
                continue;
            }
            let path = [&path[..], b"/", &entry.name].concat();
            out.insert(path.clone(), entry.inode.0);
            if fs.inode(entry.inode).unwrap().file_type() == FileType::Directory {
                todo.push((path, entry.inode));
            }
        }
    }
    out
}

/// Block, sequence and type of what logdump found.
pub fn heads(text: &str) -> BTreeMap<u64, (u32, u32)> {
    let line = |line: &str| {
        let rest = line.strip_prefix("Found expected sequence ")?;
        let (sequence, rest) = rest.split_once(", type ")?;
        let kind = rest.split(' ').next()?.parse().ok()?;
        let block = rest.rsplit(' ').next()?.parse().ok()?;
        Some((block, (sequence.parse().ok()?, kind)))
    };
    text.lines().filter_map(line).collect()
}

pub fn old_heads(journal: &Journal) -> BTreeMap<u64, (u32, u32)> {
    let mut out = BTreeMap::new();
    for t in journal
        .history()
        .transactions
        .iter()
        .chain(journal.transactions())
    {
        for b in &t.blocks {
            let kind = match b.kind {
                LogBlockKind::Descriptor { .. } => 1,
                LogBlockKind::Commit => 2,
                LogBlockKind::Revoke { .. } => 5,
                LogBlockKind::Copy(_) => continue,
            };
            out.insert(b.block.into(), (t.sequence, kind));
        }
    }
    out
}

pub fn debugfs_word(words: &str) -> &str {
    match words.split(':').next().unwrap() {
        "add range" => "ADD_RANGE",
        "delete range" => "DEL_RANGE",
        "create" => "CREAT_DENTRY",
        "link" => "ADD_ENTRY",
        "unlink" => "DEL_ENTRY",
        "inode" => "INODE",
        "padding" => "PAD",
        "tail" => "TAIL",
        "head" => "HEAD",
        other => panic!("{other}"),
    }
}
