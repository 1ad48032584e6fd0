//! What belongs to a mounted filesystem as a whole.

mod cache;
mod descs;
mod inode_table;
mod requests;
mod seen;
mod superblock;

pub use seen::{Seen, Version};

use super::buffer::Buffers;
use super::{Errno, MountOptions, Result};
use crate::device::Device;
use crate::disk::ReadAt;
use crate::event::Events;
use crate::ext4::layout::{Compat, Incompat, RoCompat, Superblock, Timestamp};
use crate::ext4::read::{Fs, Geometry, MetaRun};
use crate::ext4::{self, Place, Problem, checksum};
use crate::jbd2;
use crate::units::{BlockNr, GroupNr};
use std::sync::Arc;

/// `s_state`: cleanly unmounted.
pub(crate) const VALID_FS: u16 = 1;
/// `s_state`: errors were seen.
pub(crate) const ERROR_FS: u16 = 2;

/// A mounted filesystem's superblock, descriptors, buffers and counts, over its device.
#[derive(Clone, Debug)]
pub struct Volume {
    pub(crate) dev: Box<dyn Device>,
    /// The device that the journal is on, where it has one of its own.
    pub(crate) log_dev: Option<Box<dyn Device>>,
    pub(crate) sb: Superblock<Box<[u8]>>,
    pub(crate) geo: Geometry,
    /// Seed of crc32c checksums.
    pub(crate) seed: u32,
    pub(crate) options: MountOptions,
    /// What happened.
    pub events: Events,
    buffers: Buffers,
    /// The journal, where there is one.
    pub(crate) journal: Option<jbd2::Journal>,
    /// Where each group's descriptor is: block, byte.
    descs: Arc<Vec<(BlockNr, usize)>>,
    /// The filesystem's own blocks, in order, apart from each other: (first, one past).
    zones: Arc<Vec<(u64, u64)>>,
    pub(crate) alloc: super::alloc::State,
    pub(crate) xattr: super::xattr::State,
    /// Free clusters, by the bitmaps; delayed blocks' promises are still among them.
    pub(crate) free_clusters: u64,
    /// Clusters promised to delayed blocks.
    pub(crate) reserved_clusters: u64,
    pub(crate) free_inodes: u32,
    /// Directories, over all groups.
    pub(crate) dirs: u32,
    /// The one who calls may use the blocks reserved for the super-user: root, or whom
    /// the superblock names.
    pub(crate) privileged: bool,
    /// Changes are refused: mounted so, or after an error.
    pub(crate) read_only: bool,
    /// 512-byte sectors written since the mount.
    pub(crate) sectors_written: u64,
    /// Contents that are on their way to the disk.
    pub(crate) in_flight: Vec<super::writeback::InFlight>,
}

impl Volume {
    /// Reads what a mount needs; writes nothing.
    pub fn open(
        dev: Box<dyn Device>,
        options: MountOptions,
    ) -> std::result::Result<Self, ext4::Error> {
        let fs = Fs::open_to_mount(&*dev)?;
        let geo = *fs.geometry();
        let known = fs.known_groups();
        if known < geo.groups {
            let words = format!(
                "has {} groups, but the device only {known} descriptors",
                geo.groups
            );
            return Err(Problem::other(Place::Superblock, words).into());
        }
        let sb = Superblock(fs.superblock().0.clone());
        let per_block = geo.descs_per_block();
        let place = |g: u32| {
            let at = fs.desc_block(g / per_block);
            (at, (g % per_block) as usize * usize::from(geo.desc_size))
        };
        let descs = (0..geo.groups).map(place).collect();
        // Damaged descriptors may claim more than there can be.
        let (mut free_clusters, mut free_inodes, mut dirs) = (0u64, 0u32, 0u32);
        for g in fs.groups() {
            let d = fs.group_desc(g)?;
            free_clusters = free_clusters.saturating_add(d.free_blocks().into());
            free_inodes = free_inodes.saturating_add(d.free_inodes());
            dirs = dirs.saturating_add(d.used_dirs());
        }
        let zones = zones(&fs);
        drop(fs);
        let read_only = options.read_only;
        Ok(Self {
            seed: checksum::seed(&sb),
            xattr: super::xattr::State::default(),
            alloc: super::alloc::State::new(&sb, &geo, &options),
            dev,
            sb,
            geo,
            options,
            events: Events::default(),
            buffers: Buffers::default(),
            journal: None,
            descs: Arc::new(descs),
            zones: Arc::new(zones),
            free_clusters,
            reserved_clusters: 0,
            free_inodes,
            dirs,
            privileged: true,
            read_only,
            log_dev: None,
            sectors_written: 0,
            in_flight: Vec::new(),
        })
    }

    /// Bytes of a block.
    pub fn block_size(&self) -> usize {
        self.geo.block_size as usize
    }

    /// Sizes and counts.
    pub fn geometry(&self) -> &Geometry {
        &self.geo
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        &*self.dev
    }

    /// The device, for the machine that drives it.
    pub fn device_mut(&mut self) -> &mut dyn Device {
        &mut *self.dev
    }

    /// The device that the journal is on, where it has one of its own.
    pub fn log_device(&self) -> Option<&dyn Device> {
        self.log_dev.as_deref()
    }

    /// Whether the filesystem has a feature.
    pub fn has_compat(&self, f: Compat) -> bool {
        self.sb.compat().contains(f)
    }

    /// Whether the filesystem has a feature.
    pub fn has_incompat(&self, f: Incompat) -> bool {
        self.sb.incompat().contains(f)
    }

    /// Whether the filesystem has a feature.
    pub fn has_ro_compat(&self, f: RoCompat) -> bool {
        self.sb.ro_compat().contains(f)
    }

    /// Whether metadata carries crc32c checksums.
    pub fn has_csum(&self) -> bool {
        self.has_ro_compat(RoCompat::METADATA_CSUM)
    }

    /// The time that inodes get.
    pub fn time(&self) -> Timestamp {
        let now = self.events.now.0;
        Timestamp {
            secs: (self.options.epoch + now / 1_000_000_000).cast_signed(),
            nanos: (now % 1_000_000_000) as u32,
        }
    }

    /// Whether a run of blocks is inside the filesystem and none of it the filesystem's
    /// own: what a file may use.
    pub fn data_blocks_valid(&self, start: BlockNr, len: u64) -> bool {
        if !self.geo.holds(start, len) {
            return false;
        }
        let after = self.zones.partition_point(|z| z.1 <= start.0);
        self.zones.get(after).is_none_or(|z| z.0 >= start.0 + len)
    }

    /// Blocks of a run that are the filesystem's own metadata.
    pub fn zones(&self) -> &[(u64, u64)] {
        &self.zones
    }

    /// Fails where nothing may be changed.
    pub fn check_writable(&self) -> Result<()> {
        if self.read_only {
            Err(Errno::EROFS)
        } else {
            Ok(())
        }
    }
}

/// The filesystem's own blocks, in order, joined where they touch.
fn zones<R: ReadAt>(fs: &Fs<R>) -> Vec<(u64, u64)> {
    let of = |g: GroupNr| -> Vec<MetaRun> {
        fs.base_meta(g)
            .into_iter()
            .chain(fs.moved_meta(g))
            .collect()
    };
    let mut all: Vec<(u64, u64)> = fs
        .groups()
        .flat_map(of)
        .map(|r| (r.start.0, r.start.0 + r.len))
        .collect();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    all
}
