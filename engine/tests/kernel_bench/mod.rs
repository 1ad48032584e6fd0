//! A filesystem that the kernel's rooms change directly, and the real tools that judge
//! what they left.

// Each integration test is a crate of its own and uses a part of this.
#![allow(dead_code)]

use fslab_engine::device::{Device, Ram};
use fslab_engine::disk::{CowDisk, ReadAt, WriteAt};
use fslab_engine::ext4::checksum;
use fslab_engine::ext4::layout::{SUPERBLOCK_OFFSET, Superblock};
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::kernel::{InodeInfo, MountOptions, Volume, alloc, dir, map};
use fslab_engine::units::{InodeNr, Lblk};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a filesystem is made.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub features: &'static [&'static str],
    pub block_size: u32,
    pub inode_size: u32,
    pub hash: u8,
    pub unsigned: bool,
}

impl Kind {
    pub const fn new(features: &'static [&'static str], block_size: u32) -> Self {
        Self {
            features,
            block_size,
            inode_size: 256,
            hash: 1,
            unsigned: false,
        }
    }
}

pub fn make(kind: Kind, megabytes: u64) -> Volume {
    let options = Options {
        fs_type: FsType::Ext4,
        block_size: Some(kind.block_size),
        inode_size: Some(kind.inode_size),
        features: kind.features.iter().map(|f| (*f).to_string()).collect(),
        hash_seed: *b"0123456789abcdef",
        uuid: [7; 16],
        now: 1_700_000_000,
        ..Options::default()
    };
    let len = megabytes << 20;
    let mut disk = CowDisk::new(len);
    mkfs(&options, &mut disk, len).unwrap();
    let mut raw = [0; 1024];
    disk.read_at(SUPERBLOCK_OFFSET, &mut raw).unwrap();
    let mut sb = Superblock(&mut raw[..]);
    sb.set_s_def_hash_version(kind.hash);
    sb.set_s_flags(if kind.unsigned { 2 } else { 1 });
    if sb.has_metadata_csum() {
        let sum = checksum::superblock(&raw);
        Superblock(&mut raw[..]).set_s_checksum(sum);
    }
    disk.write_at(SUPERBLOCK_OFFSET, &raw).unwrap();
    Volume::open(Box::new(Ram::new(disk)), MountOptions::default()).unwrap()
}

/// A new inode of the root's group. It is not written yet.
pub fn new_inode(vol: &mut Volume, mode: u16) -> InodeInfo {
    let root = vol.read_inode(InodeNr(2)).unwrap();
    let nr = alloc::new_inode(vol, Some(&root), mode, b"").unwrap();
    let size = usize::from(vol.geometry().inode_size);
    let mut inode = InodeInfo::new(vol, nr, vec![0; size].into_boxed_slice());
    inode.raw.set_i_mode(mode);
    inode.raw.set_i_links_count(1);
    if size > 128 {
        inode.raw.set_i_extra_isize(32);
    }
    map::init(vol, &mut inode);
    inode
}

/// Puts an inode's name into the root.
pub fn link(vol: &mut Volume, name: &str, inode: &mut InodeInfo) {
    let mut root = vol.read_inode(InodeNr(2)).unwrap();
    let file_type = if inode.is_dir() { 2 } else { 1 };
    dir::add(vol, &mut root, name.as_bytes(), inode.nr, file_type).unwrap();
    if inode.is_dir() {
        root.raw.set_i_links_count(root.links() + 1);
    }
    vol.write_inode(&mut root).unwrap();
    vol.write_inode(inode).unwrap();
}

/// Writes everything and copies the device into a file.
pub fn save(vol: &mut Volume, to: &Path) {
    vol.commit_super().unwrap();
    vol.sync_buffers().unwrap();
    let device: &dyn Device = vol.device();
    let file = std::fs::File::create(to).unwrap();
    file.set_len(ReadAt::len(device)).unwrap();
    let mut at = device.next_data(0);
    let mut piece = vec![0; 1 << 16];
    while at < ReadAt::len(device) {
        let n = (ReadAt::len(device) - at).min(piece.len() as u64) as usize;
        device.read_at(at, &mut piece[..n]).unwrap();
        file.write_all_at(&piece[..n], at).unwrap();
        at = device.next_data(at + n as u64);
    }
}

/// A file for an image, gone with the value.
pub struct Image(tempfile::TempDir);

impl Image {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("image")
    }
}

fn skipped<T>(why: &str) -> Option<T> {
    eprintln!("skipped: {why}");
    None
}

/// Fails where `e2fsck -fn` finds anything.
pub fn fsck(image: &Path, what: &str) {
    let run = Command::new("timeout")
        .args(["-k", "2", "120", "e2fsck", "-fn"])
        .arg(image)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    let Ok(run) = run else {
        return skipped("no timeout or e2fsck").unwrap_or_default();
    };
    if run.status.code() == Some(127) {
        return skipped("e2fsck is not installed").unwrap_or_default();
    }
    let words = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{what}: {words}");
}

/// What a Python program prints, with the image mounted by the real kernel at its
/// working directory; `None` where that cannot be done here.
pub fn with_mount(image: &Path, options: &str, program: &str) -> Option<String> {
    if !Path::new("/dev/loop-control").exists() {
        return skipped("no loop devices");
    }
    let at = tempfile::tempdir().unwrap();
    let script = concat!(
        include_str!("../loop_mount.sh"),
        r#"
        loop_mount "$1" "$3" "$2" || exit 77
        (cd "$3" && python3 -B -c "$4"); code=$?; umount "$3" || exit 78; exit $code"#
    );
    let run = Command::new("timeout")
        .args([
            "-k",
            "2",
            "120",
            "unshare",
            "-m",
            "--propagation",
            "private",
        ])
        .args(["sh", "-c", script, "sh"])
        .args([image.as_os_str(), options.as_ref(), at.path().as_os_str()])
        .arg(program)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    let Ok(run) = run else {
        return skipped("no timeout or unshare");
    };
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    match run.status.code() {
        Some(0) => Some(String::from_utf8_lossy(&run.stdout).into_owned()),
        Some(1 | 77 | 127) if !words.contains("Traceback") => {
            skipped(&format!("cannot mount: {words}"))
        }
        code => panic!("{code:?}: {words}"),
    }
}

/// Opens an image that somebody else made.
pub fn open(image: &Path) -> Volume {
    let bytes = std::fs::read(image).unwrap();
    let mut disk = CowDisk::new(bytes.len() as u64);
    for (i, piece) in bytes.chunks(4096).enumerate() {
        if piece.iter().any(|&b| b != 0) {
            disk.write_at(i as u64 * 4096, piece).unwrap();
        }
    }
    Volume::open(Box::new(Ram::new(disk)), MountOptions::default()).unwrap()
}

/// Leaves so many blocks free: a file has all others.
pub fn fill_up(vol: &mut Volume, leave: u64) {
    let mut hog = new_inode(vol, 0o100_644);
    link(vol, "hog", &mut hog);
    let mut end = 0;
    let how = map::Create::metadata();
    while let Ok(got) = map::map_blocks(vol, &mut hog, Lblk(end), 1 << 15, &how) {
        end += got.len;
    }
    let from = u64::from(end).saturating_sub(leave);
    map::remove(vol, &mut hog, from, end.into()).unwrap();
    hog.size = from * vol.block_size() as u64;
    hog.set_disk_size(hog.size);
    vol.write_inode(&mut hog).unwrap();
}
