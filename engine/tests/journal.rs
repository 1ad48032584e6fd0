//! Our reading of journals against debugfs, e2fsck and the kernel: the same transactions
//! and blocks, and the same filesystem after a replay.

mod journal_support;
mod oracle;

use fslab_engine::disk::{FileReader, ReadAt};
use fslab_engine::ext4::journal::{
    Journal, JournalHome, JournalPlace, Outcome, Overlay, Transaction, TransactionState,
};
use fslab_engine::ext4::read::Fs;
use fslab_engine::units::{BlockNr, InodeNr};
use fslab_engine::view;
use journal_support::{
    Reader, after_replay, as_dumped, debugfs_word, heads, old_heads, on_busy, open, read, tree,
};
use oracle::{BUSY, Debugfs, JournalRecord, sha256};
use std::collections::BTreeMap;
use std::rc::Rc;

#[test]
fn transactions_and_blocks_are_logdumps() {
    on_busy(|image, _, journal| {
        let ours = as_dumped(journal.transactions());
        assert!(ours.len() > 3, "{} is hardly busy", image.busy.name);
        assert_eq!(ours, image.transactions, "{}", image.busy.name);
        assert_eq!(journal.problems(), [], "{}", image.busy.name);
        assert_eq!(journal.wanted(), Some(true));
        let whole = journal.transactions().iter().filter(|t| t.commit.is_some());
        let bad = whole
            .filter(|t| t.commit.unwrap().checksum_ok == Some(false))
            .count();
        assert_eq!(bad, 0, "{}: commit checksums", image.busy.name);
    });
}

#[test]
fn features_are_dumpe2fs() {
    on_busy(|image, _, journal| {
        let (header, _) = oracle::dumpe2fs(&image.path).unwrap();
        let theirs = header.get("Journal features").map_or("", String::as_str);
        // 1.47.0 has no word for bit 5.
        let theirs = theirs.replace("FEATURE_I5", "journal_fast_commit");
        let ours = journal.feature_names();
        let ours = if ours.is_empty() {
            "(none)".into()
        } else {
            ours.join(" ")
        };
        assert_eq!(ours, theirs, "{}", image.busy.name);
    });
}

/// debugfs' `journal_run` replays and does nothing else: every block of the image must be
/// what the overlay shows, except for the two superblocks, which it marks.
#[test]
fn a_replay_is_debugfs_to_the_byte() {
    on_busy(|image, fs, journal| {
        // debugfs 1.47.0 refuses fast commits.
        if journal.fast_commits().is_some() {
            return;
        }
        let (_folder, copy) = oracle::scratch_copy(&image.path).unwrap();
        Debugfs::writing(&copy).ask_one("jr").unwrap();
        let theirs = FileReader::open(&copy).unwrap();
        let ours = after_replay(fs, journal);
        let size = fs.geometry().block_size as usize;
        let marked = [1024 / size as u64, journal.log().physical(0).unwrap().0];
        let (mut a, mut b) = (vec![0; size], vec![0; size]);
        let mut different: Vec<u64> = Vec::new();
        for block in (0..fs.geometry().blocks).filter(|b| !marked.contains(b)) {
            theirs.read_at(block * size as u64, &mut a).unwrap();
            ours.medium().read_at(block * size as u64, &mut b).unwrap();
            if a != b {
                different.push(block);
            }
        }
        assert!(
            different.is_empty(),
            "{}: {different:?} differ",
            image.busy.name
        );
    });
}

#[test]
fn the_tree_after_a_replay_is_the_kernels() {
    on_busy(|image, fs, journal| {
        if journal.fast_commits().is_some_and(|area| area.replayed > 0) {
            return;
        }
        let ours = after_replay(fs, journal);
        let truth = &image.after;
        let names = tree(&ours);
        let theirs: Vec<(&[u8], u32)> = truth.names.iter().map(|(n, i)| (&**n, *i)).collect();
        let found: Vec<(&[u8], u32)> = names.iter().map(|(n, i)| (n.as_slice(), *i)).collect();
        assert_eq!(found, theirs, "{}", image.busy.name);
        for (path, ino, entry) in truth.entries() {
            let inode = ours.inode(InodeNr(ino)).unwrap();
            let at = format!("{}: {}", image.busy.name, path.escape_ascii());
            assert_eq!(inode.size(), entry.size, "{at}");
            assert_eq!(u32::from(inode.i_mode()), entry.mode, "{at}");
            assert_eq!(u32::from(inode.i_links_count()), entry.nlink, "{at}");
            if entry.is_file() {
                let read = |offset, len| read(&ours, &inode, offset, len);
                entry
                    .check_content(read)
                    .unwrap_or_else(|e| panic!("{at}: {e}"));
            }
        }
    });
}

