//! A block, decoded by what it is.

mod bitmap;
mod dir;
mod journal;
mod map;
mod meta;
mod owner;
mod parts;
mod words;
mod xattr;

pub use owner::OwnerInfo;

use super::BlockView;
use super::owners::{Flags, Kind};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    EXTENT_MAGIC, ExtentHeader, InodeFlags, JOURNAL_MAGIC, JournalHeader, MMP_MAGIC, MmpBlock,
    XATTR_MAGIC, XattrHeader,
};
use crate::ext4::read::{Fs, InodeBuf};
use crate::ext4::{Error, Problem};
use crate::units::{BlockNr, InodeNr};
use owner::{Fixed, InMap};
use parts::Parts;

/// What is known of a block while it is decoded.
struct Context<'a, R> {
    fs: &'a Fs<R>,
    nr: BlockNr,
    bytes: &'a [u8],
    kind: Kind,
    /// Whether the kind was guessed from the bytes.
    guessed: bool,
    owner: Option<&'a OwnerInfo>,
    fixed: Option<Fixed>,
    inode: Option<InodeBuf>,
    in_map: Option<InMap>,
    parts: Parts,
    checksum_ok: Option<bool>,
    problems: Vec<Problem>,
    /// What the bytes turned out to be, to go on with after whose they are.
    says: Option<String>,
}

/// A block of the filesystem, decoded. Without an owner, fixed metadata is still known by
/// its place, and other metadata is guessed from its magic number.
pub fn block<R: ReadAt>(
    fs: &Fs<R>,
    nr: BlockNr,
    owner: Option<&OwnerInfo>,
) -> Result<BlockView, Error> {
    let bytes = fs.block(nr)?;
    Ok(decode_block(fs, nr, bytes, owner))
}

/// Bytes decoded as block `nr`: its own or an older version of them, as the journal keeps.
pub fn decode_block<R: ReadAt>(
    fs: &Fs<R>,
    nr: BlockNr,
    bytes: Vec<u8>,
    owner: Option<&OwnerInfo>,
) -> BlockView {
    let fixed = owner::fixed(fs, nr);
    let inode = owner
        .and_then(|o| o.inode)
        .and_then(|nr| fs.inode(InodeNr(nr)).ok());
    let in_map = inode.as_ref().and_then(|i| owner::in_map(fs, i, nr));
    let (kind, guessed) = kind(fs, nr, &bytes, owner, fixed);
    let mut context = Context {
        fs,
        nr,
        bytes: &bytes,
        kind,
        guessed,
        owner,
        fixed,
        inode,
        in_map,
        parts: Parts::default(),
        checksum_ok: None,
        problems: Vec::new(),
        says: None,
    };
    context.decode();
    let words = words::block_words(&context);
    let Context {
        parts,
        checksum_ok,
        problems,
        ..
    } = context;
    let parts = parts.finish(bytes.len());
    BlockView {
        nr: nr.0,
        words,
        bytes,
        parts,
        checksum_ok,
        problems,
    }
}

/// What the block is, and whether that is a guess.
fn kind<R: ReadAt>(
    fs: &Fs<R>,
    nr: BlockNr,
    bytes: &[u8],
    owner: Option<&OwnerInfo>,
    fixed: Option<Fixed>,
) -> (Kind, bool) {
    match owner.map(|o| o.kind) {
        Some(Kind::Twice | Kind::Unknown) | None => {}
        Some(kind) => return (kind, false),
    }
    if let Some(fixed) = fixed {
        return (owner::kind_of(fixed.kind), false);
    }
    if nr.0 < fs.geometry().first_data_block {
        return (Kind::Boot, false);
    }
    if owner::is_mmp(fs, nr) {
        return (Kind::Internal, false);
    }
    (guess(bytes).unwrap_or(Kind::Unknown), true)
}

/// Metadata that shows itself by a magic number.
fn guess(bytes: &[u8]) -> Option<Kind> {
    if XattrHeader(bytes).h_magic() == XATTR_MAGIC {
        return Some(Kind::Xattr);
    }
    if JournalHeader(bytes).h_magic() == JOURNAL_MAGIC {
        return Some(Kind::Journal);
    }
    let head = ExtentHeader(bytes);
    if head.eh_magic() == EXTENT_MAGIC && head.eh_entries() <= head.eh_max() {
        return Some(Kind::ExtentIndex);
    }
    (MmpBlock(bytes).mmp_magic() == MMP_MAGIC).then_some(Kind::Internal)
}

impl<R: ReadAt> Context<'_, R> {
    fn decode(&mut self) {
        // The rest of a cluster holds nothing of what owns the cluster.
        if self.owner.is_some_and(|o| o.flags.contains(Flags::SLACK)) {
            return;
        }
        match self.kind {
            Kind::Superblock => self.superblock(),
            Kind::Descriptors => self.descriptors(),
            Kind::ReservedDescriptors => self.reserved_descriptors(),
            Kind::BlockBitmap | Kind::InodeBitmap => self.bitmap(),
            Kind::InodeTable => self.inode_table(),
            Kind::Journal => self.journal(),
            Kind::Directory => self.dir_leaf(),
            Kind::Htree => self.htree(),
            Kind::ExtentIndex => self.extent_node(),
            Kind::Indirect => self.indirect(),
            Kind::Xattr if !self.holds_a_value() => self.xattr(),
            Kind::Symlink => self.symlink(),
            Kind::Internal => self.internal(),
            Kind::Boot
            | Kind::Free
            | Kind::Data
            | Kind::Xattr
            | Kind::Unowned
            | Kind::Unknown
            | Kind::Twice => {}
        }
    }

    /// Whether the block is part of the value of an attribute, in an inode of its own.
    fn holds_a_value(&self) -> bool {
        self.inode
            .as_ref()
            .is_some_and(|i| i.flags().contains(InodeFlags::EA_INODE) && i.file_acl() != self.nr)
    }

    /// Notes whether the block's checksum holds, and the flaw where not.
    fn checksum(&mut self, place: crate::ext4::Place, found: u32, expected: u32) {
        self.checksum_ok = Some(found == expected);
        if found != expected {
            let flaw = crate::ext4::Flaw::Checksum { found, expected };
            self.problems.push(Problem::new(place, flaw));
        }
    }

    /// Seed of the checksums of what belongs to the owner, where checksums are kept.
    fn owner_seed(&self) -> Option<u32> {
        let inode = self.inode.as_ref()?;
        self.fs
            .superblock()
            .has_metadata_csum()
            .then(|| self.fs.inode_seed(inode))
    }
}
