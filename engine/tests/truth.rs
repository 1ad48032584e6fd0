//! Our reader against the kernel and e2fsprogs 1.47, on images of every feature: the
//! same tree, bytes, attributes, extents, groups and owners of blocks.

mod exercise;
mod oracle;

use fslab_engine::disk::FileReader;
use fslab_engine::ext4::layout::{Compat, FileType};
use fslab_engine::ext4::read::{Fs, InodeBuf};
use fslab_engine::units::{GroupNr, InodeNr};
use fslab_engine::view::owners::{BlockMap, Flags, Kind};
use oracle::{Bytes, Entry, Extent, Image, merged};
use std::collections::BTreeMap;

type Reader = Fs<FileReader>;

/// EXT4_HUGE_FILE_FL.
const HUGE_FILE: u32 = 0x40000;

/// Differences found in one image, said in lines.
#[derive(Default)]
struct Report(Vec<String>);

impl Report {
    fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: impl Fn() -> String,
        ours: T,
        theirs: T,
    ) {
        if ours != theirs {
            self.0
                .push(format!("{}: ours {ours:?}, theirs {theirs:?}", what()));
        }
    }
}

/// Runs a comparison on every image and fails with all differences, by image.
fn on_every_image(compare: impl Fn(&Image, &Reader, &mut Report)) {
    let Some(images) = oracle::images() else {
        return;
    };
    let mut all = Vec::new();
    for image in &images {
        let name = image.recipe.name;
        let mut report = Report::default();
        match Fs::open(FileReader::open(&image.path).unwrap()) {
            Ok(fs) => compare(image, &fs, &mut report),
            Err(e) => report.0.push(format!("does not open: {e}")),
        }
        let left_out = report.0.len().saturating_sub(12);
        all.extend(
            report
                .0
                .into_iter()
                .take(12)
                .map(|line| format!("{name}: {line}")),
        );
        if left_out > 0 {
            all.push(format!("{name}: and {left_out} more"));
        }
    }
    assert!(images.len() > 50, "only {} images were made", images.len());
    assert!(
        all.is_empty(),
        "{} differences:\n{}",
        all.len(),
        all.join("\n")
    );
}

/// Every path below a directory, as our reader finds them.
fn tree(fs: &Reader, report: &mut Report) -> BTreeMap<Bytes, u32> {
    let mut names = BTreeMap::from([(Bytes(b"/".to_vec()), 2)]);
    let mut todo = vec![(Vec::new(), InodeNr(2))];
    while let Some((path, ino)) = todo.pop() {
        let dir = fs.inode(ino).unwrap();
        let (entries, problems) = fs.read_dir(&dir);
        report.0.extend(
            problems
                .iter()
                .map(|p| format!("reading {:?}: {p}", Bytes(path.clone()))),
        );
        for e in entries.iter().filter(|e| e.name != b"." && e.name != b"..") {
            let mut below = path.clone();
            below.push(b'/');
            below.extend_from_slice(&e.name);
            let inode = fs.inode(e.inode).unwrap();
            if e.file_type != FileType::Unknown {
                report.same(
                    || format!("type of {}", e.inode),
                    e.file_type,
                    inode.file_type(),
                );
            }
            if inode.file_type() == FileType::Directory {
                todo.push((below.clone(), e.inode));
            }
            names.insert(Bytes(below), e.inode.0);
        }
    }
    names
}

#[test]
fn names_are_the_same() {
    on_every_image(|image, fs, report| {
        let ours = tree(fs, report);
        for (path, ino) in &image.truth.names {
            if ours.get(path) != Some(ino) {
                report
                    .0
                    .push(format!("{path:?}: ours {:?}, theirs {ino}", ours.get(path)));
            }
        }
        for path in ours.keys().filter(|p| !image.truth.names.contains_key(*p)) {
            report.0.push(format!("{path:?} is only ours"));
        }
    });
}

#[test]
fn inodes_are_the_same() {
    on_every_image(|image, fs, report| {
        for (&ino, theirs) in &image.truth.inodes {
            let inode = fs.inode(InodeNr(ino)).unwrap();
            compare_inode(fs, &inode, theirs, report);
        }
    });
}