/// What lies in the log besides the live transactions, as `logdump -aO` lists it when it
/// goes on (`-n`) past blocks without a magic. It follows tags into copies that were
/// overwritten since, and so misses some.
#[test]
fn history_is_logdumps() {
    for busy in BUSY {
        let Some(image) = oracle::busy_image(busy) else {
            return;
        };
        for (path, clean) in [(&image.path, false), (&image.recovered, true)] {
            let fs = open(path);
            let mut journal = Journal::open(&fs).unwrap();
            assert_eq!(*journal.outcome() == Outcome::Clean, clean, "{}", busy.name);
            journal.read_history(fs.medium(), &mut |_, _| true);
            assert!(journal.history().complete);
            let theirs = Debugfs::new(path).ask_one("logdump -aO -n 400").unwrap();
            let theirs = heads(&String::from_utf8_lossy(&theirs));
            let ours = old_heads(&journal);
            assert!(
                theirs.len() > 3,
                "{}: logdump -O lists {}",
                busy.name,
                theirs.len()
            );
            for (block, head) in &theirs {
                assert_eq!(ours.get(block), Some(head), "{}: block {block}", busy.name);
            }
        }
    }
}

/// The log of a busy image, seen after a clean unmount, is history with the same copies.
#[test]
fn what_was_live_is_history_later() {
    let Some(busy) = BUSY.iter().find(|b| b.name == "ordered") else {
        return;
    };
    let Some(image) = oracle::busy_image(busy) else {
        return;
    };
    let fs = open(&image.recovered);
    let mut journal = Journal::open(&fs).unwrap();
    journal.read_history(fs.medium(), &mut |_, _| true);
    let history = as_dumped(&journal.history().transactions);
    let kept = image
        .transactions
        .iter()
        .filter(|t| history.contains(t))
        .count();
    // The mount that replayed the log wrote little, from the log's start or its end on.
    assert!(
        kept + 3 >= image.transactions.len(),
        "{kept} of {}",
        image.transactions.len()
    );
    let home = journal
        .history()
        .transactions
        .iter()
        .flat_map(Transaction::copies)
        .next()
        .unwrap()
        .1
        .home;
    let versions = journal.old_versions(BlockNr(home));
    assert!(
        versions
            .iter()
            .all(|v| !v.replayed && v.state != TransactionState::Replay)
    );
    assert!(!versions.is_empty());
}

/// The last version of each block is what a replay leaves there, and there are as many
/// versions as `logdump -b` lists.
#[test]
fn old_versions_are_the_logs_copies() {
    on_busy(|image, fs, journal| {
        let after = after_replay(fs, journal);
        let mut logged: BTreeMap<u64, usize> = BTreeMap::new();
        for record in image.transactions.iter().flat_map(|t| &t.records) {
            if let JournalRecord::Descriptor { tags, .. } = record {
                for (home, _, _) in tags {
                    *logged.entry(*home).or_default() += 1;
                }
            }
        }
        for (home, count) in logged {
            let versions = journal.old_versions(BlockNr(home));
            assert_eq!(versions.len(), count, "{}: block {home}", image.busy.name);
            for v in versions.iter().filter(|v| v.replayed) {
                let bytes = journal.read_version(fs.medium(), v).unwrap();
                assert_eq!(bytes, after.block(BlockNr(home)).unwrap());
            }
            let replayed = versions.iter().filter(|v| v.replayed).count();
            assert_eq!(
                replayed,
                usize::from(journal.replayed().contains_key(&home))
            );
        }
    });
}

