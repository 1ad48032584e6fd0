//! An inode, explained.

mod words;

use super::dir::target;
use super::fields::{FIRST_DTIME, flag_names, inode_fields, mode_text, seconds_text, time_text};
use super::map::map_of;
use super::{HtreeView, InodeView, MapView, XattrRow, escape};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    Compat, FileType, InodeFlags, RoCompat, Superblock, reserved_inode_name,
};
use crate::ext4::read::{Fs, InodeBuf, Orphan, Xattr, XattrHome};
use crate::ext4::{Error, Problem};
use crate::units::InodeNr;

/// Bytes of an attribute's value that are given.
const VALUE_SHOWN: usize = 4096;
/// Bytes of an attribute's value that are shown as text.
const TEXT_SHOWN: usize = 256;
/// Attributes that are listed; a sound inode has room for fewer.
const MOST_XATTRS: usize = 4096;

/// What is known of an inode before it is put into words.
struct Known<'a> {
    inode: &'a InodeBuf,
    map: &'a MapView,
    fast_symlink: bool,
    block_size: u32,
    in_use: bool,
    orphan: Option<Orphan>,
    reserved: Option<&'a str>,
    target: Option<&'a str>,
    dtime: Option<&'a str>,
    htree: bool,
}

/// An inode, whether in use or not.
pub fn inode<R: ReadAt>(fs: &Fs<R>, ino: InodeNr) -> Result<InodeView, Error> {
    let inode = fs.inode(ino)?;
    let (table_block, table_offset) = fs.inode_place(ino)?;
    let map = map_of(fs, &inode);
    let has_checksum = was_used(fs, &inode);
    let flaw = fs.inode_checksum_flaw(&inode).filter(|_| has_checksum);
    let mut problems: Vec<Problem> = flaw.into_iter().collect();
    problems.extend(map.problems.iter().cloned());
    let in_use = match fs.inode_in_use(ino) {
        Ok(used) => used,
        Err(e) => {
            problems.push(e.into_problem(crate::ext4::Place::Inode(ino)));
            inode.i_links_count() > 0
        }
    };
    let (xattrs, more) = fs.xattrs(&inode);
    problems.extend(more);
    let htree = fs.htree(&inode);
    problems.extend(htree.iter().flat_map(|t| t.problems.iter().cloned()));
    let orphan = orphan(fs, ino);
    let fast_symlink = is_fast_symlink(fs, &inode);
    let reserved = reserved(fs.superblock(), ino);
    let target = target(fs, &inode);
    let dtime = dtime(&inode, orphan.as_ref());
    let words = words::inode_words(&Known {
        inode: &inode,
        map: &map,
        fast_symlink,
        block_size: fs.geometry().block_size,
        in_use,
        orphan,
        reserved: reserved.as_deref(),
        target: target.as_deref(),
        dtime: dtime.as_deref(),
        htree: htree.is_some(),
    });
    Ok(InodeView {
        nr: ino.0,
        words,
        file_type: inode.file_type(),
        mode_text: mode_text(inode.i_mode()),
        mode: inode.i_mode(),
        uid: inode.uid(),
        gid: inode.gid(),
        links: inode.i_links_count(),
        size: inode.size(),
        sectors: fs.sectors(&inode),
        flags: flag_names(inode.flags()),
        atime: time_text(inode.atime()),
        ctime: time_text(inode.ctime()),
        mtime: time_text(inode.mtime()),
        crtime: inode.crtime().map(time_text),
        dtime,
        generation: inode.i_generation(),
        project: inode
            .project()
            .filter(|_| fs.superblock().ro_compat().contains(RoCompat::PROJECT)),
        device: inode.device(),
        target,
        reserved,
        in_use,
        checksum_ok: fs
            .inode_checksum_ok(ino, inode.raw())
            .filter(|_| has_checksum),
        table_block: table_block.0,
        table_offset: table_offset as u32,
        storage: storage(&inode, fast_symlink).to_string(),
        xattrs: xattrs.iter().take(MOST_XATTRS).map(xattr_row).collect(),
        xattr_block: Some(inode.file_acl().0).filter(|&b| b != 0),
        fields: inode_fields(inode.raw(), 0, fast_symlink),
        htree: htree.map(|t| HtreeView {
            hash: t.hash.map_or_else(
                || format!("unknown ({})", t.hash_byte),
                |h| h.name().to_string(),
            ),
            levels: t.levels,
            nodes: t.nodes,
        }),
        problems,
    })
}

