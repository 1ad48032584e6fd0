use super::claims::{Claim, Claims};
use super::merge::{Ground, UsedRun, merge, set_runs};
use super::{BlockMap, Flags, Kind, Names};
use crate::disk::ReadAt;
use crate::ext4::layout::{FileType, Incompat, InodeFlags, RoCompat};
use crate::ext4::read::{Fs, InodeBuf, MetaKind, MetaRun};
use crate::ext4::{Error, Place, Problem};
use crate::units::{GroupNr, InodeNr};

/// The root directory.
const ROOT: u32 = 2;

/// Settings of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanOptions {
    /// Whether to read every directory, so that owners can be told by path.
    pub names: bool,
    /// Most claims held at once, at 24 bytes each; past it the map is incomplete and says
    /// so.
    pub most_claims: usize,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            names: true,
            most_claims: 8 << 20,
        }
    }
}

/// How far a scan is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanProgress {
    /// Groups done, of [`ScanProgress::of`]; each counts twice, for its bitmaps and for its
    /// inodes.
    pub done: u64,
    /// Twice the groups.
    pub of: u64,
}

impl ScanProgress {
    /// Whether nothing is left to read.
    pub fn is_finished(&self) -> bool {
        self.done >= self.of
    }
}

/// A scan of a whole filesystem, as a state machine: first every group's bitmaps and
/// fixed metadata, then every inode.
#[derive(Clone, Debug)]
pub struct Scan {
    options: ScanOptions,
    groups: u32,
    bitmaps_done: u32,
    inodes_done: u32,
    /// Inodes done of the group after those.
    inodes_in: u32,
    used: Vec<UsedRun>,
    /// Groups whose bitmaps cannot be read.
    unknown: Vec<UsedRun>,
    claims: Claims,
    names: Names,
    /// Inodes that some directory should name, and whether each is a directory itself.
    named: Vec<(u32, bool)>,
}

impl Scan {
    /// A scan that has read nothing yet.
    pub fn new<R: ReadAt>(fs: &Fs<R>, options: ScanOptions) -> Self {
        let geo = fs.geometry();
        let work = geo.blocks.saturating_mul(2).saturating_add(1 << 20);
        let claims = Claims::new(work, options.most_claims);
        Self {
            options,
            groups: fs.known_groups(),
            bitmaps_done: 0,
            inodes_done: 0,
            inodes_in: 0,
            used: Vec::new(),
            unknown: Vec::new(),
            claims,
            names: Names::default(),
            named: Vec::new(),
        }
    }

    /// How far it is.
    pub fn progress(&self) -> ScanProgress {
        ScanProgress {
            done: u64::from(self.bitmaps_done) + u64::from(self.inodes_done),
            of: u64::from(self.groups) * 2,
        }
    }

    /// Whether every bitmap has been read, so that [`Scan::preview`] shows what is free.
    pub fn knows_free_space(&self) -> bool {
        self.bitmaps_done == self.groups
    }

    /// Reads one more group's bitmaps, or one more piece of an inode table with all that
    /// its inodes lead to.
    pub fn step<R: ReadAt>(&mut self, fs: &Fs<R>) -> ScanProgress {
        if self.bitmaps_done < self.groups {
            self.bitmaps(fs, GroupNr(self.bitmaps_done));
            self.bitmaps_done += 1;
        } else if self.inodes_done < self.groups {
            self.inodes(fs, GroupNr(self.inodes_done));
        }
        self.progress()
    }

    /// The map as far as it is known: blocks in use whose owner has not been found yet are
    /// [`Kind::Unowned`].
    pub fn preview<R: ReadAt>(&self, fs: &Fs<R>) -> BlockMap {
        self.map(fs, self.claims.list.clone())
    }

    /// The finished map, and a name for every inode that has one.
    pub fn finish<R: ReadAt>(mut self, fs: &Fs<R>) -> (BlockMap, Names) {
        let claims = std::mem::take(&mut self.claims.list);
        let mut map = self.map(fs, claims);
        self.check_names();
        map.problems = self.claims.problems;
        map.more_problems = self.claims.more_problems;
        (map, self.names)
    }

