//! Recovery: what a mount does with a log that holds transactions. Its passes are those of
//! `ext4::journal`, which reads the log; here the blocks go home.

use super::mount::MountError;
use super::{Errno, MountOptions};
use crate::device::{Device, Op, Request};
use crate::disk::{Data, ReadAt};
use crate::event::{RecoveryPass, What};
use crate::ext4::checksum;
use crate::ext4::journal::{
    CopyFate, Journal as Log, JournalHome, JournalPlace, LogBlockKind, Outcome, Replayed,
    TransactionState,
};
use crate::ext4::layout::{Incompat, JOURNAL_MAGIC, SUPERBLOCK_OFFSET, Superblock};
use crate::ext4::read::Fs;
use crate::ext4::{Place, Problem};
use crate::units::BlockNr;

/// The log as a mount finds it, replayed; the number of the next transaction; what
/// happened.
pub(super) struct Recovered {
    pub(super) log: Log,
    pub(super) next: u32,
    pub(super) events: Vec<What>,
}

type Result<T> = std::result::Result<T, MountError>;

/// Replays the journal of the filesystem on a device, where that is needed. `None`: it has
/// no journal.
pub(super) fn recover(
    dev: &mut Box<dyn Device>,
    log_dev: &mut Option<Box<dyn Device>>,
    options: &MountOptions,
) -> Result<Option<Recovered>> {
    let view = dev.clone();
    let fs = Fs::open_to_mount(&*view)?;
    let log = match (Log::home(&fs), &*log_dev) {
        (JournalHome::None, _) => return Ok(None),
        (JournalHome::Device(_), None) => return Err(MountError::ExternalJournal),
        (JournalHome::Device(_), Some(device)) => external(&fs, &**device)?,
        (JournalHome::Inode(_), _) => {
            *log_dev = None;
            Log::open_to_replay(&fs)?
        }
    };
    let log_view = log_dev.clone().unwrap_or_else(|| view.clone());
    if let Outcome::Refused(problem) = log.outcome() {
        return Err(MountError::Journal(problem.clone()));
    }
    let needed = fs.superblock().incompat().contains(Incompat::RECOVER);
    if !needed {
        if let Some(why) = unusable(&log) {
            return Err(why);
        }
        let next = log.superblock().s_sequence();
        return Ok(Some(Recovered {
            log,
            next,
            events: Vec::new(),
        }));
    }
    if options.read_only {
        return Err(MountError::NeedsRecovery);
    }
    let size = u64::from(fs.geometry().block_size);
    let mut events = passes(&log);
    for t in log
        .transactions()
        .iter()
        .filter(|t| log.replayed().values().any(|r| r.sequence == t.sequence))
    {
        events.push(What::Recovered { tid: t.sequence });
    }
    for (&home, from) in log.replayed() {
        let bytes = copy(&log, &*log_view, from)?;
        write(dev, home * size, bytes)?;
        events.push(What::Replayed {
            tid: from.sequence,
            log_block: from.journal_block,
            home: BlockNr(home),
        });
    }
    events.push(What::RecoveryPass {
        pass: RecoveryPass::Replay,
        found: log.replayed().len() as u64,
    });
    flush(dev)?;
    if let Some(why) = damaged_copies(&log).or_else(|| bad_end(&log)) {
        return Err(why);
    }
    let next = log.scan_end().sequence.wrapping_add(1);
    let found = Recovered { log, next, events };
    if super::fc_replay::tags(&found.log).is_empty() {
        found.finish(dev, log_dev)?;
    }
    Ok(Some(found))
}

/// What the passes before the replay found.
fn passes(log: &Log) -> Vec<What> {
    let complete = log.transactions().iter();
    let complete = complete.filter(|t| t.state == TransactionState::Replay);
    let revoked = complete.clone().flat_map(|t| t.revoked());
    let pass = |pass, found: usize| What::RecoveryPass {
        pass,
        found: found as u64,
    };
    vec![
        pass(RecoveryPass::Scan, complete.count()),
        pass(RecoveryPass::Revoke, revoked.count()),
    ]
}

/// As in Linux: what can be replayed is, and then the mount fails where a copy could not.
fn damaged_copies(log: &Log) -> Option<MountError> {
    let Outcome::Replay { damaged, homes, .. } = log.outcome() else {
        return None;
    };
    if *damaged == 0 {
        return None;
    }
    let replayed = log.transactions().iter();
    let first = replayed
        .filter(|t| t.state == TransactionState::Replay)
        .flat_map(|t| t.blocks.iter().map(move |b| (t.sequence, b)))
        .find_map(|(sequence, b)| {
            let words = damaged_words(&b.kind, sequence)?;
            Some(Problem::other(Place::JournalBlock(b.block), words))
        });
    Some(MountError::DamagedCopies {
        first: first?,
        left: *damaged,
        written: *homes,
    })
}

