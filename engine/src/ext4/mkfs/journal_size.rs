//! How long the journal is.

use super::error::{MkfsError, Warning};
use super::options::JournalOptions;
use super::plan::Plan;
use crate::ext4::layout::Compat;

/// Blocks of the journal by the size of the filesystem; `None` where it is too small for
/// one.
fn default_journal(blocks: u64) -> Option<u64> {
    let steps: [(u64, u64); 7] = [
        (32768, 1024),
        (256 << 10, 4096),
        (512 << 10, 8192),
        (4096 << 10, 16384),
        (8192 << 10, 32768),
        (16384 << 10, 65536),
        (32768 << 10, 131_072),
    ];
    if blocks < 2048 {
        return None;
    }
    let step = steps.iter().find(|(below, _)| blocks < *below);
    Some(step.map_or(262_144, |s| s.1))
}

pub(super) fn journal_size(
    o: &JournalOptions,
    p: &mut Plan,
) -> Result<Option<(u64, u64)>, MkfsError> {
    if !p.features.has_compat(Compat::HAS_JOURNAL) {
        return Ok(None);
    }
    let kilobytes = u64::from(p.block_size / 1024);
    let fast = p.features.has_compat(Compat::FAST_COMMIT);
    // A filesystem too small for a journal is made without one, whatever was asked for.
    let Some(default) = default_journal(p.blocks) else {
        let both = Compat::HAS_JOURNAL | Compat::ORPHAN_FILE;
        p.features.compat.remove(both);
        p.warnings.push(Warning::TooSmallForJournal);
        return Ok(None);
    };
    let megabytes = o.megabytes.filter(|n| *n > 0);
    let asked = megabytes.is_some() || (fast && o.fast_commit_kilobytes.is_some());
    if !asked {
        return Ok(Some((default, if fast { default / 64 } else { 0 })));
    }
    let main = match megabytes {
        Some(n) => n.saturating_mul(1024) / kilobytes,
        None => default,
    };
    let fc = match o.fast_commit_kilobytes {
        _ if !fast => 0,
        Some(n) => n / kilobytes,
        None => default / 64,
    };
    let blocks = main.saturating_add(fc);
    if !(1024..=10_240_000).contains(&blocks) {
        return Err(MkfsError::JournalRange { blocks });
    }
    if blocks > p.free_at_first() / 2 {
        return Err(MkfsError::JournalTooBig);
    }
    if main < 1024 {
        return Err(MkfsError::JournalTooShort);
    }
    Ok(Some((main, fc)))
}

impl Plan {
    /// Free blocks as mke2fs counts them before anything is placed.
    fn free_at_first(&self) -> u64 {
        (0..self.groups)
            .map(|g| {
                let heads = self.heads(g).iter().map(|(_, n)| n).sum::<u64>();
                let tables = if self.log_flex > 0 {
                    0
                } else {
                    2 + self.itable_blocks
                };
                (self.group_end(g) - self.group_first(g)).saturating_sub(heads + tables)
            })
            .sum()
    }
}
