//! New inodes and their names.

use super::caller::{MAY_EXEC, MAY_WRITE};
use super::namei::{Last, Parent};
use super::{Caller, Errno, InodeInfo, Mount, Result, alloc, dir, map, xattr};
use crate::event::{Meta, Reason};
use crate::ext4::layout::{FileType, Inode, InodeFlags, RoCompat};
use crate::units::{InodeNr, Lblk};

/// Names that a directory's inode can have (ext4: `EXT4_LINK_MAX`).
pub(super) const LINK_MAX: u16 = 65000;
/// Bytes of a link's target that fit in `i_block`, the zero at the end included.
const FAST_LINK: usize = 60;

/// The type byte of a directory entry.
pub(super) fn entry_type(inode: &InodeInfo) -> u8 {
    match inode.file_type() {
        FileType::Regular => 1,
        FileType::Directory => 2,
        FileType::CharDevice => 3,
        FileType::BlockDevice => 4,
        FileType::Fifo => 5,
        FileType::Socket => 6,
        FileType::Symlink => 7,
        FileType::Unknown => 0,
    }
}

impl Mount {
    /// Makes an inode and its name; `fill` gives it what its type needs.
    pub(super) fn make(
        &mut self,
        who: &Caller,
        parent: &Parent,
        mode: u16,
        fill: impl FnOnce(&mut Self, &mut InodeInfo) -> Result<()>,
    ) -> Result<InodeNr> {
        self.check_make(who, parent.dir)?;
        let mut inode = self.new_inode(who, parent.dir, mode, &parent.name)?;
        let named = fill(self, &mut inode)
            .and_then(|()| self.vol.write_inode(&mut inode))
            .and_then(|()| self.add_name(parent.dir, &parent.name, inode.nr, entry_type(&inode)));
        let nr = inode.nr;
        if let Err(e) = named {
            inode.raw.set_i_links_count(0);
            self.inodes.insert(inode);
            self.evict(nr)?;
            return Err(e);
        }
        self.inodes.insert(inode);
        Ok(nr)
    }

    /// Whether a directory may get a name.
    pub(super) fn check_make(&mut self, who: &Caller, dir: InodeNr) -> Result<()> {
        let inode = self.peek(dir)?;
        if !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        if inode.links() == 0 {
            return Err(Errno::ENOENT);
        }
        self.vol.check_writable()?;
        if inode.has(InodeFlags::IMMUTABLE) {
            return Err(Errno::EPERM);
        }
        who.check(&inode, MAY_WRITE | MAY_EXEC)
    }

    /// Puts a name into a directory, whose times change.
    pub(super) fn add_name(
        &mut self,
        dir: InodeNr,
        name: &[u8],
        nr: InodeNr,
        kind: u8,
    ) -> Result<()> {
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, dir)?;
        dir::add(&mut self.vol, inode, name, nr, kind)?;
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    /// An inode that has no name yet. Of `mode`, the directory's default ACL leaves what it
    /// allows, or else the umask.
    pub(super) fn new_inode(
        &mut self,
        who: &Caller,
        dir: InodeNr,
        mode: u16,
        name: &[u8],
    ) -> Result<InodeInfo> {
        let parent = self.peek(dir)?;
        let nr = alloc::new_inode(&mut self.vol, Some(&parent), mode, name)?;
        let (flags, gid, setgid) = inherited(who, &parent, mode);
        let project = parent
            .raw
            .project()
            .filter(|_| parent.has(InodeFlags::PROJINHERIT));
        let size = usize::from(self.vol.geo.inode_size);
        let mut raw = Inode(vec![0; size].into_boxed_slice());
        raw.set_i_mode(mode | setgid);
        raw.set_i_generation(self.next_generation());
        if size > 128 {
            let want = self
                .vol
                .sb
                .s_want_extra_isize()
                .clamp(32, (size - 128).min(512) as u16);
            raw.set_i_extra_isize(want & !3);
        }
        raw.set_i_links_count(1);
        let mut inode = InodeInfo::new(&self.vol, nr, raw.0);
        // That it is there at all is what fdatasync has to make safe first.
        let running = self.vol.journal.as_ref().and_then(|j| j.running());
        let tid = running.map(|t| t.tid);
        (inode.sync_tid, inode.datasync_tid) = (tid, tid);
        inode.raw.set_i_uid((who.uid & 0xFFFF) as u16);
        inode.raw.set_i_uid_high((who.uid >> 16) as u16);
        inode.raw.set_i_gid((gid & 0xFFFF) as u16);
        inode.raw.set_i_gid_high((gid >> 16) as u16);
        inode.raw.set_i_flags(flags.bits());
        if let Some(project) = project.filter(|_| inode.raw.has_extra(0x9C, 4)) {
            inode.raw.set_i_projid(project);
        }
        let now = self.vol.time();
        inode.touch(now);
        inode.set_atime(now);
        inode.set_crtime(now);
        let mapped = matches!(
            inode.file_type(),
            FileType::Regular | FileType::Directory | FileType::Symlink
        );
        if mapped {
            map::init(&self.vol, &mut inode);
        }
        let acls = xattr::acl_inherit(&mut self.vol, &parent, &mut inode, who.umask);
        if let Err(e) = acls {
            xattr::release(&mut self.vol, &mut inode)?;
            alloc::free_inode(&mut self.vol, nr, inode.is_dir())?;
            return Err(e);
        }
        Ok(inode)
    }

