use super::*;
use crate::disk::ReadError;
use crate::image::expand::Format;
use crate::image::{Limits, open};
use proptest::prelude::*;

const SMALL: Limits = Limits {
    max_len: 1 << 22,
    max_data: 1 << 20,
};

/// Heads of formats, so that random bytes get past the first test.
const HEADS: &[&[u8]] = &[
    b"",
    b"\x1f\x8b\x08\0\0\0\0\0\0\0",
    b"\x1f\x8b\x08\x1f",
    b"\x28\xb5\x2f\xfd",
    b"\x28\xb5\x2f\xfd\x24\xff",
    b"\x50\x2a\x4d\x18",
    b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46",
    b"\x3a\xff\x26\xed\x01\0\0\0\x1c\0\x0c\0\0\x10\0\0",
    b"QFI\xfb\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10",
    b"QFI\xfb\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x48",
];

fn survives(bytes: Vec<u8>) {
    let Ok(opened) = open(medium(bytes), SMALL) else {
        return;
    };
    let n = opened.content.len().min(100_000) as usize;
    let _ = opened.content.read_at(0, &mut vec![0; n]);
    let table = opened.table.iter().flat_map(|t| &t.partitions);
    for p in table.take(20) {
        let starts_inside = p.start_byte < opened.content.len();
        assert_eq!(opened.identify_partition(p.number).is_ok(), starts_inside);
    }
}

proptest! {
    #[test]
    fn any_bytes_open_or_are_refused(
        head in 0..HEADS.len(),
        rest in proptest::collection::vec(any::<u8>(), 0..3000),
        zeros in 0usize..5000,
    ) {
        let mut bytes = HEADS[head].to_vec();
        bytes.extend(rest);
        bytes.resize(bytes.len() + zeros, 0);
        survives(bytes);
    }

    #[test]
    fn any_boot_sector_and_header_survive(
        entries in proptest::collection::vec(any::<u8>(), 64),
        header in proptest::collection::vec(any::<u8>(), 92),
        flags in any::<bool>(),
        sectors in 2usize..40,
    ) {
        let mut disk = vec![0; sectors * 512];
        disk[446..510].copy_from_slice(&entries);
        for i in 0..4 {
            if flags {
                disk[446 + i * 16] = 0;
                disk[446 + i * 16 + 4] = [0xee, 5, 0x83, 0x0f][i];
                // Small numbers, so that chains lead somewhere.
                disk[446 + i * 16 + 9..][..3].fill(0);
            }
        }
        disk[510..512].copy_from_slice(&[0x55, 0xaa]);
        for copy in 1..sectors - 1 {
            let boot = disk[..512].to_vec();
            disk[copy * 512..][..512].copy_from_slice(&boot);
        }
        let last = (sectors - 1) * 512;
        disk[last..last + 92].copy_from_slice(&header);
        disk[last..last + 8].copy_from_slice(b"EFI PART");
        survives(disk);
    }
}

#[test]
fn mutated_streams_never_panic() {
    // Text, so that entropy coding is used, and what disks have.
    let text = include_bytes!("../identify/signatures.rs");
    let bytes = [text.as_slice(), &mixed(100_000, 3), text].concat();
    let tools: [(&str, &[&str]); 4] = [
        ("gzip", &["-c"]),
        ("zstd", &["-qc"]),
        ("zstd", &["-qc", "-19"]),
        ("xz", &["-c"]),
    ];
    let rounds: u64 = std::env::var("FSLAB_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(150);
    for (program, args) in tools {
        let Some(packed) = run_in(program, args, &bytes) else {
            continue;
        };
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        };
        for _ in 0..rounds {
            let mut packed = packed.stdout.clone();
            let within = if next() % 2 == 0 { 200 } else { packed.len() };
            for _ in 0..next() % 6 + 1 {
                let at = next() as usize % within;
                packed[at] = next() as u8;
            }
            survives(packed);
        }
    }
}

/// Fails from a given byte on.
struct Failing(Vec<u8>, u64);

impl ReadAt for Failing {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buf.len() as u64;
        if offset + wanted > self.1 {
            return Err(ReadError::Medium {
                offset,
                wanted,
                reason: "the cable came off".into(),
            });
        }
        self.0.read_at(offset, buf)
    }
}

#[test]
fn a_medium_that_fails_is_quoted() {
    let bytes = mixed(1_000_000, 3);
    for (program, args, format) in [
        ("gzip", &["-c"][..], Format::Gzip),
        ("zstd", &["-qc"], Format::Zstd),
        ("xz", &["-c"], Format::Xz),
    ] {
        let Some(packed) = run_in(program, args, &bytes) else {
            continue;
        };
        let half = packed.stdout.len() as u64 / 2;
        let opened = open(Rc::new(Failing(packed.stdout, half)), Limits::default());
        let said = match opened {
            Ok(opened) => opened.problems[0].to_string(),
            Err(e) => e.to_string(),
        };
        assert!(
            said.contains("cable") && said.contains(&format.to_string()),
            "{said}"
        );
    }
}

#[test]
fn what_cannot_be_read_at_all_is_not_called_unknown() {
    let opened = open(Rc::new(Failing(vec![b'a'; 100_000], 0)), Limits::default()).unwrap();
    let said = opened.identity.sentence;
    assert!(
        said.contains("cannot be read") && said.contains("cable"),
        "{said}"
    );
}