/// Journals that debugfs wrote: each tag format, revokes, escapes, damage; what e2fsck
/// replays of them.
#[test]
fn special_journals_are_replayed_as_by_e2fsck() {
    let names = ["escaped", "uncommitted", "bad-journal-checksum"];
    let of_journals = |name: &str| {
        name.starts_with("revoke") || name.starts_with("tags-") || names.contains(&name)
    };
    for special in oracle::special::SPECIALS
        .iter()
        .filter(|s| of_journals(s.name))
    {
        let Some(oracle::special::Found::Built(found)) = oracle::special::special(special) else {
            continue;
        };
        if found.expect.replayed.is_empty() {
            continue;
        }
        let fs = open(&found.path);
        let journal = Journal::open(&fs).unwrap();
        eprintln!(
            "{}: {:?} {:?}",
            special.name,
            journal.outcome(),
            journal.scan_end()
        );
        let after = after_replay(&fs, &journal);
        for (block, hash) in &found.expect.replayed {
            let bytes = after.block(BlockNr(*block)).unwrap();
            assert_eq!(sha256(&bytes), *hash, "{}: block {block}", special.name);
            assert!(journal.replayed().contains_key(block));
        }
        for block in &found.expect.not_replayed {
            assert!(
                !journal.replayed().contains_key(block),
                "{}: block {block}",
                special.name
            );
        }
        assert_eq!(
            as_dumped(journal.transactions()),
            oracle::logdump(&found.path).unwrap()
        );
    }
}

/// The first test images of e2fsprogs that have journals: logdump's transactions, except
/// where it reads past the block.
#[test]
fn journals_of_e2fsprogs_tests_are_logdumps() {
    let Some(images) = oracle::shared::images() else {
        return;
    };
    let mut with_journal = 0;
    for image in images.iter().filter(|i| !i.name.contains("ext_jnl")) {
        let Ok(path) = image.unpacked() else { continue };
        let Ok(fs) = Fs::open(Rc::new(FileReader::open(&path).unwrap())) else {
            continue;
        };
        let journal = match Journal::open(&fs) {
            Ok(journal) => journal,
            Err(e) => {
                assert!(!e.to_string().is_empty());
                continue;
            }
        };
        view::journal::journal(&journal, 0, 0);
        let Ok(theirs) = oracle::logdump(&path) else {
            continue;
        };
        if image.name == "j_corrupt_revoke_rcount" || !image.name.starts_with("j_") {
            continue;
        }
        with_journal += 1;
        eprintln!(
            "{}: {:?} {:?}",
            image.name,
            journal.outcome(),
            journal.problems()
        );
        assert_eq!(as_dumped(journal.transactions()), theirs, "{}", image.name);
    }
    assert!(with_journal >= 7, "{with_journal} journals");
}

/// Which of them a replay would refuse is what the names and e2fsck's problems say.
#[test]
fn damaged_journals_of_e2fsprogs_are_refused_for_their_damage() {
    let Some(images) = oracle::shared::images() else {
        return;
    };
    let outcome = |name: &str| {
        let image = images.iter().find(|i| i.name == name).unwrap();
        let fs = open(&image.unpacked().unwrap());
        Journal::open(&fs).map(|j| view::journal::journal(&j, 0, 0).state)
    };
    let words = |name: &str| outcome(name).unwrap();
    assert!(outcome("j_corrupt_sb_magic").is_err());
    assert!(words("j_corrupt_sb_csum").contains("superblock has checksum"));
    assert!(words("j_corrupt_revoke_rcount").contains("r_count"));
    // Transaction 3 is good, its follower's descriptor is another's.
    assert!(words("j_corrupt_descr_tid").contains("nothing to replay"));
    assert!(words("j_corrupt_commit_tid").contains("nothing to replay"));
    assert!(words("j_corrupt_journal_block").contains("damaged"));
}

#[test]
fn an_external_journal_is_opened_beside_its_filesystem() {
    let Some(image) = oracle::image_named("external-journal") else {
        return;
    };
    let device = FileReader::open(image.journal.as_ref().unwrap()).unwrap();
    let fs = open(&image.path);
    assert!(matches!(Journal::home(&fs), JournalHome::Device(_)));
    assert!(
        Journal::open(&fs)
            .unwrap_err()
            .to_string()
            .contains("device of its own")
    );
    let mut journal = Journal::open_device(&device, Some(&fs)).unwrap();
    assert_eq!(journal.problems(), []);
    assert_eq!(journal.log().place(), JournalPlace::Device);
    assert_eq!(*journal.outcome(), Outcome::Clean);
    journal.read_history(&device, &mut |_, _| true);
    let kinds = old_heads(&journal);
    assert!(kinds.len() > 3 && kinds.keys().all(|b| (2..4096).contains(b)));
}

