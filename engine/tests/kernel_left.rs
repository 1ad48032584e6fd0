//! What the real kernel leaves behind in the middle of random calls, copied again and again
//! while it is mounted: fslab's recovery comes to what the kernel's mount comes to (issue "The
//! journal", Shows 2), fast commits and journals on devices of their own included.

mod left_support;
mod oracle;

use fslab_engine::device::Overlaid;
use fslab_engine::kernel::{Caller, DataMode, Mount, MountOptions, OpenFlags};
use left_support::{Found, Run, Setting, apply, compare, left, make, over, overlaid, set};
use oracle::{available, skipped};
use std::path::Path;

const CSUM: &str = "-t ext4 -J size=4";
const PLAIN: &str = "-t ext4 -O ^metadata_csum,^64bit -J size=4";
const EXT3: &str = "-t ext3 -J size=4";

/// All data modes, with metadata_csum and without, 1 KiB and 4 KiB.
const MODES: &[Setting] = &[
    set(CSUM, 4096, ""),
    set(CSUM, 1024, ""),
    set(PLAIN, 4096, ""),
    set(PLAIN, 1024, "journal_checksum"),
    set(CSUM, 4096, "data=writeback"),
    set(CSUM, 1024, "data=writeback,journal_async_commit"),
    set(PLAIN, 4096, "data=writeback,journal_async_commit"),
    set(PLAIN, 1024, "data=writeback"),
    set(CSUM, 4096, "data=journal"),
    set(CSUM, 1024, "data=journal"),
    set(PLAIN, 4096, "data=journal"),
    set(PLAIN, 1024, "data=journal"),
    set(EXT3, 4096, ""),
    set(EXT3, 1024, "data=journal"),
    set("-t ext4 -O orphan_file -J size=4", 1024, "nodelalloc"),
];

const FAST: &[Setting] = &[
    set("-t ext4 -O fast_commit -J size=8", 4096, ""),
    set("-t ext4 -O fast_commit -J size=4", 1024, ""),
    set("-t ext4 -O fast_commit,^metadata_csum -J size=8", 4096, ""),
    set(
        "-t ext4 -O fast_commit,^metadata_csum,^64bit -J size=4",
        1024,
        "",
    ),
];

const EXTERNAL: &[Setting] = &[
    Setting {
        external: true,
        ..set("-t ext4", 4096, "")
    },
    Setting {
        external: true,
        ..set("-t ext4 -O ^metadata_csum", 1024, "data=journal")
    },
];

fn seeds() -> u64 {
    std::env::var("FSLAB_LEFT_SEEDS").map_or(1, |n| n.parse().unwrap())
}

fn all(settings: &[Setting], copies: usize) {
    if let Err(why) = available() {
        return skipped::<()>(&why).unwrap_or(());
    }
    for s in settings {
        let mut found = Found::default();
        // Which clock a replay of fast commits uses for directories is its own affair.
        let dir_times = !s.mkfs.contains("fast_commit");
        for seed in 0..seeds() {
            let run = left(s, seed, copies);
            for n in 0..run.copies {
                let what = format!(
                    "{} {} {}, seed {seed}, copy {n}",
                    s.mkfs, s.block_size, s.mount
                );
                found.add(&compare(&run, n, &what, dir_times));
            }
        }
        let faulty = match found.faulty {
            0 => String::new(),
            n => format!(", {n} with the kernel's own faults"),
        };
        eprintln!(
            "{:<55} {:<5}{:<36} {} copies, {} transactions, {} tags{faulty}",
            s.mkfs, s.block_size, s.mount, found.copies, found.transactions, found.tags
        );
        assert!(found.transactions > 0);
        assert!(dir_times || found.tags > 0);
    }
}

#[test]
fn journals_in_all_modes() {
    all(MODES, 4);
}

#[test]
fn fast_commits() {
    all(FAST, 8);
}

#[test]
fn journals_on_their_own_devices() {
    all(EXTERNAL, 5);
}

/// The other way round: what fslab leaves at the steps of its commits, with its journal on
/// another device, is recovered by the kernel as by fslab.
#[test]
fn journals_of_fslab_on_their_own_devices() {
    if let Err(why) = available() {
        return skipped::<()>(&why).unwrap_or(());
    }
    for s in EXTERNAL {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let run = Run {
            folder: folder.unwrap(),
            copies: 0,
            external: true,
        };
        let path = |name: &str| run.folder.path().join(name);
        std::fs::create_dir(path("mnt")).unwrap();
        let (live, log) = (path("live"), path("journal"));
        make(s, &live, Some(&log));
        let states = crashes(s, &live, &log);
        for (n, (fs, fs_log)) in states.iter().enumerate() {
            std::fs::copy(&live, run.image(n)).unwrap();
            std::fs::copy(&log, run.journal(n).unwrap()).unwrap();
            apply(fs, &run.image(n));
            apply(fs_log, &run.journal(n).unwrap());
            compare(
                &run,
                n,
                &format!("{} {}, state {n}", s.mkfs, s.block_size),
                true,
            );
        }
        eprintln!("{} {}: {} states", s.mkfs, s.block_size, states.len());
        assert!(states.len() > 10);
    }
}

/// Both devices after each phase of commits that come between calls.
fn crashes(s: &Setting, fs: &Path, log: &Path) -> Vec<(Overlaid, Overlaid)> {
    let options = MountOptions {
        data: match s.mount {
            "data=journal" => DataMode::Journal,
            _ => DataMode::Ordered,
        },
        ..MountOptions::default()
    };
    let (fs, log) = (Box::new(over(fs)), Box::new(over(log)));
    let mut m = Mount::mount_with_journal(fs, log, options).unwrap();
    let who = Caller::root();
    let mut all = Vec::new();
    let flags = OpenFlags::RDWR | OpenFlags::CREAT;
    for n in 0..8u8 {
        let dir = format!("/dir-{n}");
        m.mkdir(&who, dir.as_bytes(), 0o755).unwrap();
        for file in 0..5 {
            let path = format!("{dir}/file-{file}");
            let fd = m.open(&who, path.as_bytes(), flags, 0o644).unwrap();
            m.pwrite(fd, &vec![n + 1; 9000], 1000 * file).unwrap();
            m.close(fd).unwrap();
        }
        if n > 1 {
            let old = format!("/dir-{}/file-1", n - 2);
            m.unlink(&who, old.as_bytes()).unwrap();
            m.truncate(&who, format!("/dir-{}/file-2", n - 2).as_bytes(), 77)
                .unwrap();
        }
        let mut more = m.start_commit().unwrap();
        while more {
            all.push((
                overlaid(m.vol.device()),
                overlaid(m.vol.log_device().unwrap()),
            ));
            more = m.step_commit().unwrap();
        }
        if n % 3 == 2 {
            m.sync().unwrap();
        }
    }
    all
}
