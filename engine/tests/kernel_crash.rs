//! The published experiments on power cuts, C1 to C5, and on tangled fsyncs, F1
//! (`../shared/experiments`): what can be found in a file afterwards, over all disks that a
//! crash at any instant of a run can leave.

mod cut_support;
mod oracle;
#[allow(dead_code, reason = "other tests use the rest")]
mod recorder;

use cut_support::Found::{self, Absent, Again, Empty, Garbage, New, Old, Zeros};
use cut_support::{BLOCK, Judges, NEW, OLD, SECOND, Setting};
use cut_support::{base, by_fslab, ext3, ext4, open, write};
use fslab_engine::device::Ram;
use fslab_engine::kernel::{Caller, DataMode, Mount, MountError, MountOptions, OpenFlags};
use fslab_engine::units::SimTime;
use recorder::{Recorder, crash_disks, of};
use std::collections::BTreeSet;

/// What a program does.
#[derive(Clone, Copy, PartialEq)]
enum Program {
    /// `open(O_TRUNC), write, close`.
    Truncate,
    /// `write tmp, [fsync], close, rename`.
    Rename { fsync: bool },
    /// A new file.
    Create,
}

impl Program {
    fn file(self) -> &'static str {
        if self == Self::Create { "new" } else { "file" }
    }

    /// Runs it, and then 60 seconds; a commit comes after the call of this number. How many
    /// steps the device had done before the flusher came.
    fn run(self, m: &mut Mount, commit_after: usize) -> usize {
        let mut calls = 0;
        let mut called = |m: &mut Mount| {
            if calls == commit_after {
                m.commit().unwrap();
            }
            calls += 1;
        };
        let path: &[u8] = match self {
            Self::Truncate => b"/file",
            Self::Rename { .. } => b"/tmp",
            Self::Create => b"/new",
        };
        let fd = open(m, path);
        called(m);
        m.write(fd, &NEW).unwrap();
        called(m);
        if self == (Self::Rename { fsync: true }) {
            m.fsync(fd).unwrap();
            called(m);
        }
        m.close(fd).unwrap();
        called(m);
        if matches!(self, Self::Rename { .. }) {
            m.rename(&Caller::root(), b"/tmp", b"/file", 0).unwrap();
            called(m);
        }
        m.advance(SimTime(29 * SECOND)).unwrap();
        called(m);
        let early = of(m.vol.device()).steps().len();
        m.advance(SimTime(30 * SECOND)).unwrap();
        called(m);
        m.advance(SimTime(60 * SECOND)).unwrap();
        early
    }
}

/// Commits come by the clock only.
const BY_CLOCK: usize = usize::MAX;

/// What can be found: before the flusher came and commits coming by the clock; at any
/// time, the same; and with a commit after any of the calls.
#[derive(Default, PartialEq, Debug)]
struct Outcomes {
    early: BTreeSet<Found>,
    late: BTreeSet<Found>,
    any: BTreeSet<Found>,
}

fn outcomes(s: &Setting, program: Program) -> Outcomes {
    let mut all = Outcomes::default();
    let base = base(s);
    let mut judges = Judges::new();
    let mut count = 0;
    for commit_after in (0..7).chain([BY_CLOCK]) {
        let device = Box::new(Recorder::new(base.clone()));
        let mut m = Mount::mount(device, s.options.clone()).unwrap();
        // The mount is no part of it.
        let begun = of(m.vol.device()).steps().len();
        let early = program.run(&mut m, commit_after);
        let recorder = of(m.vol.device());
        crash_disks(recorder.base(), recorder.steps(), BLOCK, |at, disk| {
            if at < begun {
                return;
            }
            let found = by_fslab(disk, program.file());
            count += 1;
            judges.agree(disk, program.file(), found, count);
            all.any.insert(found);
            if commit_after == BY_CLOCK {
                all.late.insert(found);
            }
        });
        if commit_after == BY_CLOCK {
            let steps = &recorder.steps()[..early];
            crash_disks(recorder.base(), steps, BLOCK, |at, disk| {
                if at >= begun {
                    all.early.insert(by_fslab(disk, program.file()));
                }
            });
        }
    }
    eprintln!(
        "{:<44} {count:>5} disks, {} by e2fsck, {} by the kernel; within 30 s {:?}, later {:?}, \
         with commits anywhere {:?}",
        s.name, judges.by_e2fsck, judges.by_kernel, all.early, all.late, all.any
    );
    all
}

