//! Writing what was made into an image file.

use anyhow::bail;
use fslab_engine::disk::{CowDisk, ReadAt};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes moved at a time.
const PIECE: usize = 1 << 20;

/// Writes the disk's contents at an offset of a file, leaving holes for what is zero. What
/// was in their place goes, as by mke2fs's discard.
pub fn export(disk: &CowDisk, path: &Path, offset: u64) -> anyhow::Result<()> {
    let mut open = OpenOptions::new();
    open.read(true).write(true).create(true).truncate(false);
    let file = open.open(path)?;
    if !file.metadata()?.is_file() {
        bail!("not a regular file: fslab writes to image files only");
    }
    crate::in_use::take(&file, path)?;
    let Some(end) = offset.checked_add(disk.len()) else {
        bail!("the filesystem would end past what a file can hold");
    };
    let len = file.metadata()?.len().max(end);
    if offset == 0 && len == end {
        file.set_len(0)?;
    } else {
        clear(&file, offset, end)?;
    }
    file.set_len(len)?;
    let mut buf = vec![0; PIECE];
    for (start, len) in disk.data() {
        let mut at = start;
        while at < start + len {
            let n = buf.len().min((start + len - at) as usize);
            disk.read_at(at, &mut buf[..n])?;
            file.write_all_at(&buf[..n], offset + at)?;
            at += n as u64;
        }
    }
    Ok(())
}

/// Makes what is not zero from `from` to `end` zero.
fn clear(file: &File, from: u64, end: u64) -> anyhow::Result<()> {
    let end = end.min(file.metadata()?.len());
    let (mut at, mut buf) = (from, vec![0; PIECE]);
    let zeros = vec![0; PIECE];
    while at < end {
        let n = buf.len().min((end - at) as usize);
        file.read_exact_at(&mut buf[..n], at)?;
        if buf[..n] != zeros[..n] {
            file.write_all_at(&zeros[..n], at)?;
        }
        at += n as u64;
    }
    Ok(())
}