fn compare_inode(fs: &Reader, inode: &InodeBuf, theirs: &Entry, report: &mut Report) {
    let nr = inode.nr;
    let time = |t: fslab_engine::ext4::layout::Timestamp| (t.secs, t.nanos);
    let mut same = |what: &str, ours: u64, theirs: u64| {
        report.same(|| format!("{what} of inode {nr}"), ours, theirs)
    };
    same("mode", inode.i_mode().into(), theirs.mode.into());
    same("uid", inode.uid().into(), theirs.uid.into());
    same("gid", inode.gid().into(), theirs.gid.into());
    same("size", inode.size(), theirs.size);
    same("links", inode.i_links_count().into(), theirs.nlink.into());
    same("flags", inode.i_flags().into(), theirs.flags.into());
    // debugfs prints the number on disk, which counts blocks where the inode says so.
    let unit = if theirs.flags & HUGE_FILE == 0 {
        1
    } else {
        u64::from(fs.geometry().block_size) / 512
    };
    same("sectors", fs.sectors(inode), theirs.sectors * unit);
    same(
        "generation",
        inode.i_generation().into(),
        theirs.generation.into(),
    );
    same("attribute block", inode.file_acl().0, theirs.file_acl);
    same(
        "project",
        inode.project().unwrap_or(0).into(),
        theirs.project.into(),
    );
    report.same(
        || format!("device of inode {nr}"),
        inode.device().unwrap_or((0, 0)),
        theirs.rdev,
    );
    report.same(
        || format!("atime of inode {nr}"),
        time(inode.atime()),
        theirs.atime,
    );
    report.same(
        || format!("mtime of inode {nr}"),
        time(inode.mtime()),
        theirs.mtime,
    );
    report.same(
        || format!("ctime of inode {nr}"),
        time(inode.ctime()),
        theirs.ctime,
    );
    report.same(
        || format!("crtime of inode {nr}"),
        inode.crtime().map(time),
        theirs.crtime,
    );
    if let Some(target) = &theirs.target {
        let ours = fs
            .symlink_target(inode)
            .map(Bytes)
            .map_err(|e| e.to_string());
        report.same(|| format!("target of inode {nr}"), ours, Ok(target.clone()));
    }
    if let Some(problem) = fs.inode_checksum_flaw(inode) {
        report.0.push(problem.to_string());
    }
}

#[test]
fn contents_are_the_same() {
    on_every_image(|image, fs, report| {
        for (&ino, theirs) in image.truth.inodes.iter().filter(|(_, e)| e.is_file()) {
            let content = fs.content(&fs.inode(InodeNr(ino)).unwrap());
            let read = |offset: u64, len: usize| {
                let mut buf = vec![0; len];
                let n = fs
                    .read_content(&content, offset, &mut buf)
                    .map_err(|e| e.to_string())?;
                buf.truncate(n);
                Ok(buf)
            };
            if let Err(why) = theirs.check_content(read) {
                report.0.push(format!("contents of inode {ino}: {why}"));
            }
        }
    });
}

#[test]
fn attributes_are_the_same() {
    on_every_image(|image, fs, report| {
        for (&ino, theirs) in &image.truth.inodes {
            let (xattrs, problems) = fs.xattrs(&fs.inode(InodeNr(ino)).unwrap());
            report.0.extend(problems.iter().map(ToString::to_string));
            let ours: BTreeMap<Bytes, Bytes> = xattrs
                .into_iter()
                .filter(|x| x.is_listed())
                .map(|x| (Bytes(x.name), Bytes(x.value)))
                .collect();
            report.same(
                || format!("attributes of inode {ino}"),
                &ours,
                &theirs.xattrs,
            );
        }
    });
}

#[test]
fn extents_are_the_same() {
    on_every_image(|image, fs, report| {
        for (&ino, theirs) in &image.truth.extents {
            let runs = fs.runs(&fs.inode(InodeNr(ino)).unwrap());
            report
                .0
                .extend(runs.problems.iter().map(ToString::to_string));
            let ours = runs.runs.iter().map(|r| Extent {
                logical: r.lblk.0.into(),
                physical: r.start.0,
                len: r.len.into(),
                unwritten: r.unwritten,
            });
            report.same(
                || format!("extents of inode {ino}"),
                merged(ours.collect()),
                theirs.clone(),
            );
        }
    });
}

