//! Two images byte by byte, but for what cannot be the same.

use super::{name, succeed};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Offsets in a superblock: s_magic, s_uuid, s_kbytes_written, s_checksum.
const MAGIC: usize = 0x38;
const UUID_AT: usize = 0x68;
const KBYTES: usize = 0x178;
const CHECKSUM: usize = 0x3FC;
const PIECE: usize = 1 << 20;

/// Clears what differs by nature in 1024 bytes of an image: the kilobytes written, which
/// count mke2fs's own calls, and the superblock's checksum over them; in the mmp block
/// the names of host and device.
fn mask(piece: &mut [u8]) {
    if piece[MAGIC..MAGIC + 2] == [0x53, 0xEF] && piece[UUID_AT..UUID_AT + 3] == [0x12, 0x34, 0x56]
    {
        piece[KBYTES..KBYTES + 8].fill(0);
        piece[CHECKSUM..].fill(0);
    }
    if piece[..4] == 0x004D_4D50u32.to_le_bytes() {
        piece[8..0x70].fill(0);
        piece[CHECKSUM..].fill(0);
    }
}

/// Bytes at an offset, zeros past the end: mke2fs leaves a file shorter than asked for
/// where its last blocks are not used.
fn read(file: &mut File, at: u64, buf: &mut [u8]) {
    buf.fill(0);
    file.seek(SeekFrom::Start(at)).unwrap();
    let mut done = 0;
    while done < buf.len() {
        match file.read(&mut buf[done..]).unwrap() {
            0 => return,
            n => done += n,
        }
    }
}

pub fn compare(theirs: &Path, ours: &Path) -> Result<(), String> {
    let (mut a, mut b) = (File::open(theirs).unwrap(), File::open(ours).unwrap());
    let len = |file: &File| file.metadata().unwrap().len();
    let (mut x, mut y) = (vec![0; PIECE], vec![0; PIECE]);
    for start in (0..len(&a).max(len(&b))).step_by(PIECE) {
        read(&mut a, start, &mut x);
        read(&mut b, start, &mut y);
        if x == y {
            continue;
        }
        let pieces = x.chunks_exact_mut(1024).zip(y.chunks_exact_mut(1024));
        for (at, (p, q)) in (start..).step_by(1024).zip(pieces) {
            mask(p);
            mask(q);
            if let Some(i) = (0..1024).find(|&i| p[i] != q[i]) {
                let at = at + i as u64;
                return Err(format!("byte {at}: theirs {:#x}, ours {:#x}", p[i], q[i]));
            }
        }
    }
    Ok(())
}

/// What dumpe2fs and debugfs say of an image, but for what differs by nature.
fn said(image: &Path) -> Result<String, String> {
    let groups = succeed("dumpe2fs", &[name(image)])?;
    let masked = ["Lifetime writes:", "Checksum:"];
    let groups = groups
        .lines()
        .filter(|l| !masked.iter().any(|m| l.starts_with(m)));
    let mut said = groups.collect::<Vec<_>>().join("\n");
    for ino in 1..=12 {
        let stat = format!("stat <{ino}>");
        said += &succeed("debugfs", &["-R", &stat, name(image)])?;
    }
    Ok(said)
}

/// Compares by words.
pub fn compare_words(theirs: &Path, ours: &Path) -> Result<(), String> {
    let (x, y) = (said(theirs)?, said(ours)?);
    match x.lines().zip(y.lines()).find(|(x, y)| x != y) {
        Some((x, y)) => Err(format!("theirs {x:?}, ours {y:?}")),
        None if x.len() != y.len() => Err("one says more".to_string()),
        None => Ok(()),
    }
}
