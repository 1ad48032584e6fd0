//! Names of attributes: a prefix, which is kept as a number, and the rest.

use crate::ext4::layout::{NAME_MAX, xattr_prefix};
use crate::kernel::{Errno, Result};

/// `e_name_index` of the prefixes that Linux has handlers for.
const USER: u8 = 1;
pub(super) const ACL_ACCESS: u8 = 2;
pub(super) const ACL_DEFAULT: u8 = 3;
const TRUSTED: u8 = 4;
const SECURITY: u8 = 6;
/// Kept without a prefix of its own: the rest of inline contents is `data`.
pub(super) const SYSTEM: u8 = 7;

/// Whether an attribute is a POSIX ACL.
pub(super) fn is_acl(index: u8) -> bool {
    matches!(index, ACL_ACCESS | ACL_DEFAULT)
}

/// The prefix's number and the rest of a name.
pub(super) fn split(name: &[u8]) -> Result<(u8, &[u8])> {
    if name.is_empty() || name.len() > NAME_MAX {
        return Err(Errno::ERANGE);
    }
    for index in [ACL_ACCESS, ACL_DEFAULT] {
        if xattr_prefix(index).is_some_and(|p| p.as_bytes() == name) {
            return Ok((index, b""));
        }
    }
    for index in [USER, TRUSTED, SECURITY] {
        let prefix = xattr_prefix(index).unwrap_or_default();
        match name.strip_prefix(prefix.as_bytes()) {
            Some([]) => return Err(Errno::EINVAL),
            Some(rest) => return Ok((index, rest)),
            None => {}
        }
    }
    Err(Errno::EOPNOTSUPP)
}

/// The prefix of an attribute that is listed.
pub(super) fn listed_prefix(index: u8) -> Option<&'static str> {
    matches!(index, USER | ACL_ACCESS | ACL_DEFAULT | TRUSTED | SECURITY)
        .then(|| xattr_prefix(index))
        .flatten()
}