/// debugfs writes two transactions to it: the second takes back half of the first.
#[test]
fn an_external_journal_is_replayed_over_its_filesystem() {
    let Some(image) = oracle::image_named("external-journal") else {
        return;
    };
    let (_one, fs_copy) = oracle::scratch_copy(&image.path).unwrap();
    let (_two, log_copy) = oracle::scratch_copy(image.journal.as_ref().unwrap()).unwrap();
    let size = image.truth.block_size() as usize;
    let data: Vec<u8> = (0..2 * size).map(|i| (i * 7 % 251) as u8).collect();
    let input = fs_copy.with_file_name("data");
    std::fs::write(&input, &data).unwrap();
    let blocks = [1000u64, 1001];
    let commands = [
        format!("jo -f {}", log_copy.display()),
        format!("jw -b {},{} {}", blocks[0], blocks[1], input.display()),
        format!("jw -r {}", blocks[1]),
        "jc".into(),
    ];
    Debugfs::writing(&fs_copy).ask(&commands).unwrap();
    let fs = open(&fs_copy);
    let device = Rc::new(FileReader::open(&log_copy).unwrap());
    let journal = Journal::open_device(&device, Some(&fs)).unwrap();
    assert_eq!(journal.problems(), []);
    let theirs = oracle::logdump_external(&fs_copy, &log_copy).unwrap();
    assert_eq!(as_dumped(journal.transactions()), theirs);
    let after = Overlay::new(fs.medium().clone(), device, journal.replay_map());
    let after = Fs::open(after).unwrap();
    assert_eq!(after.block(BlockNr(blocks[0])).unwrap(), data[..size]);
    assert_eq!(
        after.block(BlockNr(blocks[1])).unwrap(),
        fs.block(BlockNr(blocks[1])).unwrap()
    );
}

/// e2fsprogs' external journals: each damaged in its superblock.
#[test]
fn damaged_external_journals_are_told() {
    let Some(images) = oracle::shared::images() else {
        return;
    };
    let mut seen = 0;
    for image in images
        .iter()
        .filter(|i| i.name.ends_with(".jnl") || i.name == "j_ext_dumpe2fs")
    {
        let device = FileReader::open(&image.unpacked().unwrap()).unwrap();
        let journal = Journal::open_device(&device, None::<&Reader>);
        eprintln!(
            "{}: {:?}",
            image.name,
            journal.as_ref().map(Journal::problems)
        );
        match journal {
            Ok(journal) => {
                let damaged = image.name.contains("corrupt");
                assert_eq!(journal.problems().is_empty(), !damaged, "{}", image.name);
            }
            Err(e) => assert!(e.to_string().contains("journal"), "{e}"),
        }
        seen += 1;
    }
    assert!(seen >= 2, "{seen} external journals");
}

/// The filesystem's inode 8 is lost; the copy in the superblock leads to the same log.
#[test]
fn a_damaged_journal_inode_is_replaced_by_its_copy() {
    for name in ["ordered", "ext3"] {
        let busy = BUSY.iter().find(|b| b.name == name).unwrap();
        let Some(image) = oracle::busy_image(busy) else {
            return;
        };
        let mut bytes = std::fs::read(&image.path).unwrap();
        let (block, at) = open(&image.path).inode_place(InodeNr(8)).unwrap();
        let start = block.0 as usize * busy.block_size as usize + at;
        bytes[start..start + 128].fill(0);
        let fs = Fs::open(bytes).unwrap();
        let journal = Journal::open(&fs).unwrap();
        assert_eq!(journal.log().place(), JournalPlace::Backup(InodeNr(8)));
        assert_eq!(journal.problems().len(), 1);
        assert_eq!(as_dumped(journal.transactions()), image.transactions);
    }
}

/// The tags that logdump prints of the fast-commit area.
#[test]
fn fast_commits_are_logdumps() {
    let Some(busy) = BUSY.iter().find(|b| b.name == "fast-commit") else {
        return;
    };
    let Some(image) = oracle::busy_image(busy) else {
        return;
    };
    let text = Debugfs::new(&image.path).ask_one("logdump -aO").unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let theirs: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("tag ")?.split([',', ' ']).next())
        .collect();
    let fs = open(&image.path);
    let journal = Journal::open(&fs).unwrap();
    let area = view::journal::journal(&journal, 0, 0).fast_commits.unwrap();
    let ours: Vec<&str> = area.tags.iter().map(|t| debugfs_word(&t.words)).collect();
    assert_eq!(ours, theirs);
    let (_, last) = journal.log().ring();
    assert_eq!(area.first, last + 1);
    for tag in &area.tags {
        eprintln!("{} {} {}", tag.journal_block, tag.words, tag.replayed);
    }
}
