//! What the tests of journals that are left behind share: copies that the real kernel makes,
//! both recoveries, and their comparison.

use crate::oracle::{self, ask_kernel, limited, output};
use fslab_engine::device::{Device, Overlaid};
use fslab_engine::disk::{FileReader, ReadAt};
use fslab_engine::ext4::journal::{FcValue, Journal};
use fslab_engine::ext4::layout::FileType;
use fslab_engine::ext4::read::{Fs, InodeBuf};
use fslab_engine::kernel::{Mount, MountOptions};
use fslab_engine::units::InodeNr;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A filesystem and how the kernel mounts it.
pub struct Setting {
    pub mkfs: &'static str,
    pub block_size: u32,
    pub mount: &'static str,
    pub external: bool,
}

pub const fn set(mkfs: &'static str, block_size: u32, mount: &'static str) -> Setting {
    Setting {
        mkfs,
        block_size,
        mount,
        external: false,
    }
}

/// Copies of the images of one run.
pub struct Run {
    pub folder: tempfile::TempDir,
    pub copies: usize,
    pub external: bool,
}

impl Run {
    pub fn image(&self, n: usize) -> PathBuf {
        self.folder.path().join(format!("image-{n}"))
    }

    pub fn journal(&self, n: usize) -> Option<PathBuf> {
        let path = self.folder.path().join(format!("journal-{n}"));
        self.external.then_some(path)
    }
}

pub fn run(program: &str, words: &str, last: &Path) {
    let mut words: Vec<&std::ffi::OsStr> = words.split_whitespace().map(AsRef::as_ref).collect();
    words.push(last.as_os_str());
    let out = output(&mut limited(60, program, &words)).unwrap();
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{program} {words:?}: {text}");
}

pub fn blank(path: &Path, bytes: u64) {
    std::fs::File::create(path).unwrap().set_len(bytes).unwrap();
}

pub fn make(s: &Setting, live: &Path, journal: Option<&Path>) {
    let megabytes = if s.block_size == 1024 { 16 } else { 32 };
    blank(live, megabytes << 20);
    let words = format!("-q -F -b {} {} -E lazy_itable_init=0", s.block_size, s.mkfs);
    let Some(journal) = journal else {
        return run("mke2fs", &words, live);
    };
    blank(journal, 8 << 20);
    let device = format!("-q -F -O journal_dev -b {}", s.block_size);
    run("mke2fs", &device, journal);
    let live = live.to_str().unwrap();
    let mut command = vec!["mke2fs".to_string()];
    command.extend(words.split_whitespace().map(String::from));
    command.extend(["-J".into(), "device=JOURNAL".into(), live.into()]);
    let request = json!({ "journal": journal, "command": command });
    ask_kernel::<Value>("with_loop.py", &request).unwrap();
}

pub fn left(s: &Setting, seed: u64, copies: usize) -> Run {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("mnt")).unwrap();
    let journal = s.external.then(|| path("journal"));
    make(s, &path("live"), journal.as_deref());
    let request = json!({
        "image": path("live"), "journal": journal, "mnt": path("mnt"),
        "options": s.mount, "folder": folder.path(), "block_size": s.block_size,
        "seed": seed, "copies": copies, "calls": 25,
        "per_file_journal": s.mount.is_empty() && !s.mkfs.contains("fast_commit"),
    });
    ask_kernel::<Value>("copies.py", &request).unwrap();
    Run {
        folder,
        copies,
        external: s.external,
    }
}

/// All that a person sees of an inode.
#[derive(PartialEq, Debug)]
pub struct Seen {
    pub inode: u32,
    pub mode: u16,
    pub links: u16,
    pub owner: (u32, u32),
    pub size: u64,
    pub sectors: u64,
    pub flags: u32,
    pub mtime: (i64, u32),
    pub xattrs: BTreeMap<String, String>,
    pub contents: String,
}

pub type Tree = BTreeMap<String, Seen>;

