//! The medium as a replay would leave it, without writing anything.

use super::Journal;
use crate::disk::{ReadAt, ReadError, check_range};
use crate::ext4::layout::JOURNAL_MAGIC;
use std::collections::BTreeMap;

/// Where a replayed block's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Source {
    /// Byte of the log's medium.
    offset: u64,
    escaped: bool,
}

/// Which home blocks a replay writes, and from where: plain data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReplayMap {
    block_size: u64,
    homes: BTreeMap<u64, Source>,
}

impl ReplayMap {
    /// Home blocks that get new contents.
    pub fn len(&self) -> usize {
        self.homes.len()
    }

    /// Whether a replay would change nothing.
    pub fn is_empty(&self) -> bool {
        self.homes.is_empty()
    }
}

impl Journal {
    /// What a replay would write where.
    pub fn replay_map(&self) -> ReplayMap {
        let homes = self.replayed.iter().filter_map(|(home, copy)| {
            let offset = self.log.offset(copy.journal_block)?;
            Some((
                *home,
                Source {
                    offset,
                    escaped: copy.escaped,
                },
            ))
        });
        ReplayMap {
            block_size: self.log.format.block_size.into(),
            homes: homes.collect(),
        }
    }
}

/// A filesystem's medium with the journal's copies over their home blocks, read when
/// asked for. `base`: the filesystem's medium; `log`: that of its journal, which for an
/// internal journal is the same.
///
/// Fast commits are not in it, and neither are the marks that Linux sets after a replay:
/// the filesystem still says `needs_recovery`, the journal still has its `s_start`.
#[derive(Clone, Debug)]
pub struct Overlay<R, J = R> {
    base: R,
    log: J,
    map: ReplayMap,
}

impl<R: ReadAt, J: ReadAt> Overlay<R, J> {
    /// Lays a replay over a medium.
    pub fn new(base: R, log: J, map: ReplayMap) -> Self {
        Self { base, log, map }
    }

    /// The medium without the replay.
    pub fn base(&self) -> &R {
        &self.base
    }

    /// Writes the part of a replayed block that a read at `offset` covers.
    fn patch(
        &self,
        home: u64,
        source: Source,
        offset: u64,
        buf: &mut [u8],
    ) -> Result<(), ReadError> {
        let size = self.map.block_size;
        let start = home.saturating_mul(size);
        let from = start.max(offset);
        let to = start.saturating_add(size).min(offset + buf.len() as u64);
        if from >= to {
            return Ok(());
        }
        let part = &mut buf[(from - offset) as usize..(to - offset) as usize];
        self.log.read_at(source.offset + (from - start), part)?;
        if source.escaped {
            let magic = JOURNAL_MAGIC.to_be_bytes();
            let skip = (from - start) as usize;
            for (byte, of) in part.iter_mut().zip(magic.iter().skip(skip)) {
                *byte = *of;
            }
        }
        Ok(())
    }
}

impl<R: ReadAt, J: ReadAt> ReadAt for Overlay<R, J> {
    fn len(&self) -> u64 {
        self.base.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.len())?;
        if buf.is_empty() || self.map.is_empty() {
            return self.base.read_at(offset, buf);
        }
        let size = self.map.block_size;
        let (first, last) = (offset / size, (offset + buf.len() as u64 - 1) / size);
        if first == last
            && let Some(source) = self.map.homes.get(&first)
        {
            return self.patch(first, *source, offset, buf);
        }
        self.base.read_at(offset, buf)?;
        for (home, source) in self.map.homes.range(first..=last) {
            self.patch(*home, *source, offset, buf)?;
        }
        Ok(())
    }

    fn next_data(&self, offset: u64) -> u64 {
        let base = self.base.next_data(offset);
        if self.map.is_empty() {
            return base;
        }
        let size = self.map.block_size;
        let home = self.map.homes.range(offset / size..).next();
        home.map_or(base, |(home, _)| {
            base.min(home.saturating_mul(size).max(offset))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn overlay(homes: &[(u64, u64, bool)]) -> Overlay<Vec<u8>> {
        let base: Vec<u8> = (0..200).collect();
        let log: Vec<u8> = (0..=255).rev().collect();
        let homes = homes.iter().map(|&(home, block, escaped)| {
            (
                home,
                Source {
                    offset: block * 16,
                    escaped,
                },
            )
        });
        Overlay::new(
            base,
            log,
            ReplayMap {
                block_size: 16,
                homes: homes.collect(),
            },
        )
    }

    /// The medium with the copies written home, whole.
    fn replayed(o: &Overlay<Vec<u8>>) -> Vec<u8> {
        let mut out = o.base.clone();
        for (home, source) in &o.map.homes {
            let mut copy = o.log[source.offset as usize..][..16].to_vec();
            if source.escaped {
                copy[..4].copy_from_slice(&[0xC0, 0x3B, 0x39, 0x98]);
            }
            let start = *home as usize * 16;
            let len = 16.min(out.len().saturating_sub(start));
            if len > 0 {
                out[start..start + len].copy_from_slice(&copy[..len]);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn reads_as_the_replayed_medium(
            homes in proptest::collection::vec((0u64..16, 0u64..16, any::<bool>()), 0..6),
            offset in 0u64..220,
            len in 0usize..100,
        ) {
            let o = overlay(&homes);
            let whole = replayed(&o);
            let (mut a, mut b) = (vec![0; len], vec![0; len]);
            prop_assert_eq!(whole.read_at(offset, &mut a), o.read_at(offset, &mut b));
            prop_assert_eq!(a, b);
            prop_assert!(o.next_data(offset) >= offset);
        }
    }
}
