//! The session without a browser: media in memory, a clock that the test moves.

use super::*;
use crate::worker::protocol::{Query, Reply};
use fslab_engine::view::owners::Kind;
use std::cell::Cell;
use std::process::Command;

/// An image made by mke2fs; `None`, with a word, where there is none.
fn mke2fs(size: u64, options: &[&str]) -> Option<Vec<u8>> {
    let path = std::env::temp_dir().join(format!("fslab-session-{}-{size}", std::process::id()));
    std::fs::File::create(&path).unwrap().set_len(size).unwrap();
    let made = Command::new("mke2fs")
        .args(["-q", "-F"])
        .args(options)
        .arg(&path)
        .status();
    let bytes = std::fs::read(&path).unwrap();
    let _ = std::fs::remove_file(&path);
    if made.is_ok_and(|status| status.success()) {
        return Some(bytes);
    }
    eprintln!("skipped: mke2fs is absent");
    None
}

/// Opens bytes under a number, to the end of what opening takes.
fn open(session: &mut Session, image: u32, bytes: Vec<u8>) -> Vec<Answer> {
    let request = Request::Open {
        image,
        name: "test".into(),
    };
    let mut answers: Vec<Answer> = session
        .hear(request, Some(Rc::new(bytes)))
        .into_iter()
        .map(|s| s.0)
        .collect();
    answers.extend(run(session));
    answers
}

/// Goes on with slices of a millisecond, by a clock that moves a millisecond a look.
pub(super) fn run(session: &mut Session) -> Vec<Answer> {
    let time = Cell::new(0.0);
    let now = || {
        time.set(time.get() + 1.0);
        time.get()
    };
    let mut answers = Vec::new();
    while session.is_busy() {
        answers.extend(session.work(&now, 1.0).into_iter().map(|s| s.0));
    }
    answers
}

fn ask(session: &mut Session, image: u32, query: Query) -> Option<Result<Reply, String>> {
    let says = session.hear(
        Request::Ask {
            image,
            ask: 7,
            query,
        },
        None,
    );
    let mut replies = says.into_iter().map(|(answer, _)| match answer {
        Answer::Reply { ask: 7, reply, .. } => reply,
        other => panic!("{other:?} is no reply"),
    });
    replies.next()
}

#[test]
fn opens_asks_and_scans() {
    let Some(bytes) = mke2fs(4 << 20, &["-t", "ext4", "-b", "1024"]) else {
        return;
    };
    let mut session = Session::default();
    let answers = open(&mut session, 1, bytes);
    let [
        Answer::Opened {
            image: 1,
            summary,
            replayed: false,
            partition: None,
            ..
        },
    ] = &answers[..]
    else {
        panic!("{answers:?}");
    };
    assert_eq!((summary.block_size, summary.blocks), (1024, 4096));
    let root = ask(&mut session, 1, Query::Dir { inode: 2, from: 0 });
    let Some(Ok(Reply::Dir(root))) = root else {
        panic!("{root:?}")
    };
    assert_eq!(root.rows[0].name, "lost+found");
    assert!(session.hear(Request::Scan { image: 1 }, None).is_empty());
    let answers = run(&mut session);
    assert!(matches!(answers.last(), Some(Answer::Mapped { problems, .. }) if problems.is_empty()));
    assert!(
        answers
            .iter()
            .any(|a| matches!(a, Answer::Scanning { preview: true, .. }))
    );
    let block = ask(&mut session, 1, Query::Block { nr: 1 });
    assert!(matches!(block, Some(Ok(Reply::Block(_)))), "{block:?}");
    let path = ask(
        &mut session,
        1,
        Query::Paths {
            inodes: vec![root.rows[0].inode, 4000],
        },
    );
    assert_eq!(
        path,
        Some(Ok(Reply::Paths(vec![Some("/lost+found".into()), None])))
    );
}

#[test]
fn a_group_that_is_not_there_is_said_to_be_none() {
    // 4 MiB in blocks of 1 KiB, of which a group has 8192: one group.
    let Some(bytes) = mke2fs(4 << 20, &["-t", "ext4", "-b", "1024"]) else {
        return;
    };
    let mut session = Session::default();
    open(&mut session, 1, bytes);
    for from in [1, u32::MAX] {
        let reply = ask(&mut session, 1, Query::Groups { from, count: 1 });
        let Some(Err(why)) = reply else {
            panic!("{reply:?}")
        };
        assert!(why.contains("outside the filesystem"), "{why}");
    }
}

