//! Mounting, unmounting, and what runs by the clock.

use super::commit::journal_features;
use super::fd::OpenFile;
use super::inodes::Inodes;
use super::lazyinit::LazyInit;
use super::recovery::{Recovered, recover};
use super::volume::{ERROR_FS, VALID_FS};
use super::{Errno, Fd, InodeInfo, MountOptions, Result, Volume, alloc, fc_replay};
use crate::device::Device;
use crate::event::{Actor, Event, What};
use crate::ext4::layout::{Compat, Incompat, RoCompat};
use crate::ext4::{self};
use crate::jbd2;
use crate::units::{InodeNr, SimTime};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A mounted filesystem, with everything that Linux keeps of it in memory.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Superblock, buffers, counts, device.
    pub vol: Volume,
    pub(super) inodes: Inodes,
    pub(super) files: BTreeMap<u32, OpenFile>,
    /// Orphans on the disk's list, oldest first.
    pub(super) orphans: Vec<InodeNr>,
    /// State of the numbers for `i_generation`.
    pub(super) generation: u64,
    /// When the flusher looks next.
    flusher: SimTime,
    /// The thread that zeroes inode tables.
    pub(super) lazy: LazyInit,
    /// A call's return is told by whoever lets the process wait for it, not by the call.
    pub(super) returns_later: bool,
}

/// Figures of what a mounted filesystem has in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelGauges {
    /// Pages with contents that the disk has not.
    pub dirty_pages: u64,
    /// Clusters promised to pages without a block.
    pub reserved_clusters: u64,
    /// Free clusters, by the bitmaps.
    pub free_clusters: u64,
    /// Free inodes.
    pub free_inodes: u64,
    /// Blocks of metadata that are to be written home.
    pub dirty_buffers: u64,
}

/// The devices that a mount had.
#[derive(Clone, Debug)]
pub struct Devices {
    /// The filesystem's.
    pub filesystem: Box<dyn Device>,
    /// The journal's own, where it has one.
    pub journal: Option<Box<dyn Device>>,
}

/// Why a filesystem cannot be mounted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum MountError {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(#[from] ext4::Error),
    /// It has features that are not known.
    #[error("The filesystem has features that fslab cannot mount: {0}")]
    Features(String),
    /// It may only be mounted for reading.
    #[error("The filesystem has features with which it can only be mounted read-only: {0}")]
    OnlyReadOnly(String),
    /// The device ends before it.
    #[error("The filesystem has {blocks} blocks, but the device ends after {device}")]
    TooShort {
        /// Blocks of the filesystem.
        blocks: u64,
        /// Whole blocks of the device.
        device: u64,
    },
    /// Its journal has to be replayed, which a mount for reading does not do here.
    #[error(
        "The journal holds transactions that were never written home; mount it for writing, which replays them"
    )]
    NeedsRecovery,
    /// Its journal is elsewhere.
    #[error(
        "The journal of this filesystem is on a device of its own; mount it together with that"
    )]
    ExternalJournal,
    /// Its journal is damaged.
    #[error("The journal cannot be replayed: {0}")]
    Journal(crate::ext4::Problem),
    /// Copies in its log are damaged: the others went home, then the mount fails (EIO).
    #[error(
        "{first}; {left} of the log's copies could not be replayed and were left out, {written} blocks went home, and then the mount fails, as Linux's does (EIO)"
    )]
    DamagedCopies {
        /// The first of them.
        first: crate::ext4::Problem,
        /// Copies left out.
        left: u64,
        /// Blocks that were written home.
        written: u64,
    },
    /// The journal ends badly: what could be replayed went home, then the mount fails.
    #[error(
        "{problem}; what was complete before that went home, and then the mount fails, as Linux's does ({errno})"
    )]
    AfterReplay {
        /// What is wrong.
        problem: crate::ext4::Problem,
        /// What Linux's mount gives.
        errno: Errno,
    },
    /// Something failed while it was mounted.
    #[error("{0}")]
    Failed(#[from] Errno),
}

/// Features without which a filesystem cannot be read, and that the kernel here knows.
const KNOWN_INCOMPAT: Incompat = Incompat::FILETYPE
    .union(Incompat::META_BG)
    .union(Incompat::EXTENTS)
    .union(Incompat::BIT64)
    .union(Incompat::FLEX_BG)
    .union(Incompat::EA_INODE)
    .union(Incompat::CSUM_SEED)
    .union(Incompat::LARGEDIR)
    .union(Incompat::INLINE_DATA);

