//! Size and number of inodes.

use super::ask::Asked;
use super::error::MkfsError;
use super::options::Options;
use crate::ext4::layout::{Incompat, RoCompat};

pub(super) fn inode_size(o: &Options, a: &Asked) -> Result<u32, MkfsError> {
    let f = &a.profile.features;
    let mut size = o.inode_size.unwrap_or(a.profile.inode_size);
    if f.has_ro(RoCompat::PROJECT) {
        match o.inode_size {
            Some(128) => return Err(MkfsError::ProjectNeedsSpace),
            Some(_) => {}
            None => size = size.max(256),
        }
    }
    if a.revision == 0 {
        return Ok(128);
    }
    if !(128..=a.block_size).contains(&size) || !size.is_power_of_two() {
        return Err(MkfsError::InodeSize {
            size,
            block_size: a.block_size,
        });
    }
    if f.has_incompat(Incompat::INLINE_DATA) && size == 128 {
        return Err(MkfsError::InlineNeedsSpace);
    }
    Ok(size)
}

pub(super) fn inodes(o: &Options, a: &Asked) -> Result<u64, MkfsError> {
    if let Some(ratio) = o.inode_ratio
        && !(1024..=65536 * 1024).contains(&ratio)
    {
        return Err(MkfsError::InodeRatio(ratio));
    }
    let most = u64::from(u32::MAX);
    let size = u64::from(a.block_size);
    let ratio = match o.inode_ratio {
        Some(ratio) => u64::from(ratio),
        None => u64::from(a.profile.inode_ratio)
            .max(size)
            .max(size * a.ratio),
    };
    let count = match o.inodes {
        Some(n) if n > most => return Err(MkfsError::TooManyInodes(n)),
        Some(n) if n > 0 => n,
        _ => match a.blocks * size / ratio {
            n if n <= most => n,
            _ if a.profile.features.has_incompat(Incompat::BIT64) => most,
            n => return Err(MkfsError::TooManyByRatio(n)),
        },
    };
    let asked = o.inode_size.unwrap_or(a.profile.inode_size);
    if count * u64::from(asked) >= a.blocks * size {
        return Err(MkfsError::TablesTooBig {
            inode_size: asked,
            inodes: count,
            blocks: a.blocks,
        });
    }
    // Where the ratio leaves none, one for each 4 KiB or block.
    Ok(match count {
        0 => a.blocks / (4096 / size).max(1),
        n => n,
    })
}
