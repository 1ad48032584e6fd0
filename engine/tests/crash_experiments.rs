//! The published experiments on power cuts, C1 to C4 (`../shared/experiments`), by the field
//! of states over whole runs on a disk with a write cache: what can be found, and a state
//! that proves each.

#[allow(dead_code, reason = "other tests use the rest")]
mod crash_support;

use crash_support::{RENAME, RENAME_SYNCED, SECRET, TRUNCATE, explored, moments, outcomes, parse};
use std::collections::BTreeSet;

/// A new file; nothing of that name was there.
const CREATE: &str = r#"
fd = open("/new", O_CREAT | O_WRONLY)
write(fd, pattern(5000, 2))
close(fd)
"#;

const EXT3: &str = "-t ext3 -b 1024 -J size=1";
const EXT4: &str = "-t ext4 -b 1024 -J size=1";

/// Another file's bytes lie in the free blocks, and then a program runs.
fn text(mkfs: &str, mount: &str, lines: &str, file: &str) -> String {
    let outcomes = outcomes(file, "pattern(5000, 1)", "pattern(5000, 2)", "not begun");
    format!(
        r#"fslab = 1
[device]
size = "16M"
[mkfs]
options = "{mkfs}"
[mount]
options = "{mount}"
{outcomes}
[[process]]
program = '''
fd = open("/file", O_CREAT | O_WRONLY)
write(fd, pattern(5000, 1))
close(fd)
{SECRET}
begun = true
{lines}
'''
"#
    )
}

/// Everything that a power cut after the beginning can leave.
fn found(mkfs: &str, mount: &str, lines: &str, file: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let (mut states, mut share) = (0, 1.0f64);
    for moment in moments(parse(&text(mkfs, mount, lines, file))) {
        // What an idle disk has in its cache for others is as good as nothing.
        let field = explored(moment, 4000);
        share = share.min(field.coverage().share);
        for s in field.states() {
            let v = &field.verdicts()[s.verdict as usize];
            assert_eq!(v.unmountable, None, "{mkfs} {mount}");
            assert_eq!(v.problems, Vec::<String>::new(), "{mkfs} {mount}");
            let class = v.class.expect("every state is of a class");
            let name = field.judge().classes[class as usize].name.clone();
            if name != "before" {
                states += 1;
                all.insert(name);
            }
        }
    }
    println!("{mkfs} {mount}: {states} states, at least {share:.3} of all disks: {all:?}");
    all
}

fn expect(mkfs: &str, mount: &str, lines: &str, file: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(
        found(mkfs, mount, lines, file),
        expected,
        "{mkfs} {mount} {lines}"
    );
}

#[test]
fn c1_truncate_and_write() {
    let run = |mkfs, mount, expected: &[&str]| expect(mkfs, mount, TRUNCATE, "/file", expected);
    run(EXT3, "data=ordered", &["old", "new"]);
    run(
        EXT4,
        "noauto_da_alloc,dioread_lock",
        &["old", "new", "empty"],
    );
    run(EXT4, "dioread_lock", &["old", "new"]);
    run(EXT4, "", &["old", "new"]);
    run(
        EXT4,
        "noauto_da_alloc,data=alloc-on-commit,dioread_lock",
        &["old", "new"],
    );
}

#[test]
fn c2_rename_without_fsync() {
    let run = |mkfs, mount, expected: &[&str]| expect(mkfs, mount, RENAME, "/file", expected);
    run(EXT3, "data=ordered", &["old", "new"]);
    run(EXT3, "data=journal", &["old", "new"]);
    run(EXT3, "data=writeback", &["old", "new", "other"]);
    run(
        EXT4,
        "noauto_da_alloc,dioread_lock",
        &["old", "new", "empty"],
    );
    run(EXT4, "dioread_lock", &["old", "new"]);
    run(EXT4, "nodelalloc", &["old", "new"]);
    run(EXT4, "data=journal", &["old", "new"]);
    run(EXT4, "", &["old", "new"]);
}

#[test]
fn c2_rename_with_fsync() {
    for (mkfs, mount) in [
        (EXT3, "data=ordered"),
        (EXT3, "data=writeback"),
        (EXT4, "noauto_da_alloc,dioread_lock"),
        (EXT4, "data=writeback"),
        (EXT4, "data=journal"),
        (EXT4, ""),
    ] {
        expect(mkfs, mount, RENAME_SYNCED, "/file", &["old", "new"]);
    }
}

#[test]
fn c3_stale_data() {
    let run = |mkfs, mount, expected: &[&str]| expect(mkfs, mount, CREATE, "/new", expected);
    run(EXT3, "data=ordered", &["absent", "new"]);
    run(EXT3, "data=writeback", &["absent", "new", "other"]);
    run(EXT4, "nodelalloc", &["absent", "new"]);
    run(
        EXT4,
        "nodelalloc,data=writeback",
        &["absent", "new", "other"],
    );
    run(EXT4, "dioread_lock", &["absent", "empty", "new"]);
}

#[test]
fn c4_commit_without_a_flush_before_it() {
    // With the checksums of whole transactions: with metadata_csum's, a block that is not as
    // its tag says ends the mount.
    let mkfs = "-t ext4 -b 1024 -O ^metadata_csum,^64bit -J size=1";
    let run = |mount, expected: &[&str]| expect(mkfs, mount, CREATE, "/new", expected);
    run(
        "nodelalloc,journal_checksum,journal_async_commit",
        &["absent", "new", "other"],
    );
    run("nodelalloc,journal_checksum", &["absent", "new"]);
}
