use super::{Fs, Geometry, counted};
use crate::disk::ReadAt;
use crate::ext4::layout::{EXT4_MAGIC, GroupDesc, Incompat, SUPERBLOCK_OFFSET, Superblock};
use crate::ext4::{Error, Flaw, Place, Problem, checksum};
use crate::units::{BlockNr, GroupNr};
use serde::{Deserialize, Serialize};

/// Which superblock to open a filesystem by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SuperblockAt {
    /// The primary, at byte 1024.
    Primary,
    /// The backup at the start of a group, with blocks of so many bytes.
    Backup {
        /// Group, from 1.
        group: u32,
        /// Bytes of a block.
        block_size: u32,
    },
}

/// Groups that have a backup superblock under every sparse rule but sparse_super2.
const BACKUP_GROUPS: [u32; 8] = [1, 3, 5, 7, 9, 25, 27, 49];

/// Whether the two bytes of an ext superblock's magic stand where one that starts at
/// byte `offset` has them.
pub fn ext_magic_at<R: ReadAt + ?Sized>(medium: &R, offset: u64) -> bool {
    let mut magic = [0; 2];
    medium.read_at(offset + 0x38, &mut magic).is_ok() && magic == EXT4_MAGIC.to_le_bytes()
}

impl SuperblockAt {
    /// Byte offset of the superblock.
    pub fn offset(self) -> u64 {
        match self {
            Self::Primary => SUPERBLOCK_OFFSET,
            Self::Backup { block_size, .. } => self.block().0 * u64::from(block_size),
        }
    }

    /// The block that a backup fills, counted in its own block size; 0 for the primary.
    pub fn block(self) -> BlockNr {
        match self {
            Self::Primary => BlockNr(0),
            Self::Backup { group, block_size } => {
                let first = u64::from(block_size == 1024);
                BlockNr(first + u64::from(group) * u64::from(block_size) * 8)
            }
        }
    }

    fn place(self) -> Place {
        match self {
            Self::Primary => Place::Superblock,
            Self::Backup { .. } => Place::Backup(self.block()),
        }
    }

    /// Where backups stand in filesystems with groups of the usual size.
    pub fn usual_backups() -> impl Iterator<Item = Self> {
        (0..7).flat_map(|log| {
            BACKUP_GROUPS.iter().map(move |&group| Self::Backup {
                group,
                block_size: 1024 << log,
            })
        })
    }
}

impl<R: ReadAt> Fs<R> {
    /// Opens by the primary superblock or, where that is damaged, by the first sound
    /// backup; [`Fs::superblock_at`] and [`Fs::problems`] tell which and why. A primary
    /// that only fails its checksum is used when no backup is better.
    pub fn open(medium: R) -> Result<Self, Error> {
        let primary = read_superblock(&medium, SuperblockAt::Primary);
        let damage = match &primary {
            Ok(found) => found.checksum_flaw(Place::Superblock).map(Error::Damaged),
            Err(e) => Some(e.clone()),
        };
        let Some(damage) = damage else {
            return Ok(Self::with(
                medium,
                SuperblockAt::Primary,
                primary?,
                Vec::new(),
            ));
        };
        if let Error::Unsupported(_) = damage {
            return Err(damage);
        }
        for at in SuperblockAt::usual_backups() {
            let Ok(found) = read_superblock(&medium, at) else {
                continue;
            };
            // A backup is no better when its own checksum fails, and no backup of this
            // filesystem when it is left over from another.
            let fits = primary
                .as_ref()
                .map_or(true, |p| p.sb.s_uuid() == found.sb.s_uuid());
            if found.checksum_flaw(at.place()).is_none() && (fits || primary.is_err()) {
                let problem = damage.into_problem(Place::Superblock);
                return Ok(Self::with(medium, at, found, vec![problem]));
            }
        }
        match primary {
            Ok(found) => Ok(Self::with(medium, SuperblockAt::Primary, found, Vec::new())),
            Err(damage) => Err(damage),
        }
    }

    /// Opens by the superblock that is asked for, and no other.
    pub fn open_at(medium: R, at: SuperblockAt) -> Result<Self, Error> {
        let found = read_superblock(&medium, at)?;
        Ok(Self::with(medium, at, found, Vec::new()))
    }

    /// Opens as a mount does: by the first superblock, whose checksum has to hold.
    pub fn open_to_mount(medium: R) -> Result<Self, Error> {
        let fs = Self::open_at(medium, SuperblockAt::Primary)?;
        match checksum_flaw(&fs.sb, Place::Superblock) {
            Some(flaw) => Err(Error::Damaged(flaw)),
            None => Ok(fs),
        }
    }

    fn with(
        medium: R,
        sb_at: SuperblockAt,
        Found { sb, geo }: Found,
        mut problems: Vec<Problem>,
    ) -> Self {
        check_superblock(&sb, &geo, sb_at.place(), medium.len(), &mut problems);
        let seed = checksum::seed(&sb);
        let mut fs = Self {
            medium,
            sb,
            sb_at,
            geo,
            descs: Vec::new(),
            stale_descs: false,
            seed,
            problems,
        };
        fs.stale_descs = sb_at != SuperblockAt::Primary && !fs.primary_descriptors_hold();
        fs.descs = fs.read_descriptors();
        fs.check_descriptors();
        fs
    }
}

/// A superblock that makes sense.
struct Found {
    sb: Superblock<Box<[u8]>>,
    geo: Geometry,
}

impl Found {
    fn checksum_flaw(&self, place: Place) -> Option<Problem> {
        checksum_flaw(&self.sb, place)
    }
}

