//! The lessons' scenarios: each runs to its end, gives the events that are on record, and
//! leaves a disk that e2fsck finds clean and that the kernel reads as fslab does.

mod kernel_ops;
mod oracle;

use fslab_engine::event::Kind;
use fslab_engine::kernel::MountOptions;
use fslab_engine::machine::End;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use kernel_ops::{fslab::Fslab, linux::Linux, run::clean, tree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lessons")
}

/// Name and text of each.
fn lessons() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path().join("scenario.toml");
            let text = std::fs::read_to_string(&path).ok()?;
            let name = path.parent()?.file_name()?.to_str()?.to_owned();
            Some((name, text))
        })
        .collect();
    all.sort();
    all
}

fn recorded(text: &str) -> Recording {
    let scenario = Scenario::parse(text).unwrap_or_else(|e| panic!("{e:#?}"));
    let mut recording = Recording::new(Arc::new(scenario)).unwrap();
    while recording.record(100_000) {}
    recording
}

#[test]
fn there_are_at_least_twelve() {
    assert!(lessons().len() >= 12);
}

/// The same events as on record, here as in the browser (`web/tests/runs.rs`). Where a
/// change is meant, `FSLAB_BLESS=1` writes them anew.
#[test]
fn events_are_those_on_record() {
    let path = folder().join("hashes.txt");
    let mut now = String::new();
    for (name, text) in lessons() {
        let recording = recorded(&text);
        assert_eq!(recording.end(), Some(End::Finished), "{name}");
        let broken = recording
            .index()
            .next_where(0, |k| matches!(k, Kind::Error | Kind::ProcessFailed));
        assert_eq!(broken, None, "{name}: something failed at this event");
        now.push_str(&format!(
            "{name} {} {:016x}\n",
            recording.len(),
            recording.hash()
        ));
    }
    if std::env::var_os("FSLAB_BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let on_record = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, on_record);
}

#[test]
fn the_disk_is_clean_and_read_alike() {
    if let Err(why) = oracle::available() {
        return oracle::skipped(&why).unwrap_or(());
    }
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in lessons() {
        let recording = recorded(&text);
        let image = dir.path().join(&name);
        save(&recording, &image);
        clean(&image).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ours = {
            let mut fslab = Fslab::mount(&image, MountOptions::default()).unwrap();
            tree::read(&mut fslab).unwrap()
        };
        let theirs = {
            let mut linux = Linux::mount(&image, "ext4", "").unwrap();
            let theirs = tree::read(&mut linux).unwrap();
            linux.unmount();
            theirs
        };
        if let Some(unlike) = tree::difference(&theirs, &ours) {
            panic!("{name}: {unlike}");
        }
    }
}

fn save(recording: &Recording, path: &Path) {
    use fslab_engine::disk::ReadAt;
    use std::os::unix::fs::FileExt;
    let disk = recording.head().drive().unwrap().contents();
    let file = std::fs::File::create(path).unwrap();
    file.set_len(ReadAt::len(disk)).unwrap();
    for (at, len) in disk.data() {
        let mut bytes = vec![0; len as usize];
        disk.read_at(at, &mut bytes).unwrap();
        file.write_all_at(&bytes, at).unwrap();
    }
}

/// What each is there to show happens in it.
#[test]
fn each_shows_what_it_says() {
    let wanted = BTreeMap::from([
        ("01-one-file", Kind::Allocated),
        ("02-delayed-allocation", Kind::Reserved),
        ("03-fsync", Kind::Logged),
        ("04-transactions", Kind::Transaction),
        ("05-append-log", Kind::Completed),
        ("06-directory-grows", Kind::HtreeGrew),
        ("07-extents-split", Kind::TreeDepth),
        ("08-full-disk", Kind::Printed),
        ("09-unlink-open", Kind::OrphanAdded),
        ("10-replace-by-rename", Kind::NameReplaced),
        ("11-truncate-and-write", Kind::ExtentRemoved),
        ("12-two-processes", Kind::Printed),
        ("13-database-on-a-disk", Kind::Printed),
        ("14-database-on-an-ssd", Kind::FlashProgrammed),
        ("15-garbage-collection", Kind::FlashErased),
        ("16-trim", Kind::FlashErased),
        ("17-card", Kind::FlashErased),
        ("18-misaligned", Kind::FlashErased),
    ]);
    for (name, text) in lessons() {
        let Some(&kind) = wanted.get(name.as_str()) else {
            continue;
        };
        let recording = recorded(&text);
        let found = recording.index().next_where(0, |k| k == kind);
        assert!(found.is_some(), "{name}: no {kind:?}");
    }
}

/// What the lessons on devices say: with one key changed, the figures are others.
#[test]
fn devices_do_what_their_lessons_say() {
    let text = |name: &str| {
        let all = lessons();
        all.into_iter().find(|l| l.0 == name).unwrap().1
    };
    let gauges = |text: &str| recorded(text).head().gauges();
    // Milliseconds for 32 commits: a disk at 120 turns a second cannot make 32 commits, each
    // of which waits for a write, faster than in 32 turns (266 ms).
    let printed = |text: &str| -> u64 {
        let recording = recorded(text);
        let events = recording.events(0, recording.len(), usize::MAX);
        let said = events.iter().find_map(|e| match &e.what {
            fslab_engine::event::What::Printed { text } => text.split(' ').nth(3)?.parse().ok(),
            _ => None,
        });
        said.unwrap()
    };
    let (disk, ssd) = (
        printed(&text("13-database-on-a-disk")),
        printed(&text("14-database-on-an-ssd")),
    );
    assert!(disk > 266, "{disk} ms");
    assert!(ssd * 3 < disk, "{ssd} ms on the SSD, {disk} ms on the disk");

    let little = text("15-garbage-collection");
    let much = little.replace("spare = \"5%\"", "spare = \"25%\"");
    let (few, many) = (
        gauges(&little).flash_copied_pages,
        gauges(&much).flash_copied_pages,
    );
    assert!(
        few > 2 * many,
        "{few} copied with little spare, {many} with much"
    );

    let told = text("16-trim");
    let silent = told.replace("discard,", "");
    let (with, without) = (
        gauges(&told).flash_copied_pages,
        gauges(&silent).flash_copied_pages,
    );
    assert!(without > with, "{with} copied with TRIM, {without} without");

    let one = text("17-card");
    let two = one.replace("open_segments = 1", "open_segments = 2");
    // 48 turns, each of which closes a segment of 128 pages, and a few while the files are made.
    let saved = gauges(&one).flash_copied_pages - gauges(&two).flash_copied_pages;
    assert!(
        (40 * 100..=56 * 128).contains(&saved),
        "{saved} copies less with two open"
    );

    let off = text("18-misaligned");
    let on = off.replace("255/63", "224/56");
    let (off, on) = (gauges(&off).flash_erases, gauges(&on).flash_erases);
    assert!(off > on, "{off} erases off the boundary, {on} on it");
}