    /// Every inode in use has a name, and a directory only one: else the tree has a loop
    /// or a part that no path leads to.
    fn check_names(&mut self) {
        self.names.sort();
        // Names that were left out would be missed wrongly.
        if self.options.names && !self.names.is_partial() && !self.claims.exhausted() {
            for &(nr, is_dir) in &self.named {
                let problem = match self.names.count(nr) {
                    0 => "is in use, but no directory names it",
                    1 => continue,
                    _ if is_dir => {
                        "is a directory with more than one name: paths go in a circle, or meet"
                    }
                    _ => continue,
                };
                self.claims
                    .problem(Problem::other(Place::Inode(InodeNr(nr)), problem));
            }
        }
        self.names.keep_first();
    }

    fn map<R: ReadAt>(&self, fs: &Fs<R>, claims: Vec<Claim>) -> BlockMap {
        let geo = fs.geometry();
        merge(
            claims,
            &Ground {
                used: &self.used,
                unknown: &self.unknown,
                known_end: self.known_end(fs),
                first_data_block: geo.first_data_block,
                blocks: geo.blocks,
                cluster_blocks: geo.cluster_blocks,
                sharing: fs
                    .superblock()
                    .ro_compat()
                    .contains(RoCompat::SHARED_BLOCKS),
            },
        )
    }

    /// One past the last block of which anything can be known: no further than the
    /// descriptors and the image go.
    fn known_end<R: ReadAt>(&self, fs: &Fs<R>) -> u64 {
        let geo = fs.geometry();
        let described = if self.groups < geo.groups {
            geo.group_start(GroupNr(self.groups)).0
        } else {
            geo.blocks
        };
        described.min(fs.medium().len() / u64::from(geo.block_size))
    }

    fn bitmaps<R: ReadAt>(&mut self, fs: &Fs<R>, g: GroupNr) {
        let end = self.known_end(fs);
        for run in fs.base_meta(g).into_iter().chain(fs.moved_meta(g)) {
            if run.start.0 < end {
                self.claims.add(meta_claim(&run, g));
            }
        }
        if g.0 == 0 {
            self.mmp(fs);
        }
        let geo = fs.geometry();
        let bits = match fs.block_bitmap(g) {
            Ok(bits) => bits,
            Err(e) => {
                self.unknown.push((geo.group_start(g).0, geo.group_len(g)));
                return self.claims.problem(e.into_problem(Place::BlockBitmap(g)));
            }
        };
        if let Ok((blocks, inodes)) = fs.bitmap_checksums(g) {
            for (ok, place) in [
                (blocks, Place::BlockBitmap(g)),
                (inodes, Place::InodeBitmap(g)),
            ] {
                if ok == Some(false) {
                    self.claims
                        .problem(Problem::other(place, "does not match its checksum"));
                }
            }
        }
        let start = geo.group_start(g).0;
        for (bit, len) in set_runs(&bits, geo.clusters_in(g)) {
            let from = start + u64::from(bit) * u64::from(geo.cluster_blocks);
            let blocks = u64::from(len) * u64::from(geo.cluster_blocks);
            let blocks = blocks.min(geo.blocks - from) as u32;
            match self.used.last_mut() {
                Some((s, l)) if *s + u64::from(*l) == from && l.checked_add(blocks).is_some() => {
                    *l += blocks
                }
                _ => self.used.push((from, blocks)),
            }
        }
    }

    fn mmp<R: ReadAt>(&mut self, fs: &Fs<R>) {
        let at = fs.superblock().s_mmp_block();
        if fs.superblock().incompat().contains(Incompat::MMP) && fs.geometry().holds(at.into(), 1) {
            self.claims.add(Claim {
                start: at,
                len: 1,
                inode: 0,
                kind: Kind::Internal,
                flags: Flags::empty(),
            });
        }
    }