fn expect(s: &Setting, program: Program, early: &[Found], late: &[Found], any: &[Found]) {
    let set = |some: &[Found]| some.iter().copied().collect();
    let expected = Outcomes {
        early: set(early),
        late: set(late),
        any: set(any),
    };
    assert_eq!(outcomes(s, program), expected, "{}", s.name);
}

fn before_heuristic(data: DataMode) -> Setting {
    ext4("ext4 noauto_da_alloc", |o| {
        o.data = data;
        o.auto_da_alloc = false;
        o.dioread_nolock = false;
    })
}

fn with_heuristic() -> Setting {
    ext4("ext4 auto_da_alloc, dioread_lock", |o| {
        o.dioread_nolock = false
    })
}

fn today() -> Setting {
    ext4("ext4 today", |_| {})
}

fn alloc_on_commit() -> Setting {
    Setting {
        name: "ext4 alloc on commit",
        ..before_heuristic(DataMode::AllocOnCommit)
    }
}

#[test]
fn c1_truncate_and_write() {
    let p = Program::Truncate;
    let ext3_ordered = ext3("ext3 data=ordered", DataMode::Ordered);
    expect(
        &ext3_ordered,
        p,
        &[Old, New],
        &[Old, New],
        &[Old, New, Empty],
    );
    let late = [Old, New, Empty];
    let before = before_heuristic(DataMode::Ordered);
    expect(&before, p, &[Old, Empty], &late, &late);
    expect(&with_heuristic(), p, &[Old, New], &[Old, New], &late);
    let any = [Old, New, Empty, Zeros];
    expect(&today(), p, &[Old, New], &[Old, New], &any);
    expect(&alloc_on_commit(), p, &[Old, New], &[Old, New], &late);
}

#[test]
fn c2_rename_without_fsync() {
    let p = Program::Rename { fsync: false };
    let safe = [Old, New];
    let torn = [Old, New, Garbage];
    expect(
        &ext3("ext3 data=ordered", DataMode::Ordered),
        p,
        &safe,
        &safe,
        &safe,
    );
    expect(
        &ext3("ext3 data=journal", DataMode::Journal),
        p,
        &safe,
        &safe,
        &safe,
    );
    expect(
        &ext3("ext3 data=writeback", DataMode::Writeback),
        p,
        &[Old, Garbage],
        &torn,
        &torn,
    );
    let late = [Old, New, Empty];
    let before = before_heuristic(DataMode::Ordered);
    expect(&before, p, &[Old, Empty], &late, &late);
    expect(&with_heuristic(), p, &safe, &safe, &safe);
    let nodelalloc = ext4("ext4 nodelalloc", |o| o.delalloc = Some(false));
    expect(&nodelalloc, p, &safe, &safe, &safe);
    expect(&today(), p, &safe, &safe, &[Old, New, Zeros]);
    let writeback = ext4("ext4 data=writeback, dioread_lock", |o| {
        o.data = DataMode::Writeback;
        o.dioread_nolock = false;
    });
    expect(&writeback, p, &safe, &safe, &torn);
    let journal = ext4("ext4 data=journal", |o| o.data = DataMode::Journal);
    expect(&journal, p, &safe, &safe, &safe);
    expect(&alloc_on_commit(), p, &safe, &safe, &safe);
}

