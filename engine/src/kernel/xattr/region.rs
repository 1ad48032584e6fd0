//! Attributes in the bytes of an inode's body or of an attribute block: entries from the
//! start on, values from the end back. Format: the kernel's
//! `Documentation/filesystems/ext4/attributes.rst`.

use crate::ext4::layout::{XattrEntry, XattrHeader};
use std::ops::Range;

/// Bytes of an entry before its name.
const ENTRY: usize = 16;
/// Zeros that end the entries.
const END: usize = 4;
/// Bytes of a block's header.
pub(super) const HEADER: usize = XattrHeader::SIZE;

/// Bytes of an entry with such a name.
pub(super) fn entry_len(name_len: usize) -> usize {
    (name_len + ENTRY).next_multiple_of(4)
}

/// Bytes that a value takes.
pub(super) fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}

/// An entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// Where it is.
    pub at: usize,
    pub index: u8,
    pub name_len: usize,
    /// Where its value is.
    pub offs: usize,
    /// The inode that holds the value instead; 0 for none.
    pub inum: u32,
    /// Bytes of the value.
    pub size: usize,
    pub hash: u32,
}

impl Entry {
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let e = XattrEntry(bytes.get(at..at + ENTRY)?);
        let entry = Self {
            at,
            index: e.e_name_index(),
            name_len: e.e_name_len().into(),
            offs: e.e_value_offs().into(),
            inum: e.e_value_inum(),
            size: e.e_value_size() as usize,
            hash: e.e_hash(),
        };
        (entry.next() + END <= bytes.len()).then_some(entry)
    }

    pub fn next(&self) -> usize {
        self.at + entry_len(self.name_len)
    }

    fn name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let at = self.at + ENTRY;
        bytes.get(at..at + self.name_len).unwrap_or_default()
    }

    /// The bytes that hold the value, padding included, where they are in this region.
    pub fn value_range(&self) -> Option<Range<usize>> {
        (self.inum == 0 && self.size != 0).then(|| self.offs..self.offs + padded(self.size))
    }

    /// The value, where it is in this region.
    fn value<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        if self.inum != 0 {
            None
        } else if self.size == 0 {
            Some(&[])
        } else {
            bytes.get(self.offs..self.offs + self.size)
        }
    }
}

/// The bytes of an inode's body or of a block, in which value offsets count.
#[derive(Debug)]
pub(super) struct Region<T> {
    pub bytes: T,
    /// Where the entries begin: 0 in a body, after the header in a block.
    pub first: usize,
}

/// What is to become of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// It is removed.
    None,
    /// It is kept in the region.
    Here(&'a [u8]),
    /// It is kept in an inode, and is so long.
    Inode(u32, usize),
}

impl Value<'_> {
    fn room(&self) -> usize {
        match self {
            Self::Here(v) => padded(v.len()),
            _ => 0,
        }
    }
}

/// Where a name is, or where it would go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Found(Entry),
    /// At this byte.
    Missing(usize),
}

