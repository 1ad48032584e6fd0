//! The journal's work: commits, a phase at a time, and the room in the log.

use super::writeback::write_mapped;
use super::{DataMode, Errno, Mount, Result};
use crate::disk::Data;
use crate::event::{Actor, What};
use crate::ext4::layout::JournalIncompat;
use crate::jbd2::{LogWrite, Part, Phase};
use crate::units::{BlockNr, InodeNr, SimTime};
use std::sync::Arc;

/// Blocks that one call may add to a transaction: where fewer are left of its share of the
/// log, it is committed first.
const ONE_CALL: u32 = 64;

impl Mount {
    /// Commits what is running, and what is being committed before it.
    pub fn commit(&mut self) -> Result<()> {
        while self.step_commit()? {}
        if self.start_commit()? {
            while self.step_commit()? {}
        }
        Ok(())
    }

    /// Commits until a transaction is on disk.
    pub(super) fn commit_until(&mut self, tid: u32) -> Result<()> {
        let pending = |m: &Self| m.vol.journal.as_ref().is_some_and(|j| j.is_pending(tid));
        let mut rounds = 0;
        while pending(self) && rounds < 3 {
            rounds += 1;
            if !self.finish_commit()? && !self.start_commit()? {
                return Err(Errno::EIO);
            }
            self.finish_commit()?;
        }
        Ok(())
    }

    fn finish_commit(&mut self) -> Result<bool> {
        let under_way = self
            .vol
            .journal
            .as_ref()
            .is_some_and(|j| j.committing().is_some());
        while self.step_commit()? {}
        Ok(under_way)
    }

    /// Locks the running transaction. Whether there was one, and none is being committed.
    pub fn start_commit(&mut self) -> Result<bool> {
        let Some(journal) = &self.vol.journal else {
            return Ok(false);
        };
        if journal.committing().is_some() || journal.running().is_none() {
            return Ok(false);
        }
        if self.vol.options.data == DataMode::AllocOnCommit {
            self.as_jbd2(|m| {
                for nr in m.inodes.dirty() {
                    m.write_back_all(nr)?;
                }
                Ok(())
            })?;
        }
        let needed = self.vol.journal.as_ref().map_or(0, |j| j.blocks_needed());
        self.as_jbd2(|m| m.make_room(needed))?;
        let vol = &mut self.vol;
        let Some(mut journal) = vol.journal.take() else {
            return Ok(false);
        };
        let tid = journal.lock(|at| vol.buffered(at));
        vol.journal = Some(journal);
        let Some(tid) = tid else { return Ok(false) };
        self.phase(tid, Phase::Locked);
        Ok(true)
    }