#[test]
fn c2_rename_with_fsync() {
    let p = Program::Rename { fsync: true };
    let safe = [Old, New];
    let mut all = vec![
        ext3("ext3 data=ordered", DataMode::Ordered),
        ext3("ext3 data=writeback", DataMode::Writeback),
        with_heuristic(),
        today(),
        before_heuristic(DataMode::Ordered),
        alloc_on_commit(),
    ];
    all.push(ext4("ext4 data=journal", |o| o.data = DataMode::Journal));
    all.push(ext4("ext4 data=writeback", |o| {
        o.data = DataMode::Writeback
    }));
    for s in &all {
        // By the clock, nothing of the rename is on disk before a commit, and then all.
        expect(s, p, &safe, &safe, &safe);
    }
}

#[test]
fn c3_stale_data() {
    let p = Program::Create;
    let safe = [Absent, New];
    let any = [Absent, Empty, New];
    let stale = [Absent, New, Garbage];
    let writeback = |o: &mut MountOptions| o.data = DataMode::Writeback;
    expect(
        &ext3("ext3 data=ordered", DataMode::Ordered),
        p,
        &safe,
        &safe,
        &any,
    );
    let all = [Absent, Empty, New, Garbage];
    expect(
        &ext3("ext3 data=writeback", DataMode::Writeback),
        p,
        &[Absent, Garbage],
        &stale,
        &all,
    );
    let nodelalloc = ext4("ext4 nodelalloc", |o| o.delalloc = Some(false));
    expect(&nodelalloc, p, &safe, &safe, &any);
    let s = ext4("ext4 nodelalloc, data=writeback", |o| {
        o.delalloc = Some(false);
        writeback(o);
    });
    expect(&s, p, &[Absent, Garbage], &stale, &all);
    expect(&with_heuristic(), p, &[Absent, Empty], &any, &any);
    let s = ext4("ext4 dioread_lock, data=writeback", |o| {
        o.dioread_nolock = false;
        writeback(o);
    });
    expect(&s, p, &[Absent, Empty], &any, &all);
    let s = ext4("ext4 dioread_nolock, data=writeback", writeback);
    expect(&s, p, &[Absent, Empty], &any, &[Absent, Empty, New, Zeros]);
}

#[test]
fn c4_commit_without_a_flush_before_it() {
    let p = Program::Create;
    let with = |asynchronous| Setting {
        csum: false,
        ..ext4("ext4 ordered, journal_async_commit", |o| {
            o.delalloc = Some(false);
            o.journal_checksum = true;
            o.journal_async_commit = asynchronous;
        })
    };
    let stale = [Absent, New, Garbage];
    expect(
        &with(true),
        p,
        &stale,
        &stale,
        &[Absent, Empty, New, Garbage],
    );
    let flushed = Setting {
        name: "ext4 ordered, a flush before the commit block",
        ..with(false)
    };
    expect(
        &flushed,
        p,
        &[Absent, New],
        &[Absent, New],
        &[Absent, Empty, New],
    );
}

/// What a mount after a crash comes to, for C5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mounts {
    Finds(Found),
    /// A checksum in the log does not hold: the mount fails.
    Mismatch,
}