pub fn tree<R: ReadAt>(medium: R, dir_times: bool) -> Tree {
    let fs = Fs::open(medium).unwrap();
    assert_eq!(fs.problems(), &[]);
    let mut tree = Tree::new();
    let mut todo = vec![(Vec::new(), InodeNr(2))];
    while let Some((path, nr)) = todo.pop() {
        let inode = fs.inode(nr).unwrap();
        let mut seen = see(&fs, nr, &inode);
        if inode.file_type() == FileType::Directory {
            if !dir_times {
                seen.mtime = (0, 0);
            }
            let (entries, problems) = fs.read_dir(&inode);
            assert_eq!(problems, []);
            let dots: [&[u8]; 2] = [b".", b".."];
            for e in entries.iter().filter(|e| !dots.contains(&&e.name[..])) {
                todo.push(([&path[..], b"/", &e.name].concat(), e.inode));
            }
        }
        tree.insert(path.escape_ascii().to_string(), seen);
    }
    tree
}

pub fn see<R: ReadAt>(fs: &Fs<R>, nr: InodeNr, inode: &InodeBuf) -> Seen {
    assert_eq!(fs.inode_checksum_flaw(inode), None);
    let contents = match inode.file_type() {
        FileType::Regular => {
            let content = fs.content(inode);
            assert_eq!(content.problems(), &[]);
            let mut bytes = vec![0; inode.size() as usize];
            fs.read_content(&content, 0, &mut bytes).unwrap();
            oracle::sha256(&bytes)
        }
        FileType::Symlink => format!("{:?}", fs.symlink_target(inode)),
        _ => String::new(),
    };
    let (xattrs, problems) = fs.xattrs(inode);
    assert_eq!(problems, []);
    let (mtime, directory) = (inode.mtime(), inode.file_type() == FileType::Directory);
    let text = |name: &[u8]| name.escape_ascii().to_string();
    Seen {
        inode: nr.0,
        mode: inode.i_mode(),
        links: inode.i_links_count(),
        owner: (inode.uid(), inode.gid()),
        size: if directory { 0 } else { inode.size() },
        sectors: fs.sectors(inode),
        flags: inode.i_flags(),
        mtime: (mtime.secs, mtime.nanos),
        xattrs: xattrs
            .into_iter()
            .map(|x| (text(&x.name), oracle::sha256(&x.value)))
            .collect(),
        contents,
    }
}

pub fn over(path: &Path) -> Overlaid {
    Overlaid::new(Arc::new(FileReader::open(path).unwrap()))
}

pub fn overlaid(device: &dyn Device) -> Overlaid {
    device.as_any().downcast_ref::<Overlaid>().unwrap().clone()
}

/// The devices after fslab's mount and unmount.
pub fn by_fslab(image: &Path, journal: Option<&Path>) -> (Overlaid, Option<Overlaid>) {
    let options = MountOptions::default();
    let mount = match journal {
        None => Mount::mount(Box::new(over(image)), options),
        Some(log) => Mount::mount_with_journal(Box::new(over(image)), Box::new(over(log)), options),
    };
    let (devices, done) = mount.unwrap_or_else(|e| panic!("{e}")).unmount_both();
    done.unwrap();
    let log = devices.journal.as_deref().map(overlaid);
    (overlaid(&*devices.filesystem), log)
}

pub fn apply(changes: &Overlaid, to: &Path) {
    let file = std::fs::File::options().write(true).open(to).unwrap();
    for (at, bytes) in changes.changes() {
        file.write_all_at(bytes, at).unwrap();
    }
}