    /// Numbers for `i_generation`, the same in every run: SplitMix64's steps.
    fn next_generation(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.generation ^ (self.generation >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32) as u32
    }

    /// `mkdir`.
    pub(super) fn do_mkdir(&mut self, who: &Caller, path: &[u8], mode: u16) -> Result<()> {
        let parent = self.free_name(who, path, true)?;
        self.check_make(who, parent.dir)?;
        self.check_links(parent.dir)?;
        let mode = 0x4000 | (mode & 0o1777);
        let up = parent.dir;
        self.make(who, &parent, mode, |mount, inode| {
            inode.raw.set_i_links_count(2);
            dir::init(&mut mount.vol, inode, up)
        })?;
        self.add_link(up)
    }

    /// A directory has one more directory in it.
    pub(super) fn add_link(&mut self, dir: InodeNr) -> Result<()> {
        let inode = self.inodes.get(&mut self.vol, dir)?;
        let more = inode.links().saturating_add(1);
        // In a hashed directory, 1 stands for more than can be counted.
        let uncounted = inode.has(InodeFlags::INDEX) && (more > LINK_MAX || more == 2);
        inode
            .raw
            .set_i_links_count(if uncounted { 1 } else { more });
        self.vol.write_inode(inode)
    }

    /// Fails where a directory cannot have one more directory in it.
    pub(super) fn check_links(&mut self, dir: InodeNr) -> Result<()> {
        let inode = self.peek(dir)?;
        let may_pass = self.vol.has_ro_compat(RoCompat::DIR_NLINK) && inode.has(InodeFlags::INDEX);
        if inode.links() >= LINK_MAX && !may_pass {
            Err(Errno::EMLINK)
        } else {
            Ok(())
        }
    }

    /// A directory has one directory fewer in it.
    pub(super) fn drop_link(&mut self, dir: InodeNr) -> Result<()> {
        let inode = self.inodes.get(&mut self.vol, dir)?;
        if inode.links() > 2 {
            inode.raw.set_i_links_count(inode.links() - 1);
        }
        self.vol.write_inode(inode)
    }

    /// The place of a name that is not there yet.
    pub(super) fn free_name(&mut self, who: &Caller, path: &[u8], dir: bool) -> Result<Parent> {
        let parent = self.parent(who, path)?;
        if parent.last != Last::Name || self.last_of(&parent)?.is_some() {
            return Err(Errno::EEXIST);
        }
        if parent.slash && !dir {
            return Err(Errno::ENOENT);
        }
        Ok(parent)
    }

    /// `mknod`. `mode` holds the type too; `dev`: major and minor of a device file.
    pub(super) fn do_mknod(
        &mut self,
        who: &Caller,
        path: &[u8],
        mode: u16,
        dev: (u32, u32),
    ) -> Result<()> {
        let mode = if mode & 0xF000 == 0 {
            mode | 0x8000
        } else {
            mode
        };
        let kind = FileType::from_mode(mode);
        match kind {
            FileType::Directory => return Err(Errno::EPERM),
            FileType::Symlink | FileType::Unknown => return Err(Errno::EINVAL),
            _ => {}
        }
        let parent = self.free_name(who, path, false)?;
        let device = matches!(kind, FileType::CharDevice | FileType::BlockDevice);
        if device && !who.is_root() {
            return Err(Errno::EPERM);
        }
        self.make(who, &parent, mode, |_, inode| {
            if device {
                inode.set_i_block(device_block(dev));
            }
            Ok(())
        })?;
        Ok(())
    }

