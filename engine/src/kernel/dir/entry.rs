//! Entries in the bytes of a directory's block. Format: the kernel's
//! `Documentation/filesystems/ext4/directory.rst`.

use crate::ext4::checksum;
use crate::ext4::layout::{DIR_TAIL_TYPE, DirEntryHead, DirTail, rec_len_from_disk};

/// Bytes of an entry before its name.
pub(super) const HEAD: usize = 8;
/// Bytes of the false entry at the end that carries the checksum.
pub(super) const TAIL: usize = 12;
/// Bytes of the entries for `.` and `..`, of any entry with a name of up to 4 bytes.
pub(super) const DOT: usize = 12;
/// The type byte of a directory.
pub(super) const DIRECTORY: u8 = 2;

/// Bytes that an entry with such a name takes.
pub(super) fn needed(name_len: usize) -> usize {
    (name_len + HEAD).next_multiple_of(4)
}

/// The two bytes that stand for a distance to the next entry; see [`rec_len_from_disk`].
pub(super) fn rec_len_to_disk(len: usize, block_size: usize) -> u16 {
    if len < 65536 {
        return len as u16;
    }
    if len == block_size {
        return if block_size == 65536 { 65535 } else { 0 };
    }
    (len & 65532 | len >> 16 & 3) as u16
}

/// An entry or free space in a block: where it is and what its head says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub at: usize,
    pub inode: u32,
    pub rec_len: usize,
    pub name_len: usize,
    pub file_type: u8,
}

impl Slot {
    /// The head at a byte; `None` where the block ends before it does.
    #[inline]
    pub fn read(bytes: &[u8], at: usize, block_size: usize) -> Option<Self> {
        // [`DirEntryHead`] by hand: this is done for every entry that a search passes.
        let &[i0, i1, i2, i3, r0, r1, name_len, file_type] = bytes.get(at..)?.first_chunk()?;
        let rec_len = u16::from_le_bytes([r0, r1]);
        Some(Self {
            at,
            inode: u32::from_le_bytes([i0, i1, i2, i3]),
            rec_len: rec_len_from_disk(rec_len, block_size as u32) as usize,
            name_len: name_len.into(),
            file_type,
        })
    }

    /// The name; cut where the block ends.
    pub fn name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let from = (self.at + HEAD).min(bytes.len());
        &bytes[from..(from + self.name_len).min(bytes.len())]
    }

    /// What is wrong with it, where entries end at byte `end` and inodes at `inodes`.
    pub fn flaw(&self, end: usize, inodes: u32) -> Option<&'static str> {
        let next = self.at + self.rec_len;
        if self.rec_len < DOT {
            Some("whose rec_len is smaller than the smallest entry")
        } else if !self.rec_len.is_multiple_of(4) {
            Some("whose rec_len is no multiple of 4")
        } else if self.rec_len < needed(self.name_len) {
            Some("whose rec_len is too small for its name")
        } else if next > end {
            Some("that goes on past the block's end")
        } else if next + DOT > end && next != end {
            Some("that ends too close to the block's end")
        } else if self.inode > inodes {
            Some("with an inode that does not exist")
        } else {
            None
        }
    }

    /// Bytes of it that a new entry could have.
    fn room(&self) -> usize {
        if self.inode == 0 {
            self.rec_len
        } else {
            self.rec_len.saturating_sub(needed(self.name_len))
        }
    }
}

/// Goes through a block's entries, used or not, and stops where one is so wrong that no
/// next one can be told.
#[derive(Clone, Debug)]
pub(super) struct Slots<'a> {
    bytes: &'a [u8],
    at: usize,
    block_size: usize,
}

impl<'a> Slots<'a> {
    /// Of the block's bytes up to where entries end.
    pub fn new(bytes: &'a [u8], block_size: usize) -> Self {
        Self {
            bytes,
            at: 0,
            block_size,
        }
    }
}