/// What e2fsck says; nothing where it has nothing to say.
pub fn faults(image: &Path, journal: Option<&Path>) -> String {
    let checked = match journal {
        None => oracle::fsck(image, 60),
        Some(log) => oracle::fsck_with_journal(image, log, 60),
    };
    let checked = checked.unwrap();
    if checked.code == Some(0) {
        return String::new();
    }
    let lines = checked.output.lines();
    let lines = lines.filter(|l| !l.contains('/') && !l.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Lets the kernel recover the images where they are.
pub fn by_kernel(run: &Run, image: &Path, journal: Option<&Path>) -> Result<(), String> {
    let request = json!({
        "image": image, "journal": journal, "mnt": run.folder.path().join("mnt"), "options": "",
    });
    ask_kernel::<Value>("replay.py", &request).map(drop)
}

pub fn differences(ours: &Tree, theirs: &Tree) -> Vec<String> {
    let paths: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    let differ = paths.into_iter().filter(|p| ours.get(*p) != theirs.get(*p));
    differ
        .map(|p| {
            format!(
                "{p}:\n fslab  {:?}\n kernel {:?}",
                ours.get(p),
                theirs.get(p)
            )
        })
        .collect()
}

/// What is counted over copies.
#[derive(Default)]
pub struct Found {
    pub copies: usize,
    pub transactions: usize,
    /// Of fast commits.
    pub tags: usize,
    /// Copies that the kernel leaves so that e2fsck finds faults.
    pub faulty: usize,
    /// Inodes that fast commits free and take again.
    pub reused: BTreeSet<u32>,
}

impl Found {
    pub fn add(&mut self, other: &Self) {
        self.copies += other.copies;
        self.transactions += other.transactions;
        self.tags += other.tags;
        self.faulty += other.faulty;
    }
}

/// The tree without what the kernel's replay of fast commits gets wrong: links of directories
/// are not counted anew, blocks of files without their attributes', and directories that are
/// removed not freed, so that a file which gets the inode of one gets its blocks as well.
pub fn uncount(tree: &mut Tree, reused: &BTreeSet<u32>) {
    tree.retain(|_, seen| !reused.contains(&seen.inode));
    for seen in tree.values_mut() {
        seen.sectors = 0;
        if seen.mode & 0xF000 == 0x4000 {
            seen.links = 0;
        }
    }
}

/// What a copy's log holds to be replayed.
pub fn waiting(image: &Path, journal: Option<&Path>) -> Found {
    let fs = Fs::open(FileReader::open(image).unwrap()).unwrap();
    let log = match journal {
        None => Journal::open(&fs),
        Some(path) => Journal::open_device(&FileReader::open(path).unwrap(), Some(&fs)),
    };
    let log = log.unwrap();
    let fast = log.fast_commits();
    let tags = fast.map_or(&[][..], |f| &f.tags[..f.replayed]);
    let (mut gone, mut reused) = (BTreeSet::new(), BTreeSet::new());
    for tag in tags {
        match &tag.value {
            FcValue::Unlink { ino, .. } => {
                gone.insert(*ino);
            }
            FcValue::Create { ino, .. } if gone.contains(ino) => {
                reused.insert(*ino);
            }
            _ => {}
        }
    }
    Found {
        copies: 1,
        transactions: log.transactions().len(),
        tags: tags.len(),
        faulty: 0,
        reused,
    }
}

pub fn compare(run: &Run, n: usize, what: &str, dir_times: bool) -> Found {
    let (image, journal) = (run.image(n), run.journal(n));
    let mut found = waiting(&image, journal.as_deref());
    let (ours, our_log) = by_fslab(&image, journal.as_deref());
    let ours_tree = tree(ours.clone(), dir_times);
    let copy = |from: &Path, name: &str| {
        let to = run.folder.path().join(name);
        std::fs::copy(from, &to).unwrap();
        to
    };
    let recovered = copy(&image, "ours");
    apply(&ours, &recovered);
    let log = journal.as_deref().map(|j| copy(j, "our-log"));
    if let (Some(path), Some(changes)) = (&log, &our_log) {
        apply(changes, path);
    }
    let our_faults = faults(&recovered, log.as_deref());
    let before = copy(&image, "before");
    // The kernel works on the copies themselves.
    by_kernel(run, &image, journal.as_deref()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let their_faults = faults(&image, journal.as_deref());
    assert!(our_faults.is_empty(), "{what}: {our_faults}");
    let mut theirs = tree(FileReader::open(&image).unwrap(), dir_times);
    let mut ours_tree = ours_tree;
    if !their_faults.is_empty() {
        assert!(!dir_times, "{what}, the kernel: {their_faults}");
        found.faulty = 1;
        uncount(&mut ours_tree, &found.reused);
        uncount(&mut theirs, &found.reused);
    }
    let differ = differences(&ours_tree, &theirs);
    if !differ.is_empty() {
        for (from, name) in [
            (&before, "before"),
            (&recovered, "fslab"),
            (&image, "kernel"),
        ] {
            let kept = std::env::temp_dir().join(format!("fslab-left-{name}.img"));
            std::fs::copy(from, kept).unwrap();
        }
        panic!(
            "{what} (images in {}): {}",
            std::env::temp_dir().display(),
            differ.join("\n")
        );
    }
    found
}
