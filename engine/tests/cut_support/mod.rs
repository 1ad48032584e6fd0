//! What the experiments on power cuts share: filesystems with old bytes in their free blocks,
//! what a file holds afterwards, and others who judge that.

use crate::oracle::{available, limited, output, skipped, while_mounted};
use fslab_engine::device::Ram;
use fslab_engine::disk::{CowDisk, FileReader, ReadAt};
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::ext4::read::Fs;
use fslab_engine::kernel::{Caller, DataMode, Fd, Mount, MountOptions, OpenFlags};
use fslab_engine::units::InodeNr;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub const LEN: u64 = 16 << 20;
pub const BLOCK: u64 = 1024;
pub const SECOND: u64 = 1_000_000_000;
pub const OLD: [u8; 5000] = [b'O'; 5000];
pub const NEW: [u8; 5000] = [b'N'; 5000];
pub const SECRET: u8 = b'S';

/// What a file holds after a crash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Found {
    Absent,
    Old,
    New,
    Empty,
    Zeros,
    /// What C5 writes after the new contents.
    Again,
    /// Another file's bytes, or a mixture.
    Garbage,
}

use Found::{Absent, Again, Empty, Garbage, New, Old, Zeros};

pub fn classify(contents: Option<Vec<u8>>) -> Found {
    match contents {
        None => Absent,
        Some(c) if c.is_empty() => Empty,
        Some(c) if c == OLD => Old,
        Some(c) if c == NEW => New,
        Some(c) if c.iter().all(|&b| b == 0) => Zeros,
        Some(c) if c == [b'A'; 5000] => Again,
        Some(_) => Garbage,
    }
}

#[derive(Clone)]
pub struct Setting {
    pub name: &'static str,
    pub fs: FsType,
    pub csum: bool,
    pub options: MountOptions,
}

pub fn ext3(name: &'static str, data: DataMode) -> Setting {
    let options = MountOptions {
        data,
        ..MountOptions::default()
    };
    Setting {
        name,
        fs: FsType::Ext3,
        csum: false,
        options,
    }
}

pub fn ext4(name: &'static str, change: impl FnOnce(&mut MountOptions)) -> Setting {
    let mut options = MountOptions::default();
    change(&mut options);
    Setting {
        name,
        fs: FsType::Ext4,
        csum: true,
        options,
    }
}

/// A filesystem with `/file`, and another file's bytes in its free blocks.
pub fn base(s: &Setting) -> CowDisk {
    let mut disk = CowDisk::new(LEN);
    let mut options = Options {
        fs_type: s.fs,
        block_size: Some(BLOCK as u32),
        uuid: [3; 16],
        hash_seed: [5; 16],
        ..Options::default()
    };
    if s.fs == FsType::Ext4 && !s.csum {
        options.features = vec!["^metadata_csum".into(), "^64bit".into()];
    }
    options.journal.megabytes = Some(1);
    mkfs(&options, &mut disk, LEN).unwrap();
    let mut m = Mount::mount(Box::new(Ram::new(disk)), MountOptions::default()).unwrap();
    write(&mut m, b"/file", &OLD);
    write(&mut m, b"/secret", &vec![SECRET; 12 << 20]);
    m.sync().unwrap();
    m.unlink(&Caller::root(), b"/secret").unwrap();
    let (device, done) = m.unmount();
    done.unwrap();
    device
        .as_any()
        .downcast_ref::<Ram>()
        .unwrap()
        .disk()
        .clone()
}

pub fn open(m: &mut Mount, path: &[u8]) -> Fd {
    let flags = OpenFlags::WRONLY | OpenFlags::CREAT | OpenFlags::TRUNC;
    m.open(&Caller::root(), path, flags, 0o644).unwrap()
}

pub fn write(m: &mut Mount, path: &[u8], bytes: &[u8]) {
    let fd = open(m, path);
    m.write(fd, bytes).unwrap();
    m.close(fd).unwrap();
}