impl Iterator for Slots<'_> {
    type Item = Slot;

    #[inline]
    fn next(&mut self) -> Option<Slot> {
        let slot = Slot::read(self.bytes, self.at, self.block_size)?;
        // Without a next entry this one is the last.
        self.at = match slot.rec_len {
            0 => self.bytes.len(),
            n => self.at + n,
        };
        Some(slot)
    }
}

/// An entry found by its name, and the one before it in the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub slot: Slot,
    pub before: Option<Slot>,
}

/// The entry with a name.
pub(super) fn find(bytes: &[u8], name: &[u8], block_size: usize) -> Option<Place> {
    let mut before = None;
    for slot in Slots::new(bytes, block_size) {
        if slot.name_len == name.len() && slot.inode != 0 && slot.name(bytes) == name {
            return Some(Place { slot, before });
        }
        before = Some(slot);
    }
    None
}

/// The first entry that `wanted` takes by its name.
pub(super) fn find_by(
    bytes: &[u8],
    block_size: usize,
    wanted: impl Fn(&[u8]) -> bool,
) -> Option<Place> {
    let mut before = None;
    for slot in Slots::new(bytes, block_size) {
        if slot.inode != 0 && wanted(slot.name(bytes)) {
            return Some(Place { slot, before });
        }
        before = Some(slot);
    }
    None
}

/// Whether and where a block takes a new name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// After or in the place of this entry.
    At(Slot),
    /// Not at all: it is there already.
    Exists,
    /// Not at all: it is full.
    Full,
    /// Nobody knows: this entry is damaged.
    Bad(usize, &'static str),
}

/// Looks for the first room for a name among entries (the block without its tail).
pub(super) fn room(entries: &[u8], name: &[u8], block_size: usize, inodes: u32) -> Room {
    let wanted = needed(name.len());
    let Some(top) = entries.len().checked_sub(wanted) else {
        return Room::Full;
    };
    for slot in Slots::new(entries, block_size) {
        if slot.at > top {
            break;
        }
        if let Some(words) = slot.flaw(entries.len(), inodes) {
            return Room::Bad(slot.at, words);
        }
        if slot.name_len == name.len() && slot.inode != 0 && slot.name(entries) == name {
            return Room::Exists;
        }
        if slot.room() >= wanted {
            return Room::At(slot);
        }
    }
    Room::Full
}

/// What goes into an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct New<'a> {
    pub inode: u32,
    pub file_type: u8,
    pub name: &'a [u8],
}

/// Writes an entry's head and name; nothing where they do not fit.
pub(super) fn write(bytes: &mut [u8], at: usize, rec_len: usize, new: New<'_>, block_size: usize) {
    let len = new.name.len();
    let Some(room) = bytes.get_mut(at..at + HEAD + len) else {
        return;
    };
    let (head, name) = room.split_at_mut(HEAD);
    let mut head = DirEntryHead(head);
    head.set_inode(new.inode);
    head.set_rec_len(rec_len_to_disk(rec_len, block_size));
    head.set_name_len(len as u8);
    head.set_file_type(new.file_type);
    name.copy_from_slice(new.name);
}

/// Sets the distance to the next entry.
pub(super) fn set_rec_len(bytes: &mut [u8], at: usize, rec_len: usize, block_size: usize) {
    if let Some(head) = bytes.get_mut(at..at + HEAD) {
        DirEntryHead(head).set_rec_len(rec_len_to_disk(rec_len, block_size));
    }
}

/// Puts a new entry into room that [`room`] found.
pub(super) fn insert(bytes: &mut [u8], slot: Slot, new: New<'_>, block_size: usize) {
    if slot.inode == 0 {
        write(bytes, slot.at, slot.rec_len, new, block_size);
        return;
    }
    let own = needed(slot.name_len);
    set_rec_len(bytes, slot.at, own, block_size);
    let rest = slot.rec_len.saturating_sub(own);
    write(bytes, slot.at + own, rest, new, block_size);
}