/// Features without which a filesystem cannot be changed, and that the kernel here knows.
const KNOWN_RO: RoCompat = RoCompat::SPARSE_SUPER
    .union(RoCompat::LARGE_FILE)
    .union(RoCompat::HUGE_FILE)
    .union(RoCompat::GDT_CSUM)
    .union(RoCompat::DIR_NLINK)
    .union(RoCompat::EXTRA_ISIZE)
    .union(RoCompat::BIGALLOC)
    .union(RoCompat::METADATA_CSUM)
    .union(RoCompat::ORPHAN_PRESENT)
    .union(RoCompat::PROJECT);

impl Mount {
    /// Mounts what is on a device.
    #[allow(
        clippy::self_named_constructors,
        reason = "it is what the call is named"
    )]
    pub fn mount(
        dev: Box<dyn Device>,
        options: MountOptions,
    ) -> std::result::Result<Self, MountError> {
        Self::mount_on(dev, None, options, false)
    }

    /// Mounts for a machine: events are kept from the first on, and the machine tells when
    /// a call returns.
    pub fn mount_watched(
        dev: Box<dyn Device>,
        options: MountOptions,
    ) -> std::result::Result<Self, MountError> {
        let mut mount = Self::mount_on(dev, None, options, true)?;
        mount.returns_later = true;
        Ok(mount)
    }

    /// Mounts what is on a device, with its journal on another.
    pub fn mount_with_journal(
        dev: Box<dyn Device>,
        journal: Box<dyn Device>,
        options: MountOptions,
    ) -> std::result::Result<Self, MountError> {
        Self::mount_on(dev, Some(journal), options, false)
    }

    fn mount_on(
        mut dev: Box<dyn Device>,
        mut log_dev: Option<Box<dyn Device>>,
        options: MountOptions,
        watched: bool,
    ) -> std::result::Result<Self, MountError> {
        let recovered = recover(&mut dev, &mut log_dev, &options)?;
        let replayed = match &recovered {
            Some(found) if !fc_replay::tags(&found.log).is_empty() => {
                let (after, events) = replay_fast_commits(dev, &mut log_dev, &options, found)?;
                dev = after;
                events
            }
            _ => Vec::new(),
        };
        let mut vol = Volume::open(dev, options)?;
        vol.log_dev = log_dev;
        vol.events.keep(watched);
        check_features(&vol)?;
        if let Some(found) = &recovered {
            for what in &found.events {
                vol.events.emit(|| what.clone());
            }
            for event in replayed {
                vol.events.emit(|| event.what);
            }
            if !vol.read_only {
                vol.journal = Some(start_journal(&vol, found)?);
            }
        }
        let mut mount = Self::over(vol);
        if !mount.vol.read_only {
            mount.note_mounted()?;
        }
        mount.vol.events.emit(|| What::Mounted);
        Ok(mount)
    }

    /// A volume with nothing of it in memory.
    fn over(vol: Volume) -> Self {
        let uuid = vol.sb.s_uuid().0;
        let seed = uuid
            .iter()
            .fold(0u64, |all, &b| all.rotate_left(8) ^ u64::from(b));
        Self {
            flusher: vol.options.dirty_writeback,
            lazy: LazyInit::new(vol.events.now),
            vol,
            inodes: Inodes::default(),
            files: BTreeMap::new(),
            orphans: Vec::new(),
            generation: seed,
            returns_later: false,
        }
    }

    /// What a mount for writing changes on disk.
    fn note_mounted(&mut self) -> Result<()> {
        let now = self.vol.time().secs;
        let journaled = self.vol.journal.is_some();
        let sb = &mut self.vol.sb;
        if journaled {
            sb.set_s_feature_incompat(sb.s_feature_incompat() | Incompat::RECOVER.bits());
        } else {
            sb.set_s_state(sb.s_state() & !VALID_FS);
        }
        sb.set_s_mnt_count(sb.s_mnt_count().wrapping_add(1));
        sb.set_s_mtime((now & 0xFFFF_FFFF) as u32);
        sb.set_s_mtime_hi((now >> 32 & 0xFF) as u8);
        self.vol.commit_super()?;
        if journaled {
            // The flag has to be there before anything is in the log.
            let (at, bytes) = self.vol.superblock_block()?;
            let len = bytes.len() as u64;
            self.vol
                .write_safely(at, crate::disk::Data::Bytes(bytes), len)?;
        }
        self.delete_orphans()?;
        if journaled {
            Ok(())
        } else {
            self.vol.sync_buffers()
        }
    }

    /// Unmounts: descriptors are closed, everything is written. The device is given back
    /// in any case.
    pub fn unmount(mut self) -> (Box<dyn Device>, Result<()>) {
        let done = self.finish();
        (self.vol.dev, done)
    }

    /// Unmounts, and gives the journal's own device back as well.
    pub fn unmount_both(mut self) -> (Devices, Result<()>) {
        let done = self.finish();
        let devices = Devices {
            filesystem: self.vol.dev,
            journal: self.vol.log_dev,
        };
        (devices, done)
    }

    /// What an unmount does, up to the last request to the device.
    pub fn finish(&mut self) -> Result<()> {
        let open: Vec<u32> = self.files.keys().copied().collect();
        for fd in open {
            self.do_close(Fd(fd))?;
        }
        if self.vol.read_only {
            return Ok(());
        }
        self.write_back_everything()?;
        for nr in self.inodes.matching(|_| true) {
            let inode = self.inodes.loaded(nr)?;
            alloc::discard_preallocations(&mut self.vol, inode);
        }
        self.close_journal()?;
        let sb = &mut self.vol.sb;
        if sb.s_state() & ERROR_FS == 0 {
            sb.set_s_state(sb.s_state() | VALID_FS);
        }
        sb.set_s_feature_incompat(sb.s_feature_incompat() & !Incompat::RECOVER.bits());
        self.vol.commit_super()?;
        self.vol.sync_buffers()?;
        self.vol.flush()?;
        self.vol.events.emit(|| What::Unmounted);
        Ok(())
    }

    /// Commits everything, brings it home, and leaves an empty log.
    fn close_journal(&mut self) -> Result<()> {
        if self.vol.journal.is_none() {
            return Ok(());
        }
        self.commit()?;
        self.checkpoint()?;
        self.write_journal_superblock(true)?;
        self.vol.journal = None;
        Ok(())
    }

    /// Whether there is a journal.
    pub fn has_journal(&self) -> bool {
        self.vol.has_compat(Compat::HAS_JOURNAL)
    }

    /// An inode to look at.
    pub(super) fn peek(&mut self, nr: InodeNr) -> Result<Arc<InodeInfo>> {
        self.inodes.peek(&mut self.vol, nr)
    }

    /// The time.
    pub fn now(&self) -> SimTime {
        self.vol.events.now
    }

    /// Lets time pass. The flusher and the thread that zeroes inode tables wake up on the
    /// way.
    pub fn advance(&mut self, to: SimTime) -> Result<()> {
        while let Some((at, actor)) = self.next_wake().filter(|(at, _)| *at <= to) {
            self.pass(at)?;
            let before = std::mem::replace(&mut self.vol.events.actor, actor);
            let done = match actor {
                Actor::LazyInit => self.zero_next_table(),
                Actor::Jbd2 => self.commit(),
                _ => self.wake_flusher(),
            };
            self.vol.events.actor = before;
            done?;
        }
        self.pass(to)?;
        let step = self.vol.options.dirty_writeback.0.max(1);
        let now = self.now().0;
        if self.flusher.0 <= now {
            self.flusher.0 = (now / step + 1).saturating_mul(step);
        }
        Ok(())
    }

    /// Moves the clock. While it moves, what the device was given is done.
    fn pass(&mut self, to: SimTime) -> Result<()> {
        if to > self.now() {
            self.end_io()?;
            self.vol.events.now = to;
        }
        Ok(())
    }

    /// What runs next by the clock, and when.
    fn next_wake(&self) -> Option<(SimTime, Actor)> {
        // Without anything dirty the flusher sleeps on, however long.
        let dirty = self.inodes.any_dirty() || self.vol.has_dirty_buffers();
        let wakes = dirty && self.vol.options.dirty_writeback.0 > 0;
        let flusher = wakes.then_some((self.flusher, Actor::Flusher));
        let busy = !self.lazy.is_done(self.vol.geo.groups);
        let lazy = busy.then_some((self.lazy.next, Actor::LazyInit));
        let commit = self.commit_due().map(|at| (at, Actor::Jbd2));
        flusher
            .into_iter()
            .chain(lazy)
            .chain(commit)
            .min_by_key(|(at, _)| *at)
    }

    fn wake_flusher(&mut self) -> Result<()> {
        let step = self.vol.options.dirty_writeback.0;
        self.flusher.0 = self.flusher.0.saturating_add(step);
        self.flush_old()
    }

    /// Figures of what is in memory.
    pub fn gauges(&self) -> KernelGauges {
        KernelGauges {
            dirty_pages: self.inodes.dirty_pages(),
            reserved_clusters: self.vol.reserved_clusters,
            free_clusters: self.vol.free_clusters,
            free_inodes: self.vol.free_inodes.into(),
            dirty_buffers: self.vol.dirty_buffer_count() as u64,
        }
    }

    /// Moves the clock and nothing else.
    pub fn set_now(&mut self, now: SimTime) {
        self.vol.events.now = now;
    }

    /// The kernel's thread that runs next by the clock, and when; commits are the
    /// machine's affair.
    pub fn next_thread(&self) -> Option<(SimTime, Actor)> {
        let lazy = !self.lazy.is_done(self.vol.geo.groups);
        let lazy = lazy.then_some((self.lazy.next, Actor::LazyInit));
        let dirty = self.inodes.any_dirty() || self.vol.has_dirty_buffers();
        let wakes = dirty && self.vol.options.dirty_writeback.0 > 0;
        let flusher = wakes.then_some((self.flusher_next(), Actor::Flusher));
        lazy.into_iter().chain(flusher).min_by_key(|(at, _)| *at)
    }

    /// The flusher looks at multiples of its interval, also after it slept on.
    fn flusher_next(&self) -> SimTime {
        let step = self.vol.options.dirty_writeback.0.max(1);
        let now = self.now().0;
        if self.flusher.0 >= now {
            return self.flusher;
        }
        SimTime(now.div_ceil(step).saturating_mul(step))
    }

    /// Runs what [`Mount::next_thread`] told.
    pub fn run_thread(&mut self, actor: Actor) -> Result<()> {
        let before = std::mem::replace(&mut self.vol.events.actor, actor);
        let done = if actor == Actor::LazyInit {
            self.zero_next_table()
        } else {
            self.flusher = self.flusher_next();
            self.wake_flusher()
        };
        self.vol.events.actor = before;
        done
    }

    /// Everything that happened since the last time this was asked.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.vol.events.take()
    }
}