    /// Runs what the commit thread does.
    fn as_jbd2<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.vol.events.actor, Actor::Jbd2);
        let done = run(self);
        self.vol.events.actor = before;
        done
    }

    fn phase(&mut self, tid: u32, phase: Phase) {
        if let Some(journal) = &mut self.vol.journal {
            journal.enter(phase);
        }
        let events = &mut self.vol.events;
        let before = std::mem::replace(&mut events.actor, Actor::Jbd2);
        events.emit(|| What::Transaction { tid, phase });
        events.actor = before;
    }

    /// One phase of the commit that is under way; whether there is more to do.
    pub fn step_commit(&mut self) -> Result<bool> {
        let Some(c) = self.vol.journal.as_ref().and_then(|j| j.committing()) else {
            return Ok(false);
        };
        let (tid, phase) = (c.tid, c.phase);
        let ordered: Vec<InodeNr> = c.ordered.iter().copied().collect();
        self.as_jbd2(|m| match phase {
            Phase::Locked => {
                m.phase(tid, Phase::Flush);
                m.write_ordered(&ordered)
            }
            Phase::Flush => {
                m.phase(tid, Phase::Commit);
                m.write_log()
            }
            Phase::Commit => {
                m.phase(tid, Phase::CommitRecord);
                m.write_commit_record()
            }
            Phase::CommitRecord | Phase::Committed => {
                m.phase(tid, Phase::Committed);
                m.settle()
            }
        })?;
        Ok(true)
    }

    /// Contents that ordered mode promises to be there before the metadata.
    fn write_ordered(&mut self, inodes: &[InodeNr]) -> Result<()> {
        for &nr in inodes {
            // One that was deleted meanwhile has nothing to write.
            let Ok(inode) = self.inodes.loaded(nr) else {
                continue;
            };
            write_mapped(&mut self.vol, inode)?;
            let dirty = inode.pages.dirty_count() > 0;
            self.inodes.mark_dirty(nr, dirty);
        }
        Ok(())
    }

    fn write_log(&mut self) -> Result<()> {
        self.mark_log_used()?;
        let vol = &mut self.vol;
        let Some(mut journal) = vol.journal.take() else {
            return Ok(());
        };
        if !vol.options.stable_pages {
            journal.take_anew(|at| vol.buffered_contents(at));
        }
        let writes = journal.log_blocks();
        vol.journal = Some(journal);
        for write in writes {
            if self.may_change(&write) {
                let journal = self.vol.journal.as_mut();
                journal
                    .into_iter()
                    .for_each(|j| j.send_later(write.clone()));
            } else {
                self.log(&write, false)?;
            }
        }
        if self.is_async() {
            // The commit block goes with the rest; one flush makes all of it safe.
            self.write_commit_block(false)?;
        }
        Ok(())
    }

    /// Whether a copy can be changed while it is sent: contents of a file are, where pages are
    /// not stable. One that had to be escaped was copied for that.
    fn may_change(&self, write: &LogWrite) -> bool {
        let Part::Copy(home) = write.part else {
            return false;
        };
        let now = self.vol.buffered_contents(home);
        !self.vol.options.stable_pages && now.is_some_and(|now| Arc::ptr_eq(&now, &write.bytes))
    }

    /// Copies that could be changed since their checksums were computed: they are sent as
    /// they are now.
    fn write_late(&mut self) -> Result<()> {
        let late = self.vol.journal.as_mut().map(|j| j.take_late());
        for mut write in late.unwrap_or_default() {
            if let Part::Copy(home) = write.part
                && let Some(now) = self.vol.buffered_contents(home)
            {
                write.bytes = now;
            }
            self.log(&write, false)?;
        }
        Ok(())
    }

    fn is_async(&self) -> bool {
        self.vol
            .journal
            .as_ref()
            .is_some_and(|j| j.format().async_commit)
    }

    fn write_commit_record(&mut self) -> Result<()> {
        self.write_late()?;
        if self.is_async() {
            self.vol.flush_log()?;
            return self.vol.flush();
        }
        self.vol.flush_log()?;
        self.vol.flush()?;
        self.write_commit_block(true)
    }

    fn write_commit_block(&mut self, fua: bool) -> Result<()> {
        let now = self.vol.time();
        let record = self.vol.journal.as_mut().and_then(|j| j.commit_record(now));
        self.log(&record.ok_or(Errno::EIO)?, fua)
    }

    fn log(&mut self, write: &LogWrite, fua: bool) -> Result<()> {
        let tid = self
            .vol
            .journal
            .as_ref()
            .and_then(|j| j.committing())
            .map_or(0, |c| c.tid);
        let before = self.vol.events.cause;
        self.vol.events.cause = write.cause.or(before);
        self.vol.events.emit(|| What::Logged {
            tid,
            log_block: write.block,
            block: write.physical,
            part: write.part,
        });
        let (data, len) = (Data::Bytes(write.bytes.clone()), write.bytes.len() as u64);
        let done = self.vol.write_log(write.physical, data, len, fua);
        self.vol.events.cause = before;
        done
    }

    /// The transaction is on disk: its blocks may go home, what it freed may be used.
    fn settle(&mut self) -> Result<()> {
        let Some(journal) = &mut self.vol.journal else {
            return Ok(());
        };
        let homes: Vec<BlockNr> = journal
            .committing()
            .map(|c| c.blocks().iter().map(|b| b.home).collect())
            .unwrap_or_default();
        let freed = journal.committed();
        for home in homes {
            let held = self
                .vol
                .journal
                .as_ref()
                .is_some_and(|j| j.holds_back(home));
            if !held {
                self.vol.mark_dirty(home);
            }
        }
        for (start, len) in freed {
            super::alloc::release_freed(&mut self.vol, start, len)?;
        }
        Ok(())
    }

    /// Before the first transaction goes into an empty log, its superblock says so.
    fn mark_log_used(&mut self) -> Result<()> {
        let must = self
            .vol
            .journal
            .as_ref()
            .is_some_and(|j| j.must_mark_used());
        if must {
            self.write_journal_superblock(false)
        } else {
            Ok(())
        }
    }

    pub(super) fn write_journal_superblock(&mut self, empty: bool) -> Result<()> {
        let Some((at, bytes)) = self.vol.journal.as_mut().and_then(|j| j.superblock(empty)) else {
            return Ok(());
        };
        let len = bytes.len() as u64;
        self.vol.write_log(at, Data::Bytes(bytes), len, true)
    }

    /// Sees to it that so many blocks of the log are free, by bringing old transactions
    /// home.
    fn make_room(&mut self, blocks: u32) -> Result<()> {
        let free = |m: &Self| m.vol.journal.as_ref().map_or(u32::MAX, |j| j.ring().free);
        if free(self) >= blocks {
            return Ok(());
        }
        self.checkpoint()?;
        if free(self) >= blocks {
            Ok(())
        } else {
            Err(Errno::ENOSPC)
        }
    }

    /// Brings committed blocks home and moves the log's tail.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        self.vol.sync_buffers()?;
        let Some(tail) = self.vol.journal.as_ref().and_then(|j| j.new_tail()) else {
            return Ok(());
        };
        // What was brought home has to be safe before the log forgets it.
        self.vol.flush()?;
        if let Some(journal) = &mut self.vol.journal {
            journal.move_tail(tail);
        }
        self.vol.events.emit(|| What::TailMoved {
            tid: tail.1,
            log_block: tail.0,
        });
        let empty = self
            .vol
            .journal
            .as_ref()
            .is_some_and(|j| j.ring().is_empty() && j.committing().is_none());
        self.write_journal_superblock(empty)
    }

    /// Before a call: where half of the log is in use, its transactions are brought home.
    /// The running one is committed first: blocks that it changed again could not be, and
    /// with them the log's tail would stay where it is until there is no room to commit.
    pub(super) fn keep_log_room(&mut self) -> Result<()> {
        let low = self.vol.journal.as_ref().is_some_and(|j| {
            let ring = j.ring();
            ring.free < ring.len() / 2
        });
        if low {
            self.commit()?;
            self.checkpoint()?;
        }
        Ok(())
    }

    /// When the running transaction is to be committed because of its age.
    pub fn commit_due(&self) -> Option<SimTime> {
        let t = self.vol.journal.as_ref()?.running()?;
        Some(SimTime(
            t.started.0.saturating_add(self.vol.options.commit.0),
        ))
    }

    /// After a call: a transaction that has its share of the log is committed.
    pub(super) fn commit_if_large(&mut self) -> Result<()> {
        let large = self.vol.journal.as_ref().is_some_and(|j| {
            let most = j.max_transaction();
            j.running()
                .is_some_and(|t| t.len() + ONE_CALL.min(most / 2) >= most)
        });
        if large { self.commit() } else { Ok(()) }
    }

    /// Before a call: where little is free but what was freed waits for its commit, that
    /// comes first.
    pub(super) fn commit_if_freed(&mut self) -> Result<()> {
        let waits = self.vol.journal.as_ref().is_some_and(|j| {
            let held = j.running().map_or(0, |t| t.freed_blocks())
                + j.committing().map_or(0, |t| t.freed_blocks());
            // Delayed pages will want what they were promised.
            let promised = held.saturating_add(self.vol.reserved_clusters);
            held > 0 && self.vol.free_clusters.saturating_sub(promised) < held.max(1024)
        });
        if waits { self.commit() } else { Ok(()) }
    }
}

/// The journal's features that Linux sets at a mount, by the filesystem's and the options.
pub(super) fn journal_features(
    csum: bool,
    wide: bool,
    options: &super::MountOptions,
) -> (JournalIncompat, u32) {
    let mut on = JournalIncompat::empty();
    on.set(JournalIncompat::CSUM_V3, csum);
    on.set(JournalIncompat::BIT64, wide);
    on.set(JournalIncompat::ASYNC_COMMIT, options.journal_async_commit);
    let v1 = !csum && (options.journal_checksum || options.journal_async_commit);
    (on, u32::from(v1))
}
