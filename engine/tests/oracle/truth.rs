//! What the truth about an image is, in terms of nobody's code.

use super::tools::sha256;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

/// Bytes that JSON holds as a string of one character, U+0000 to U+00FF, a byte.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub Vec<u8>);

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Bytes {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = self.0.iter().map(|&byte| char::from(byte)).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        bytes.map(Bytes).map_err(serde::de::Error::custom)
    }
}

/// Seconds since 1970 and nanoseconds.
pub type Time = (i64, u32);

/// What a filesystem holds, and where.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Truth {
    /// Every name by its path, `/` being the root, with its inode.
    pub names: BTreeMap<Bytes, u32>,
    pub inodes: BTreeMap<u32, Entry>,
    /// Regular files and directories by inode, in blocks, merged and in order.
    pub extents: BTreeMap<u32, Vec<Extent>>,
    /// What was left out of the filling, and why.
    pub notes: Vec<String>,
    #[serde(default)]
    pub groups: Vec<Group>,
    /// `dumpe2fs -h`, by its names of fields.
    #[serde(default)]
    pub header: BTreeMap<String, String>,
}

impl Truth {
    pub fn entry(&self, path: &[u8]) -> Option<&Entry> {
        self.inodes.get(self.names.get(path)?)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&[u8], u32, &Entry)> {
        let known = |(path, ino): (_, &u32)| Some((path, *ino, self.inodes.get(ino)?));
        self.names
            .iter()
            .map(|(path, ino)| (&**path, ino))
            .filter_map(known)
    }

    /// Names of a directory as the disk has them, without `.` and `..`.
    pub fn children(&self, path: &[u8]) -> BTreeMap<&[u8], u32> {
        let mut prefix = path.to_vec();
        if !prefix.ends_with(b"/") {
            prefix.push(b'/');
        }
        let after = self.names.range(Bytes(prefix.clone())..);
        after
            .take_while(|(name, _)| name.starts_with(&prefix))
            .map(|(name, ino)| (&name[prefix.len()..], *ino))
            .filter(|(name, _)| !name.is_empty() && !name.contains(&b'/'))
            .collect()
    }

    pub fn features(&self) -> Vec<&str> {
        let words = self.header.get("Filesystem features");
        words.map_or(Vec::new(), |words| words.split_whitespace().collect())
    }

    pub fn block_size(&self) -> u64 {
        let words = self.header.get("Block size");
        words.and_then(|size| size.parse().ok()).unwrap_or(4096)
    }
}

/// What the kernel says of an inode; what it does not say is from `debugfs stat`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u64,
    pub nlink: u32,
    pub atime: Time,
    pub mtime: Time,
    pub ctime: Time,
    /// Absent when the inode has no room for it.
    pub crtime: Option<Time>,
    /// Of devices: major and minor.
    pub rdev: (u32, u32),
    /// As FS_IOC_GETFLAGS gives them; the disk has more.
    pub user_flags: Option<u32>,
    /// Of a regular file of at most 16 MiB. Absent for encrypted ones.
    pub sha256: Option<String>,
    /// Pieces of a longer file, among them all that is not hole.
    #[serde(default)]
    pub samples: Vec<Sample>,
    pub target: Option<Bytes>,
    /// ACLs are in the kernel's form: see [`acl_to_kernel`].
    pub xattrs: BTreeMap<Bytes, Bytes>,
    /// From here on: the inode on disk, by debugfs.
    #[serde(default)]
    pub flags: u32,
    /// In units of 512 bytes, extents, xattr block and all.
    #[serde(default)]
    pub sectors: u64,
    #[serde(default)]
    pub project: u32,
    #[serde(default)]
    pub generation: u32,
    #[serde(default)]
    pub file_acl: u64,
}

/// Offset, length and SHA-256 of a piece of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample(pub u64, pub u64, pub String);

impl Entry {
    pub fn is_dir(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    pub fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Compares contents; `read` answers bytes at an offset, short at the end.
    pub fn check_content(
        &self,
        mut read: impl FnMut(u64, usize) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        let mut same = |offset: u64, length: u64, expected: &str| {
            let length = usize::try_from(length).map_err(|error| error.to_string())?;
            let bytes = read(offset, length)?;
            let found = sha256(&bytes);
            let wanted = bytes.len() == length && found == expected;
            wanted.then_some(()).ok_or_else(|| {
                format!(
                    "{} of {length} bytes at {offset}: SHA-256 {found}",
                    bytes.len()
                )
            })
        };
        if let Some(expected) = &self.sha256 {
            same(0, self.size, expected)?;
        }
        let mut pieces = self.samples.iter();
        pieces.try_for_each(|Sample(offset, length, hash)| same(*offset, *length, hash))
    }
}

/// A run of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Extent {
    pub logical: u64,
    pub physical: u64,
    pub len: u64,
    pub unwritten: bool,
}

/// Extents in order, those that continue one another joined: the kernel joins
/// what is in several extents on disk, debugfs does not, in ways of their own.
pub fn merged(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_unstable();
    let mut out: Vec<Extent> = Vec::with_capacity(extents.len());
    for next in extents {
        match out.last_mut() {
            Some(last)
                if last.logical + last.len == next.logical
                    && last.physical + last.len == next.physical
                    && last.unwritten == next.unwritten =>
            {
                last.len += next.len;
            }
            _ => out.push(next),
        }
    }
    out
}

/// A block group, as `dumpe2fs` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// As the descriptor has it: in clusters where there are clusters.
    pub free_blocks: u64,
    pub free_inodes: u64,
    pub used_dirs: u64,
    /// Absent without group checksums.
    pub unused_inodes: Option<u64>,
    /// `INODE_UNINIT`, `BLOCK_UNINIT`, `ITABLE_ZEROED`.
    pub flags: Vec<String>,
}

/// Turns an ACL as ext4 keeps it (version 1, ids only where they mean something)
/// into what the kernel answers to getxattr (version 2, an id everywhere).
pub fn acl_to_kernel(disk: &[u8]) -> Option<Vec<u8>> {
    const USER: u16 = 2;
    const GROUP: u16 = 8;
    let (version, mut rest) = disk.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*version) != 1 {
        return None;
    }
    let mut out = 2u32.to_le_bytes().to_vec();
    while let Some((short, after)) = rest.split_first_chunk::<4>() {
        out.extend_from_slice(short);
        rest = after;
        let tag = u16::from_le_bytes([short[0], short[1]]);
        if tag == USER || tag == GROUP {
            let (id, after) = rest.split_first_chunk::<4>()?;
            out.extend_from_slice(id);
            rest = after;
        } else {
            out.extend_from_slice(&u32::MAX.to_le_bytes());
        }
    }
    rest.is_empty().then_some(out)
}
