//! Runs in the session, without a browser.

use super::super::tests::run as work;
use super::*;
use crate::worker::lab::{LabQuery, LabReply, Seek};
use crate::worker::protocol::Request;

const TEXT: &str = include_str!("../../../../../lessons/01-one-file/scenario.toml");

fn hear(session: &mut Session, request: LabRequest) -> Vec<Answer> {
    let says = session.hear(Request::Lab(request), None);
    let mut all: Vec<Answer> = says.into_iter().map(|say| say.0).collect();
    all.extend(work(session));
    all
}

fn recorded(session: &mut Session) -> (u64, u64) {
    let run = LabRequest::Run {
        run: 1,
        text: TEXT.into(),
    };
    let answers = hear(session, run);
    let last = answers.into_iter().last();
    let Some(Answer::Lab(answer)) = last else {
        panic!("{last:?} is no word of a run");
    };
    match *answer {
        LabAnswer::Recorded {
            events,
            hash,
            end: Some(Ending::Ended(_)),
            ..
        } => (events, hash),
        other => panic!("{other:?} is not the end of a recording"),
    }
}

fn go(session: &mut Session, to: Seek, image: u32) -> (bool, Option<lab::Frame>) {
    let request = LabRequest::Go {
        run: 1,
        to,
        image,
        anew: false,
        chosen: None,
    };
    let shown = hear(session, request).into_iter().find_map(|a| match a {
        Answer::Lab(answer) => match *answer {
            LabAnswer::Shown { frame, opened, .. } => Some((opened, frame.map(|f| *f))),
            _ => None,
        },
        _ => None,
    });
    shown.unwrap()
}

#[test]
fn an_instant_is_shown_with_its_disk() {
    let mut session = Session::default();
    let (events, _) = recorded(&mut session);
    assert!(events > 50);
    let (opened, frame) = go(&mut session, Seek::Event(0), 1);
    assert!(opened);
    assert_eq!(frame.unwrap().event, 0);
    assert!(session.fs.is_some() && session.map.is_some());
    // Where nothing changed on the disk it is not opened again.
    let (opened, _) = go(&mut session, Seek::Event(0), 2);
    assert!(!opened);
    let (opened, frame) = go(&mut session, Seek::Event(events - 1), 3);
    assert!(opened);
    assert_eq!(frame.unwrap().gauges.unstable_writes, 0);
}

#[test]
fn going_back_shows_what_was_shown_before() {
    let mut session = Session::default();
    let (events, _) = recorded(&mut session);
    let (_, there) = go(&mut session, Seek::Event(events / 2), 1);
    let (_, on) = go(&mut session, Seek::Steps(events / 2, 3), 2);
    let on = on.unwrap();
    assert!(on.event > events / 2);
    let (_, back) = go(&mut session, Seek::Event(events / 2), 3);
    assert_eq!(back, there);
}

#[test]
fn a_commit_is_found_and_the_timeline_has_it() {
    let mut session = Session::default();
    recorded(&mut session);
    let words = "commit".to_owned();
    let seek = Seek::Where {
        from: 0,
        back: false,
        words,
    };
    let (_, frame) = go(&mut session, seek, 1);
    let commit = frame.unwrap().event;
    let window = lab::Window {
        axis: lab::Axis::Events,
        from: 0,
        to: u64::MAX,
        columns: 500,
    };
    let query = LabQuery::Lanes(window);
    let ask = LabRequest::Ask {
        run: 1,
        ask: 9,
        query,
    };
    let lanes = hear(&mut session, ask).into_iter().find_map(|a| match a {
        Answer::Lab(answer) => match *answer {
            LabAnswer::Reply {
                reply: Ok(LabReply::Lanes(lanes)),
                ..
            } => Some(lanes),
            _ => None,
        },
        _ => None,
    });
    let marks = lanes.unwrap().marks;
    assert!(
        marks
            .iter()
            .any(|m| m.event == commit && m.kind == lab::MarkKind::Commit)
    );
}

#[test]
fn a_scenario_that_is_none_is_refused_at_its_line() {
    let mut session = Session::default();
    let run = LabRequest::Run {
        run: 1,
        text: "fslab = 1\ntitel = \"x\"\n".into(),
    };
    let answers = hear(&mut session, run);
    let Some(Answer::Lab(answer)) = answers.first() else {
        panic!("{answers:?}");
    };
    let LabAnswer::Refused { mistakes, .. } = &**answer else {
        panic!("{answer:?}");
    };
    assert_eq!(mistakes[0].line, 2, "{mistakes:?}");
}

#[test]
fn an_image_that_is_opened_leaves_the_run_as_it_is() {
    let mut session = Session::default();
    let (events, _) = recorded(&mut session);
    session.hear(
        Request::Open {
            image: 7,
            name: "none".into(),
        },
        None,
    );
    let (opened, frame) = go(&mut session, Seek::Event(events), 8);
    assert!(opened);
    assert_eq!(frame.unwrap().event, events - 1);
}
