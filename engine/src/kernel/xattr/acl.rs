//! POSIX ACLs: calls use one form, the disk a shorter one, and the mode follows them.

use super::get_raw;
use super::name::{ACL_ACCESS, ACL_DEFAULT};
use super::set::{SetFlags, set_raw};
use crate::ext4::layout::FileType;
use crate::ext4::read::acl_to_linux;
use crate::kernel::{Errno, InodeInfo, Result, Volume};

/// Version of the form that calls use, and of that on disk.
const LINUX_VERSION: u32 = 2;
const DISK_VERSION: u32 = 1;
/// Tags of entries.
const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;
/// Nobody.
const NO_ID: u32 = !0;

/// Who may do what.
#[derive(Clone, Copy, Debug)]
struct Rule {
    tag: u16,
    perm: u16,
    id: u32,
}

/// Reads the form that calls use. No rules at all mean that there is no ACL.
fn parse(value: &[u8]) -> Result<Vec<Rule>> {
    let (version, rules) = value.split_first_chunk::<4>().ok_or(Errno::EINVAL)?;
    if u32::from_le_bytes(*version) != LINUX_VERSION {
        return Err(Errno::EOPNOTSUPP);
    }
    if !rules.len().is_multiple_of(8) {
        return Err(Errno::EINVAL);
    }
    let rule = |r: &[u8]| Rule {
        tag: u16::from_le_bytes([r[0], r[1]]),
        perm: u16::from_le_bytes([r[2], r[3]]),
        id: u32::from_le_bytes([r[4], r[5], r[6], r[7]]),
    };
    let rules: Vec<Rule> = rules.chunks_exact(8).map(rule).collect();
    if rules.is_empty() || is_valid(&rules) {
        Ok(rules)
    } else {
        Err(Errno::EINVAL)
    }
}

/// Whether rules come in their order, with the three that must be there, and a mask
/// where somebody is named.
fn is_valid(rules: &[Rule]) -> bool {
    let named = |r: &Rule| matches!(r.tag, USER | GROUP);
    let known = |r: &Rule| matches!(r.tag, USER_OBJ | USER | GROUP_OBJ | GROUP | MASK | OTHER);
    let count = |tag| rules.iter().filter(|r| r.tag == tag).count();
    rules
        .iter()
        .all(|r| known(r) && r.perm <= 7 && !(named(r) && r.id == NO_ID))
        && rules.is_sorted_by_key(|r| r.tag)
        && [USER_OBJ, GROUP_OBJ, OTHER]
            .into_iter()
            .all(|tag| count(tag) == 1)
        && count(MASK) <= 1
        && (count(MASK) == 1 || !rules.iter().any(named))
}

/// The form on disk: an id only where somebody is named.
fn to_disk(rules: &[Rule]) -> Vec<u8> {
    let mut out = DISK_VERSION.to_le_bytes().to_vec();
    for r in rules {
        out.extend_from_slice(&r.tag.to_le_bytes());
        out.extend_from_slice(&r.perm.to_le_bytes());
        if matches!(r.tag, USER | GROUP) {
            out.extend_from_slice(&r.id.to_le_bytes());
        }
    }
    out
}

/// The bits of the mode that rules stand for, and whether they say no more than it.
fn mode_of(rules: &[Rule]) -> (u16, bool) {
    let perm = |tag| rules.iter().find(|r| r.tag == tag).map(|r| r.perm & 7);
    let group = perm(MASK).or(perm(GROUP_OBJ)).unwrap_or(0);
    let mode = perm(USER_OBJ).unwrap_or(0) << 6 | group << 3 | perm(OTHER).unwrap_or(0);
    let simple = !rules.iter().any(|r| matches!(r.tag, USER | GROUP | MASK));
    (mode, simple)
}

fn set_mode(inode: &mut InodeInfo, bits: u16) {
    let mode = inode.raw.i_mode();
    inode.raw.set_i_mode(mode & !0o777 | bits & 0o777);
}

fn check(inode: &InodeInfo) -> Result<()> {
    if inode.file_type() == FileType::Symlink {
        Err(Errno::EOPNOTSUPP)
    } else {
        Ok(())
    }
}

