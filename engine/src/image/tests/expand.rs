use super::*;
use crate::image::expand::{ExpandError, Expanded, Expander, Format, Limits};
use proptest::prelude::*;

const TOOLS: [(Format, &str, &[&str]); 7] = [
    (Format::Gzip, "gzip", &["-c"]),
    (Format::Gzip, "gzip", &["-1c"]),
    (Format::Zstd, "zstd", &["-qc"]),
    (
        Format::Zstd,
        "zstd",
        &["-qc", "-19", "--long=27", "--no-check"],
    ),
    (Format::Xz, "xz", &["-c0"]),
    (Format::Xz, "xz", &["-c6", "--check=sha256"]),
    (
        Format::Xz,
        "xz",
        &["-c1", "--block-size=100000", "--check=none"],
    ),
];

fn pack(tool: (Format, &str, &[&str]), bytes: &[u8]) -> Option<Vec<u8>> {
    run_in(tool.1, tool.2, bytes).map(|out| out.stdout)
}

fn expand(packed: Vec<u8>, format: Format, limits: Limits, budget: u64) -> Expanded {
    let mut expander = Expander::new(medium(packed), format, limits);
    let mut last = expander.progress();
    loop {
        let now = expander.step(budget);
        assert!(now.consumed >= last.consumed && now.consumed <= now.input_len);
        assert!(now.produced - last.produced <= budget.saturating_add(256 * 1024));
        if now.done {
            return expander.finish();
        }
        last = now;
    }
}

#[test]
fn gives_back_what_the_tools_packed() {
    let bytes = mixed(3_000_000, 7);
    for tool in TOOLS {
        let Some(packed) = pack(tool, &bytes) else {
            continue;
        };
        assert_eq!(Format::detect(&packed), Some(tool.0));
        for budget in [0, 1, 5_000, 1 << 20, u64::MAX] {
            let got = expand(packed.clone(), tool.0, Limits::default(), budget);
            assert_eq!((got.error, got.note), (None, None));
            same_in_pieces(&got.content, &bytes);
            assert!(got.content.stored_bytes() < bytes.len() as u64);
        }
    }
}

#[test]
fn members_one_after_the_other_are_one() {
    let (a, b) = (mixed(200_000, 1), mixed(100_000, 2));
    for tool in TOOLS {
        let (Some(x), Some(y)) = (pack(tool, &a), pack(tool, &b)) else {
            continue;
        };
        let got = expand([x, y].concat(), tool.0, Limits::default(), 1 << 16);
        assert_eq!(got.error, None);
        assert!(all(&got.content) == [a.clone(), b.clone()].concat());
    }
}

#[test]
fn padding_is_silent_and_garbage_is_told() {
    let bytes = mixed(100_000, 3);
    for tool in TOOLS {
        let Some(packed) = pack(tool, &bytes) else {
            continue;
        };
        let padded = [packed.clone(), vec![0; 1024]].concat();
        let got = expand(padded, tool.0, Limits::default(), 1 << 16);
        assert_eq!((got.error, got.note), (None, None), "{tool:?}");
        let odd = [packed.clone(), b"garbage here".to_vec()].concat();
        let got = expand(odd, tool.0, Limits::default(), 1 << 16);
        assert!(all(&got.content) == bytes);
        let told = got.note.or(got.error.map(|e| e.to_string())).unwrap();
        let at = packed.len().to_string();
        assert!(told.contains(&at) || tool.0 == Format::Xz, "{told}");
    }
}

#[test]
fn a_gzip_header_with_every_field_is_passed_over() {
    let Some(packed) = pack(TOOLS[0], b"content") else {
        return;
    };
    let mut with = packed[..10].to_vec();
    with[3] = 4 | 8 | 16 | 2;
    with.extend([3, 0, 1, 2, 3]);
    with.extend(b"name\0comment\0");
    with.extend([0xaa, 0xbb]);
    with.extend(&packed[10..]);
    let got = expand(with, Format::Gzip, Limits::default(), 1);
    assert_eq!(got.error, None);
    assert_eq!(all(&got.content), b"content");
}

