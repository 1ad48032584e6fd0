//! The session over files of the browser, in a worker as it runs there:
//! `cargo xtask test --only wasm-tests`.
#![cfg(target_arch = "wasm32")]

use std::rc::Rc;

use fslab_engine::disk::{ReadAt as _, ReadError};
use fslab_engine::image::{Limits, Medium, Opener};
use fslab_web::worker::blob;
use fslab_web::worker::protocol::{Answer, Query, Reply, Request};
use fslab_web::worker::session::{Extra, Session};
use js_sys::{Array, Date, Uint8Array};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::Blob;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// A sample, as the page sends it: compressed.
const SMALL: &[u8] = include_bytes!("../../assets/samples/small.img.xz");
/// Mebibytes of it, expanded; see its README.
const SMALL_MIB: usize = 8;

fn file(parts: &[&[u8]]) -> Blob {
    let parts: Array = parts.iter().map(|part| Uint8Array::from(*part)).collect();
    Blob::new_with_u8_array_sequence(&parts).unwrap()
}

fn medium(bytes: &[u8]) -> Medium {
    blob::medium(file(&[bytes])).unwrap()
}

/// The sample, expanded.
fn small() -> Vec<u8> {
    let packed: Medium = Rc::new(SMALL.to_vec());
    let opened = Opener::new(packed, Limits::default()).finish().unwrap();
    let mut bytes = vec![0; opened.content.len() as usize];
    opened.content.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Opens a file under a number, to the end of what opening takes.
fn open(session: &mut Session, image: u32, file: Medium) -> Vec<Answer> {
    let request = Request::Open {
        image,
        name: "test".into(),
    };
    let now = session.hear(request, Some(file));
    let later = work(session);
    now.into_iter().chain(later).map(|say| say.0).collect()
}

fn work(session: &mut Session) -> Vec<(Answer, Extra)> {
    let mut says = Vec::new();
    while session.is_busy() {
        says.extend(session.work(&Date::now, 10.0));
    }
    says
}

fn ask(session: &mut Session, image: u32, query: Query) -> Result<Reply, String> {
    let request = Request::Ask {
        image,
        ask: 1,
        query,
    };
    match session.hear(request, None).remove(0) {
        (Answer::Reply { reply, .. }, _) => reply,
        (other, _) => panic!("{other:?} is no reply"),
    }
}

#[track_caller]
fn refusal(answers: &[Answer]) -> &str {
    match answers.last() {
        Some(Answer::Refused { message, .. }) => message,
        other => panic!("not refused: {other:?}"),
    }
}

#[wasm_bindgen_test]
fn a_blob_reads_the_same_across_the_borders_of_pieces() {
    // Three pieces of 256 KiB and a bit; no two neighbouring words are the same.
    let bytes: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
    let medium = medium(&bytes);
    assert_eq!(medium.len(), 800_000);
    for (offset, len) in [(0, 1), (262_140, 8), (100, 700_000), (799_999, 1)] {
        let mut read = vec![0; len];
        medium.read_at(offset as u64, &mut read).unwrap();
        assert!(read == bytes[offset..offset + len], "{len} from {offset}");
    }
    let past = medium.read_at(799_999, &mut [0; 2]);
    assert!(matches!(past, Err(ReadError::PastEnd { .. })), "{past:?}");
}

#[wasm_bindgen_test]
fn a_compressed_and_a_raw_file_show_the_same() {
    let mut session = Session::default();
    let packed = open(&mut session, 1, medium(SMALL));
    let Some(Answer::Opened {
        layers, summary, ..
    }) = packed.last()
    else {
        panic!("{packed:?}");
    };
    assert_eq!(layers.len(), 1, "{layers:?}");
    let root = ask(&mut session, 1, Query::Dir { inode: 2, from: 0 });

    let raw = open(&mut session, 2, medium(&small()));
    let Some(Answer::Opened {
        layers: none,
        summary: same,
        ..
    }) = raw.last()
    else {
        panic!("{raw:?}");
    };
    assert!(none.is_empty() && same == summary);
    assert_eq!(ask(&mut session, 2, Query::Dir { inode: 2, from: 0 }), root);
}

#[wasm_bindgen_test]
fn a_scan_in_slices_gives_the_whole_map() {
    let mut session = Session::default();
    open(&mut session, 1, medium(&small()));
    session.hear(Request::Scan { image: 1 }, None);
    let says = work(&mut session);
    let Some((Answer::Mapped { problems, .. }, Extra::Map(runs))) = says.last() else {
        panic!("no map at the end");
    };
    assert_eq!(problems, &[]);
    // Blocks of 1 KiB, each in one run.
    let mut end = 0;
    for run in runs {
        assert_eq!(run.start, end);
        end += u64::from(run.len);
    }
    assert_eq!(end, SMALL_MIB as u64 * 1024);
}

#[wasm_bindgen_test]
fn questions_and_a_cancel_come_between_slices() {
    let mut session = Session::default();
    open(&mut session, 1, medium(&small()));
    session.hear(Request::Scan { image: 1 }, None);
    // A slice of no time is one step.
    let says = session.work(&Date::now, 0.0);
    assert!(matches!(says[..], [(Answer::Scanning { .. }, _)]));
    assert!(ask(&mut session, 1, Query::Inode { nr: 2 }).is_ok());
    let says = session.hear(Request::Cancel { image: 1 }, None);
    assert_eq!(says, [(Answer::Cancelled { image: 1 }, Extra::None)]);
    assert!(!session.is_busy());
    assert!(ask(&mut session, 1, Query::Inode { nr: 2 }).is_ok());
}

#[wasm_bindgen_test]
fn what_is_no_filesystem_is_named() {
    let mut session = Session::default();
    let xfs = [b"XFSB\0\0\x10\0".as_slice(), &[0; 8184]].concat();
    let cases: [(&[u8], &str); 3] = [
        (b"", "empty"),
        (b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01", "JPEG"),
        (&xfs, "XFS"),
    ];
    for (nr, (bytes, word)) in (1..).zip(cases) {
        let answers = open(&mut session, nr, medium(bytes));
        let message = refusal(&answers);
        assert!(message.contains(word), "{message}");
        let reply = ask(&mut session, nr, Query::Inode { nr: 2 });
        assert_eq!(reply, Err("No filesystem is open".into()));
    }
}

#[wasm_bindgen_test]
fn half_an_image_shows_what_it_has() {
    let mut bytes = small();
    bytes.truncate((SMALL_MIB / 2) << 20);
    let mut session = Session::default();
    let answers = open(&mut session, 1, medium(&bytes));
    assert!(
        matches!(&answers[..], [Answer::Opened { summary, .. }] if !summary.problems.is_empty())
    );
    assert!(ask(&mut session, 1, Query::Dir { inode: 2, from: 0 }).is_ok());
    session.hear(Request::Scan { image: 1 }, None);
    assert!(matches!(
        work(&mut session).last(),
        Some((Answer::Mapped { .. }, Extra::Map(_)))
    ));
}

#[wasm_bindgen_test]
fn half_a_compressed_image_shows_what_it_has_and_says_why() {
    let mut session = Session::default();
    let answers = open(&mut session, 1, medium(&SMALL[..SMALL.len() / 2]));
    match answers.last() {
        Some(Answer::Opened { layers, .. }) => {
            assert!(layers.iter().any(|l| l.contains("before it is complete")));
        }
        Some(Answer::Refused { message, .. }) => {
            assert!(message.contains("before it is complete"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

/// 65 GiB of zeros, as 65 × 64 gzip members of 16 MiB each: more than may come out.
fn bomb() -> Blob {
    use std::io::Write as _;
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..16 {
        member.write_all(&[0; 1 << 20]).unwrap();
    }
    let member = file(&[&member.finish().unwrap()]);
    // A blob of blobs holds each only once.
    let parts: Array = (0..65 * 64).map(|_| member.clone()).collect();
    Blob::new_with_blob_sequence(&parts).unwrap()
}

#[wasm_bindgen_test]
fn a_bomb_expands_in_slices_and_can_be_stopped() {
    let mut session = Session::default();
    let request = Request::Open {
        image: 1,
        name: "bomb.gz".into(),
    };
    session.hear(request, Some(blob::medium(bomb()).unwrap()));
    let start = Date::now();
    let mut words = 0;
    while words < 3 {
        let says = session.work(&Date::now, 10.0);
        words += says
            .iter()
            .filter(|say| matches!(say.0, Answer::Expanding { .. }))
            .count();
        assert!(session.is_busy() && Date::now() < start + 20_000.0);
    }
    let says = session.hear(Request::Cancel { image: 1 }, None);
    assert_eq!(says, [(Answer::Cancelled { image: 1 }, Extra::None)]);
    assert!(!session.is_busy());
    // Another image opens as if nothing had been.
    let answers = open(&mut session, 2, medium(SMALL));
    assert!(matches!(
        answers.last(),
        Some(Answer::Opened { image: 2, .. })
    ));
}

#[wasm_bindgen_test]
fn a_new_image_ends_the_scan_of_the_one_before() {
    let mut session = Session::default();
    open(&mut session, 1, medium(&small()));
    session.hear(Request::Scan { image: 1 }, None);
    session.work(&Date::now, 0.0);
    let answers = open(&mut session, 2, medium(SMALL));
    let of_the_second = |answer: &Answer| {
        matches!(
            answer,
            Answer::Opened { image: 2, .. } | Answer::Expanding { image: 2, .. }
        )
    };
    assert!(answers.iter().all(of_the_second), "{answers:?}");
    assert!(!session.is_busy());
    for request in [Request::Scan { image: 1 }, Request::Cancel { image: 1 }] {
        assert!(session.hear(request, None).is_empty());
    }
}