    /// `symlink`.
    pub(super) fn do_symlink(&mut self, who: &Caller, target: &[u8], path: &[u8]) -> Result<()> {
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        if target.len() >= 4096 {
            return Err(Errno::ENAMETOOLONG);
        }
        let parent = self.free_name(who, path, false)?;
        self.check_make(who, parent.dir)?;
        if target.len() + 1 > self.vol.block_size() {
            return Err(Errno::ENAMETOOLONG);
        }
        let target = target.to_vec();
        self.make(who, &parent, 0xA1FF, |mount, inode| {
            mount.fill_link(inode, &target)
        })?;
        Ok(())
    }

    fn fill_link(&mut self, inode: &mut InodeInfo, target: &[u8]) -> Result<()> {
        if target.len() < FAST_LINK {
            let mut block = [0; 60];
            block[..target.len()].copy_from_slice(target);
            inode.set_flag(InodeFlags::EXTENTS, false);
            inode.set_i_block(block);
        } else {
            let how = map::Create {
                unwritten: false,
                reserved: false,
                root: false,
                reason: Reason::Metadata,
                write: true,
            };
            let run = map::map_blocks(&mut self.vol, inode, Lblk(0), 1, &how)?;
            let nr = inode.nr;
            let block = self.vol.fresh(run.start, Meta::Symlink, nr)?;
            block[..target.len()].copy_from_slice(target);
        }
        inode.size = target.len() as u64;
        inode.set_disk_size(inode.size);
        Ok(())
    }

    /// Where a link points to.
    pub(super) fn link_target(&mut self, nr: InodeNr) -> Result<Vec<u8>> {
        let inode = self.peek(nr)?;
        let len = inode.size.min(4096) as usize;
        if inode.is_fast_symlink(&self.vol) {
            return Ok(inode.i_block()[..len.min(59)].to_vec());
        }
        if let Some(inside) = super::inline::content(&mut self.vol, &inode)? {
            return Ok(inside);
        }
        let run = map::lookup(&mut self.vol, &inode, Lblk(0), 1)?;
        if run.state == map::State::Hole {
            return Err(Errno::EFSCORRUPTED);
        }
        let block = self.vol.block(run.start)?;
        Ok(block[..len.min(block.len())].to_vec())
    }

    /// `readlink`.
    pub(super) fn do_readlink(&mut self, who: &Caller, path: &[u8]) -> Result<Vec<u8>> {
        let nr = self.resolve(who, path, false)?;
        if self.peek(nr)?.file_type() != FileType::Symlink {
            return Err(Errno::EINVAL);
        }
        let target = self.link_target(nr)?;
        self.accessed(nr)?;
        Ok(target)
    }
}

/// What a new inode takes from its directory: flags, group, the set-group-ID bit.
fn inherited(who: &Caller, parent: &InodeInfo, mode: u16) -> (InodeFlags, u32, u16) {
    let all = InodeFlags::SECRM
        | InodeFlags::UNRM
        | InodeFlags::COMPR
        | InodeFlags::SYNC
        | InodeFlags::NODUMP
        | InodeFlags::NOATIME
        | InodeFlags::NOCOMPR
        | InodeFlags::JOURNAL_DATA
        | InodeFlags::NOTAIL
        | InodeFlags::DIRSYNC
        | InodeFlags::PROJINHERIT
        | InodeFlags::CASEFOLD
        | InodeFlags::DAX;
    let kept = match FileType::from_mode(mode) {
        FileType::Directory => all,
        FileType::Regular => {
            all - (InodeFlags::DIRSYNC | InodeFlags::PROJINHERIT | InodeFlags::CASEFOLD)
        }
        _ => InodeFlags::NODUMP | InodeFlags::NOATIME,
    };
    let flags = parent.raw.flags() & kept;
    let inherits = parent.raw.i_mode() & 0o2000 != 0;
    let gid = if inherits { parent.raw.gid() } else { who.gid };
    let setgid = if inherits && mode & 0xF000 == 0x4000 {
        0o2000
    } else {
        0
    };
    (flags, gid, setgid)
}

/// A device's number as `i_block` holds it: the old encoding where 8 bits each do, else
/// the new one in the second word.
fn device_block((major, minor): (u32, u32)) -> [u8; 60] {
    let mut block = [0; 60];
    if major < 256 && minor < 256 {
        block[..4].copy_from_slice(&(major << 8 | minor).to_le_bytes());
    } else {
        let word = (minor & 0xFF) | (major & 0xFFF) << 8 | (minor & 0xF_FF00) << 12;
        block[4..8].copy_from_slice(&word.to_le_bytes());
    }
    block
}
