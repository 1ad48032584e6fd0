//! Does with an image all that a reader can do, for tests and fuzzing: nothing may
//! panic, hang, or use memory beyond the image's own measure.

// Each test that includes this uses a part of it.
#![allow(dead_code)]

use fslab_engine::disk::ReadAt;
use fslab_engine::ext4::journal::{Journal, Overlay};
use fslab_engine::ext4::read::{Fs, SuperblockAt};
use fslab_engine::units::{BlockNr, GroupNr, InodeNr};
use fslab_engine::view;
use fslab_engine::view::owners::{BlockMap, Kind, Names, Scan, ScanOptions};

/// Inodes looked at one by one; every one is in the scan anyway.
const MOST_INODES: u32 = 3000;
/// Blocks decoded one by one: those that are not plain data.
const MOST_BLOCKS: usize = 1000;
/// Bytes read of each file at each place.
const MOST_BYTES: usize = 5000;

/// Opens the image by every superblock that opens it, and looks at everything.
pub fn everything<R: ReadAt>(medium: &R) -> Result<BlockMap, String> {
    let fs = Fs::open(medium).map_err(|e| e.to_string())?;
    for at in SuperblockAt::usual_backups().take(3) {
        if let Ok(backup) = Fs::open_at(medium, at) {
            groups(&backup);
        }
    }
    groups(&fs);
    for nr in 1..=fs.geometry().inodes.min(MOST_INODES) {
        inode(&fs, InodeNr(nr));
    }
    let (orphans, problems) = fs.orphans();
    let _ = (orphans.len(), sentences(problems.iter()));
    let _ = fs.resolve(b"/lost+found/../a/b/c");
    let _ = view::summary(&fs);
    for text in [
        "/",
        "/a/tiny",
        "inode 12",
        "99999999999",
        "block 70",
        "group 1",
        "\\x",
    ] {
        let _ = view::search(&fs, text);
    }
    journal(&fs);
    let (map, names) = map_and_names(&fs);
    blocks(&fs, &map, &names);
    Ok(map)
}

/// The journal, its history, and the filesystem as a replay would leave it.
fn journal<R: ReadAt>(fs: &Fs<R>) {
    let Ok(mut journal) = Journal::open(fs) else {
        return;
    };
    journal.read_history(fs.medium(), &mut |_, _| true);
    let _ = view::journal::journal(&journal, 0, 0);
    for home in journal.replayed().keys().copied().take(20) {
        for version in journal.old_versions(BlockNr(home)).iter().take(4) {
            let _ = journal.read_version(fs.medium(), version);
        }
    }
    let after = Overlay::new(fs.medium(), fs.medium(), journal.replay_map());
    if let Ok(fs) = Fs::open(after) {
        groups(&fs);
        for nr in 1..=fs.geometry().inodes.min(40) {
            inode(&fs, InodeNr(nr));
        }
    }
}

/// Every block that is something, decoded as what the map says and as what it looks like.
fn blocks<R: ReadAt>(fs: &Fs<R>, map: &BlockMap, names: &Names) {
    let plain = [Kind::Free, Kind::Data];
    let some = map.runs.iter().filter(|r| !plain.contains(&r.kind));
    let each = some.flat_map(|r| r.start..r.end().min(r.start + 20));
    for block in each.take(MOST_BLOCKS) {
        let owner = view::OwnerInfo::find(map, names, block);
        let _ = view::block(fs, BlockNr(block), owner.as_ref());
        if block % 5 == 0 {
            let _ = view::block(fs, BlockNr(block), None);
        }
    }
}

/// The whole map of an image.
pub fn map<R: ReadAt>(fs: &Fs<R>) -> BlockMap {
    map_and_names(fs).0
}

fn map_and_names<R: ReadAt>(fs: &Fs<R>) -> (BlockMap, Names) {
    let options = ScanOptions {
        names: true,
        most_claims: 1 << 20,
    };
    let mut scan = Scan::new(fs, options);
    while !scan.progress().is_finished() {
        scan.step(fs);
        if scan.knows_free_space() && scan.progress().done.is_power_of_two() {
            let _ = scan.preview(fs);
        }
    }
    let (map, names) = scan.finish(fs);
    let end = map.runs.iter().fold(0, |at, run| {
        assert_eq!(run.start, at, "the map's runs leave a gap or overlap");
        run.end()
    });
    assert_eq!(
        end,
        fs.geometry().blocks,
        "the map ends before the filesystem does"
    );
    for ino in (1..200).chain([u32::MAX]) {
        let _ = names.path(ino);
    }
    let _ = sentences(map.problems.iter());
    (map, names)
}

fn sentences<'a>(problems: impl Iterator<Item = &'a fslab_engine::ext4::Problem>) -> usize {
    problems.map(|p| p.to_string().len()).sum()
}

fn groups<R: ReadAt>(fs: &Fs<R>) {
    for g in (0..fs.geometry().groups.min(2000)).map(GroupNr) {
        let _ = fs.group(g);
        let _ = fs.bitmap_checksums(g);
        let _ = view::group_rows(fs, g.0..g.0 + 1);
        let _ = (fs.base_meta(g), fs.moved_meta(g));
    }
    let _ = sentences(fs.problems().iter());
}

fn inode<R: ReadAt>(fs: &Fs<R>, nr: InodeNr) {
    let Ok(inode) = fs.inode(nr) else { return };
    let _ = fs.inode_checksum_flaw(&inode);
    let _ = fs.inode_in_use(nr);
    let (xattrs, problems) = fs.xattrs(&inode);
    let _ = (xattrs.len(), sentences(problems.iter()));
    let content = fs.content(&inode);
    let mut buf = vec![0; MOST_BYTES];
    for offset in [0, 1, content.size.saturating_sub(5), content.size / 2] {
        let _ = fs.read_content(&content, offset, &mut buf);
    }
    let _ = sentences(content.problems().iter());
    let _ = fs.symlink_target(&inode);
    let (names, problems) = fs.read_dir(&inode);
    let _ = (names.len(), sentences(problems.iter()));
    if let Some(tree) = fs.htree(&inode) {
        let _ = sentences(tree.problems.iter());
    }
    let _ = view::inode(fs, nr);
    let _ = view::map(fs, nr);
    let _ = view::dir(fs, nr, 0, 50);
}
