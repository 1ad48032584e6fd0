//! POSIX ACLs: ext4 keeps them shorter than Linux hands them out.

const ON_DISK_VERSION: u32 = 1;
const LINUX_VERSION: u32 = 2;
/// Tags of entries that name a user or group.
const NAMED: [u16; 2] = [0x02, 0x08];
const NO_ID: u32 = !0;

/// From the form on disk (entries of 4 bytes, 8 where they name somebody) to the one
/// `getxattr` gives (always 8); `None` where it is not in the form on disk.
pub(crate) fn acl_to_linux(disk: &[u8]) -> Option<Vec<u8>> {
    let (version, mut rest) = disk.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*version) != ON_DISK_VERSION {
        return None;
    }
    let mut out = LINUX_VERSION.to_le_bytes().to_vec();
    while !rest.is_empty() {
        let (head, after) = rest.split_first_chunk::<4>()?;
        let tag = u16::from_le_bytes([head[0], head[1]]);
        out.extend_from_slice(head);
        rest = after;
        if NAMED.contains(&tag) {
            let (id, after) = rest.split_first_chunk::<4>()?;
            out.extend_from_slice(id);
            rest = after;
        } else {
            out.extend_from_slice(&NO_ID.to_le_bytes());
        }
    }
    Some(out)
}