impl<T: AsRef<[u8]>> Region<T> {
    fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// All entries up to the first that cannot be one.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let mut at = self.first;
        std::iter::from_fn(move || {
            if self.is_end(at) {
                return None;
            }
            let entry = Entry::read(self.bytes(), at)?;
            at = entry.next();
            Some(entry)
        })
    }

    fn is_end(&self, at: usize) -> bool {
        self.bytes().get(at..at + END).is_none_or(|b| b == [0; END])
    }

    /// An entry's name.
    pub fn name(&self, entry: &Entry) -> &[u8] {
        entry.name(self.bytes())
    }

    /// An entry's value, where it is in this region.
    pub fn value(&self, entry: &Entry) -> Option<&[u8]> {
        entry.value(self.bytes())
    }

    /// Where the entries end.
    pub fn last(&self) -> usize {
        self.entries().last().map_or(self.first, |e| e.next())
    }

    /// What is wrong, in words that go on from the place's name.
    pub fn flaw(&self) -> Option<&'static str> {
        let bytes = self.bytes();
        let last = self.last();
        if !self.is_end(last) || last + END > bytes.len() {
            return Some("has an attribute that goes past the end");
        }
        for e in self.entries() {
            if e.size > super::SIZE_MAX && e.inum == 0 {
                return Some("has an attribute whose value is longer than there may be");
            }
            let Some(range) = e.value_range() else {
                continue;
            };
            if range.end > bytes.len() {
                return Some("has an attribute whose value goes past the end");
            }
            if range.start < last + END {
                return Some("has an attribute whose value lies over the entries");
            }
        }
        None
    }

    /// Looks for a name. In a block, entries are sorted.
    pub fn find(&self, index: u8, name: &[u8], sorted: bool) -> Place {
        let bytes = self.bytes();
        let key = (index, name.len(), name);
        let mut end = self.first;
        for e in self.entries() {
            let this = (e.index, e.name_len, e.name(bytes));
            if this == key {
                return Place::Found(e);
            }
            if sorted && this > key {
                return Place::Missing(e.at);
            }
            end = e.next();
        }
        Place::Missing(end)
    }

    /// Where the values begin.
    pub fn values(&self) -> usize {
        self.entries()
            .filter_map(|e| e.value_range())
            .map(|r| r.start)
            .min()
            .unwrap_or(self.bytes().len())
    }

    /// Bytes between the entries' end and the values.
    pub fn free(&self) -> usize {
        self.values().saturating_sub(self.last() + END)
    }

    /// Whether an attribute fits, where `place` says that it is or goes. `reserve`: where
    /// values may not begin before, so that room is left for entries.
    pub fn fits(&self, place: Place, name_len: usize, value: Value<'_>, reserve: usize) -> bool {
        let old = match place {
            Place::Found(e) => e.value_range().map_or(0, |r| r.len()),
            Place::Missing(_) => 0,
        };
        let had = match place {
            Place::Found(_) => entry_len(name_len) + old,
            Place::Missing(_) => 0,
        };
        let room = value.room();
        if room != 0 && room == old {
            return true;
        }
        if self.free() + had < entry_len(name_len) + room {
            return false;
        }
        room == 0 || self.values() + old >= reserve + room
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Region<T> {
    fn entry(&mut self, at: usize) -> XattrEntry<&mut [u8]> {
        XattrEntry(
            self.bytes
                .as_mut()
                .get_mut(at..at + ENTRY)
                .unwrap_or_default(),
        )
    }

    /// Sets or removes an attribute that is known to fit; the answer is its entry.
    pub fn set(&mut self, place: Place, index: u8, name: &[u8], value: Value<'_>) -> usize {
        let mut values = self.values();
        let at = match place {
            Place::Found(old) => {
                if let (Value::Here(new), Some(range)) = (value, old.value_range())
                    && padded(new.len()) == range.len()
                {
                    self.entry(old.at).set_e_value_size(new.len() as u32);
                    self.put(range, new);
                    return old.at;
                }
                if let Some(range) = old.value_range() {
                    values = self.close_gap(values, range);
                }
                if matches!(value, Value::None) {
                    self.remove_entry(&old);
                    return old.at;
                }
                old.at
            }
            Place::Missing(at) => {
                if matches!(value, Value::None) {
                    return at;
                }
                self.insert_entry(at, index, name);
                at
            }
        };
        let (offs, inum, size) = match value {
            Value::None => return at,
            Value::Inode(inum, size) => (0, inum, size),
            Value::Here([]) => (0, 0, 0),
            Value::Here(new) => {
                let from = values.saturating_sub(padded(new.len()));
                self.put(from..values, new);
                (from, 0, new.len())
            }
        };
        let mut entry = self.entry(at);
        entry.set_e_value_offs(offs as u16);
        entry.set_e_value_inum(inum);
        entry.set_e_value_size(size as u32);
        at
    }

    fn put(&mut self, range: Range<usize>, value: &[u8]) {
        if let Some(room) = self.bytes.as_mut().get_mut(range) {
            let n = value.len().min(room.len());
            room[..n].copy_from_slice(&value[..n]);
            room[n..].fill(0);
        }
    }

    /// Moves the values before a removed one over it; where values begin then.
    fn close_gap(&mut self, values: usize, gone: Range<usize>) -> usize {
        let len = gone.len();
        let bytes = self.bytes.as_mut();
        if values > gone.start || gone.end > bytes.len() {
            return values;
        }
        bytes.copy_within(values..gone.start, values + len);
        bytes[values..values + len].fill(0);
        let moved: Vec<Entry> = self
            .entries()
            .filter(|e| e.value_range().is_some() && e.offs < gone.start)
            .collect();
        for e in moved {
            self.entry(e.at).set_e_value_offs((e.offs + len) as u16);
        }
        values + len
    }

    fn remove_entry(&mut self, old: &Entry) {
        let last = self.last();
        let len = entry_len(old.name_len);
        let bytes = self.bytes.as_mut();
        bytes.copy_within(old.next()..last, old.at);
        bytes[last - len..last].fill(0);
    }

    fn insert_entry(&mut self, at: usize, index: u8, name: &[u8]) {
        let last = self.last();
        let len = entry_len(name.len());
        let bytes = self.bytes.as_mut();
        if last + len + END > bytes.len() {
            return;
        }
        bytes.copy_within(at..last, at + len);
        bytes[at..at + len].fill(0);
        bytes[at + ENTRY..at + ENTRY + name.len()].copy_from_slice(name);
        // The zeros that end the entries.
        bytes[last + len..last + len + END].fill(0);
        let mut entry = self.entry(at);
        entry.set_e_name_len(name.len() as u8);
        entry.set_e_name_index(index);
    }

    /// Sets an entry's hash.
    pub fn set_hash(&mut self, at: usize, hash: u32) {
        self.entry(at).set_e_hash(hash);
    }
}

/// The bits that an entry's name and value give its hash, 32 bits at a time.
const NAME_SHIFT: u32 = 5;
const VALUE_SHIFT: u32 = 16;

/// An entry's hash, from its name and the value's words. Before Linux 6.2, bytes of names
/// counted as signed on most machines.
pub(super) fn entry_hash(name: &[u8], value: &[u8]) -> u32 {
    let hash = name
        .iter()
        .fold(0u32, |h, &b| h.rotate_left(NAME_SHIFT) ^ u32::from(b));
    value.chunks(4).fold(hash, |h, word| {
        let mut raw = [0; 4];
        raw[..word.len()].copy_from_slice(word);
        h.rotate_left(VALUE_SHIFT) ^ u32::from_le_bytes(raw)
    })
}

/// The hash of a whole block: of its entries', or 0 where one has none.
pub(super) fn block_hash(hashes: impl Iterator<Item = u32>) -> u32 {
    let mut sum = 0u32;
    for hash in hashes {
        if hash == 0 {
            return 0;
        }
        sum = sum.rotate_left(VALUE_SHIFT) ^ hash;
    }
    sum
}
