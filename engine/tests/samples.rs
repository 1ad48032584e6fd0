//! The page's sample images show what `assets/samples/README.md` says of them.

use fslab_engine::disk::FileReader;
use fslab_engine::ext4::journal::{Journal, Outcome, Overlay};
use fslab_engine::ext4::read::{Fs, SuperblockAt};
use fslab_engine::image::{self, Limits, Medium};
use fslab_engine::view::owners::{BlockMap, Flags, Kind, Names, Scan, ScanOptions};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// All of them together, in bytes.
const MOST_BYTES: u64 = 200 * 1024;

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/samples")
}

fn open(name: &str) -> Fs<Medium> {
    let file = FileReader::open(&samples().join(name)).unwrap();
    let opened = image::open(Rc::new(file), Limits::default()).unwrap();
    assert_eq!(opened.layers.len(), 1, "{name} is packed once");
    assert_eq!(opened.problems, [], "{name}");
    Fs::open(opened.content).unwrap()
}

fn map(fs: &Fs<Medium>) -> (BlockMap, Names) {
    let mut scan = Scan::new(fs, ScanOptions::default());
    while !scan.step(fs).is_finished() {}
    scan.finish(fs)
}

fn total(map: &BlockMap, kind: Kind) -> u64 {
    map.totals()[kind.index()]
}

/// Opens a sample in which nothing may be wrong.
fn open_sound(name: &str) -> (Fs<Medium>, BlockMap) {
    let fs = open(name);
    assert_eq!(fs.problems(), [], "{name}");
    let (map, _) = map(&fs);
    assert_eq!(map.problems, [], "{name}");
    for kind in [Kind::Unowned, Kind::Twice, Kind::Unknown] {
        assert_eq!(total(&map, kind), 0, "{name}: {}", kind.words());
    }
    let free_by_bitmap = map
        .runs
        .iter()
        .any(|r| r.flags.contains(Flags::MARKED_FREE));
    assert!(!free_by_bitmap, "{name} has blocks in use marked free");
    (fs, map)
}

fn inode_of(fs: &Fs<Medium>, path: &str) -> u32 {
    fs.resolve(path.as_bytes()).unwrap().nr.0
}

