//! A whole tree, read by calls.

use super::model::Model;
use super::op::{Op, SLOTS, Time, Whence, bits::*};
use super::outcome::{Facts, Outcome};
use super::sets::Limits;
use super::system::System;
use std::collections::BTreeMap;

/// Contents are compared in pieces of this size.
pub const PAGE: u64 = 4096;
/// Files up to this size are read whole; of larger ones, where there is data.
const WHOLE: u64 = 256 << 10;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Digests of those pages that are not all zeros.
    Pages(BTreeMap<u64, u64>),
    Target(Vec<u8>),
    Device((u32, u32)),
    /// A directory's, which are entries of the tree.
    Names,
    Unknown,
}

/// A name and the file under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first name, in order, of the same file.
    pub same_as: String,
    pub mode: u32,
    pub nlink: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: Option<u64>,
    pub blocks: Option<u64>,
    pub atime: Time,
    pub mtime: Time,
    pub flags: Option<u32>,
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    pub contents: Contents,
}

impl Entry {
    /// The fields that differ: what was wanted, what is.
    fn unlike(&self, got: &Entry) -> String {
        use std::fmt::Debug;
        let mut out = String::new();
        let mut field = |name: &str, want: &dyn Debug, got: &dyn Debug| {
            let (want, got) = (format!("{want:?}"), format!("{got:?}"));
            if want != got {
                let cut = |s: &str| s.chars().take(300).collect::<String>();
                out += &format!(
                    "\n      {name}: must be {}, but is {}",
                    cut(&want),
                    cut(&got)
                );
            }
        };
        field("same file as", &self.same_as, &got.same_as);
        field(
            "mode",
            &format_args!("{:o}", self.mode),
            &format_args!("{:o}", got.mode),
        );
        field("links", &self.nlink, &got.nlink);
        field("owner", &(self.uid, self.gid), &(got.uid, got.gid));
        field("size", &self.size, &got.size);
        field("blocks", &self.blocks, &got.blocks);
        field("atime", &self.atime, &got.atime);
        field("mtime", &self.mtime, &got.mtime);
        field("flags", &self.flags, &got.flags);
        for name in self.xattrs.keys().chain(got.xattrs.keys()) {
            let text = format!("attribute {}", String::from_utf8_lossy(name));
            let len = |x: Option<&Vec<u8>>| x.map(|v| (v.len(), digest(v)));
            field(
                &text,
                &len(self.xattrs.get(name)),
                &len(got.xattrs.get(name)),
            );
        }
        match (&self.contents, &got.contents) {
            (Contents::Pages(want), Contents::Pages(got)) => {
                let differs = |p: &&u64| want.get(*p) != got.get(*p);
                let pages: std::collections::BTreeSet<&u64> =
                    want.keys().chain(got.keys()).filter(differs).collect();
                let state = |p: &u64| (want.contains_key(p), got.contains_key(p));
                let some: Vec<_> = pages.iter().take(8).map(|p| (**p, state(p))).collect();
                if !some.is_empty() {
                    let n = pages.len();
                    let text = format!(
                        "{n} pages of 4096 bytes, (number, (not zeros, not zeros)): {some:?}"
                    );
                    field("contents", &format_args!("{text}"), &"");
                }
            }
            (want, got) => field("contents", want, got),
        }
        out
    }
}

/// All names of a filesystem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<String, Entry>);

/// A number that other bytes hardly have; 0 for zeros.
pub fn digest(bytes: &[u8]) -> u64 {
    if bytes.iter().all(|b| *b == 0) {
        return 0;
    }
    // FNV-1a in words.
    let mut h: u64 = 0xcbf2_9ce4_8422_2325;
    let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    for chunk in bytes[..end].chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        h = (h ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        h ^= h >> 29;
    }
    h | 1
}

/// Reads a system's tree. Uses the last slot, which must be free.
pub fn read(system: &mut dyn System) -> Result<Tree, String> {
    let mut reader = Reader {
        system,
        tree: Tree::default(),
        names: BTreeMap::new(),
    };
    reader.add(".".to_owned())?;
    Ok(reader.tree)
}

