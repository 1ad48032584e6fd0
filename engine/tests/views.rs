//! The views over whole images: every structure of sound ones decodes with checksums that
//! hold, and damaged ones give bounded answers.

mod oracle;

use fslab_engine::disk::FileReader;
use fslab_engine::ext4::read::Fs;
use fslab_engine::image::{Limits, Medium, open};
use fslab_engine::units::{BlockNr, InodeNr};
use fslab_engine::view::owners::{BlockMap, Flags, Kind, Names, Scan, ScanOptions};
use fslab_engine::view::{self, BlockView, FieldValue, OwnerInfo};
use std::path::Path;
use std::rc::Rc;

/// Blocks of a run that are decoded.
const OF_A_RUN: u64 = 40;

fn medium(path: &Path) -> Medium {
    Rc::new(FileReader::open(path).unwrap())
}

fn scan(fs: &Fs<Medium>) -> (BlockMap, Names) {
    let mut scan = Scan::new(fs, ScanOptions::default());
    while !scan.step(fs).is_finished() {}
    scan.finish(fs)
}

/// Every field and structure lies inside the block.
fn check_inside(view: &BlockView) {
    let len = view.bytes.len() as u64;
    let end = |offset: u32, len: u32| u64::from(offset) + u64::from(len);
    assert!(
        view.parts.len() <= 2049,
        "block {}: too many parts",
        view.nr
    );
    for part in &view.parts {
        assert!(
            end(part.offset, part.len) <= len,
            "block {}: {}",
            view.nr,
            part.title
        );
        for f in &part.fields {
            assert!(
                end(f.offset, f.len) <= len,
                "block {}: {} {}",
                view.nr,
                part.title,
                f.name
            );
        }
        check_text(&part.fields);
    }
    assert!(!view.words.chars().any(char::is_control));
}

/// Text is of a bearable length, without control characters.
fn check_text(fields: &[FieldValue]) {
    for f in fields {
        assert!(
            f.value.len() <= 2000,
            "{} is {} bytes long",
            f.name,
            f.value.len()
        );
        assert!(!f.value.chars().any(char::is_control), "{}", f.name);
    }
}

#[test]
fn every_structure_of_sound_images_decodes() {
    let Some(images) = oracle::images() else {
        return;
    };
    for image in images {
        let name = image.recipe.name;
        let fs = Fs::open(medium(&image.path)).unwrap();
        let (map, names) = scan(&fs);
        let mut decoded = 0;
        for run in &map.runs {
            let step = u64::from(run.len).div_ceil(OF_A_RUN).max(1);
            let few = matches!(
                run.kind,
                Kind::Free | Kind::Data | Kind::Unowned | Kind::Unknown | Kind::Boot
            );
            let step = if few { u64::from(run.len) } else { step };
            for nr in (run.start..run.end()).step_by(step as usize) {
                let owner = OwnerInfo::find(&map, &names, nr);
                let Ok(view) = view::block(&fs, BlockNr(nr), owner.as_ref()) else {
                    panic!("{name}: block {nr} cannot be read");
                };
                check_inside(&view);
                assert_ne!(
                    view.checksum_ok,
                    Some(false),
                    "{name}: {} {:?}",
                    view.words,
                    view.problems
                );
                assert_eq!(view.problems, [], "{name}: {}", view.words);
                let decodes = !matches!(
                    run.kind,
                    Kind::Free
                        | Kind::Data
                        | Kind::Unowned
                        | Kind::Unknown
                        | Kind::Boot
                        | Kind::Twice
                        | Kind::Journal
                        | Kind::Internal
                        | Kind::ReservedDescriptors
                        | Kind::BlockBitmap
                        | Kind::InodeBitmap
                        | Kind::Xattr
                        | Kind::Symlink
                );
                let slack = run.flags.contains(Flags::SLACK);
                assert!(
                    !decodes || slack || !view.parts.is_empty(),
                    "{name}: {}",
                    view.words
                );
                decoded += 1;
            }
        }
        assert!(decoded > 10, "{name}");
    }
}

#[test]
fn damaged_images_give_bounded_answers() {
    let Some(images) = oracle::shared::images() else {
        return;
    };
    for image in images {
        let Ok(opened) = open(medium(&image.compressed), Limits::default()) else {
            continue;
        };
        let Ok(fs) = Fs::open(opened.content) else {
            continue;
        };
        look_at_all(&fs);
    }
}

/// Asks everything that can be asked.
fn look_at_all(fs: &Fs<Medium>) {
    let summary = view::summary(fs);
    check_text(&summary.fields);
    let geo = *fs.geometry();
    view::group_rows(fs, 0..geo.groups.min(100));
    for nr in (1..=geo.inodes.min(60)).chain([geo.inodes]) {
        if let Ok(inode) = view::inode(fs, InodeNr(nr)) {
            check_text(&inode.fields);
            assert!(!inode.words.is_empty() && !inode.words.chars().any(char::is_control));
        }
        if let Ok(map) = view::map(fs, InodeNr(nr)) {
            assert!(
                map.nodes.len() <= view::MapView::MOST && map.runs.len() <= view::MapView::MOST
            );
            for (i, node) in map.nodes.iter().enumerate() {
                assert!(node.parent.is_none_or(|p| (p as usize) < i));
                assert!(node.runs.0 as usize + node.runs.1 as usize <= map.runs.len());
            }
        }
        if let Ok(dir) = view::dir(fs, InodeNr(nr), 0, 50) {
            assert!(dir.rows.len() <= 50);
        }
    }
    let (map, names) = scan(fs);
    let mut seen = std::collections::BTreeMap::<Kind, u32>::new();
    for run in &map.runs {
        let of_kind = seen.entry(run.kind).or_default();
        *of_kind += 1;
        if *of_kind > 10 {
            continue;
        }
        for nr in [run.start, run.end() - 1] {
            let owner = OwnerInfo::find(&map, &names, nr);
            for owner in [owner.as_ref(), None] {
                if let Ok(view) = view::block(fs, BlockNr(nr), owner) {
                    check_inside(&view);
                }
            }
        }
    }
    decode_as_everything(fs);
}

/// Bytes of one kind, taken for every other.
fn decode_as_everything(fs: &Fs<Medium>) {
    let size = fs.geometry().block_size as usize;
    let noise: Vec<u8> = (0..size as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let mut extents = noise.clone();
    extents[..8].copy_from_slice(&[0x0A, 0xF3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    let mut journal = noise.clone();
    journal[..8].copy_from_slice(&[0xC0, 0x3B, 0x39, 0x98, 0, 0, 0, 1]);
    let mut revoke = journal.clone();
    revoke[7] = 5;
    for bytes in [
        vec![0; size],
        vec![0xFF; size],
        noise,
        extents,
        journal,
        revoke,
    ] {
        for &kind in Kind::ALL {
            for inode in [None, Some(2), Some(8), Some(12)] {
                let owner = OwnerInfo {
                    kind,
                    flags: Flags::all().difference(Flags::SLACK),
                    inode,
                    path: None,
                    claimants: vec![(0, kind), (2, kind)],
                };
                for nr in [0, 1, 2, 5, fs.geometry().blocks - 1] {
                    check_inside(&view::decode_block(
                        fs,
                        BlockNr(nr),
                        bytes.clone(),
                        Some(&owner),
                    ));
                }
            }
        }
    }
}
