use super::*;
use crate::image::android::AndroidSparse;
use proptest::prelude::*;

/// A chunk to write: blocks and kind (0 raw, 1 fill, 2 don't care, 3 CRC).
pub(super) fn sparse(block: u32, chunks: &[(u32, u8, u32)], seed: u64) -> (Vec<u8>, Vec<u8>) {
    let (mut body, mut want, mut blocks) = (Vec::new(), Vec::new(), 0);
    for &(n, kind, value) in chunks {
        let bytes = (n * block) as usize;
        let mut data = Vec::new();
        let (code, n) = match kind {
            0 => {
                data = mixed(bytes, seed ^ u64::from(value));
                want.extend(&data);
                (0xcac1u16, n)
            }
            1 => {
                data.extend(value.to_le_bytes());
                want.extend(value.to_le_bytes().iter().cycle().take(bytes));
                (0xcac2, n)
            }
            2 => {
                want.resize(want.len() + bytes, 0);
                (0xcac3, n)
            }
            _ => {
                data.extend(value.to_le_bytes());
                (0xcac4, 0)
            }
        };
        blocks += n;
        body.extend(code.to_le_bytes());
        body.extend([0, 0]);
        body.extend(n.to_le_bytes());
        body.extend((12 + data.len() as u32).to_le_bytes());
        body.extend(data);
    }
    let mut out = 0xed26_ff3au32.to_le_bytes().to_vec();
    for word in [1u16, 0, 28, 12] {
        out.extend(word.to_le_bytes());
    }
    for word in [block, blocks, chunks.len() as u32, 0] {
        out.extend(word.to_le_bytes());
    }
    out.extend(body);
    (out, want)
}

const CHUNKS: &[(u32, u8, u32)] = &[
    (3, 0, 1),
    (10, 2, 0),
    (2, 1, 0x0403_0201),
    (0, 3, 9),
    (7, 1, 0),
    (0, 0, 0),
    (5, 0, 2),
];

#[test]
fn reads_every_kind_of_chunk() {
    let (image, want) = sparse(4096, CHUNKS, 1);
    assert!(AndroidSparse::detect(&image));
    let sparse = AndroidSparse::open(medium(image)).unwrap();
    assert_eq!(sparse.note(), None);
    same_in_pieces(&sparse, &want);
    assert_eq!(sparse.next_data(3 * 4096), 13 * 4096);
}

#[test]
fn a_cut_image_reads_up_to_the_cut() {
    let (image, want) = sparse(4096, CHUNKS, 1);
    let last = image.len() - 2 * 4096 - 100;
    let cut = AndroidSparse::open(medium(image[..last].to_vec())).unwrap();
    let note = cut.note().unwrap();
    assert!(note.contains(&format!("ends at byte {last}")), "{note}");
    let good = (22 + 2) * 4096;
    let mut got = vec![0; good];
    cut.read_at(0, &mut got).unwrap();
    assert!(got == want[..good]);
    let said = cut.read_at(good as u64, &mut [0]).unwrap_err().to_string();
    assert!(said.contains("within chunk 6"), "{said}");
    assert_eq!(cut.len(), want.len() as u64);
}

#[test]
fn damaged_chunks_are_told() {
    let (mut image, want) = sparse(4096, CHUNKS, 1);
    let second = 28 + 12 + 3 * 4096;
    image[second] = 0x77;
    let broken = AndroidSparse::open(medium(image)).unwrap();
    let note = broken.note().unwrap();
    assert!(
        note.contains("chunk 1 of 7") && note.contains(&second.to_string()),
        "{note}"
    );
    let mut got = vec![0; 3 * 4096];
    broken.read_at(0, &mut got).unwrap();
    assert!(got == want[..3 * 4096]);
    assert!(broken.read_at(3 * 4096, &mut [0]).is_err());
}

#[test]
fn many_chunks_take_a_bounded_index() {
    let chunks: Vec<_> = (0..200_001).map(|i| (1, 1, i)).collect();
    let (image, want) = sparse(4, &chunks, 1);
    let sparse = AndroidSparse::open(medium(image)).unwrap();
    for i in (0..200_001).step_by(997) {
        let mut got = [0; 4];
        sparse.read_at(i * 4, &mut got).unwrap();
        assert_eq!(got, want[i as usize * 4..][..4]);
    }
}

#[test]
fn useless_headers_are_refused() {
    let (image, _) = sparse(4096, CHUNKS, 1);
    for (at, value, says) in [
        (4, 2, "version 2"),
        (12, 2, "multiple of 4"),
        (10, 1, "of 1 "),
    ] {
        let mut image = image.clone();
        image[at] = value;
        if at == 12 {
            image[13] = 0;
        }
        let said = AndroidSparse::open(medium(image)).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
    assert!(AndroidSparse::open(medium(image[..20].to_vec())).is_err());
}

proptest! {
    #[test]
    fn equals_the_raw_image(
        block in 1u32..40,
        chunks in proptest::collection::vec((0u32..30, 0u8..4, any::<u32>()), 0..20),
        seed in any::<u64>(),
    ) {
        let (image, want) = sparse(block * 4, &chunks, seed);
        let sparse = AndroidSparse::open(medium(image)).unwrap();
        prop_assert_eq!(sparse.note(), None);
        same_in_pieces(&sparse, &want);
    }

    #[test]
    fn no_damage_panics(
        chunks in proptest::collection::vec((0u32..9, 0u8..4, any::<u32>()), 0..9),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        reads in proptest::collection::vec((any::<u64>(), 0usize..9000), 1..9),
    ) {
        let (mut image, _) = sparse(64, &chunks, 5);
        for (at, value) in damage {
            let at = at.index(image.len());
            image[at] = value;
        }
        if let Ok(sparse) = AndroidSparse::open(medium(image)) {
            for (at, n) in reads {
                let at = at % sparse.len().max(1);
                let _ = sparse.read_at(at, &mut vec![0; n]);
                let _ = sparse.next_data(at);
            }
        }
    }
}