struct Reader<'a> {
    system: &'a mut dyn System,
    tree: Tree,
    names: BTreeMap<u64, String>,
}

const SLOT: usize = SLOTS - 1;

impl Reader<'_> {
    fn ask(&mut self, op: &Op) -> Result<Outcome, String> {
        match self.system.run(op) {
            Outcome::Failed(_) | Outcome::Skipped => {
                let got = self.system.run(op);
                Err(format!("{}: {op:?} gave {got:?}", self.system.name()))
            }
            good => Ok(good),
        }
    }

    fn add(&mut self, path: String) -> Result<(), String> {
        let Outcome::Facts(facts) = self.ask(&Op::Lstat { path: path.clone() })? else {
            return Err(format!("{path}: no facts"));
        };
        let first = self
            .names
            .entry(facts.ino)
            .or_insert_with(|| path.clone())
            .clone();
        let kind = facts.mode & S_IFMT;
        let xattrs = self.xattrs(&path)?;
        let mut names = Vec::new();
        let mut flags = None;
        let contents = match kind {
            S_IFDIR | S_IFREG => {
                let open = Op::Open {
                    slot: SLOT,
                    path: path.clone(),
                    flags: 0,
                    mode: 0,
                };
                self.ask(&open)?;
                if let Outcome::Flags(f) = self.ask(&Op::GetFlags { slot: SLOT })? {
                    flags = Some(f);
                }
                let contents = if kind == S_IFREG {
                    Contents::Pages(self.pages(&facts)?)
                } else {
                    names = self.names_of()?;
                    Contents::Names
                };
                self.ask(&Op::Close { slot: SLOT })?;
                contents
            }
            S_IFLNK => match self.ask(&Op::Readlink { path: path.clone() })? {
                Outcome::Data(target) => Contents::Target(target),
                other => return Err(format!("{path}: its target is {other:?}")),
            },
            _ => Contents::Device(facts.rdev),
        };
        let entry = Entry {
            same_as: first,
            mode: facts.mode,
            nlink: facts.nlink,
            uid: facts.uid,
            gid: facts.gid,
            size: Some(facts.size),
            blocks: Some(facts.blocks),
            atime: facts.atime,
            mtime: facts.mtime,
            flags,
            xattrs,
            contents,
        };
        self.tree.0.insert(path.clone(), entry);
        for name in names {
            self.add(format!("{path}/{name}"))?;
        }
        Ok(())
    }

    fn names_of(&mut self) -> Result<Vec<String>, String> {
        let Outcome::Names(names) = self.ask(&Op::Getdents { slot: SLOT })? else {
            return Err("no names".to_owned());
        };
        let names = names
            .into_iter()
            .map(|n| String::from_utf8_lossy(&n.name).into_owned());
        Ok(names.filter(|n| n != "." && n != "..").collect())
    }

    fn xattrs(&mut self, path: &str) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, String> {
        let list = Op::ListXattr {
            path: path.to_owned(),
            follow: false,
        };
        let Outcome::Xattrs(names) = self.ask(&list)? else {
            return Err(format!("{path}: no list of attributes"));
        };
        let mut out = BTreeMap::new();
        for name in names {
            let get = Op::GetXattr {
                path: path.to_owned(),
                name: String::from_utf8_lossy(&name).into_owned(),
                follow: false,
            };
            if let Outcome::Data(value) = self.ask(&get)? {
                out.insert(name, value);
            }
        }
        Ok(out)
    }

    fn pages(&mut self, facts: &Facts) -> Result<BTreeMap<u64, u64>, String> {
        let mut pages = BTreeMap::new();
        let mut at = 0;
        while at < facts.size {
            let mut end = facts.size;
            if facts.size > WHOLE {
                let seek = |off: u64, whence| Op::Seek {
                    slot: SLOT,
                    off: off.cast_signed(),
                    whence,
                };
                match self.system.run(&seek(at, Whence::Data)) {
                    Outcome::Number(to) => at = to / PAGE * PAGE,
                    Outcome::Failed(_) => break,
                    other => return Err(format!("SEEK_DATA gave {other:?}")),
                }
                match self.ask(&seek(at.max(facts.size.min(at)), Whence::Hole)) {
                    Ok(Outcome::Number(to)) => end = to.next_multiple_of(PAGE).min(facts.size),
                    other => return Err(format!("SEEK_HOLE gave {other:?}")),
                }
                // The page's start may lie in a hole before the data.
                end = end.max((at + PAGE).min(facts.size));
            }
            while at < end {
                let len = (end - at).min(WHOLE);
                let Outcome::Data(bytes) = self.ask(&Op::Pread {
                    slot: SLOT,
                    off: at,
                    len,
                })?
                else {
                    return Err("no contents".to_owned());
                };
                if bytes.is_empty() {
                    return Err(format!("nothing to read at {at}, size {}", facts.size));
                }
                for (i, page) in bytes.chunks(PAGE as usize).enumerate() {
                    if let d @ 1.. = digest(page) {
                        pages.insert(at / PAGE + i as u64, d);
                    }
                }
                at += bytes.len() as u64;
            }
        }
        Ok(pages)
    }
}