/// What is wrong with a superblock's checksum, if it has one.
fn checksum_flaw(sb: &Superblock<Box<[u8]>>, place: Place) -> Option<Problem> {
    let raw = sb.0.first_chunk::<1024>()?;
    let (found, expected) = (sb.s_checksum(), checksum::superblock(raw));
    let wrong = sb.has_metadata_csum() && found != expected;
    wrong.then(|| Problem::new(place, Flaw::Checksum { found, expected }))
}

fn read_superblock<R: ReadAt>(medium: &R, at: SuperblockAt) -> Result<Found, Error> {
    let place = at.place();
    let mut raw = vec![0; 1024].into_boxed_slice();
    medium
        .read_at(at.offset(), &mut raw)
        .map_err(|e| Error::unreadable(place, e))?;
    let sb = Superblock(raw);
    let geo = Geometry::from_superblock(&sb, place)?;
    if let SuperblockAt::Backup { group, block_size } = at {
        // Revision 0 has no field for the group.
        let numbered = sb.s_rev_level() > 0;
        if geo.block_size != block_size {
            let expected = format!("{block_size} bytes, which its place goes with");
            return Err(Problem::value(place, "block size", geo.block_size, expected).into());
        }
        if numbered && u32::from(sb.s_block_group_nr()) != group & 0xFFFF {
            let found = sb.s_block_group_nr();
            return Err(Problem::value(place, "s_block_group_nr", found, group.to_string()).into());
        }
    }
    Ok(Found { sb, geo })
}

/// What is odd about a superblock that can still be used.
fn check_superblock(
    sb: &Superblock<Box<[u8]>>,
    geo: &Geometry,
    place: Place,
    medium_len: u64,
    problems: &mut Vec<Problem>,
) {
    problems.extend(checksum_flaw(sb, place));
    let wanted = geo.blocks.saturating_mul(geo.block_size.into());
    if wanted > medium_len {
        problems.push(Problem::other(
            place,
            format!(
                "says the filesystem has {wanted} bytes, but the image ends after {medium_len}"
            ),
        ));
    }
    let bigalloc = geo.cluster_blocks > 1;
    let first = u64::from(geo.block_size == 1024 && !bigalloc);
    if geo.first_data_block != first && !(bigalloc && geo.first_data_block <= 1) {
        let expected = format!("{first} with blocks of {} bytes", geo.block_size);
        problems.push(Problem::value(
            place,
            "s_first_data_block",
            geo.first_data_block,
            expected,
        ));
    }
    let inodes = u64::from(geo.groups) * u64::from(geo.inodes_per_group);
    if u64::from(sb.s_inodes_count()) != inodes {
        problems.push(Problem::value(
            place,
            "s_inodes_count",
            sb.s_inodes_count(),
            format!(
                "{inodes}, for {} of {}",
                counted(geo.groups, "group"),
                geo.inodes_per_group
            ),
        ));
    }
    let unknown = sb.incompat().unknown();
    if unknown != 0 || sb.incompat().contains(Incompat::COMPRESSION) {
        problems.push(Problem::other(
            place,
            format!(
                "asks for features that fslab does not know ({}); what it shows may be wrong",
                sb.incompat().names().join(", ")
            ),
        ));
    }
}

impl<R: ReadAt> Fs<R> {
    /// Reads the descriptors, as far as the image goes; one that cannot be read is taken
    /// as zeros, with a problem.
    fn read_descriptors(&mut self) -> Vec<u8> {
        let size = self.geo.block_size as usize;
        let mut all = Vec::new();
        for i in 0..self.geo.desc_blocks() {
            let at = self.desc_block(i);
            let group = GroupNr(i * self.geo.descs_per_block());
            // Memory follows what is there, not what the superblock claims.
            if at.0.saturating_mul(size as u64) >= self.medium.len() {
                let words = "and all after it lie past the end of the image";
                self.problems
                    .push(Problem::other(Place::Group(group), words));
                break;
            }
            let from = all.len();
            all.resize(from + size, 0);
            if let Err(e) = self.read_blocks(at, &mut all[from..]) {
                self.problems.push(e.into_problem(Place::Group(group)));
            }
        }
        all
    }

    /// Whether the descriptors after the primary superblock are sound, though that is not:
    /// they are newer than any backup.
    fn primary_descriptors_hold(&self) -> bool {
        let Ok(block) = self.block(self.desc_block(0)) else {
            return false;
        };
        let Some(desc) = block.get(..usize::from(self.geo.desc_size)) else {
            return false;
        };
        let stored = GroupDesc(desc).bg_checksum();
        checksum::group(&self.sb, GroupNr(0), desc) == Some(stored)
    }

    /// Where descriptor block `i` is, seen from the superblock in use.
    pub fn desc_block(&self, i: u32) -> BlockNr {
        let meta_bg = self.sb.incompat().contains(Incompat::META_BG);
        if meta_bg && i >= self.sb.s_first_meta_bg() {
            let backup = u32::from(self.stale_descs);
            let first = i.saturating_mul(self.geo.descs_per_block());
            let group = GroupNr(if first + backup < self.geo.groups {
                first + backup
            } else {
                first
            });
            let skip = u64::from(self.has_super(group)) + self.boot_block(group);
            return self.geo.group_start(group).plus(skip);
        }
        let base = match self.sb_at {
            at @ SuperblockAt::Backup { .. } if self.stale_descs => at.block().0,
            _ => SUPERBLOCK_OFFSET / u64::from(self.geo.block_size),
        };
        BlockNr(base + 1 + u64::from(i))
    }

    /// With 1 KiB blocks and first data block 0 (bigalloc), block 0 is a boot block and
    /// the superblock is in block 1.
    pub(super) fn boot_block(&self, g: GroupNr) -> u64 {
        u64::from(g.0 == 0 && self.geo.block_size == 1024 && self.geo.first_data_block == 0)
    }
}