#[test]
fn a_directory_comes_in_pages_also_after_another_was_asked_for() {
    let from = std::env::temp_dir().join(format!("fslab-names-{}", std::process::id()));
    std::fs::create_dir_all(from.join("many")).unwrap();
    let many: Vec<String> = (0..1200).map(|nr| format!("{nr:04}")).collect();
    for name in &many {
        std::fs::write(from.join("many").join(name), "").unwrap();
    }
    let options = ["-t", "ext4", "-N", "2000", "-d", from.to_str().unwrap()];
    let made = mke2fs(9 << 20, &options);
    std::fs::remove_dir_all(&from).unwrap();
    let Some(bytes) = made else {
        return;
    };
    let mut session = Session::default();
    open(&mut session, 1, bytes);
    let mut page = |inode, from| {
        let reply = ask(&mut session, 1, Query::Dir { inode, from });
        let Some(Ok(Reply::Dir(page))) = reply else {
            panic!("{reply:?}")
        };
        page
    };
    let root = page(2, 0);
    let nr = root
        .rows
        .iter()
        .find(|row| row.name == "many")
        .unwrap()
        .inode;
    let mut names = Vec::new();
    for from in [0, 500, 1000] {
        let rows = page(nr, from);
        assert_eq!(rows.total, 1200);
        names.extend(rows.rows.into_iter().map(|row| row.name));
        assert_eq!(page(2, 0), root);
    }
    names.sort();
    assert_eq!(names, many);
}

#[test]
fn nothing_is_said_under_another_number() {
    let Some(bytes) = mke2fs(2 << 20, &["-t", "ext2"]) else {
        return;
    };
    let mut session = Session::default();
    open(&mut session, 1, bytes.clone());
    assert_eq!(ask(&mut session, 2, Query::Inode { nr: 2 }), None);
    // A new image, even one that cannot be opened, ends the one before.
    let answers = open(
        &mut session,
        2,
        b"\xFF\xD8\xFF\xE0\0\x10JFIF\0 and so on".to_vec(),
    );
    assert!(
        matches!(&answers[..], [Answer::Refused { image: 2, message, .. }] if message.contains("JPEG")),
        "{answers:?}"
    );
    assert_eq!(ask(&mut session, 1, Query::Inode { nr: 2 }), None);
    let reply = ask(&mut session, 2, Query::Inode { nr: 2 });
    assert_eq!(reply, Some(Err("No filesystem is open".into())));
}

#[test]
fn a_scan_can_be_cancelled_and_started_again() {
    let Some(bytes) = mke2fs(8 << 20, &["-t", "ext4", "-b", "1024", "-g", "256"]) else {
        return;
    };
    let mut session = Session::default();
    open(&mut session, 1, bytes);
    session.hear(Request::Scan { image: 1 }, None);
    let clock = Cell::new(0.0);
    let now = || {
        clock.set(clock.get() + 1.0);
        clock.get()
    };
    assert!(matches!(
        session.work(&now, 3.0)[..],
        [(Answer::Scanning { .. }, _)]
    ));
    let says = session.hear(Request::Cancel { image: 1 }, None);
    assert_eq!(says, [(Answer::Cancelled { image: 1 }, Extra::None)]);
    assert!(!session.is_busy());
    session.hear(Request::Scan { image: 1 }, None);
    assert!(matches!(
        run(&mut session).last(),
        Some(Answer::Mapped { .. })
    ));
}

#[test]
fn bad_files_are_refused_in_a_sentence() {
    let mut session = Session::default();
    let bad: [(&str, Vec<u8>); 4] = [
        ("empty", Vec::new()),
        ("zeros", vec![0; 1 << 16]),
        ("XFS", [b"XFSB".as_slice(), &[0; 5000]].concat()),
        ("gzip", b"\x1f\x8b\x08\0broken".to_vec()),
    ];
    for (i, (what, bytes)) in bad.into_iter().enumerate() {
        let answers = open(&mut session, i as u32 + 1, bytes);
        let Some(Answer::Refused { message, .. }) = answers.last() else {
            panic!("{what}: {answers:?}");
        };
        assert!(
            message.len() > 20 && message.starts_with(|c: char| c.is_uppercase()),
            "{what}: {message}"
        );
    }
}

#[test]
fn a_refusal_tells_what_could_not_be_unpacked() {
    use std::io::Write as _;
    // Noise, which does not pack: half of the packed bytes are about half of it.
    let noise: Vec<u8> = (1..=1_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&noise).unwrap();
    let mut packed = gzip.finish().unwrap();
    packed.truncate(packed.len() / 2);
    let answers = open(&mut Session::default(), 1, packed);
    let Some(Answer::Refused { advice, .. }) = answers.last() else {
        panic!("{answers:?}");
    };
    let advice = advice.as_deref().unwrap_or_default();
    assert!(advice.contains("The gzip data ends at byte"), "{advice}");
}