/// Whether a tree is the model's.
pub fn compare(model: &Model, got: &Tree) -> Result<(), String> {
    let want = model.tree();
    for (path, want) in &want.0 {
        let Some(got) = got.0.get(path) else {
            return Err(format!("{path} is missing"));
        };
        let mut want = want.clone();
        let mut got = got.clone();
        want.blocks = got.blocks;
        want.size = want.size.or(got.size);
        want.flags = want.flags.or(got.flags);
        got.flags = got.flags.map(|f| f & FL_OURS);
        want.flags = want.flags.map(|f| f & FL_OURS);
        // Reading the tree changes access times.
        want.atime = got.atime;
        if want.mtime == (i64::MIN, 0) {
            want.mtime = got.mtime;
        }
        if want.contents == Contents::Unknown {
            want.contents = got.contents.clone();
        }
        if want != got {
            return Err(format!("{path}{}", want.unlike(&got)));
        }
    }
    match got.0.keys().find(|path| !want.0.contains_key(*path)) {
        Some(path) => Err(format!("{path} must not be there")),
        None => Ok(()),
    }
}

/// What differs between two trees of the same system: nothing may.
pub fn difference(before: &Tree, after: &Tree) -> Option<String> {
    for (path, a) in &before.0 {
        let Some(b) = after.0.get(path) else {
            return Some(format!("{path} is gone"));
        };
        let mut b = b.clone();
        b.atime = a.atime;
        if *a != b {
            return Some(format!("{path}{}", a.unlike(&b)));
        }
    }
    let new = after.0.keys().find(|path| !before.0.contains_key(*path));
    new.map(|path| format!("{path} is new"))
}

/// What of two trees differs that the same calls on the same empty filesystem must give,
/// whatever blocks were taken: sizes of directories and flags; of block-mapped files, the
/// count of blocks too.
pub fn unlike_kernel(kernel: &Tree, fslab: &Tree, limits: &Limits) -> Option<String> {
    for (path, want) in &kernel.0 {
        let Some(got) = fslab.0.get(path) else {
            return Some(format!("{path} is missing"));
        };
        let mut got = got.clone();
        (got.atime, got.mtime) = (want.atime, want.mtime);
        // Linux leaves indirect blocks behind that a hole emptied; fslab gives them back.
        if limits.extents || got.blocks < want.blocks {
            got.blocks = want.blocks;
        }
        if limits.inline_data {
            // Directories and contents inside inodes are read, but not made.
            (got.size, got.flags) = (want.size, want.flags);
        }
        if *want != got {
            return Some(format!("{path}{}", want.unlike(&got)));
        }
    }
    None
}
