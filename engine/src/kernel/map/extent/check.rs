//! Reading nodes, and what must hold of one before it is used.

use super::node::{ENTRY, Extent, Node, fits};
use crate::ext4::layout::{EXTENT_MAGIC, EXTENT_MAX_DEPTH, ExtentHeader, wire};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::BlockNr;

/// Notes that a node is not what it should be.
pub(super) fn damage(
    vol: &mut Volume,
    inode: &InodeInfo,
    at: Option<BlockNr>,
    words: impl Into<String>,
) -> Errno {
    vol.corrupt(Problem::other(place(inode, at), words))
}

fn place(inode: &InodeInfo, at: Option<BlockNr>) -> Place {
    at.map_or(Place::Inode(inode.nr), |at| Place::MapNode(inode.nr, at))
}

/// The root of an inode's tree.
pub(super) fn root(vol: &mut Volume, inode: &InodeInfo) -> Result<Node> {
    let bytes = inode.i_block();
    let depth = ExtentHeader(&bytes).eh_depth();
    let checked = if depth > EXTENT_MAX_DEPTH {
        let found = depth.into();
        let expected = format!("at most {EXTENT_MAX_DEPTH}");
        Err(value("eh_depth", found, expected))
    } else {
        check_head(&bytes, depth.into()).and_then(|()| check_entries(&bytes))
    };
    checked.map_err(|flaw| vol.corrupt(Problem::new(place(inode, None), flaw)))?;
    Ok(Node::Root(bytes))
}

/// A node below the root. One that comes from the disk is checked as a whole.
pub(super) fn load(vol: &mut Volume, inode: &InodeInfo, at: BlockNr, depth: usize) -> Result<Node> {
    if !vol.data_blocks_valid(at, 1) {
        let words = format!("has an extent tree that leads to block {at}, which cannot be its own");
        return Err(damage(vol, inode, None, words));
    }
    let (sealed, seed) = (vol.has_csum(), inode.seed);
    let mut flaw = None;
    let holds = |bytes: &[u8]| {
        let checked = check_head(bytes, depth)
            .and_then(|()| check_sum(sealed, seed, bytes))
            .and_then(|()| check_entries(bytes));
        flaw = checked.err();
        flaw.is_none()
    };
    let bytes = vol.verified_block(at, holds)?;
    let checked = match &bytes {
        Some(bytes) => check_head(bytes, depth).err(),
        None => flaw,
    };
    let (Some(bytes), None) = (bytes, &checked) else {
        let flaw = checked.unwrap_or(Flaw::Other("cannot be used".into()));
        return Err(vol.corrupt(Problem::new(place(inode, Some(at)), flaw)));
    };
    Ok(Node::Block(at, bytes))
}

/// An extent must be of blocks that a file can have.
pub(super) fn extent(vol: &mut Volume, inode: &InodeInfo, e: &Extent) -> Result<()> {
    if vol.data_blocks_valid(BlockNr(e.start), e.len.into()) {
        return Ok(());
    }
    let words = format!(
        "maps {} blocks from {} on, which cannot be a file's",
        e.len, e.start
    );
    Err(damage(vol, inode, None, words))
}

fn value(field: &str, found: u64, expected: impl Into<String>) -> Flaw {
    Flaw::Value {
        field: field.into(),
        found,
        expected: expected.into(),
    }
}

fn check_head(bytes: &[u8], depth: usize) -> std::result::Result<(), Flaw> {
    let head = ExtentHeader(bytes);
    if head.eh_magic() != EXTENT_MAGIC {
        return Err(Flaw::Magic {
            found: head.eh_magic().into(),
            expected: EXTENT_MAGIC.into(),
        });
    }
    if usize::from(head.eh_depth()) != depth {
        let expected = format!("{depth}, one less than the node above");
        return Err(value("eh_depth", head.eh_depth().into(), expected));
    }
    let (entries, max, fits) = (head.eh_entries(), head.eh_max(), fits(bytes.len()));
    if max == 0 || usize::from(max) > fits {
        return Err(value("eh_max", max.into(), format!("1 to {fits}")));
    }
    if entries > max {
        let expected = format!("at most {max}, which is what fits");
        return Err(value("eh_entries", entries.into(), expected));
    }
    if entries == 0 && depth > 0 {
        let expected = "at least 1 in a node that is not a leaf";
        return Err(value("eh_entries", 0, expected));
    }
    Ok(())
}

fn check_sum(sealed: bool, seed: u32, bytes: &[u8]) -> std::result::Result<(), Flaw> {
    if !sealed {
        return Ok(());
    }
    let tail = ENTRY * (1 + usize::from(ExtentHeader(bytes).eh_max()));
    let found = wire::get::<u32>(bytes, tail, wire::Order::Little);
    let covered = bytes.get(..tail).unwrap_or(bytes);
    let expected = checksum::of_inode(seed, covered);
    if found != expected {
        return Err(Flaw::Checksum { found, expected });
    }
    Ok(())
}

/// Entries must be in order, and extents of a leaf apart.
fn check_entries(bytes: &[u8]) -> std::result::Result<(), Flaw> {
    let head = ExtentHeader(bytes);
    let n = usize::from(head.eh_entries());
    let mut next = 0u64;
    for raw in bytes.chunks_exact(ENTRY).skip(1).take(n) {
        let e = Extent::decode(raw);
        let at = u64::from(e.lblk);
        if at < next {
            return Err(Flaw::Order { at, at_least: next });
        }
        if head.eh_depth() > 0 {
            next = at + 1;
        } else if e.len == 0 {
            return Err(value("ee_len", 0, "at least 1"));
        } else {
            next = e.end();
        }
    }
    if next > u64::from(u32::MAX) {
        return Err(value("ee_block", next, "an end below 2^32 - 1"));
    }
    Ok(())
}
