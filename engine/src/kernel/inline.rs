//! Contents that lie inside the inode (feature inline_data): read where they are, moved
//! to a block before any change. New files are never made so, which the format allows.

use super::file::{FiemapExtent, FiemapFlags};
use super::{InodeInfo, Result, Volume, map, xattr};
use crate::event::{Reason, What};
use crate::ext4::layout::InodeFlags;
use crate::units::Lblk;

/// Bytes that `i_block` holds.
const IN_BLOCK: usize = 60;

/// The bytes of a file whose contents are inside the inode.
pub(super) fn content(_: &mut Volume, inode: &InodeInfo) -> Result<Option<Vec<u8>>> {
    if !inode.has(InodeFlags::INLINE_DATA) {
        return Ok(None);
    }
    let mut bytes = inode.i_block().to_vec();
    let rest = xattr::inline_value(inode).and_then(|at| inode.raw.0.get(at));
    bytes.extend(rest.unwrap_or_default());
    bytes.resize(inode.size.min(1 << 16) as usize, 0);
    Ok(Some(bytes))
}

/// Moves a file's contents from the inode to a block.
pub(super) fn make_blocks(vol: &mut Volume, inode: &mut InodeInfo) -> Result<()> {
    let Some(bytes) = content(vol, inode)? else {
        return Ok(());
    };
    inode.set_flag(InodeFlags::INLINE_DATA, false);
    xattr::remove_inline_value(inode);
    inode.set_i_block([0; IN_BLOCK]);
    map::init(vol, inode);
    let size = vol.block_size();
    for (i, piece) in bytes.chunks(size).enumerate() {
        let how = map::Create {
            unwritten: false,
            reserved: false,
            root: true,
            reason: Reason::Data,
            write: true,
        };
        let run = map::map_blocks(vol, inode, Lblk(i as u32), 1, &how)?;
        let data = crate::disk::Data::Bytes(piece.into());
        vol.forget_if_kept(run.start);
        vol.write(run.start, vec![(data, size as u64)])?;
        let nr = inode.nr;
        vol.events.emit(|| What::DataWritten {
            inode: nr,
            lblk: Lblk(i as u32),
            block: run.start,
            len: 1,
        });
    }
    Ok(())
}

/// Where contents inside an inode are, as FIEMAP tells it.
pub(super) fn place(vol: &mut Volume, inode: &InodeInfo) -> Result<Option<FiemapExtent>> {
    if !inode.has(InodeFlags::INLINE_DATA) {
        return Ok(None);
    }
    let (block, byte) = vol.inode_place(inode.nr)?;
    let at = block.0 * vol.block_size() as u64 + byte as u64 + 40;
    Ok(Some(FiemapExtent {
        logical: 0,
        physical: at,
        length: inode.size.min(IN_BLOCK as u64),
        flags: FiemapFlags::DATA_INLINE | FiemapFlags::NOT_ALIGNED | FiemapFlags::LAST,
    }))
}