/// Takes an entry away: the one before it reaches over it, or it stays without an inode.
pub(super) fn erase(bytes: &mut [u8], place: Place, block_size: usize) {
    let Place { slot, before } = place;
    let end = (slot.at + slot.rec_len).min(bytes.len());
    if let Some(before) = before {
        set_rec_len(bytes, before.at, before.rec_len + slot.rec_len, block_size);
        bytes[slot.at.min(end)..end].fill(0);
    } else {
        // The distance to the next entry stays.
        for range in [slot.at..slot.at + 4, slot.at + 6..end] {
            if let Some(bytes) = bytes.get_mut(range) {
                bytes.fill(0);
            }
        }
    }
}

/// Puts another inode into an entry.
pub(super) fn set_inode(bytes: &mut [u8], at: usize, inode: u32, file_type: u8) {
    if let Some(head) = bytes.get_mut(at..at + HEAD) {
        let mut head = DirEntryHead(head);
        head.set_inode(inode);
        head.set_file_type(file_type);
    }
}

/// Whether a block ends in a tail, and the tail has the checksum of what is before it.
pub(super) fn tail_holds(bytes: &[u8], seed: u32) -> bool {
    let Some((body, tail)) = bytes.split_last_chunk::<TAIL>() else {
        return false;
    };
    let tail = DirTail(tail);
    is_tail(&tail) && tail.det_checksum() == checksum::of_inode(seed, body)
}

fn is_tail(tail: &DirTail<&[u8; TAIL]>) -> bool {
    tail.det_reserved_zero1() == 0
        && usize::from(tail.det_rec_len()) == TAIL
        && tail.det_reserved_zero2() == 0
        && tail.det_reserved_ft() == DIR_TAIL_TYPE
}

/// Puts a tail with the right checksum at the end of a block.
pub(super) fn seal(bytes: &mut [u8], seed: u32) {
    let Some((body, tail)) = bytes.split_last_chunk_mut::<TAIL>() else {
        return;
    };
    let mut tail = DirTail(&mut tail[..]);
    tail.set_det_reserved_zero1(0);
    tail.set_det_rec_len(TAIL as u16);
    tail.set_det_reserved_zero2(0);
    tail.set_det_reserved_ft(DIR_TAIL_TYPE);
    tail.set_det_checksum(checksum::of_inode(seed, body));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two encodings are each other's inverse for every distance a block can have.
    #[test]
    fn distances_come_back_from_disk() {
        for size in [1024, 4096, 65536] {
            for len in (DOT..=size).step_by(4) {
                let raw = rec_len_to_disk(len, size);
                assert_eq!(rec_len_from_disk(raw, size as u32) as usize, len);
            }
        }
    }

    #[test]
    fn an_erased_entry_leaves_room_for_the_next() {
        let mut block = vec![0; 64];
        set_rec_len(&mut block, 0, 64, 64);
        let add = |block: &mut Vec<u8>, name: &[u8]| match room(block, name, 64, 10) {
            Room::At(slot) => {
                let new = New {
                    inode: 7,
                    file_type: 1,
                    name,
                };
                insert(block, slot, new, 64);
                true
            }
            Room::Exists | Room::Full => false,
            Room::Bad(at, words) => panic!("{at}: {words}"),
        };
        assert!(add(&mut block, b"one") && add(&mut block, b"two") && add(&mut block, b"three"));
        assert!(!add(&mut block, b"two"), "it is there");
        assert!(add(&mut block, b"four") && !add(&mut block, b"a longer name"));
        for name in [&b"one"[..], b"two"] {
            let place = find(&block, name, 64).unwrap();
            erase(&mut block, place, 64);
            assert!(find(&block, name, 64).is_none());
        }
        assert!(add(&mut block, b"six six six"));
        assert!(find(&block, b"four", 64).is_some() && find(&block, b"three", 64).is_some());
    }
}
