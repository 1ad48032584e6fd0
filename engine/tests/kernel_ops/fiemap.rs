//! FS_IOC_FIEMAP, which rustix does not have: `linux/fiemap.h`.

use super::outcome::Extent;
use rustix::fd::{AsFd, OwnedFd};
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use std::ffi::c_void;

/// Extents asked for at a time.
const ROOM: usize = 512;
/// FIEMAP_FLAG_SYNC.
const SYNC: u32 = 1;
/// FIEMAP_EXTENT_LAST.
const LAST: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
struct RawExtent {
    logical: u64,
    physical: u64,
    len: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved2: [u32; 3],
}

#[repr(C)]
struct Fiemap {
    start: u64,
    len: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [RawExtent; ROOM],
}

/// `_IOWR('f', 11, struct fiemap)`, whose size there does not count the extents.
const OPCODE: Opcode = opcode::read_write::<[u8; 32]>(b'f', 11);

// SAFETY: the kernel writes at most `room` extents behind the head, and the structure has
// that many; any bytes are a value of it.
#[allow(unsafe_code)]
unsafe impl Ioctl for &mut Fiemap {
    type Output = ();
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut::<Fiemap>(self).cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}

/// All extents of a range of bytes.
pub fn fiemap(fd: &OwnedFd, start: u64, len: u64, sync: bool) -> rustix::io::Result<Vec<Extent>> {
    let end = start.saturating_add(len);
    let mut from = start;
    let mut out = Vec::new();
    loop {
        let none = RawExtent {
            logical: 0,
            physical: 0,
            len: 0,
            reserved: [0; 2],
            flags: 0,
            reserved2: [0; 3],
        };
        let mut map = Box::new(Fiemap {
            start: from,
            len: end - from,
            flags: if sync { SYNC } else { 0 },
            mapped: 0,
            room: ROOM as u32,
            reserved: 0,
            extents: [none; ROOM],
        });
        // SAFETY: see above.
        #[allow(unsafe_code)]
        unsafe {
            ioctl(fd.as_fd(), &mut *map)?;
        }
        let got = &map.extents[..(map.mapped as usize).min(ROOM)];
        out.extend(got.iter().map(|e| Extent {
            logical: e.logical,
            physical: e.physical,
            len: e.len,
            flags: e.flags,
        }));
        match got.last() {
            Some(last) if last.flags & LAST == 0 && last.logical + last.len < end => {
                from = last.logical + last.len;
            }
            _ => return Ok(out),
        }
    }
}
