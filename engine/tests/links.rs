//! Share links: back to the same bytes, old ones too, and nothing that a stranger's link
//! says does harm.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fslab_engine::scenario::link::{Link, LinkError, MAX_LINK, decode, encode};
use proptest::prelude::*;

/// A link of version 1, made on 2026-12-01: it has to be read for ever.
const OF_VERSION_1: &str = include_str!("links/version-1.txt");
const TEXT_OF_VERSION_1: &str = include_str!("links/version-1.toml");

#[test]
fn old_links_are_read() {
    let link = decode(OF_VERSION_1.trim()).unwrap();
    assert_eq!(link.text, TEXT_OF_VERSION_1);
    assert_eq!(link.at, Some(42));
    assert_eq!(link.view.as_deref(), Some("map,journal"));
    assert_eq!(link.selection.as_deref(), Some("inode 12"));
}

proptest! {
    #[test]
    fn there_and_back(text in ".{0,3000}", at in any::<Option<u64>>(), view in proptest::option::of(".{0,60}")) {
        let link = Link { text, at, view, selection: None };
        if let Ok(fragment) = encode(&link) {
            prop_assert!(fragment.len() <= MAX_LINK);
            prop_assert_eq!(decode(&fragment), Ok(link.clone()));
            prop_assert_eq!(decode(&format!("https://example.org/lab/#{fragment}")), Ok(link));
        }
    }

    #[test]
    fn anything_is_answered(text in ".{0,400}", bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode(&text);
        let _ = decode(&format!("lab=1.{}", URL_SAFE_NO_PAD.encode(bytes)));
        let _ = decode(&format!("lab=1.{text}&at={text}"));
    }
}

fn packed(bytes: &[u8]) -> String {
    use std::io::Write;
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    deflate.write_all(bytes).unwrap();
    format!(
        "lab=1.{}",
        URL_SAFE_NO_PAD.encode(deflate.finish().unwrap())
    )
}

#[test]
fn hostile_links_are_refused_in_words() {
    assert_eq!(decode(&packed(&vec![b'a'; 12 << 20])), Err(LinkError::Bomb));
    assert_eq!(decode("view=map"), Err(LinkError::NoScenario));
    assert_eq!(decode("lab=9.abc"), Err(LinkError::Version("9".into())));
    assert!(matches!(decode("lab=1.!!!"), Err(LinkError::Damaged(_))));
    assert!(matches!(decode("lab=abc"), Err(LinkError::Damaged(_))));
    assert!(matches!(
        decode(&packed(&[0xFF, 0xFE])),
        Err(LinkError::Damaged(_))
    ));
    let whole = packed(b"fslab = 1\n[[process]]\nprogram = ''\n");
    assert!(matches!(
        decode(&whole[..whole.len() - 4]),
        Err(LinkError::Damaged(_))
    ));
    assert!(matches!(
        decode(&format!("lab=1.{}", "A".repeat(1 << 20))),
        Err(LinkError::Damaged(_))
    ));
}

/// A program of a thousand calls fits into 8 KiB.
#[test]
fn a_thousand_calls_fit() {
    let mut text = String::from("fslab = 1\n[[process]]\nname = \"app\"\nprogram = '''\n");
    let mut state = 7u64;
    for i in 0..250 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (name, offset, len) = (state >> 60, (state >> 40) % 100_000, (state >> 20) % 9000);
        text.push_str(&format!(
            "fd = open(\"/data/part-{name}\", O_RDWR | O_CREAT, 0644)\npwrite(fd, pattern({len}, {i}), {offset})\nfsync(fd)\nclose(fd)\n"
        ));
    }
    text.push_str("'''\n");
    let fragment = encode(&Link {
        text,
        ..Link::default()
    })
    .unwrap();
    assert!(fragment.len() <= 8192, "{} bytes", fragment.len());
}

#[test]
fn a_text_that_is_too_long_is_said_to_be() {
    let mut state = 1u64;
    let noise: String = (0..60_000)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b'!' + (state >> 58) as u8)
        })
        .collect();
    let refused = encode(&Link {
        text: noise,
        ..Link::default()
    });
    assert!(matches!(refused, Err(LinkError::TooLong(n)) if n > MAX_LINK));
}