/// An ACL in the form that calls use.
pub(super) fn get(vol: &mut Volume, inode: &InodeInfo, index: u8) -> Result<Vec<u8>> {
    check(inode)?;
    let disk = get_raw(vol, inode, index, b"")?.ok_or(Errno::ENODATA)?;
    acl_to_linux(&disk).ok_or(Errno::EINVAL)
}

fn rules(vol: &mut Volume, inode: &InodeInfo, index: u8) -> Result<Option<Vec<Rule>>> {
    match get(vol, inode, index) {
        Ok(value) => parse(&value).map(Some),
        Err(Errno::ENODATA) => Ok(None),
        Err(e) => Err(e),
    }
}

fn store(vol: &mut Volume, inode: &mut InodeInfo, index: u8, rules: &[Rule]) -> Result<()> {
    let disk = (!rules.is_empty()).then(|| to_disk(rules));
    set_raw(vol, inode, index, b"", disk.as_deref(), SetFlags::empty())
}

/// Sets or removes an ACL. The mode follows one for access; where it says no more than
/// the mode, nothing is kept.
pub(super) fn set(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    index: u8,
    value: Option<&[u8]>,
) -> Result<()> {
    check(inode)?;
    let rules = value.map(parse).transpose()?.unwrap_or_default();
    if index == ACL_DEFAULT {
        return match (inode.is_dir(), rules.is_empty()) {
            (false, true) => Ok(()),
            (false, false) => Err(Errno::EACCES),
            (true, _) => store(vol, inode, index, &rules),
        };
    }
    if rules.is_empty() {
        return store(vol, inode, index, &[]);
    }
    let (mode, simple) = mode_of(&rules);
    store(vol, inode, index, if simple { &[] } else { &rules })?;
    set_mode(inode, mode);
    Ok(())
}

/// Lets an access ACL follow a mode that was just set.
pub fn chmod(vol: &mut Volume, inode: &mut InodeInfo) -> Result<()> {
    if inode.file_type() == FileType::Symlink {
        return Ok(());
    }
    let Some(mut rules) = rules(vol, inode, ACL_ACCESS)? else {
        return Ok(());
    };
    let mode = inode.raw.i_mode();
    let masked = rules.iter().any(|r| r.tag == MASK);
    for r in &mut rules {
        match r.tag {
            USER_OBJ => r.perm = mode >> 6 & 7,
            MASK => r.perm = mode >> 3 & 7,
            GROUP_OBJ if !masked => r.perm = mode >> 3 & 7,
            OTHER => r.perm = mode & 7,
            _ => {}
        }
    }
    let (_, simple) = mode_of(&rules);
    store(vol, inode, ACL_ACCESS, if simple { &[] } else { &rules })
}

/// Gives a new inode, whose mode is what was asked for, the ACLs that its directory's
/// default asks for; without one, the mode loses the bits of `umask`.
pub fn inherit(vol: &mut Volume, dir: &InodeInfo, inode: &mut InodeInfo, umask: u16) -> Result<()> {
    if inode.file_type() == FileType::Symlink {
        return Ok(());
    }
    let mode = inode.raw.i_mode();
    let Some(default) = rules(vol, dir, ACL_DEFAULT)? else {
        inode.raw.set_i_mode(mode & !(umask & 0o777));
        return Ok(());
    };
    let mut access = default.clone();
    let masked = access.iter().any(|r| r.tag == MASK);
    for r in &mut access {
        match r.tag {
            USER_OBJ => r.perm &= mode >> 6 & 7,
            MASK => r.perm &= mode >> 3 & 7,
            GROUP_OBJ if !masked => r.perm &= mode >> 3 & 7,
            OTHER => r.perm &= mode & 7,
            _ => {}
        }
    }
    if inode.is_dir() {
        store(vol, inode, ACL_DEFAULT, &default)?;
    }
    let (bits, simple) = mode_of(&access);
    if !simple {
        store(vol, inode, ACL_ACCESS, &access)?;
    }
    set_mode(inode, bits);
    Ok(())
}