#[test]
fn a_cut_image_opens_and_its_end_is_unknown() {
    let Some(mut bytes) = mke2fs(4 << 20, &["-t", "ext4", "-b", "1024"]) else {
        return;
    };
    bytes.truncate(2 << 20);
    let mut session = Session::default();
    let answers = open(&mut session, 1, bytes);
    assert!(
        matches!(&answers[..], [Answer::Opened { summary, .. }] if !summary.problems.is_empty())
    );
    session.hear(Request::Scan { image: 1 }, None);
    run(&mut session);
    let (map, _) = session.map.as_ref().unwrap();
    assert_eq!(map.at(4000).unwrap().kind, Kind::Unknown);
}

/// The sample whose journal is in use; its README tells what is in it.
fn journal_in_use() -> Vec<u8> {
    include_bytes!("../../../../assets/samples/journal.img.xz").to_vec()
}

#[test]
fn the_journal_is_searched_before_the_scan_goes_on() {
    let mut session = Session::default();
    open(&mut session, 1, journal_in_use());
    session.hear(Request::Scan { image: 1 }, None);
    assert_eq!(ask(&mut session, 1, Query::Journal), None);
    let answers = run(&mut session);
    let replied = |a: &Answer| matches!(a, Answer::Reply { ask: 7, .. });
    let at = answers.iter().position(replied).unwrap();
    let Answer::Reply {
        reply: Ok(Reply::Journal(Some(journal))),
        ..
    } = &answers[at]
    else {
        panic!("{:?}", answers[at]);
    };
    assert!(journal.history_complete && journal.transactions.total > 3);
    // Until then one is told how far the search is, in blocks of the journal.
    let part = u64::from(journal.blocks);
    let told =
        |a: &Answer| matches!(a, Answer::Searching { done, of, .. } if done < of && *of <= part);
    assert!(answers[..at].iter().any(told), "{answers:?}");
    assert!(matches!(answers.last(), Some(Answer::Mapped { .. })));
    assert!(at + 1 < answers.len());
    // The second time it is known.
    let again = ask(&mut session, 1, Query::Journal);
    assert!(matches!(again, Some(Ok(Reply::Journal(Some(_))))));
}

#[test]
fn the_replay_shows_what_was_written_last() {
    let mut session = Session::default();
    let answers = open(&mut session, 1, journal_in_use());
    assert!(matches!(
        answers.last(),
        Some(Answer::Opened {
            replayed: false,
            ..
        })
    ));
    let names = |session: &mut Session| -> Vec<String> {
        let search = ask(
            session,
            1,
            Query::Search {
                text: "/accounts".into(),
            },
        );
        let Some(Ok(Reply::Found(found))) = search else {
            panic!("{search:?}");
        };
        let [view::Found::Inode { nr, .. }] = found[..] else {
            panic!("{found:?}");
        };
        match ask(session, 1, Query::Dir { inode: nr, from: 0 }) {
            Some(Ok(Reply::Dir(dir))) => dir.rows.into_iter().map(|row| row.name).collect(),
            other => panic!("{other:?}"),
        }
    };
    assert!(!names(&mut session).contains(&"report.txt".into()));
    let says = session.hear(Request::Replayed { image: 1, on: true }, None);
    assert!(matches!(
        says[..],
        [(Answer::Opened { replayed: true, .. }, _)]
    ));
    assert!(names(&mut session).contains(&"report.txt".into()));
}

#[test]
fn a_wish_that_comes_while_an_image_expands_is_kept() {
    let mut session = Session::default();
    let request = Request::Open {
        image: 1,
        name: "test".into(),
    };
    session.hear(request, Some(Rc::new(journal_in_use())));
    let says = session.hear(Request::Replayed { image: 1, on: true }, None);
    assert!(says.is_empty() && session.is_busy());
    assert!(matches!(
        run(&mut session).last(),
        Some(Answer::Opened { replayed: true, .. })
    ));
}

#[test]
fn a_new_image_takes_no_answers_to_questions_of_the_one_before() {
    let mut session = Session::default();
    open(&mut session, 1, journal_in_use());
    assert_eq!(ask(&mut session, 1, Query::Journal), None);
    let answers = open(&mut session, 2, journal_in_use());
    let reply = |a: &Answer| matches!(a, Answer::Reply { .. });
    assert!(!answers.iter().any(reply), "{answers:?}");
}
