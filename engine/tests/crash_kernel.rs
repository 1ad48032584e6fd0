//! States of many runs, handed to e2fsck and to the real kernel: the tree that our recovery
//! gives is the one that they find.

#[allow(dead_code, reason = "other tests use the rest")]
mod crash_support;
mod kernel_ops;
mod oracle;

use crash_support::{RENAME, RENAME_SYNCED, TRUNCATE, explored, moments, parse, scenario};
use fslab_engine::disk::{CowDisk, ReadAt};
use fslab_engine::ext4::mkfs::FsType;
use fslab_engine::kernel::MountOptions;
use fslab_engine::scenario::Scenario;
use kernel_ops::{fslab::Fslab, linux::Linux, tree};
use oracle::{available, limited, output, skipped};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// States that are handed over, of each run.
fn wanted() -> usize {
    let runs = std::env::var("FSLAB_CRASH_STATES").ok();
    runs.and_then(|n| n.parse().ok()).unwrap_or(3)
}

fn save(disk: &CowDisk, path: &Path) {
    let file = std::fs::File::create(path).unwrap();
    file.set_len(disk.len()).unwrap();
    for (at, len) in disk.data() {
        let mut bytes = vec![0; len as usize];
        disk.read_at(at, &mut bytes).unwrap();
        file.write_all_at(&bytes, at).unwrap();
    }
}

/// The lessons, and saves under many settings.
fn runs() -> Vec<(String, Arc<Scenario>)> {
    let mut all = Vec::new();
    let lessons = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lessons");
    let mut names: Vec<_> = std::fs::read_dir(lessons)
        .unwrap()
        .map(|e| e.unwrap().path().join("scenario.toml"))
        .filter(|p| p.exists())
        .collect();
    names.sort();
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        let scenario = parse(&text);
        // Without a journal there is no recovery, and e2fsck changes what it finds.
        if scenario.mkfs.fs_type != FsType::Ext2 {
            all.push((path.display().to_string(), scenario));
        }
    }
    let many = [
        ("-t ext4 -b 1024 -J size=1", ""),
        ("-t ext4 -b 4096 -J size=4", "noauto_da_alloc"),
        ("-t ext4 -b 1024 -J size=1", "data=writeback,nodelalloc"),
        ("-t ext4 -b 4096 -J size=4", "data=journal"),
        (
            "-t ext4 -b 1024 -O ^metadata_csum,^64bit -J size=1",
            "journal_checksum",
        ),
        (
            "-t ext4 -b 4096 -J size=4",
            "journal_async_commit,data=writeback",
        ),
        ("-t ext3 -b 1024 -J size=1", ""),
        ("-t ext3 -b 4096 -J size=4", "data=writeback"),
    ];
    for (mkfs, mount) in many {
        for lines in [RENAME, RENAME_SYNCED, TRUNCATE] {
            let text = scenario(mkfs, mount, lines);
            all.push((format!("{mkfs} {mount} {lines}"), parse(&text)));
        }
    }
    all
}

#[test]
fn states_are_recovered_alike() {
    if let Err(why) = available() {
        return skipped(&why).unwrap_or(());
    }
    let dir = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let (raw, theirs, checked) = (
        dir.path().join("raw"),
        dir.path().join("kernel"),
        dir.path().join("e2fsck"),
    );
    let (mut states, mut refused, mut scenarios) = (0, 0, 0);
    for (name, scenario) in runs() {
        let mut all = moments(scenario);
        // Those with most to lose say most; the others are taken evenly.
        all.sort_by_key(|m| std::cmp::Reverse(m.pending.atoms()));
        let step = (all.len() / wanted()).max(1);
        scenarios += 1;
        for (nth, moment) in all.into_iter().step_by(step).take(wanted()).enumerate() {
            let event = moment.event;
            let field = explored(moment, 300);
            let state = (nth * 7919) % field.states().len();
            let disk = field.disk(state as u32).unwrap();
            let verdict = &field.verdicts()[field.states()[state].verdict as usize];
            let what = format!("{name} event {event} state {state}: {verdict:?}");
            save(&disk, &raw);
            std::fs::copy(&raw, &theirs).unwrap();
            std::fs::copy(&raw, &checked).unwrap();
            if verdict.unmountable.is_some() {
                // Asynchronous commits: a commit block without what it commits.
                assert!(name.contains("async"), "{what}");
                assert!(Linux::mount(&theirs, "ext4", "").is_err(), "{what}");
                refused += 1;
                continue;
            }
            assert!(verdict.problems.is_empty(), "{what}");
            let ours = {
                let mut m = Fslab::mount(&raw, MountOptions::default()).expect(&what);
                tree::read(&mut m).unwrap()
            };
            let kernels = by_kernel(&theirs);
            if let Some(unlike) = tree::difference(&kernels, &ours) {
                panic!("{what}: the kernel finds otherwise: {unlike}");
            }
            let code = output(&mut limited(
                30,
                "e2fsck",
                &["-fy".as_ref(), checked.as_os_str()],
            ))
            .unwrap()
            .status
            .code();
            assert!(
                code.is_some_and(|c| c <= 1),
                "{what}: e2fsck gives {code:?}"
            );
            let fscked = by_kernel(&checked);
            if let Some(unlike) = tree::difference(&fscked, &ours) {
                panic!("{what}: e2fsck leaves otherwise: {unlike}");
            }
            states += 1;
        }
    }
    println!(
        "{states} states of {scenarios} scenarios alike by the kernel and by e2fsck, {refused} refused"
    );
    assert!(states >= 100 && scenarios >= 20);
}

fn by_kernel(image: &Path) -> tree::Tree {
    let mut linux = Linux::mount(image, "ext4", "").unwrap();
    let found = tree::read(&mut linux).unwrap();
    linux.unmount();
    found
}