/// The log ends in a way that Linux takes for damage.
fn bad_end(log: &Log) -> Option<MountError> {
    let Some(problem) = log.bad_commit() else {
        return unusable(log);
    };
    let errno = Errno::EFSCORRUPTED;
    Some(MountError::AfterReplay { problem, errno })
}

/// jbd2 can replay the log, but not write to it.
fn unusable(log: &Log) -> Option<MountError> {
    let problem = log.too_short()?;
    let errno = Errno::EINVAL;
    Some(MountError::AfterReplay { problem, errno })
}

fn damaged_words(kind: &LogBlockKind, sequence: u32) -> Option<String> {
    let LogBlockKind::Copy(copy) = kind else {
        return None;
    };
    let why = match copy.fate {
        CopyFate::BadChecksum => "its contents do not match the checksum in its tag",
        CopyFate::OutOfRange => "the filesystem ends before that block",
        CopyFate::Unreadable => "it cannot be read",
        _ => return None,
    };
    let home = copy.home;
    Some(format!(
        "is transaction {sequence}'s copy of block {home}, but {why}"
    ))
}

impl Recovered {
    /// Everything is home: the log is emptied.
    pub(super) fn finish(
        &self,
        dev: &mut Box<dyn Device>,
        log_dev: &mut Option<Box<dyn Device>>,
    ) -> Result<()> {
        let size = u64::from(self.log.log().format().block_size);
        let holder = log_dev.as_mut().unwrap_or(dev);
        clear_log(holder, &self.log, self.next, size)?;
        clear_flag(dev)
    }
}

/// The log on a device of its own. Linux takes one that the filesystem names, and that
/// names the filesystem.
fn external<R: ReadAt>(fs: &Fs<R>, device: &dyn Device) -> Result<Log> {
    let log = Log::open_device(&device, Some(fs))?;
    let place = log.log().place();
    if place != JournalPlace::Device {
        let words = "is on a device that does not say it is a journal";
        let problem = Problem::other(Place::JournalSuperblock, words);
        return Err(MountError::Journal(problem));
    }
    let about_device =
        |p: &&Problem| matches!(p.place, Place::JournalSuperblock | Place::Superblock);
    match log.problems().iter().find(about_device) {
        Some(problem) => Err(MountError::Journal(problem.clone())),
        None => Ok(log),
    }
}

/// A copy's bytes as they belong home.
fn copy(log: &Log, view: &dyn Device, from: &Replayed) -> Result<Vec<u8>> {
    let block = log.log().block(&view, from.journal_block);
    let mut bytes = block.map_err(MountError::Journal)?;
    if from.escaped {
        bytes[..4].copy_from_slice(&JOURNAL_MAGIC.to_be_bytes());
    }
    Ok(bytes)
}

fn write(dev: &mut Box<dyn Device>, offset: u64, bytes: Vec<u8>) -> Result<()> {
    let len = bytes.len() as u64;
    let data = vec![(Data::Bytes(bytes.into()), len)];
    let op = Op::Write { data, fua: false };
    request(dev, op, offset, len)
}

fn flush(dev: &mut Box<dyn Device>) -> Result<()> {
    request(dev, Op::Flush, 0, 0)
}

fn request(dev: &mut Box<dyn Device>, op: Op, offset: u64, len: u64) -> Result<()> {
    let request = Request {
        op,
        offset,
        len,
        cause: None,
    };
    dev.submit(request)
        .map_err(|_| MountError::Failed(Errno::EIO))
}

/// The log is empty.
fn clear_log(dev: &mut Box<dyn Device>, log: &Log, next: u32, size: u64) -> Result<()> {
    let mut sb = log.superblock().clone();
    sb.set_s_start(0);
    sb.set_s_sequence(next);
    if log.log().format().has_block_checksums() {
        sb.set_s_checksum(crate::ext4::journal::superblock_checksum(&sb));
    }
    let at = log.log().physical(log.log().superblock_block());
    let at = at.ok_or(MountError::Failed(Errno::EIO))?;
    write(dev, at.0 * size, sb.0.to_vec())
}

/// The filesystem needs no recovery any more. The replay may have changed its superblock.
fn clear_flag(dev: &mut Box<dyn Device>) -> Result<()> {
    let mut raw = [0; 1024];
    let read = dev.read_at(SUPERBLOCK_OFFSET, &mut raw);
    read.map_err(|_| MountError::Failed(Errno::EIO))?;
    let mut sb = Superblock(&mut raw[..]);
    sb.set_s_feature_incompat(sb.s_feature_incompat() & !Incompat::RECOVER.bits());
    if sb.has_metadata_csum() {
        let sum = checksum::superblock(&raw);
        Superblock(&mut raw[..]).set_s_checksum(sum);
    }
    write(dev, SUPERBLOCK_OFFSET, raw.to_vec())?;
    flush(dev)
}