/// C5: a file's contents are written again after each phase of the commit that carries them,
/// so that once the checksum is computed and the block not sent yet. All that any crash can
/// leave, before the second contents have a commit of their own.
fn c5(s: &Setting) -> BTreeSet<Mounts> {
    let base = base(s);
    let mut judges = Judges::new();
    judges.every = 7;
    let (mut all, mut count, mut mismatches) = (BTreeSet::new(), 0, 0);
    for again_after in 0..=5 {
        let device = Box::new(Recorder::new(base.clone()));
        let mut m = Mount::mount(device, s.options.clone()).unwrap();
        let begun = of(m.vol.device()).steps().len();
        let flags = OpenFlags::WRONLY;
        let fd = m.open(&Caller::root(), b"/file", flags, 0).unwrap();
        m.pwrite(fd, &NEW, 0).unwrap();
        assert!(m.start_commit().unwrap());
        for phase in 0.. {
            if phase == again_after {
                m.pwrite(fd, &[b'A'; 5000], 0).unwrap();
            }
            if !m.step_commit().unwrap() {
                break;
            }
        }
        let recorder = of(m.vol.device());
        crash_disks(recorder.base(), recorder.steps(), BLOCK, |at, disk| {
            if at < begun {
                return;
            }
            count += 1;
            let device = Box::new(Ram::new(disk.clone()));
            let found = match Mount::mount(device, MountOptions::default()) {
                Ok(_) => {
                    let found = by_fslab(disk, "file");
                    judges.agree(disk, "file", found, count);
                    Mounts::Finds(found)
                }
                Err(MountError::DamagedCopies { .. } | MountError::AfterReplay { .. }) => {
                    mismatches += 1;
                    judges.refuses(disk);
                    Mounts::Mismatch
                }
                Err(why) => panic!("{why}"),
            };
            all.insert(found);
        });
    }
    eprintln!(
        "{:<44} {count:>5} disks, {mismatches} with a mismatch, {} by e2fsck, {} by the kernel; {all:?}",
        s.name, judges.by_e2fsck, judges.by_kernel
    );
    all
}

/// C5: writes while a block's checksum is computed. ext4 has checksums of contents in its
/// journal alone, with `data=journal`; that mapped pages could be stored to meanwhile was so
/// until Linux 5.10.
#[test]
fn c5_stable_pages() {
    let with = |name, csum, stable_pages, journal_checksum| Setting {
        name,
        csum,
        ..ext4("", |o| {
            o.data = DataMode::Journal;
            o.stable_pages = stable_pages;
            o.journal_checksum = journal_checksum;
        })
    };
    let finds =
        |some: &[Found]| -> BTreeSet<Mounts> { some.iter().map(|&f| Mounts::Finds(f)).collect() };
    let on = with("stable pages, checksums v3", true, true, false);
    assert_eq!(c5(&on), finds(&[Old, New]));
    let off = with("no stable pages, checksums v3", true, false, false);
    let mut torn = finds(&[Old, New, Again]);
    torn.insert(Mounts::Mismatch);
    assert_eq!(c5(&off), torn);
    // The same with a single checksum, in the commit block.
    let on = with("stable pages, a checksum of the whole", false, true, true);
    assert_eq!(c5(&on), finds(&[Old, New]));
    let off = with(
        "no stable pages, a checksum of the whole",
        false,
        false,
        true,
    );
    assert_eq!(c5(&off), torn);
    let off = with("no stable pages, no checksums", false, false, false);
    assert_eq!(c5(&off), finds(&[Old, New, Again]));
}

/// F1: bytes written while a small fsync waits, another process having written 2 MB.
#[test]
fn f1_tangled_fsync() {
    let waits = |s: &Setting| {
        let mut m = Mount::mount(Box::new(Ram::new(base(s))), s.options.clone()).unwrap();
        let db = open(&mut m, b"/db");
        m.write(db, &NEW[..4096]).unwrap();
        m.fsync(db).unwrap();
        m.pwrite(db, &OLD[..4096], 4096).unwrap();
        write(&mut m, b"/big", &vec![1; 2 << 20]);
        let before = m.vol.device().counters();
        m.fsync(db).unwrap();
        let after = m.vol.device().counters();
        let bytes = after.written_bytes - before.written_bytes;
        let requests = after.writes - before.writes;
        eprintln!(
            "{:<44} fsync waits for {bytes} bytes in {requests} requests",
            s.name
        );
        bytes
    };
    let tangled = waits(&ext3("ext3 data=ordered", DataMode::Ordered));
    let free = waits(&today());
    assert!(tangled > 2 << 20 && free < 64 << 10, "{tangled} {free}");
    assert!(waits(&ext3("ext3 data=writeback", DataMode::Writeback)) < 256 << 10);
}
