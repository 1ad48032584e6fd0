//! Finding a filesystem's journal, or opening the device that holds one.

use super::history::History;
use super::log::JournalPlace;
use super::scan::{ScanEnd, ScanStop, Scanned, scan};
use super::superblock::{self, Bounds};
use super::{Journal, fast_commit, replay};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    Compat, EXT4_MAGIC, EXTENT_MAGIC, FileType, Incompat, InodeFlags, JOURNAL_MAGIC, JournalHeader,
    JournalSuperblock, SUPERBLOCK_OFFSET, Superblock,
};
use crate::ext4::read::{Fs, InodeBuf, Runs};
use crate::ext4::{Error, Flaw, Place, Problem, checksum};
use crate::units::InodeNr;
use serde::{Deserialize, Serialize};

/// Bytes of the journal's superblock.
const SB_BYTES: usize = 1024;
/// Most filesystems that `s_users` has room for.
const MOST_USERS: usize = 48;
/// `s_jnl_backup_type` of a copy of the inode's `i_block` and size.
const BACKUP_BLOCKS: u8 = 1;

/// Where a filesystem says its journal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JournalHome {
    /// It has none.
    None,
    /// In an inode.
    Inode(InodeNr),
    /// On another device, known by its UUID.
    Device([u8; 16]),
}

type Sb = JournalSuperblock<Box<[u8]>>;

impl Journal {
    /// Where a filesystem says its journal is.
    pub fn home<R: ReadAt>(fs: &Fs<R>) -> JournalHome {
        let sb = fs.superblock();
        if !sb.compat().contains(Compat::HAS_JOURNAL) {
            return JournalHome::None;
        }
        match sb.s_journal_inum() {
            0 => JournalHome::Device(sb.s_journal_uuid().0),
            inum => JournalHome::Inode(InodeNr(inum)),
        }
    }

    /// Opens the journal inside a filesystem; its medium is the filesystem's. Where the
    /// journal's inode is damaged, it is opened by the superblock's copy of its map.
    pub fn open<R: ReadAt>(fs: &Fs<R>) -> Result<Self, Error> {
        Self::open_reading(fs, true)
    }

    /// The same, reading no more than a replay does: of a transaction without a commit block
    /// it does not say whether its copies are as they were written.
    pub fn open_to_replay<R: ReadAt>(fs: &Fs<R>) -> Result<Self, Error> {
        Self::open_reading(fs, false)
    }

    fn open_reading<R: ReadAt>(fs: &Fs<R>, all: bool) -> Result<Self, Error> {
        let ino = match Self::home(fs) {
            JournalHome::Inode(ino) => ino,
            JournalHome::None => {
                return Err(Error::Unsupported("This filesystem has no journal".into()));
            }
            JournalHome::Device(_) => {
                return Err(Error::Unsupported(
                    "The journal of this filesystem is on a device of its own; open that beside it"
                        .into(),
                ));
            }
        };
        let damage = match by_inode(fs, ino) {
            Ok(found) => return Ok(Self::with(fs.medium(), found, wanted(fs), all)),
            Err(e) => e,
        };
        let Some(backup) = backup_inode(fs, ino) else {
            return Err(damage);
        };
        match by_map(fs, &backup, JournalPlace::Backup(ino)) {
            Ok(mut found) => {
                found
                    .problems
                    .insert(0, damage.into_problem(Place::Inode(ino)));
                Ok(Self::with(fs.medium(), found, wanted(fs), all))
            }
            Err(_) => Err(damage),
        }
    }

    /// Opens a device (or file) that holds a journal and nothing else; its medium is that
    /// device. `fs`: the filesystem it should be of, where there is one.
    pub fn open_device<D: ReadAt, R: ReadAt>(
        device: &D,
        fs: Option<&Fs<R>>,
    ) -> Result<Self, Error> {
        let mut found = if starts_with_magic(device) {
            bare(device)?
        } else {
            device_with_head(device)?
        };
        if let Some(fs) = fs {
            found.bounds.fs_blocks = fs.geometry().blocks;
            if let Some(problem) = block_size_differs(&found, fs) {
                return Err(problem.into());
            }
            check_owner(&mut found, fs);
        }
        Ok(Self::with(device, found, fs.and_then(wanted), true))
    }