#[test]
fn a_cut_stream_gives_what_came_before_and_says_where() {
    let bytes = mixed(2_000_000, 11);
    for tool in TOOLS {
        let Some(packed) = pack(tool, &bytes) else {
            continue;
        };
        for cut in [packed.len() / 2, packed.len() - 1, packed.len() - 9] {
            let got = expand(packed[..cut].to_vec(), tool.0, Limits::default(), 1 << 16);
            let content = all(&got.content);
            assert!(content == bytes[..content.len()]);
            assert!(content.len() > 300_000, "{tool:?} {cut}: {}", content.len());
            match got.error {
                Some(ExpandError::Truncated { at, produced, .. }) => {
                    assert_eq!(
                        (at, produced),
                        (cut as u64, content.len() as u64),
                        "{tool:?}"
                    );
                }
                other => panic!("{tool:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_damaged_stream_gives_what_came_before_and_says_where() {
    let bytes = mixed(2_000_000, 13);
    for tool in TOOLS {
        let Some(mut packed) = pack(tool, &bytes) else {
            continue;
        };
        let place = packed.len() / 2;
        for b in &mut packed[place..place + 16] {
            *b = !*b;
        }
        let got = expand(packed.clone(), tool.0, Limits::default(), 1 << 16);
        let content = all(&got.content);
        let right = content
            .iter()
            .zip(&bytes)
            .take_while(|(a, b)| a == b)
            .count();
        assert!(right > 300_000, "{tool:?}: {right}");
        match got.error {
            Some(ExpandError::Corrupt { at, .. }) => {
                assert!(
                    at as usize >= place && at as usize <= packed.len(),
                    "{tool:?} {at}"
                );
            }
            // Without a checksum, damage in the literals cannot be seen.
            None if tool
                .2
                .iter()
                .any(|a| a.ends_with("=none") || *a == "--no-check") => {}
            other => panic!("{tool:?}: {other:?}"),
        }
    }
}

#[test]
fn a_bomb_is_stopped_at_the_limit() {
    let bytes = vec![0; 20_000_000];
    let noise: Vec<u8> = mixed(20_000_000, 5).into_iter().map(|b| b | 1).collect();
    let limits = Limits {
        max_len: 5_000_000,
        max_data: 1_000_000,
    };
    for tool in TOOLS {
        let (Some(zeros), Some(noise)) = (pack(tool, &bytes), pack(tool, &noise)) else {
            continue;
        };
        let got = expand(zeros, tool.0, limits, 1 << 20);
        assert_eq!(got.content.len(), 5_000_000);
        assert_eq!(got.content.stored_bytes(), 0);
        let said = got.error.unwrap().to_string();
        assert!(said.contains("5000000"), "{said}");
        let got = expand(noise, tool.0, limits, 1 << 20);
        assert!(got.content.stored_bytes() <= 1_000_000);
        let said = got.error.unwrap().to_string();
        assert!(said.contains("1000000"), "{said}");
    }
}

#[test]
fn stopping_early_keeps_what_came_out() {
    let bytes = mixed(1_000_000, 17);
    let Some(packed) = pack(TOOLS[0], &bytes) else {
        return;
    };
    let mut expander = Expander::new(medium(packed), Format::Gzip, Limits::default());
    let progress = expander.step(300_000);
    assert!(!progress.done && progress.produced >= 300_000);
    let got = expander.finish();
    assert_eq!(got.error, None);
    assert!(all(&got.content) == bytes[..progress.produced as usize]);
}

#[test]
fn a_window_beyond_the_limit_is_refused() {
    // A frame header: window descriptor 31 << 3, 2^41 bytes.
    let frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0xf8, 1, 0, 0];
    let got = expand(frame, Format::Zstd, Limits::default(), 1);
    let said = got.error.unwrap().to_string();
    assert!(said.contains("window"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn expands_in_any_steps(
        parts in proptest::collection::vec((0usize..300_000, 0u8..3, any::<u8>()), 0..6),
        budgets in proptest::collection::vec(0u64..400_000, 1..5),
        tool in 0usize..TOOLS.len(),
    ) {
        let bytes: Vec<u8> = parts
            .iter()
            .flat_map(|&(n, kind, b)| match kind {
                0 => vec![0; n],
                1 => vec![b; n],
                _ => mixed(n, b.into()),
            })
            .collect();
        let Some(packed) = pack(TOOLS[tool], &bytes) else { return Ok(()) };
        let mut expander = Expander::new(medium(packed), TOOLS[tool].0, Limits::default());
        let mut turn = budgets.iter().cycle();
        while !expander.step(*turn.next().unwrap()).done {}
        let got = expander.finish();
        prop_assert_eq!(got.error, None);
        prop_assert!(all(&got.content) == bytes);
    }
}
