//! Whether the oracles themselves can be believed: they are asked about one
//! another before our reader is asked about them.

mod oracle;

use oracle::special::{self, Found, SPECIALS, special};
use oracle::{BUSY, Image, RECIPES, Source, Truth};
use std::time::Duration;

#[test]
fn every_recipe_is_made_and_clean() {
    let Some(images) = oracle::images() else {
        return;
    };
    let mut wrong = Vec::new();
    for Image {
        recipe,
        path,
        journal,
        truth,
    } in &images
    {
        let names = truth.names.len();
        eprintln!(
            "{:24} {names:6} names  {}  {}",
            recipe.name, recipe.mkfs, recipe.about
        );
        for note in &truth.notes {
            eprintln!("{:24}   without {note}", "");
        }
        let checked = match journal {
            Some(journal) => oracle::fsck_with_journal(path, journal, 60),
            None => oracle::fsck(path, 60),
        };
        let checked = checked.expect("e2fsck runs");
        if checked.code != Some(0) {
            wrong.push(format!(
                "{}: {:?}\n{}",
                recipe.name, checked.code, checked.output
            ));
        }
    }
    assert!(wrong.is_empty(), "e2fsck -fn:\n{}", wrong.join("\n"));
}

#[test]
fn kernel_and_debugfs_agree() {
    let Some(images) = oracle::images() else {
        return;
    };
    let mut wrong = Vec::new();
    for image in &images {
        let by_kernel = matches!(image.recipe.source, Source::Kernel | Source::KernelBefore);
        // debugfs prints encrypted names in a form of its own.
        if by_kernel && image.recipe.name != "encrypt" {
            let debugfs = oracle::truth_by_debugfs(&image.path).expect("debugfs reads it");
            wrong.extend(differences(image, &debugfs));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the two differ, a few of each image.
fn differences(image: &Image, debugfs: &Truth) -> Vec<String> {
    let (kernel, name) = (&image.truth, image.recipe.name);
    let mut wrong = Vec::new();
    if kernel.names != debugfs.names {
        wrong.push(format!("{name}: not the same names"));
    }
    for (path, ino, entry) in kernel.entries() {
        let Some(other) = debugfs.inodes.get(&ino) else {
            continue;
        };
        // What one of the two cannot say.
        let mut same = other.clone();
        same.user_flags = entry.user_flags;
        if entry.samples.len().min(other.samples.len()) > 0 {
            same.samples.clone_from(&entry.samples);
        }
        if same != *entry {
            let path = path.escape_ascii();
            wrong.push(format!(
                "{name}: {path}:\n  kernel  {entry:?}\n  debugfs {same:?}"
            ));
        }
        if kernel.extents.get(&ino) != debugfs.extents.get(&ino) {
            let (left, right) = (kernel.extents.get(&ino), debugfs.extents.get(&ino));
            let path = path.escape_ascii();
            wrong.push(format!(
                "{name}: {path}:\n  FIEMAP  {left:?}\n  debugfs {right:?}"
            ));
        }
    }
    wrong.truncate(4);
    wrong.iter_mut().for_each(|words| words.truncate(3000));
    wrong
}

#[test]
fn busy_copies_have_transactions() {
    for busy in BUSY {
        let Some(image) = oracle::busy_image(busy) else {
            return;
        };
        let committed = image
            .transactions
            .iter()
            .filter(|one| one.committed())
            .count();
        let count = image.transactions.len();
        let before = image.before.as_ref().map(|truth| truth.names.len());
        let after = image.after.names.len();
        eprintln!(
            "{:18} {committed} of {count} committed; {before:?} names, then {after}",
            busy.name
        );
        assert!(committed > 0, "{}: nothing in the journal", busy.name);
        assert!(image.after.entry(b"/last").is_some(), "{}", busy.name);
        assert!(
            image
                .after
                .entry(b"/not-yet")
                .is_none_or(|entry| entry.size == 0),
            "{}",
            busy.name
        );
        let checked = oracle::fsck(&image.recovered, 60).expect("e2fsck runs");
        assert_eq!(checked.code, Some(0), "{}: {}", busy.name, checked.output);
    }
}

#[test]
fn special_images_are_made() {
    for one in SPECIALS {
        match special(one) {
            None => eprintln!("{:24} not made", one.name),
            Some(Found::Recipe(image)) => assert!(!image.truth.names.is_empty()),
            Some(Found::Built(image)) => {
                let length = std::fs::metadata(&image.path).expect("it is there").len();
                eprintln!(
                    "{:24} {length:>14}  {}  {}",
                    one.name, one.failure, image.expect.note
                );
            }
        }
    }
}

#[test]
fn kernel_reads_special_images_so() {
    for one in SPECIALS {
        let Some(Found::Built(image)) = special(one) else {
            continue;
        };
        let probe = special::kernel_probe(&image).expect("the kernel is asked");
        if let Some(why) = probe.refused {
            // What it refuses, only a reader more patient than it can open.
            let patient = ["backup-super", "truncated"].contains(&one.name);
            assert!(
                patient || image.expect.opens != Some(true),
                "{}: {why}",
                one.name
            );
            continue;
        }
        for (path, hash) in &image.expect.contents {
            let found = &probe.paths[path];
            assert_eq!(
                found.sha256.as_ref(),
                Some(hash),
                "{}: {path:?}: {found:?}",
                one.name
            );
        }
    }
}

/// The filler means to make trees of several levels: whether it did.
#[test]
fn fillings_reach_their_depth() {
    let asked = [
        ("ext4-1k", "stat /extents/checkered", "(ETB1)"),
        ("ext4-4k", "stat /extents/checkered", "(ETB1)"),
        ("ext4-4k", "stat /extents/unwritten", "[u]"),
        ("ext2-1k", "stat /sparse/level-3", "(TIND)"),
        ("ext3-4k", "stat /sparse/level-3", "(TIND)"),
        ("ext4-1k", "htree_dump /htree2", "Indirect levels: 1"),
        ("large-dir", "htree_dump /htree3", "Indirect levels: 2"),
        ("hash-tea-unsigned", "htree_dump /htree2", "Hash Version: 2"),
        ("casefold", "htree_dump /big", "Indirect levels: 0"),
        ("inline-data", "stat /inline/120", "system.data (60)"),
        ("bigalloc", "stats", "bigalloc"),
        ("huge-file", "stat /sizes/1000", "Blockcount: 1\n"),
    ];
    for (name, command, expected) in asked {
        let Some(image) = oracle::image_named(name) else {
            return;
        };
        let said = oracle::Debugfs::new(&image.path)
            .ask_one(command)
            .expect("debugfs runs");
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(expected), "{name}: {command}: {said}");
    }
}

#[test]
fn fillings_share_and_count() {
    let Some(image) = oracle::image_named("ext4-4k") else {
        return;
    };
    let truth = &image.truth;
    let entry = |path: &[u8]| truth.entry(path).expect("it was made");
    let (one, two) = (entry(b"/xattr/shared-1"), entry(b"/xattr/shared-2"));
    assert!(
        one.file_acl != 0 && one.file_acl == two.file_acl,
        "a shared attribute block"
    );
    assert_eq!(entry(b"/links/one").nlink, 4);
    assert_eq!(entry(b"/times/15032385535").mtime.0, 15_032_385_535);
    assert_eq!(entry(b"/times/-1").mtime.0, -1);
    assert_eq!(entry(b"/special/b-4095-1048575").rdev, (4095, 0xF_FFFF));
    assert_eq!(truth.children(b"/many").len(), 3000);
    let free: u64 = truth.groups.iter().map(|group| group.free_blocks).sum();
    assert_eq!(truth.header["Free blocks"], free.to_string());
}

#[test]
fn owners_by_icheck() {
    let Some(image) = oracle::image_named("ext4-1k") else {
        return;
    };
    let (path, ino) = (b"/sizes/1000", image.truth.names[&b"/sizes/1000"[..]]);
    let extent = image.truth.extents[&ino][0];
    let blocks = [extent.physical, image.truth.block_size() * 30];
    let owners = oracle::icheck(&image.path, &blocks).expect("debugfs runs");
    assert_eq!(owners[0], Some(ino), "{}", path.escape_ascii());
}

#[test]
fn shared_images_are_found() {
    let Some(images) = oracle::shared::images() else {
        return;
    };
    assert!(images.len() > 150);
    let first = images
        .iter()
        .find(|image| image.fsck_fn == Some(0))
        .expect("one is clean");
    let checked = first.fsck_time(20).expect("e2fsck runs");
    assert_eq!(checked.code, Some(0), "{}: {}", first.name, checked.output);
    assert!(checked.took < Duration::from_secs(20));
}

#[test]
fn recipes_have_names_of_their_own() {
    let names: std::collections::BTreeSet<_> = RECIPES.iter().map(|recipe| recipe.name).collect();
    assert_eq!(names.len(), RECIPES.len());
}

#[test]
fn acls_in_both_forms() {
    let disk = [
        1u32.to_le_bytes(),
        [1, 0, 7, 0],
        [2, 0, 5, 0],
        70000u32.to_le_bytes(),
        [32, 0, 1, 0],
    ];
    let kernel = oracle::acl_to_kernel(disk.as_flattened()).expect("it is an ACL");
    assert_eq!(kernel.len(), 4 + 3 * 8);
    assert_eq!(kernel[16..20], 70000u32.to_le_bytes());
}
