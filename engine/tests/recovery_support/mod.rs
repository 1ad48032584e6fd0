//! What the tests of recovery share: a mount and unmount of fslab's, and the comparison of
//! what is left with what the kernel left.

use crate::oracle::{self, Bytes, Entry, Truth};
use fslab_engine::device::{Device, Overlaid};
use fslab_engine::disk::{FileReader, ReadAt};
use fslab_engine::ext4::layout::FileType;
use fslab_engine::ext4::read::{Fs, InodeBuf};
use fslab_engine::kernel::{Mount, MountError, MountOptions};
use fslab_engine::units::InodeNr;
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A device over an image, which stays as it is.
pub fn over(path: &Path) -> Overlaid {
    Overlaid::new(Arc::new(FileReader::open(path).unwrap()))
}

pub fn overlaid(device: &dyn Device) -> Overlaid {
    device.as_any().downcast_ref::<Overlaid>().unwrap().clone()
}

/// The device after a mount and an unmount.
pub fn mounted_once(device: Overlaid) -> Result<Overlaid, MountError> {
    let mount = Mount::mount(Box::new(device), MountOptions::default())?;
    let (device, done) = mount.unmount();
    done?;
    Ok(overlaid(&*device))
}

/// Writes a device's changes into a copy of the image below it.
pub fn write_changes(device: &Overlaid, copy: &Path) {
    let file = std::fs::File::options().write(true).open(copy).unwrap();
    for (at, bytes) in device.changes() {
        file.write_all_at(bytes, at).unwrap();
    }
}

/// e2fsck finds nothing to say of what a device holds.
pub fn clean(device: &Overlaid, image: &Path, what: &str) {
    let (_folder, copy) = oracle::scratch_copy(image).unwrap();
    write_changes(device, &copy);
    let checked = oracle::fsck(&copy, 60).unwrap();
    assert_eq!(checked.code, Some(0), "{what}: {}", checked.output);
}

fn names<R: ReadAt>(fs: &Fs<R>) -> BTreeMap<Bytes, u32> {
    let mut out = BTreeMap::from([(Bytes(b"/".to_vec()), 2)]);
    let mut todo = vec![(Vec::new(), InodeNr(2))];
    while let Some((path, dir)) = todo.pop() {
        let inode = fs.inode(dir).unwrap();
        let (entries, problems) = fs.read_dir(&inode);
        assert_eq!(problems, []);
        for entry in entries {
            if entry.name == b"." || entry.name == b".." {
                continue;
            }
            let path = [&path[..], b"/", &entry.name].concat();
            out.insert(Bytes(path.clone()), entry.inode.0);
            if fs.inode(entry.inode).unwrap().file_type() == FileType::Directory {
                todo.push((path, entry.inode));
            }
        }
    }
    out
}

/// The tree is the kernel's: names, and all that a person can see of each inode.
pub fn same_as_kernels<R: ReadAt>(medium: R, truth: &Truth, what: &str) {
    let fs = Fs::open(medium).unwrap();
    assert_eq!(fs.problems(), &[], "{what}");
    let (ours, theirs) = (names(&fs), &truth.names);
    let missing: Vec<_> = theirs
        .iter()
        .filter(|(n, i)| ours.get(*n) != Some(i))
        .collect();
    let more: Vec<_> = ours
        .iter()
        .filter(|(n, i)| theirs.get(*n) != Some(i))
        .collect();
    assert!(
        missing.is_empty() && more.is_empty(),
        "{what}: missing {missing:?}, too many {more:?}"
    );
    for (path, ino, entry) in truth.entries() {
        let inode = fs.inode(InodeNr(ino)).unwrap();
        let at = format!("{what}: {}", path.escape_ascii());
        same_inode(&fs, &inode, entry, &at);
    }
}

fn same_inode<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf, entry: &Entry, at: &str) {
    assert_eq!(fs.inode_checksum_flaw(inode), None, "{at}");
    assert_eq!(inode.size(), entry.size, "{at}: size");
    assert_eq!(u32::from(inode.i_mode()), entry.mode, "{at}: mode");
    assert_eq!(u32::from(inode.i_links_count()), entry.nlink, "{at}: links");
    assert_eq!(inode.uid(), entry.uid, "{at}: uid");
    assert_eq!(inode.gid(), entry.gid, "{at}: gid");
    let unit = match entry.flags & 0x40000 {
        0 => 1,
        _ => u64::from(fs.geometry().block_size) / 512,
    };
    assert_eq!(fs.sectors(inode), entry.sectors * unit, "{at}: sectors");
    let mtime = inode.mtime();
    // Replaying a fast commit changes directories at its own time, here as in Linux.
    if !(entry.is_dir() && at.starts_with("fast-commit")) {
        assert_eq!((mtime.secs, mtime.nanos), entry.mtime, "{at}: mtime");
    }
    let (xattrs, problems) = fs.xattrs(inode);
    assert_eq!(problems, [], "{at}");
    let xattrs: BTreeMap<Bytes, Bytes> = xattrs
        .into_iter()
        .map(|x| (Bytes(x.name), Bytes(x.value)))
        .collect();
    assert_eq!(xattrs, entry.xattrs, "{at}: attributes");
    if let Some(target) = &entry.target {
        assert_eq!(&fs.symlink_target(inode).unwrap(), &target.0, "{at}");
    }
    if entry.is_file() {
        let content = fs.content(inode);
        assert_eq!(content.problems(), &[], "{at}");
        let read = |offset, len| {
            let mut buf = vec![0; len];
            let n = fs
                .read_content(&content, offset, &mut buf)
                .map_err(|e| e.to_string())?;
            buf.truncate(n);
            Ok(buf)
        };
        entry
            .check_content(read)
            .unwrap_or_else(|e| panic!("{at}: {e}"));
    }
}

/// Groups count as the kernel's do after the same mount.
pub fn same_groups<R: ReadAt>(medium: R, truth: &Truth, what: &str) {
    let fs = Fs::open(medium).unwrap();
    for (g, theirs) in fs.groups().zip(&truth.groups) {
        let d = fs.group_desc(g).unwrap();
        let ours = (
            u64::from(d.free_blocks()),
            u64::from(d.free_inodes()),
            u64::from(d.used_dirs()),
        );
        let theirs = (theirs.free_blocks, theirs.free_inodes, theirs.used_dirs);
        assert_eq!(ours, theirs, "{what}: group {g}");
    }
}