#[test]
fn all_together_they_are_small() {
    let packed = |path: &PathBuf| {
        let name = path.to_string_lossy();
        [".img.gz", ".img.xz", ".img.zst"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let all: Vec<PathBuf> = std::fs::read_dir(samples())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(packed)
        .collect();
    assert_eq!(all.len(), 4, "{all:?}");
    let bytes: u64 = all.iter().map(|p| p.metadata().unwrap().len()).sum();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

#[test]
fn small_has_every_kind_of_file() {
    let (fs, map) = open_sound("small.img.xz");
    assert_eq!(fs.geometry().groups, 8);
    for kind in [
        Kind::Journal,
        Kind::Directory,
        Kind::Htree,
        Kind::ExtentIndex,
        Kind::Xattr,
        Kind::Symlink,
        Kind::Internal,
        Kind::ReservedDescriptors,
    ] {
        assert!(total(&map, kind) > 0, "no {}", kind.words());
    }
    // 256 KiB, of which 16 and 4 KiB were written.
    let table = inode_of(&fs, "/database/table.db");
    let unwritten = map
        .of_inode(table)
        .filter(|r| r.flags.contains(Flags::UNWRITTEN));
    assert_eq!(unwritten.map(|r| r.len).sum::<u32>(), 256 - 16 - 4);
    // Four islands of 4 KiB.
    let sparse = inode_of(&fs, "/database/sparse.img");
    assert_eq!(map.of_inode(sparse).map(|r| r.len).sum::<u32>(), 16);
    for name in ["/odd/<b>bold<b>", "/odd/two\nlines", "/mail/letter-300.eml"] {
        inode_of(&fs, name);
    }
    assert_eq!(
        inode_of(&fs, "/docs/thesis.txt"),
        inode_of(&fs, "/backup/thesis.txt")
    );
    assert!(fs.resolve(b"/docs/draft.txt").is_err(), "it was deleted");
}

#[test]
fn ext2_has_indirect_blocks_of_every_level() {
    let (fs, map) = open_sound("ext2.img.xz");
    let core = inode_of(&fs, "/var/core");
    let of_kind = |kind| {
        let runs = map.of_inode(core).filter(move |r| r.kind == kind);
        runs.map(|r| r.len).sum::<u32>()
    };
    // One for single, two for double, three for triple indirection.
    assert_eq!(of_kind(Kind::Indirect), 1 + 2 + 3);
    // Four pieces of 6 KiB.
    assert_eq!(of_kind(Kind::Data), 4 * 6);
    assert!(fs.resolve(b"/usr/src/linux/kernel/sched.c").is_ok());
}

#[test]
fn journal_has_transactions_to_replay() {
    let fs = open("journal.img.xz");
    let journal = Journal::open(&fs).unwrap();
    assert_eq!(journal.problems(), []);
    let Outcome::Replay {
        first,
        last,
        homes,
        revoked,
        damaged,
    } = *journal.outcome()
    else {
        panic!("{:?}", journal.outcome());
    };
    assert!(last - first == 7, "transactions {first} to {last}");
    assert!(homes > 0 && revoked > 0, "{homes} homes, {revoked} revoked");
    assert_eq!(damaged, 0);

    let before = "/orders/order-1";
    assert!(fs.resolve(before.as_bytes()).is_ok());
    assert!(fs.resolve(b"/accounts/report.txt").is_err());
    let overlay = Overlay::new(
        fs.medium().clone(),
        fs.medium().clone(),
        journal.replay_map(),
    );
    let after: Fs<Medium> = Fs::open(Rc::new(overlay) as Medium).unwrap();
    assert!(after.resolve(before.as_bytes()).is_err(), "it was renamed");
    assert!(after.resolve(b"/accounts/report.txt").is_ok());
    assert!(after.resolve(b"/scratch").is_err());
    let (orphans, problems) = after.orphans();
    assert_eq!((orphans.len(), problems.len()), (1, 0));
}

#[test]
fn damaged_shows_each_damage() {
    let fs = open("damaged.img.xz");
    let backup = SuperblockAt::Backup {
        group: 1,
        block_size: 1024,
    };
    assert_eq!(fs.superblock_at(), backup);
    let (map, _) = map(&fs);

    // The fifth block of the one is the only block of the other.
    assert_eq!(total(&map, Kind::Twice), 1);
    let twice = map.runs.iter().find(|r| r.kind == Kind::Twice).unwrap();
    let mut claimants: Vec<u32> = map.claimants(twice.start).map(|c| c.inode).collect();
    claimants.sort_unstable();
    let mut expected = ["/hurt/mine.txt", "/hurt/mine-too.txt"].map(|p| inode_of(&fs, p));
    expected.sort_unstable();
    assert_eq!(claimants, expected);

    // debugfs: setb 4000 5
    assert_eq!(total(&map, Kind::Unowned), 5);
    assert_eq!(map.at(4000).unwrap().kind, Kind::Unowned);

    let free = inode_of(&fs, "/hurt/marked-free.txt");
    let marked = map
        .runs
        .iter()
        .filter(|r| r.flags.contains(Flags::MARKED_FREE));
    let marked: Vec<(u32, u32)> = marked.map(|r| (r.inode, r.len)).collect();
    assert_eq!(marked, [(free, 3)]);

    let sentences: Vec<String> = map.problems.iter().map(ToString::to_string).collect();
    assert!(
        sentences.iter().any(|s| s.contains("30000")),
        "{sentences:?}"
    );

    let flipped = fs.resolve(b"/hurt/flipped-bit.txt").unwrap();
    assert_eq!(fs.inode_checksum_ok(flipped.nr, flipped.raw()), Some(false));
    let healthy = fs.resolve(b"/healthy/poem.txt").unwrap();
    assert_eq!(fs.inode_checksum_ok(healthy.nr, healthy.raw()), Some(true));
}