/// Whether an inode was ever written, so that it has a checksum: not so where its slot is
/// zeros or past what the group says was ever used.
pub(super) fn was_used<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf) -> bool {
    let (group, index) = fs.geometry().inode_home(inode.nr);
    let used = fs.inodes_used_in(group).unwrap_or(u32::MAX);
    index < used && inode.raw().iter().any(|&b| b != 0)
}

/// Whether an inode is a symbolic link whose target is in `i_block`.
pub(super) fn is_fast_symlink<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf) -> bool {
    inode.file_type() == FileType::Symlink
        && !inode.flags().contains(InodeFlags::INLINE_DATA)
        && fs.content(inode).is_inline()
}

fn orphan<R: ReadAt>(fs: &Fs<R>, ino: InodeNr) -> Option<Orphan> {
    let sb = fs.superblock();
    let any = sb.s_last_orphan() != 0 || sb.compat().contains(Compat::ORPHAN_FILE);
    if !any {
        return None;
    }
    fs.orphans().0.into_iter().find(|o| o.inode == ino)
}

/// When it was deleted. On the list of orphans, the field is the next orphan's number.
fn dtime(inode: &InodeBuf, orphan: Option<&Orphan>) -> Option<String> {
    let n = inode.i_dtime();
    let listed = orphan.is_some() || n < FIRST_DTIME;
    (n != 0 && !listed).then(|| seconds_text(n.into()))
}

/// What an inode that the filesystem uses itself is for.
pub(super) fn reserved<T: AsRef<[u8]>>(sb: &Superblock<T>, ino: InodeNr) -> Option<String> {
    let by_superblock = [
        (
            sb.s_journal_inum(),
            "journal",
            sb.compat().contains(Compat::HAS_JOURNAL),
        ),
        (
            sb.s_usr_quota_inum(),
            "user quota",
            sb.ro_compat().contains(RoCompat::QUOTA),
        ),
        (
            sb.s_grp_quota_inum(),
            "group quota",
            sb.ro_compat().contains(RoCompat::QUOTA),
        ),
        (
            sb.s_prj_quota_inum(),
            "project quota",
            sb.ro_compat().contains(RoCompat::QUOTA),
        ),
        (
            sb.s_orphan_file_inum(),
            "orphan file",
            sb.compat().contains(Compat::ORPHAN_FILE),
        ),
    ];
    let named = by_superblock
        .iter()
        .find(|(nr, _, on)| *on && *nr == ino.0)
        .map(|(_, name, _)| *name);
    let known = named.or_else(|| reserved_inode_name(ino));
    let first = if sb.s_rev_level() == 0 {
        11
    } else {
        sb.s_first_ino()
    };
    known
        .map(str::to_string)
        .or_else(|| (ino.0 < first).then(|| "reserved, without a use".to_string()))
}

fn storage(inode: &InodeBuf, fast_symlink: bool) -> &'static str {
    if inode.flags().contains(InodeFlags::INLINE_DATA) || fast_symlink {
        return "inline";
    }
    match inode.file_type() {
        FileType::CharDevice | FileType::BlockDevice | FileType::Fifo | FileType::Socket => "none",
        _ if inode.flags().contains(InodeFlags::EXTENTS) => "extents",
        FileType::Unknown if inode.i_block().0 == [0; 60] => "none",
        _ => "block map",
    }
}

fn xattr_row(xattr: &Xattr) -> XattrRow {
    let shown = &xattr.value[..xattr.value.len().min(TEXT_SHOWN)];
    let mut text = escape(shown);
    if shown.len() < xattr.value.len() {
        text.push('…');
    }
    let home = match (xattr.value_inode, xattr.home) {
        (Some(ino), _) => format!("in inode {ino}"),
        (None, XattrHome::Inode) => "in the inode".to_string(),
        (None, XattrHome::Block(b)) => format!("in block {b}"),
    };
    XattrRow {
        name: escape(&xattr.name),
        text,
        value: xattr.value[..xattr.value.len().min(VALUE_SHOWN)].to_vec(),
        len: xattr.value.len() as u64,
        home,
    }
}