#[test]
fn groups_are_the_same() {
    on_every_image(|image, fs, report| {
        report.same(
            || "groups".into(),
            fs.geometry().groups as usize,
            image.truth.groups.len(),
        );
        report.same(
            || "features".into(),
            sorted(fs.superblock().feature_names()),
            sorted(image.truth.features()),
        );
        for (g, theirs) in image.truth.groups.iter().enumerate() {
            let ours = fs.group(GroupNr(g as u32)).unwrap();
            report.same(
                || format!("free blocks of group {g}"),
                u64::from(ours.free_blocks),
                theirs.free_blocks,
            );
            report.same(
                || format!("free inodes of group {g}"),
                u64::from(ours.free_inodes),
                theirs.free_inodes,
            );
            report.same(
                || format!("directories of group {g}"),
                u64::from(ours.used_dirs),
                theirs.used_dirs,
            );
            if ours.checksum_ok == Some(false) {
                report
                    .0
                    .push(format!("descriptor {g} has a wrong checksum"));
            }
            let (blocks, inodes) = fs.bitmap_checksums(GroupNr(g as u32)).unwrap();
            if blocks == Some(false) || inodes == Some(false) {
                report.0.push(format!(
                    "bitmaps of group {g}: checksums {blocks:?} {inodes:?}"
                ));
            }
        }
    });
}

fn sorted<S: Into<String>>(words: Vec<S>) -> Vec<String> {
    let mut words: Vec<String> = words.into_iter().map(Into::into).collect();
    words.sort();
    words
}

#[test]
fn clean_images_have_no_problems() {
    on_every_image(|_, fs, report| {
        report
            .0
            .extend(fs.problems().iter().map(ToString::to_string));
        let map = exercise::map(fs);
        report
            .0
            .extend(map.problems.iter().map(ToString::to_string));
        for kind in [Kind::Twice, Kind::Unowned] {
            report.same(
                || format!("blocks that are {}", kind.words()),
                map.totals()[kind.index()],
                0,
            );
        }
        let marked_free = map
            .runs
            .iter()
            .filter(|r| r.flags.contains(Flags::MARKED_FREE))
            .count();
        report.same(|| "runs owned but free".into(), marked_free, 0);
    });
}

#[test]
fn owners_of_a_thousand_blocks_are_the_same() {
    on_every_image(|image, fs, report| {
        let map = exercise::map(fs);
        let blocks = some_blocks(fs, &map);
        let theirs = oracle::icheck(&image.path, &blocks).unwrap();
        for (&block, &theirs) in blocks.iter().zip(&theirs) {
            compare_owner(fs, &map, block, theirs, report);
        }
    });
}

/// A thousand blocks, chosen by a fixed sequence, half of them among those in use.
fn some_blocks(fs: &Reader, map: &BlockMap) -> Vec<u64> {
    // Knuth's multiplier, modulo 2^64: any spread will do, as long as it is the same.
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    let first = fs.geometry().first_data_block;
    let in_use: Vec<_> = map.runs.iter().filter(|r| r.inode != 0).collect();
    (0..1000)
        .map(
            |i| match in_use.get(next() as usize % in_use.len().max(1)) {
                Some(run) if i % 2 == 0 => run.start + next() % u64::from(run.len),
                _ => first + next() % (fs.geometry().blocks - first),
            },
        )
        .collect()
}

fn compare_owner(
    fs: &Reader,
    map: &BlockMap,
    block: u64,
    theirs: Option<u32>,
    report: &mut Report,
) {
    let run = map.at(block).unwrap();
    let ours = match run.kind {
        // debugfs counts reserved descriptors as the resize inode's.
        Kind::ReservedDescriptors if fs.superblock().compat().contains(Compat::RESIZE_INODE) => {
            Some(7)
        }
        // A cluster's blocks that no extent maps belong to the cluster's file with us.
        _ if run.flags.contains(Flags::SLACK) || run.inode == 0 => None,
        _ => Some(run.inode),
    };
    // Of several inodes that share an attribute block, any is right.
    if run.flags.contains(Flags::SHARED) && theirs.is_some() {
        return;
    }
    report.same(
        || format!("owner of block {block} ({})", run.kind.word()),
        ours,
        theirs,
    );
}