pub fn by_fslab(disk: &CowDisk, name: &str) -> Found {
    let device = Box::new(Ram::new(disk.clone()));
    let mut m = Mount::mount(device, MountOptions::default()).unwrap();
    let path = format!("/{name}");
    let Ok(fd) = m.open(&Caller::root(), path.as_bytes(), OpenFlags::default(), 0) else {
        return Absent;
    };
    classify(Some(m.read(fd, 1 << 20).unwrap()))
}

pub fn by_reader<R: ReadAt>(medium: R, name: &str) -> Found {
    let fs = Fs::open(medium).unwrap();
    let (entries, _) = fs.read_dir(&fs.inode(InodeNr(2)).unwrap());
    let Some(entry) = entries.into_iter().find(|e| e.name == name.as_bytes()) else {
        return Absent;
    };
    let inode = fs.inode(entry.inode).unwrap();
    let mut bytes = vec![0; inode.size() as usize];
    fs.read_content(&fs.content(&inode), 0, &mut bytes).unwrap();
    classify(Some(bytes))
}

pub fn save(disk: &CowDisk, path: &Path) {
    let file = std::fs::File::create(path).unwrap();
    file.set_len(disk.len()).unwrap();
    for (at, len) in disk.data() {
        let mut bytes = vec![0; len as usize];
        disk.read_at(at, &mut bytes).unwrap();
        file.write_all_at(&bytes, at).unwrap();
    }
}

/// What others find on the same disk.
pub struct Judges {
    pub dir: tempfile::TempDir,
    pub here: bool,
    /// e2fsck judges every so many disks, the kernel every eighth of those.
    pub every: usize,
    pub by_e2fsck: usize,
    pub by_kernel: usize,
}

impl Judges {
    pub fn new() -> Self {
        let here = available().is_ok();
        if let Err(why) = available() {
            skipped::<()>(&why);
        }
        let dir = tempfile::tempdir().unwrap();
        let (by_e2fsck, by_kernel) = (0, 0);
        Self {
            dir,
            here,
            every: 67,
            by_e2fsck,
            by_kernel,
        }
    }

    pub fn agree(&mut self, disk: &CowDisk, name: &str, found: Found, nth: usize) {
        if !self.here || !nth.is_multiple_of(self.every) {
            return;
        }
        let path = self.dir.path().join("image");
        save(disk, &path);
        let run = |program: &str, args: &[&std::ffi::OsStr]| {
            output(&mut limited(20, program, args)).unwrap().status
        };
        let code = run("e2fsck", &["-fy".as_ref(), path.as_os_str()]).code();
        assert!(code.is_some_and(|c| c <= 1), "e2fsck: {code:?}");
        assert_eq!(by_reader(FileReader::open(&path).unwrap(), name), found);
        self.by_e2fsck += 1;
        if !nth.is_multiple_of(self.every * 8) {
            return;
        }
        save(disk, &path);
        let (at, read) = (self.dir.path().join("mount"), self.dir.path().join("read"));
        std::fs::create_dir_all(&at).unwrap();
        let _ = std::fs::remove_file(&read);
        let script = r#"! [ -e "$2/$3" ] || cat "$2/$3" > "$4""#;
        while_mounted(&path, &at, script, &[name.as_ref(), read.as_os_str()]).unwrap();
        let theirs = classify(std::fs::read(&read).ok());
        if theirs != found {
            // What the kernel was given, and not what it made of it.
            let kept = std::env::temp_dir().join(format!("fslab-crash-{nth}.img"));
            save(disk, &kept);
            panic!(
                "the kernel finds {theirs:?}, fslab {found:?}: {}",
                kept.display()
            );
        }
        self.by_kernel += 1;
    }
}

impl Judges {
    /// The kernel cannot mount the disk either.
    pub fn refuses(&mut self, disk: &CowDisk) {
        if !self.here {
            return;
        }
        let (path, at) = (self.dir.path().join("image"), self.dir.path().join("mount"));
        save(disk, &path);
        std::fs::create_dir_all(&at).unwrap();
        assert!(while_mounted(&path, &at, "true", &[]).is_err());
        self.by_kernel += 1;
    }
}
