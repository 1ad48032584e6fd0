//! A mount is plain data: a clone goes on as the original would, and neither sees the
//! other; the same calls give the same events and the same bytes.

use fslab_engine::device::Ram;
use fslab_engine::disk::{CowDisk, ReadAt};
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::kernel::{Caller, Errno, FallocateMode, Mount, MountOptions, OpenFlags};
use fslab_engine::units::SimTime;
use proptest::prelude::*;

const LEN: u64 = 16 << 20;

#[derive(Clone, Debug)]
enum Step {
    Write(u8, u32, u16),
    Pattern(u8, u32, u32),
    Punch(u8, u16),
    Truncate(u8, u32),
    Unlink(u8),
    Rename(u8, u8),
    Mkdir(u8),
    Sync(u8),
    Wait(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0u8..30;
    prop_oneof![
        4 => (file.clone(), 0u32..200_000, 1u16..9000).prop_map(|(f, at, n)| Step::Write(f, at, n)),
        2 => (file.clone(), 0u32..50, 1u32..60).prop_map(|(f, at, n)| Step::Pattern(f, at, n)),
        1 => (file.clone(), 1u16..60_000).prop_map(|(f, n)| Step::Punch(f, n)),
        1 => (file.clone(), 0u32..100_000).prop_map(|(f, n)| Step::Truncate(f, n)),
        1 => file.clone().prop_map(Step::Unlink),
        1 => (file.clone(), file.clone()).prop_map(|(a, b)| Step::Rename(a, b)),
        1 => (0u8..5).prop_map(Step::Mkdir),
        1 => file.prop_map(Step::Sync),
        1 => (1u8..20).prop_map(Step::Wait),
    ]
}

fn name(f: u8) -> Vec<u8> {
    format!("file-{f}").into_bytes()
}

fn run(m: &mut Mount, step: &Step) -> Result<u64, Errno> {
    let who = Caller::root();
    let flags = OpenFlags::RDWR | OpenFlags::CREAT;
    let mut with =
        |f: u8, act: &mut dyn FnMut(&mut Mount, fslab_engine::kernel::Fd) -> Result<u64, Errno>| {
            let fd = m.open(&who, &name(f), flags, 0o644)?;
            let done = act(m, fd);
            m.close(fd)?;
            done
        };
    match *step {
        Step::Write(f, at, n) => with(f, &mut |m, fd| {
            m.pwrite(fd, &vec![f + 1; n.into()], at.into())
        }),
        Step::Pattern(f, at, n) => with(f, &mut |m, fd| {
            m.pwrite_pattern(fd, u64::from(n) * 1024, u64::from(at) * 1024, f.into(), 0)
        }),
        Step::Punch(f, n) => with(f, &mut |m, fd| {
            let mode = FallocateMode::PUNCH_HOLE | FallocateMode::KEEP_SIZE;
            m.fallocate(fd, mode, 1000, n.into()).map(|()| 0)
        }),
        Step::Truncate(f, n) => m.truncate(&who, &name(f), n.into()).map(|()| 0),
        Step::Unlink(f) => m.unlink(&who, &name(f)).map(|()| 0),
        Step::Rename(a, b) => m.rename(&who, &name(a), &name(b), 0).map(|()| 0),
        Step::Mkdir(d) => m
            .mkdir(&who, format!("dir-{d}").as_bytes(), 0o755)
            .map(|()| 0),
        Step::Sync(f) => with(f, &mut |m, fd| m.fsync(fd).map(|()| 0)),
        Step::Wait(s) => {
            let to = SimTime(m.now().0 + u64::from(s) * 1_000_000_000);
            m.advance(to).map(|()| 0)
        }
    }
}

fn mounted(fs_type: FsType) -> Mount {
    let mut disk = CowDisk::new(LEN);
    let options = Options {
        fs_type,
        block_size: Some(1024),
        uuid: [3; 16],
        hash_seed: [5; 16],
        ..Options::default()
    };
    mkfs(&options, &mut disk, LEN).unwrap();
    let mut mount = Mount::mount(Box::new(Ram::new(disk)), MountOptions::default()).unwrap();
    mount.vol.events.keep(true);
    mount
}

/// What the run left: events since the last time, and the disk.
fn seen(mut m: Mount) -> (Vec<fslab_engine::event::Event>, Vec<u8>) {
    let events = m.take_events();
    let (device, done) = m.unmount();
    done.unwrap();
    let mut bytes = vec![0; LEN as usize];
    device.read_at(0, &mut bytes).unwrap();
    (events, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_clone_goes_its_own_way(
        kind in 0usize..3,
        before in proptest::collection::vec(step(), 1..40),
        after in proptest::collection::vec(step(), 1..40),
        other in proptest::collection::vec(step(), 1..40),
    ) {
        let fs_type = [FsType::Ext2, FsType::Ext3, FsType::Ext4][kind];
        let all = |steps: &[&[Step]]| {
            let mut m = mounted(fs_type);
            let results: Vec<_> = steps.iter().flat_map(|s| s.iter()).map(|s| run(&mut m, s)).collect();
            (results, seen(m))
        };
        let (results, expected) = all(&[&before, &after]);

        let mut m = mounted(fs_type);
        let mut found: Vec<_> = before.iter().map(|s| run(&mut m, s)).collect();
        let mut clone = m.clone();
        for s in &other {
            let _ = run(&mut m, s);
        }
        found.extend(after.iter().map(|s| run(&mut clone, s)));
        prop_assert_eq!(&found, &results);
        let left = seen(clone);
        prop_assert_eq!(left.0.len(), expected.0.len());
        prop_assert!(left.0 == expected.0, "the same events");
        prop_assert!(left.1 == expected.1, "the same bytes");
        // The original went the other way, as if there had been no clone.
        prop_assert!(seen(m) == all(&[&before, &other]).1);
    }

    /// Every event follows from a call, but those of mounting and of the threads.
    #[test]
    fn events_have_a_cause(steps in proptest::collection::vec(step(), 1..40)) {
        use fslab_engine::event::{Actor, What};
        let mut m = mounted(FsType::Ext4);
        for s in &steps {
            let _ = run(&mut m, s);
        }
        let events = m.take_events();
        for pair in events.windows(2) {
            prop_assert!(pair[0].id < pair[1].id && pair[0].at <= pair[1].at);
        }
        for e in &events {
            let by_process = matches!(e.actor, Actor::Process(_));
            let call = matches!(e.what, What::Call { .. });
            prop_assert!(!by_process || call || e.cause.is_some(), "{:?}", e);
        }
    }
}
