//! Bitmaps, told as runs of what is in use.

use super::Context;
use super::parts::part;
use crate::disk::ReadAt;
use crate::ext4::layout::GroupFlags;
use crate::ext4::read::MetaKind;
use crate::ext4::{Place, checksum};
use crate::view::wording::{count, grouped};

impl<R: ReadAt> Context<'_, R> {
    pub(super) fn bitmap(&mut self) {
        let Some(fixed) = self.fixed else { return };
        let Ok(desc) = self.fs.group_desc(fixed.group) else {
            return;
        };
        let (geo, sb) = (*self.fs.geometry(), self.fs.superblock());
        let of_blocks = fixed.kind == MetaKind::BlockBitmap;
        let uninit = if of_blocks {
            GroupFlags::BLOCK_UNINIT
        } else {
            GroupFlags::INODE_UNINIT
        };
        if sb.has_group_checksum() && desc.flags().contains(uninit) {
            self.says = Some(
                "The group says that this bitmap is not initialised: it is taken to \
                              hold nothing but the group's own metadata, and these bytes mean \
                              nothing."
                    .into(),
            );
            return;
        }
        let (bits, first, step, place) = if of_blocks {
            let start = geo.group_start(fixed.group).0;
            (
                geo.clusters_in(fixed.group),
                start,
                u64::from(geo.cluster_blocks),
                Place::BlockBitmap(fixed.group),
            )
        } else {
            let start = u64::from(fixed.group.0) * u64::from(geo.inodes_per_group) + 1;
            (
                geo.inodes_per_group,
                start,
                1,
                Place::InodeBitmap(fixed.group),
            )
        };
        let (summed, stored) = if of_blocks {
            (
                geo.blocks_per_group / geo.cluster_blocks,
                desc.block_bitmap_csum(),
            )
        } else {
            (geo.inodes_per_group, desc.inode_bitmap_csum())
        };
        if sb.has_metadata_csum()
            && let Some(covered) = self.bytes.get(..summed as usize / 8)
        {
            let expected = checksum::bitmap(self.fs.checksum_seed(), covered, geo.desc_size.into());
            self.checksum(place, stored, expected);
        }
        let used = self.bit_runs(
            bits,
            if of_blocks { "blocks" } else { "inodes" },
            first,
            step,
        );
        let free = bits.saturating_sub(used);
        let unit = match (of_blocks, step) {
            (false, _) => "inode",
            (true, 1) => "block",
            (true, _) => "cluster",
        };
        self.says = Some(format!(
            "{} free of {}.",
            grouped(free.into()),
            count(bits.into(), unit)
        ));
    }

    /// A part for each run of bits that are set; their number.
    fn bit_runs(&mut self, bits: u32, what: &str, first: u64, step: u64) -> u32 {
        let bits = (bits as usize).min(self.bytes.len() * 8);
        let is_set = |i: usize| {
            self.bytes
                .get(i / 8)
                .is_some_and(|b| b & (1 << (i % 8)) != 0)
        };
        let (mut at, mut used) = (0, 0);
        let mut runs = Vec::new();
        while at < bits {
            let start = at;
            while at < bits && is_set(at) == is_set(start) {
                at += 1;
            }
            if is_set(start) {
                used += (at - start) as u32;
                runs.push((start, at));
            }
        }
        for (from, to) in runs {
            let (low, high) = (first + from as u64 * step, first + to as u64 * step - 1);
            let title = format!(
                "{what} {low} to {high} in use ({})",
                grouped((to - from) as u64 * step)
            );
            self.parts
                .push(part(title, from / 8, to.div_ceil(8) - from / 8, Vec::new()));
        }
        if bits.div_ceil(8) < self.bytes.len() {
            let at = bits.div_ceil(8);
            self.parts.push(part(
                "past the group's end",
                at,
                self.bytes.len() - at,
                Vec::new(),
            ));
        }
        used
    }
}
