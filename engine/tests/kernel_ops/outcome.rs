//! What a call gave, in a form that can be compared.

use super::op::Time;
use std::collections::BTreeSet;

/// A file's facts. `ino` is only for telling files apart within one system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub ino: u64,
    pub mode: u32,
    pub nlink: u32,
    pub uid: u32,
    pub gid: u32,
    /// Major and minor.
    pub rdev: (u32, u32),
    pub size: u64,
    /// Units of 512 bytes.
    pub blocks: u64,
    pub atime: Time,
    pub mtime: Time,
}

/// A run of a file's blocks, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub logical: u64,
    pub physical: u64,
    pub len: u64,
    /// FIEMAP's flags.
    pub flags: u32,
}

/// FIEMAP's flags.
pub mod extent_flags {
    pub const UNKNOWN: u32 = 2;
    pub const DELALLOC: u32 = 4;
    pub const UNWRITTEN: u32 = 0x800;
    /// What says something about the contents' state.
    pub const STATE: u32 = UNKNOWN | DELALLOC | UNWRITTEN;
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub name: Vec<u8>,
    /// `d_type`: 0 where the filesystem does not know.
    pub kind: u8,
}

/// What a call gave.
#[derive(Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Number(u64),
    Data(Vec<u8>),
    Facts(Facts),
    Names(BTreeSet<Name>),
    Xattrs(BTreeSet<Vec<u8>>),
    Extents(Vec<Extent>),
    Flags(u32),
    /// Linux's number of the error.
    Failed(i32),
    /// Nothing was asked.
    Skipped,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Data(bytes) => write!(f, "Data({} bytes: {})", bytes.len(), runs(bytes)),
            Outcome::Failed(n) => match named(*n) {
                Some(name) => f.write_str(name),
                None => write!(f, "error {n}"),
            },
            Outcome::Done => f.write_str("Done"),
            Outcome::Number(n) => write!(f, "Number({n})"),
            Outcome::Facts(facts) => facts.fmt(f),
            Outcome::Names(names) => {
                let names: Vec<String> = names
                    .iter()
                    .map(|n| format!("{}:{}", String::from_utf8_lossy(&n.name), n.kind))
                    .collect();
                write!(f, "Names({})", names.join(" "))
            }
            Outcome::Xattrs(names) => {
                let names: Vec<_> = names.iter().map(|n| String::from_utf8_lossy(n)).collect();
                write!(f, "Xattrs({})", names.join(" "))
            }
            Outcome::Extents(extents) => f.debug_list().entries(extents).finish(),
            Outcome::Flags(flags) => write!(f, "Flags({flags:#x})"),
            Outcome::Skipped => f.write_str("Skipped"),
        }
    }
}

/// The first bytes of each run of zeros and of other bytes.
fn runs(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for _ in 0..6 {
        let Some(&first) = bytes.get(at) else {
            return out;
        };
        let rest = &bytes[at..];
        let end = rest.iter().position(|b| (*b == 0) != (first == 0));
        let len = end.unwrap_or(rest.len());
        if first == 0 && len > 1 {
            out += &format!("0×{len} ");
        } else {
            out += &format!("{:02x?}…×{len} ", &rest[..len.min(3)]);
        }
        at += len;
    }
    out + "…"
}

/// The name of an error, from the engine's own table.
fn named(n: i32) -> Option<&'static str> {
    let all = fslab_engine::kernel::Errno::ALL.iter();
    all.copied().find(|e| e.number() == n).map(|e| e.name())
}