    /// Reads the log of a journal that was found.
    fn with<R: ReadAt + ?Sized>(medium: &R, found: Found, wanted: Option<bool>, all: bool) -> Self {
        let Found {
            sb,
            bounds,
            mut problems,
        } = found;
        let total = bounds.total;
        let (log, area) = superblock::log(&sb, bounds);
        let refusals = superblock::refusals(&sb, &log, total);
        problems.extend(refusals.iter().cloned());
        problems.extend(superblock::oddities(&sb, &log));
        let Scanned {
            mut transactions,
            end,
            rest,
        } = match sb.s_start() {
            0 => clean(&sb, log.first),
            start => scan(&log, medium, (start, sb.s_sequence()), all),
        };
        let (outcome, replayed) =
            replay::replay(&log, &end, &mut transactions, refusals.into_iter().next());
        if let replay::Outcome::Refused(problem) = &outcome
            && !problems.contains(problem)
        {
            problems.push(problem.clone());
        }
        let fast_commits =
            area.map(|area| fast_commit::read(&log, medium, area, &outcome, end.sequence));
        let history = History::starting_at(rest);
        let mut journal = Self {
            sb,
            log,
            wanted,
            transactions,
            end,
            outcome,
            replayed,
            fast_commits,
            history,
            problems,
        };
        journal.note_damage();
        journal
    }

    /// Lists checksums that do not hold, the first of each kind.
    fn note_damage(&mut self) {
        use super::transaction::{CopyFate, LogBlockKind::Copy};
        let blocks = self.transactions.iter().flat_map(|t| &t.blocks);
        let bad = blocks.filter_map(|b| match &b.kind {
            Copy(c) if c.fate == CopyFate::BadChecksum => Some((
                b.block,
                format!("is a copy of block {} with a wrong checksum", c.home),
            )),
            Copy(c) if c.fate == CopyFate::OutOfRange => Some((
                b.block,
                format!(
                    "is a copy of block {}, which the filesystem does not have",
                    c.home
                ),
            )),
            _ => None,
        });
        let bad: Vec<_> = bad.take(20).collect();
        let bad = bad
            .into_iter()
            .map(|(block, words)| Problem::other(Place::JournalBlock(block), words));
        self.problems.extend(bad);
    }
}

fn clean(sb: &Sb, first: u32) -> Scanned {
    let end = ScanEnd {
        block: 0,
        sequence: sb.s_sequence(),
        why: ScanStop::Clean,
    };
    Scanned {
        transactions: Vec::new(),
        end,
        rest: first,
    }
}

fn wanted<R: ReadAt>(fs: &Fs<R>) -> Option<bool> {
    Some(fs.superblock().incompat().contains(Incompat::RECOVER))
}

/// A journal's superblock, and where its blocks are.
struct Found {
    sb: Sb,
    bounds: Bounds,
    problems: Vec<Problem>,
}

fn by_inode<R: ReadAt>(fs: &Fs<R>, ino: InodeNr) -> Result<Found, Error> {
    let inode = fs.inode(ino)?;
    let place = Place::Inode(ino);
    if inode.i_links_count() == 0 {
        return Err(
            Problem::other(place, "is the journal, but has no links: it is not in use").into(),
        );
    }
    if inode.file_type() != FileType::Regular {
        let words = format!("is the journal, but is a {}", inode.file_type().words());
        return Err(Problem::other(place, words).into());
    }
    let mut found = by_map(fs, &inode, JournalPlace::Inode(ino))?;
    found.problems.extend(fs.inode_checksum_flaw(&inode));
    Ok(found)
}

