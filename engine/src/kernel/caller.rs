//! Who calls, and what they may do.

use super::{Errno, InodeInfo, Result};

/// The process that makes a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// Its number.
    pub pid: u32,
    /// Its user (fsuid).
    pub uid: u32,
    /// Its group (fsgid).
    pub gid: u32,
    /// Other groups that it is in.
    pub groups: Vec<u32>,
    /// Permissions that it takes away from what it makes.
    pub umask: u16,
}

/// May read.
pub(super) const MAY_READ: u16 = 4;
/// May write.
pub(super) const MAY_WRITE: u16 = 2;
/// May run, or look names up.
pub(super) const MAY_EXEC: u16 = 1;

impl Caller {
    /// The super-user, with the usual umask.
    pub fn root() -> Self {
        Self {
            pid: 1,
            uid: 0,
            gid: 0,
            groups: Vec::new(),
            umask: 0o022,
        }
    }

    /// Whether it has the super-user's capabilities.
    pub fn is_root(&self) -> bool {
        self.uid == 0
    }

    /// Whether it is in a group.
    pub fn in_group(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }

    /// Whether it owns an inode, or need not.
    pub(super) fn owns(&self, inode: &InodeInfo) -> bool {
        self.is_root() || self.uid == inode.raw.uid()
    }

    /// Checks `want` of read, write, execute against an inode's mode.
    pub(super) fn check(&self, inode: &InodeInfo, want: u16) -> Result<()> {
        let mode = inode.raw.i_mode();
        if self.is_root() {
            let can_run = inode.is_dir() || mode & 0o111 != 0;
            return if want & MAY_EXEC == 0 || can_run {
                Ok(())
            } else {
                Err(Errno::EACCES)
            };
        }
        let shift = if self.uid == inode.raw.uid() {
            6
        } else if self.in_group(inode.raw.gid()) {
            3
        } else {
            0
        };
        if mode >> shift & want == want {
            Ok(())
        } else {
            Err(Errno::EACCES)
        }
    }
}
