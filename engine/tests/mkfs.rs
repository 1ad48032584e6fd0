//! `fslab mkfs` against mke2fs 1.47.0: the same bytes; clean for e2fsck; mounted and
//! written by the kernel; no problem for our own reader; and what mke2fs refuses, refused.

mod exercise;
mod mkfs_support;

use mkfs_support::matrix::{LARGE, MATRIX};
use mkfs_support::{Row, make, mke2fs_is_here, name, refusals, same, sound, succeed};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Everything about one row; whether the kernel wrote to it.
fn check(row: &Row, folder: &Path, mount: bool) -> Result<bool, String> {
    let (theirs, ours) = (folder.join("theirs"), folder.join("ours"));
    make(row, &theirs, &ours)?;
    same::compare(&theirs, &ours)?;
    sound::for_e2fsck(&ours, row.offset())?;
    sound::for_our_reader(&ours, row.offset())?;
    if !mount {
        return Ok(false);
    }
    let written = sound::for_the_kernel(&theirs, &ours, row.offset())?;
    if !written {
        eprintln!("skipped: the kernel does not mount {row:?}");
    }
    Ok(written)
}

#[test]
fn images_are_those_of_mke2fs() {
    if !mke2fs_is_here() {
        return;
    }
    let mount = sound::can_mount();
    let (next, written) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = Mutex::new(Vec::new());
    let work = || {
        let folder = tempfile::tempdir().unwrap();
        while let Some(row) = MATRIX.get(next.fetch_add(1, Ordering::Relaxed)) {
            match check(row, folder.path(), mount) {
                Ok(done) => drop(written.fetch_add(usize::from(done), Ordering::Relaxed)),
                Err(why) => failed.lock().unwrap().push(format!("{row:?}: {why}")),
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let written = written.into_inner();
    eprintln!("{} images, {written} written by the kernel", MATRIX.len());
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn large_filesystems_are_told_the_same() {
    if !mke2fs_is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
    for row in LARGE {
        let done = make(row, &theirs, &ours)
            .and_then(|()| same::compare_words(&theirs, &ours))
            .and_then(|()| sound::for_e2fsck(&ours, 0));
        assert_eq!(done, Ok(()), "{row:?}");
    }
}

/// Makes an image of `size` by fslab and answers its name.
fn ours(folder: &Path, options: &str, size: &str) -> String {
    let image = folder.join("ours");
    let _ = std::fs::remove_file(&image);
    let mut args = vec!["mkfs", "-q", "-t", "ext4"];
    args.extend(options.split(' '));
    args.extend([name(&image), size]);
    succeed(env!("CARGO_BIN_EXE_fslab"), &args).unwrap();
    sound::for_e2fsck(&image, 0).unwrap();
    name(&image).to_string()
}

fn debugfs(question: &str, image: &str) -> String {
    succeed("debugfs", &["-R", question, image]).unwrap()
}

/// The runs of the journal: first and last block.
fn journal_runs(image: &str) -> Vec<(u64, u64)> {
    let answer = debugfs("extents -l <8>", image);
    // " 0/ 0   1/  1     0 - 32767 2588672 - 2621439  32768"
    let run = |line: &str| {
        let (_, from) = line.split_once('/')?;
        let numbers = from.split(|c: char| !c.is_ascii_digit());
        let numbers: Vec<u64> = numbers.filter_map(|n| n.parse().ok()).collect();
        match numbers[..] {
            [_, _, _, _, _, first, last, _] => Some((first, last)),
            _ => None,
        }
    };
    answer.lines().filter_map(run).collect()
}

/// Experiments J1 and J2 of `shared/experiments`.
#[test]
fn the_journal_in_the_middle_is_where_it_was_in_2008() {
    if !mke2fs_is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = "-J size=128 --journal-placement largest-of-three -O ^64bit,^metadata_csum";
    let image = ours(folder.path(), options, "20G");
    assert_eq!(journal_runs(&image), [(2588672, 2621439)]);
    let groups = succeed("dumpe2fs", &[&image]).unwrap();
    let group = groups.split("\nGroup ").find(|g| g.starts_with("79:"));
    let group = group.unwrap();
    assert!(group.contains("Block bitmap at 2097167 "), "{group}");
    assert!(group.contains("Inode bitmap at 2097183 "), "{group}");
    assert!(group.contains("Inode table at 2104864-2105375 "), "{group}");

    let image = ours(folder.path(), &format!("{options},^extent"), "20G");
    let inode = debugfs("stat <8>", &image);
    assert!(inode.contains("Blockcount: 262416\n"), "{inode}");
}

/// Experiment J3: a journal in the first free blocks lies in what mke2fs leaves free
/// between its tables.
#[test]
fn a_journal_in_the_first_free_blocks_has_five_runs() {
    if !mke2fs_is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    let features = "-O ^64bit,^metadata_csum,uninit_bg,^has_journal -G 512";
    let words: Vec<&str> = "-q -F -t ext4"
        .split(' ')
        .chain(features.split(' '))
        .collect();
    let words = [&words[..], &[name(&theirs), "70G"]].concat();
    succeed("mke2fs", &words).unwrap();
    let said = succeed("dumpe2fs", &[name(&theirs)]).unwrap();
    let free = said
        .lines()
        .filter_map(|l| l.strip_prefix("  Free blocks: "));
    let free = free.filter_map(|l| l.split_once('-'));
    let free: Vec<(u64, u64)> = free
        .map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap()))
        .take(5)
        .collect();
    // The same, as they were found in 2008.
    let known = [
        (32263, 32767),
        (97793, 98303),
        (163329, 163839),
        (228865, 229375),
        (270337, 294911),
    ];
    assert_eq!(free, known);

    let features = "-O ^64bit,^metadata_csum,uninit_bg -G 512";
    let options = format!("{features} -J size=100 --journal-placement first-free");
    let runs = journal_runs(&ours(folder.path(), &options, "70G"));
    assert_eq!(runs[..4], known[..4]);
    assert_eq!((runs.len(), runs[4].0), (5, known[4].0));
}

/// Rows that are answered otherwise than by mke2fs.
fn answered_otherwise(rows: &[(&str, &str)], dry: bool, taken: bool) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut otherwise = Vec::new();
    for row in rows {
        let (theirs, ours) = refusals::both(row, dry, folder.path());
        assert_eq!(theirs.0, taken, "{row:?}: mke2fs says {:?}", theirs.1);
        // mke2fs can say more: help, or a second complaint.
        let same = theirs.1.contains(&ours.1) && ours.1.is_empty() == theirs.1.is_empty();
        if ours.0 != taken || !same {
            otherwise.push(format!("{row:?}\n  theirs {theirs:?}\n  ours   {ours:?}"));
        }
    }
    otherwise
}

#[test]
fn what_mke2fs_refuses_is_refused_in_its_words() {
    if !mke2fs_is_here() {
        return;
    }
    let mut otherwise = answered_otherwise(refusals::REFUSED, true, false);
    otherwise.extend(answered_otherwise(refusals::REFUSED_LATER, false, false));
    assert!(otherwise.is_empty(), "{}", otherwise.join("\n"));
}

#[test]
fn what_mke2fs_takes_is_taken_with_its_warnings() {
    if !mke2fs_is_here() {
        return;
    }
    let mut otherwise = answered_otherwise(refusals::WARNED, true, true);
    otherwise.extend(answered_otherwise(refusals::TAKEN, true, true));
    assert!(otherwise.is_empty(), "{}", otherwise.join("\n"));
}