/// The device after a replay of the fast commits, and what happened on the way.
fn replay_fast_commits(
    dev: Box<dyn Device>,
    log_dev: &mut Option<Box<dyn Device>>,
    options: &MountOptions,
    found: &Recovered,
) -> std::result::Result<(Box<dyn Device>, Vec<Event>), MountError> {
    let mut vol = Volume::open(dev, options.clone())?;
    vol.log_dev.clone_from(log_dev);
    check_features(&vol)?;
    let mut mount = Mount::over(vol);
    mount.replay_fast_commits(&found.log)?;
    let events = mount.take_events();
    let mut dev = mount.vol.dev;
    found.finish(&mut dev, log_dev)?;
    Ok((dev, events))
}

/// The journal as it runs from now on.
fn start_journal(
    vol: &Volume,
    found: &Recovered,
) -> std::result::Result<jbd2::Journal, MountError> {
    let mut journal = jbd2::Journal::new(&found.log, found.next).ok_or(Errno::EFSCORRUPTED)?;
    let wide = vol.has_incompat(Incompat::BIT64);
    let (on, v1) = journal_features(vol.has_csum(), wide, &vol.options);
    journal.set_features(on, v1);
    Ok(journal)
}

/// Refuses what cannot be mounted, or not for writing.
fn check_features(vol: &Volume) -> std::result::Result<(), MountError> {
    let device = vol.device().len() / vol.block_size() as u64;
    let blocks = vol.geo.blocks;
    if blocks > device {
        return Err(MountError::TooShort { blocks, device });
    }
    let incompat = vol.sb.incompat();
    let unknown = incompat - KNOWN_INCOMPAT - Incompat::RECOVER;
    if !unknown.is_empty() {
        return Err(MountError::Features(unknown.names().join(", ")));
    }
    let unknown = vol.sb.ro_compat() - KNOWN_RO;
    if !unknown.is_empty() && !vol.options.read_only {
        return Err(MountError::OnlyReadOnly(unknown.names().join(", ")));
    }
    Ok(())
}
