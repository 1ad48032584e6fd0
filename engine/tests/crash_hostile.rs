//! Logs and conditions that mean harm: refused in words, bounded, never a panic.

#[allow(dead_code, reason = "other tests use the rest")]
mod crash_support;

use crash_support::{explored, moments, parse};
use fslab_engine::crash::{Pending, Raw, Rules, Stream, StreamError, Tear};
use fslab_engine::disk::{CowDisk, Data};
use proptest::prelude::*;

const LEN: u64 = 1 << 20;

fn record(kind: u32, offset: u64, len: u32, data: &[u8]) -> Vec<u8> {
    let mut all = 0u64.to_le_bytes().to_vec();
    all.extend(kind.to_le_bytes());
    all.extend(offset.to_le_bytes());
    all.extend(len.to_le_bytes());
    all.extend(data);
    all
}

/// A log of dm-log-writes with one entry.
fn dm(sector: u64, sectors: u64, flags: u64, bytes: u64, data: &[u8]) -> Vec<u8> {
    let mut head: Vec<u8> = [0x6A_7366_7773_6872u64, 1, 1]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    head.extend(512u32.to_le_bytes());
    head.resize(512, 0);
    let mut entry: Vec<u8> = [sector, sectors, flags, bytes]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    entry.resize(512, 0);
    [head, entry, data.to_vec()].concat()
}

/// Everything that is done with a log.
fn go_through(log: &[u8]) -> Result<usize, StreamError> {
    let stream = Stream::parse(log)?;
    let mut atoms = 0;
    for lies in [false, true] {
        let rules = Rules {
            lies,
            ..Rules::default()
        };
        stream.instants(CowDisk::new(LEN), rules, |_, p| {
            atoms += p.all_atoms().count()
        })?;
    }
    Ok(atoms)
}

#[test]
fn places_past_every_end_are_refused() {
    let end = u64::MAX - 511;
    let past = |log: &[u8]| matches!(go_through(log), Err(StreamError::PastEnd { record: 0, .. }));
    assert!(past(&record(1, end, 512, &[7; 512])));
    assert!(past(&record(3, end, u32::MAX, &[])));
    assert!(past(&record(3, 0, u32::MAX, &[])));
    assert!(past(&dm(u64::MAX, 1, 0, 512, &[7; 512])));
    assert!(past(&dm(0, u64::MAX, 4, 0, &[])));
    let cut = |log: &[u8]| matches!(go_through(log), Err(StreamError::CutShort { .. }));
    assert!(cut(&dm(0, 1, 8, u64::MAX, &[])));
    assert!(cut(&dm(0, 1, 0, u64::MAX, &[])));
    assert!(cut(&record(1, 0, 512, &[7; 511])));
    // A block that differs, twice: with and without a drive that lies.
    assert_eq!(go_through(&record(1, 0, 512, &[7; 512])), Ok(2));
    assert_eq!(go_through(&dm(8, 1, 0, 512, &[7; 512])), Ok(2));
}

proptest! {
    #[test]
    fn any_log_is_answered(log in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = go_through(&log);
    }

    #[test]
    fn spoilt_logs_are_answered(
        at in 0usize..1100, byte: u8, end in 0usize..1600, other in 0usize..1100, more: u8,
    ) {
        let writes = [record(1, 4096, 512, &[7; 512]), record(2, 0, 0, &[]), record(3, 0, 8192, &[])];
        for mut log in [writes.concat(), dm(8, 1, 3, 512, &[7; 512])] {
            for (at, byte) in [(at, byte), (other, more)] {
                if let Some(b) = log.get_mut(at) {
                    *b = byte;
                }
            }
            log.truncate(end.max(1));
            let _ = go_through(&log);
        }
    }
}

/// A terabyte given up, and gigabytes written: as many parts as writes, not as sectors.
#[test]
fn what_is_too_much_is_taken_as_whole() {
    let size = 16u64 << 40;
    let raw = |request, offset, data, len| Raw {
        request,
        offset,
        data: [(data, len)].into(),
        cause: None,
    };
    let pattern = Data::Pattern { seed: 1, from: 0 };
    let writes = vec![
        raw(0, 0, Data::Zero, size),
        raw(1, 0, pattern, 8 << 30),
        // It does not fit on the medium.
        raw(2, u64::MAX - 511, Data::Zero, 512),
    ];
    let pending = Pending::new(CowDisk::new(size), writes, Rules::default());
    assert!(pending.is_coarse());
    assert_eq!((pending.rules().tear, pending.atoms()), (Tear::Never, 2));
}

/// Conditions that never end, read without end or call without end: each says its limit, and
/// the others are not asked for more.
#[test]
fn conditions_are_bounded() {
    let text = |condition: &str| {
        format!(
            "fslab = 1\n[device]\nsize = \"16M\"\n[[expect]]\nname = \"it\"\ncondition = '''\n{condition}\ntrue\n'''\n\
             [[process]]\nprogram = '''\nfd = open(\"/f\", O_CREAT | O_WRONLY)\nwrite(fd, pattern(1M, 1))\nfsync(fd)\nend = true\n'''\n"
        )
    };
    for (condition, limit) in [
        ("while true {\n pass\n}", "instructions"),
        ("while true {\n stat(\"/\")\n}", "calls"),
        (
            "fd = open(\"/f\")\nwhile not failed(fd) {\n pread(fd, 1M, 0)\n}",
            "MiB",
        ),
    ] {
        let last = moments(parse(&text(condition))).pop().unwrap();
        let field = explored(last, 5);
        let v = &field.verdicts()[0];
        assert!(v.unanswered[0].1.contains(limit), "{v:?}");
        assert_eq!(v.broken, [0]);
    }
    // Nothing may be changed.
    let last = moments(parse(&text("must(unlink(\"/f\"))"))).pop().unwrap();
    let v = &explored(last, 5).verdicts()[0].clone();
    assert!(v.unanswered[0].1.contains("EROFS"), "{v:?}");
}