/// The inode that the copy in the superblock gives.
fn backup_inode<R: ReadAt>(fs: &Fs<R>, ino: InodeNr) -> Option<InodeBuf> {
    let sb = fs.superblock();
    if sb.s_jnl_backup_type() != BACKUP_BLOCKS {
        return None;
    }
    let copy = sb.s_jnl_blocks().0;
    let (map, size) = copy.split_at(60);
    let mut raw = vec![0; fs.geometry().inode_size.into()].into_boxed_slice();
    raw[0x28..0x64].copy_from_slice(map);
    raw[0x6C..0x70].copy_from_slice(&size[..4]);
    raw[0x04..0x08].copy_from_slice(&size[4..]);
    raw[0x00..0x02].copy_from_slice(&0x8180u16.to_le_bytes());
    // The copy holds no flags; a map of extents tells itself by its magic.
    if map[..2] == EXTENT_MAGIC.to_le_bytes() {
        raw[0x20..0x24].copy_from_slice(&InodeFlags::EXTENTS.bits().to_le_bytes());
    }
    Some(InodeBuf::new(ino, raw))
}

fn by_map<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf, place: JournalPlace) -> Result<Found, Error> {
    let mut runs = Runs::default();
    fs.walk_map_of_any(inode, &mut runs);
    let block_size = fs.geometry().block_size;
    let blocks = inode.size() / u64::from(block_size);
    let Some(first) = runs.find(crate::units::Lblk(0)) else {
        let problem = runs.problems.into_iter().next().unwrap_or_else(|| {
            Problem::other(
                Place::Inode(inode.nr),
                "is the journal, but has no first block",
            )
        });
        return Err(problem.into());
    };
    let sb = read_superblock(fs.medium(), first.start.0.saturating_mul(block_size.into()))?;
    let bounds = Bounds {
        place,
        runs: runs.runs,
        block_size,
        sb_block: 0,
        total: blocks.min(u32::MAX.into()) as u32,
        fs_blocks: fs.geometry().blocks,
    };
    Ok(Found {
        sb,
        bounds,
        problems: runs.problems,
    })
}

fn read_superblock<R: ReadAt + ?Sized>(medium: &R, offset: u64) -> Result<Sb, Error> {
    let mut raw = vec![0; SB_BYTES].into_boxed_slice();
    medium
        .read_at(offset, &mut raw)
        .map_err(|e| Error::unreadable(Place::JournalSuperblock, e))?;
    let sb = JournalSuperblock(raw);
    if superblock::is_one(&sb) {
        return Ok(sb);
    }
    let flaw = if sb.h_magic() == JOURNAL_MAGIC {
        Flaw::Value {
            field: "h_blocktype".into(),
            found: sb.h_blocktype().into(),
            expected: "3 or 4".into(),
        }
    } else {
        Flaw::Magic {
            found: sb.h_magic().into(),
            expected: JOURNAL_MAGIC.into(),
        }
    };
    Err(Problem::new(Place::JournalSuperblock, flaw).into())
}

fn starts_with_magic<R: ReadAt + ?Sized>(medium: &R) -> bool {
    let mut head = [0; JournalHeader::SIZE];
    medium.read_at(0, &mut head).is_ok() && JournalHeader(head).h_magic() == JOURNAL_MAGIC
}

/// A log that was copied out of a filesystem: its superblock is its first block.
fn bare<R: ReadAt + ?Sized>(medium: &R) -> Result<Found, Error> {
    let sb = read_superblock(medium, 0)?;
    let block_size = sb.s_blocksize();
    if !(1024..=65536).contains(&block_size) || !block_size.is_power_of_two() {
        let expected = "a power of two from 1024 to 65536";
        return Err(Problem::value(
            Place::JournalSuperblock,
            "s_blocksize",
            block_size,
            expected,
        )
        .into());
    }
    Ok(Found {
        bounds: device_bounds(medium, JournalPlace::Bare, block_size, 0, u64::MAX),
        sb,
        problems: Vec::new(),
    })
}