    fn inodes<R: ReadAt>(&mut self, fs: &Fs<R>, g: GroupNr) {
        let next = self.inodes_from(fs, g, self.inodes_in).unwrap_or_else(|e| {
            self.claims.problem(e.into_problem(Place::InodeTable(g)));
            None
        });
        self.inodes_in = next.unwrap_or(0);
        self.inodes_done += u32::from(next.is_none());
    }

    fn inodes_from<R: ReadAt>(
        &mut self,
        fs: &Fs<R>,
        g: GroupNr,
        from: u32,
    ) -> Result<Option<u32>, Error> {
        if self.claims.exhausted() {
            return Ok(None);
        }
        fs.each_inode_in(g, from, |nr, raw| {
            if self.claims.exhausted() {
                return;
            }
            self.inode(fs, nr, raw);
            if self.claims.exhausted() {
                let words = "claims more blocks than the filesystem can have; owners from here on are not known";
                self.claims.problem(Problem::other(Place::Inode(nr), words));
            }
        })
    }

    fn inode<R: ReadAt>(&mut self, fs: &Fs<R>, nr: InodeNr, raw: &[u8]) {
        let inode = InodeBuf::new(nr, raw.into());
        self.claims.add_inode(fs, &inode);
        let is_dir = inode.file_type() == FileType::Directory;
        if self.options.names && is_dir {
            self.names_in(fs, &inode);
        }
        if self.options.names && should_have_a_name(fs, &inode) {
            self.named.push((nr.0, is_dir));
        }
    }

    fn names_in<R: ReadAt>(&mut self, fs: &Fs<R>, dir: &InodeBuf) {
        let mut problems = Vec::new();
        let (names, claims) = (&mut self.names, &mut self.claims);
        let mut more = Vec::new();
        let mut names_root = false;
        fs.each_dir_block(dir, &mut problems, &mut |block| {
            claims.spend(1);
            if claims.work_left == 0 {
                return;
            }
            more.extend(fs.each_name(dir, block, &mut |inode, name| {
                names_root |= inode == ROOT && name != b"." && name != b"..";
                names.add(inode, dir.nr.0, name)
            }));
        });
        if names_root {
            let words = "has a name for the root directory: paths go in a circle";
            more.push(Problem::other(Place::Inode(dir.nr), words));
        }
        // The walk for the map has told of what is wrong with the map.
        problems.retain(|p| !claims.problems.contains(p));
        for problem in problems.into_iter().chain(more) {
            self.claims.problem(problem);
        }
    }
}

/// Whether some directory should name an inode in use: not so for the filesystem's own
/// files, values of attributes, and what waits to be deleted.
fn should_have_a_name<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf) -> bool {
    let sb = fs.superblock();
    let own = [
        sb.s_journal_inum(),
        sb.s_usr_quota_inum(),
        sb.s_grp_quota_inum(),
        sb.s_prj_quota_inum(),
        sb.s_orphan_file_inum(),
    ];
    inode.nr.0 >= fs.geometry().first_inode
        && inode.i_links_count() > 0
        && !own.contains(&inode.nr.0)
        && !inode.flags().contains(InodeFlags::EA_INODE)
}

fn meta_claim(run: &MetaRun, g: GroupNr) -> Claim {
    let kind = match run.kind {
        MetaKind::Boot => Kind::Boot,
        MetaKind::Superblock => Kind::Superblock,
        MetaKind::Descriptors => Kind::Descriptors,
        MetaKind::ReservedDescriptors => Kind::ReservedDescriptors,
        MetaKind::BlockBitmap => Kind::BlockBitmap,
        MetaKind::InodeBitmap => Kind::InodeBitmap,
        MetaKind::InodeTable => Kind::InodeTable,
    };
    let copied = matches!(
        kind,
        Kind::Superblock | Kind::Descriptors | Kind::ReservedDescriptors
    );
    let flags = if copied && g.0 > 0 {
        Flags::BACKUP
    } else {
        Flags::empty()
    };
    Claim {
        start: run.start.0,
        len: run.len as u32,
        inode: 0,
        kind,
        flags,
    }
}