/// A device of its own, with an ext superblock that says so.
fn device_with_head<R: ReadAt + ?Sized>(device: &R) -> Result<Found, Error> {
    let mut raw = vec![0; SB_BYTES];
    device
        .read_at(SUPERBLOCK_OFFSET, &mut raw)
        .map_err(|e| Error::unreadable(Place::Superblock, e))?;
    let head = Superblock(raw);
    if head.s_magic() != EXT4_MAGIC {
        let flaw = Flaw::Magic {
            found: head.s_magic().into(),
            expected: EXT4_MAGIC.into(),
        };
        return Err(Problem::new(Place::Superblock, flaw).into());
    }
    if !head.incompat().contains(Incompat::JOURNAL_DEV) {
        return Err(Error::Unsupported(
            "This is a filesystem, not an external journal".into(),
        ));
    }
    let log_size = head.s_log_block_size();
    if log_size > 6 {
        let expected = "0 to 6 (1 KiB to 64 KiB)";
        return Err(
            Problem::value(Place::Superblock, "s_log_block_size", log_size, expected).into(),
        );
    }
    let block_size = 1024u32 << log_size;
    // The block after the one that holds the ext superblock.
    let sb_block = SUPERBLOCK_OFFSET as u32 / block_size + 1;
    let sb = read_superblock(device, u64::from(sb_block) * u64::from(block_size))?;
    let blocks = head.blocks_count();
    let mut problems = Vec::new();
    problems.extend(head_checksum_flaw(&head));
    let uuid = head.s_uuid();
    if sb.s_uuid() != uuid {
        problems.push(Problem::other(
            Place::JournalSuperblock,
            "has another UUID than the device it is on",
        ));
    }
    Ok(Found {
        bounds: device_bounds(device, JournalPlace::Device, block_size, sb_block, blocks),
        sb,
        problems,
    })
}

/// The flaw in the checksum of the device's ext superblock, if there is one.
fn head_checksum_flaw(head: &Superblock<Vec<u8>>) -> Option<Problem> {
    let raw: &[u8; SB_BYTES] = head.0.as_slice().try_into().ok()?;
    let (found, expected) = (head.s_checksum(), checksum::superblock(raw));
    (head.has_metadata_csum() && found != expected)
        .then(|| Problem::new(Place::Superblock, Flaw::Checksum { found, expected }))
}

fn device_bounds<R: ReadAt + ?Sized>(
    device: &R,
    place: JournalPlace,
    block_size: u32,
    sb_block: u32,
    blocks: u64,
) -> Bounds {
    let total = blocks
        .min(device.len() / u64::from(block_size))
        .min(u32::MAX.into());
    Bounds {
        place,
        runs: Vec::new(),
        block_size,
        sb_block,
        total: total as u32,
        fs_blocks: u64::MAX,
    }
}

fn block_size_differs<R: ReadAt>(found: &Found, fs: &Fs<R>) -> Option<Problem> {
    let (of_log, of_fs) = (found.bounds.block_size, fs.geometry().block_size);
    (of_log != of_fs).then(|| {
        let expected = format!("{of_fs}, as in the filesystem");
        Problem::value(Place::JournalSuperblock, "s_blocksize", of_log, expected)
    })
}

/// Whether the journal and the filesystem name each other.
fn check_owner<R: ReadAt>(found: &mut Found, fs: &Fs<R>) {
    let sb = &found.sb;
    let mut other = |words: &str| {
        found
            .problems
            .push(Problem::other(Place::JournalSuperblock, words));
    };
    if sb.s_uuid() != fs.superblock().s_journal_uuid() {
        other("has another UUID than the filesystem says of its journal");
    }
    let users = sb.s_users().0;
    let count = (sb.s_nr_users() as usize).min(MOST_USERS);
    let uuid = fs.superblock().s_uuid().0;
    if !users.chunks_exact(16).take(count).any(|user| user == uuid) {
        other("does not list the filesystem among its users");
    }
    if sb.s_nr_users() > 1 {
        other("has more than one user, which Linux does not support");
    }
}
