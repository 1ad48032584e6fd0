//! A recording can be scrubbed: the state at an event is the one that a run from the start
//! has there, however one gets to it; a fork leaves it alone.

use fslab_engine::event::{Actor, Kind, What};
use fslab_engine::machine::{End, Machine};
use fslab_engine::recording::{Condition, Recording};
use fslab_engine::scenario::Scenario;
use proptest::prelude::*;
use std::sync::Arc;

fn scenario(text: &str) -> Arc<Scenario> {
    Arc::new(Scenario::parse(text).unwrap_or_else(|e| panic!("{e:#?}\n{text}")))
}

/// A scenario with these programs on a small disk.
fn with_programs(head: &str, programs: &[String]) -> Arc<Scenario> {
    let mut text = format!("fslab = 1\ntitle = \"random\"\n{head}\n");
    for (i, program) in programs.iter().enumerate() {
        text.push_str(&format!(
            "[[process]]\nname = \"p{i}\"\nprogram = '''\n{program}'''\n"
        ));
    }
    scenario(&text)
}

fn recorded(scenario: &Arc<Scenario>) -> Recording {
    let mut recording = Recording::new(scenario.clone()).unwrap();
    while recording.record(10_000) {}
    recording
}

/// A line of a program, on a few files.
fn line() -> impl Strategy<Value = String> {
    let file = 0u32..4;
    prop_oneof![
        4 => (file.clone(), 0u32..300, 1u32..40_000, 0u32..9).prop_map(|(f, at, n, seed)| format!(
            "fd = open(\"/f{f}\", O_CREAT | O_RDWR)\npwrite(fd, pattern({n}, {seed}), {at} * 1000)\nclose(fd)"
        )),
        2 => file.clone().prop_map(|f| format!(
            "fd = open(\"/f{f}\", O_CREAT | O_RDWR)\nfsync(fd)\nclose(fd)"
        )),
        1 => (file.clone(), 0u32..200_000).prop_map(|(f, n)| format!("truncate(\"/f{f}\", {n})")),
        1 => (file.clone(), file.clone()).prop_map(|(a, b)| format!("rename(\"/f{a}\", \"/f{b}\")")),
        1 => file.clone().prop_map(|f| format!("unlink(\"/f{f}\")")),
        1 => (0u32..4).prop_map(|d| format!("mkdir(\"/d{d}\", 0755)")),
        1 => Just("sync()".to_owned()),
        2 => (1u32..4000).prop_map(|ms| format!("sleep({ms}ms)")),
    ]
}

fn program() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 1..25).prop_map(|lines| lines.join("\n") + "\n")
}

fn head() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("[device]\nsize = \"16M\""),
        Just("[device]\nsize = \"16M\"\nkind = \"ram\"\ncache = \"none\""),
        Just("[device]\nsize = \"16M\"\n[mount]\noptions = \"data=journal\""),
        Just("[device]\nsize = \"16M\"\n[mount]\noptions = \"data=writeback,commit=1\""),
        Just("[device]\nsize = \"16M\"\n[mkfs]\noptions = \"-t ext2\""),
        Just("[device]\nsize = \"16M\"\n[mkfs]\noptions = \"-t ext3 -b 1024\""),
    ]
}

/// The machine after the step of an event, from the start.
fn from_the_start(scenario: &Arc<Scenario>, end: u64) -> u64 {
    let mut machine = Machine::new(scenario.clone()).unwrap();
    let _ = machine.take_events();
    while machine.next_event() < end && machine.step() {
        let _ = machine.take_events();
    }
    machine.state_hash()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_event_has_one_state(
        head in head(),
        programs in prop::collection::vec(program(), 1..4),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 4),
    ) {
        let scenario = with_programs(head, &programs);
        let recording = recorded(&scenario);
        let again = recorded(&scenario);
        prop_assert_eq!(recording.hash(), again.hash());
        prop_assert_eq!(recording.end(), Some(End::Finished));
        // Backwards as well as forwards.
        let mut events: Vec<u64> = picks.iter().map(|p| p.index(recording.len() as usize) as u64).collect();
        events.push(recording.len() - 1);
        let hashes: Vec<u64> = events.iter().map(|&e| recording.at(e).machine.state_hash()).collect();
        for (&event, &hash) in events.iter().zip(&hashes).rev() {
            let end = recording.index().step_of(event).1;
            prop_assert_eq!(recording.at(event).machine.state_hash(), hash);
            prop_assert_eq!(from_the_start(&scenario, end), hash, "event {}", event);
        }
        // What comes after the last event is only that nothing more comes.
        let last = recording.at(recording.len() - 1).machine;
        prop_assert_eq!(recording.head().gauges(), last.gauges());
    }

    #[test]
    fn a_fork_leaves_the_original_alone(
        head in head(),
        first in program(),
        other in program(),
        pick in any::<prop::sample::Index>(),
    ) {
        let scenario = with_programs(head, &[first]);
        let recording = recorded(&scenario);
        let event = pick.index(recording.len() as usize) as u64;
        let before = (recording.hash(), recording.at(event).machine.state_hash());
        let other = with_programs(head, &[other]);
        let mut same = recording.fork(event, None);
        while same.record(10_000) {}
        let mut fork = recording.fork(event, Some(other.processes.clone()));
        while fork.record(10_000) {}
        prop_assert_eq!(before, (recording.hash(), recording.at(event).machine.state_hash()));
        // Going on without a change is what the original did.
        prop_assert_eq!(same.len(), recording.len());
        let (a, b) = (same.head().state_hash(), recording.head().state_hash());
        prop_assert_eq!(a, b);
    }

    #[test]
    fn events_are_made_again_as_they_were(head in head(), programs in prop::collection::vec(program(), 1..3)) {
        let scenario = with_programs(head, &programs);
        let mut machine = Machine::new(scenario.clone()).unwrap();
        let mut all = machine.take_events();
        while machine.step() {
            all.extend(machine.take_events());
        }
        let recording = recorded(&scenario);
        prop_assert_eq!(recording.len(), all.len() as u64);
        for (i, event) in all.iter().enumerate() {
            prop_assert_eq!(event.id.0, i as u64);
            prop_assert!(event.cause.is_none_or(|c| c < event.id), "a cause after its effect");
            prop_assert_eq!(recording.kind(i as u64), Some(Kind::from(&event.what)));
            prop_assert_eq!(recording.index().time(i as u64), event.at);
        }
        let (from, to) = (all.len() / 3, all.len() * 2 / 3);
        let part = recording.events(from as u64, to as u64, usize::MAX);
        prop_assert_eq!(&part[..], &all[from..to]);
        // Every search finds what a look at all events finds.
        for words in ["kind=Allocated", "kind=Transaction", "error", "process=1 kind=Returned", "inode=12"] {
            let condition: Condition = words.parse().unwrap();
            let holds = |e: &&fslab_engine::event::Event| condition.holds(e, None);
            for start in [0, all.len() / 2] {
                let want = all[start..].iter().find(|e| holds(e)).map(|e| e.id.0);
                prop_assert_eq!(recording.find_from(start as u64, &condition), want, "{}", words);
                let want = all[..start].iter().rev().find(|e| holds(e)).map(|e| e.id.0);
                prop_assert_eq!(recording.find_before(start as u64, &condition), want, "{}", words);
            }
        }
    }
}

/// Time goes on, and a request is started after it was queued and done after it was started.
#[test]
fn requests_pass_through_the_queue() {
    let scenario = scenario(
        "fslab = 1\n[[process]]\nname = \"a\"\nprogram = '''\nfd = open(\"/a\", O_CREAT | O_RDWR)\nfor i in range(20) {\n write(fd, data(8k))\n fsync(fd)\n}\n'''\n",
    );
    let recording = recorded(&scenario);
    let events = recording.events(0, recording.len(), usize::MAX);
    let mut state = std::collections::BTreeMap::new();
    let mut last = 0;
    for event in &events {
        assert!(event.at.0 >= last, "time goes back at event {}", event.id.0);
        last = event.at.0;
        match event.what {
            What::Queued { request, .. } => assert!(state.insert(request, 0).is_none()),
            What::Started { request } => assert_eq!(state.insert(request, 1), Some(0)),
            What::Completed { request } => assert_eq!(state.insert(request, 2), Some(1)),
            _ => {}
        }
    }
    assert!(
        state.values().all(|s| *s == 2),
        "requests are left: {state:?}"
    );
    // Each fsync of new blocks waits for a commit: at least one flush each.
    let flushes = recording.head().device().counters().flushes;
    assert!(flushes >= 20, "{flushes} flushes");
    // An fsync returns after its transaction is on disk.
    for call in events
        .iter()
        .filter(|e| matches!(&e.what, What::Call { text } if text.starts_with("fsync")))
    {
        let returned = events
            .iter()
            .find(|e| e.cause == Some(call.id) && matches!(e.what, What::Returned { .. }))
            .unwrap();
        let committed = events.iter().any(|e| {
            e.actor == Actor::Jbd2
                && e.at >= call.at
                && e.id < returned.id
                && matches!(
                    e.what,
                    What::Transaction {
                        phase: fslab_engine::jbd2::Phase::Committed,
                        ..
                    }
                )
        });
        assert!(
            committed,
            "fsync at event {} returned before a commit",
            call.id.0
        );
        assert!(returned.at > call.at);
    }
}

/// What a scenario may not do: run for ever.
#[test]
fn limits_end_a_run_that_would_not() {
    let endless =
        scenario("fslab = 1\n[[process]]\nname = \"a\"\nprogram = '''\nwhile true {\n}\n'''\n");
    let recording = recorded(&endless);
    let events = recording.events(0, recording.len(), usize::MAX);
    assert!(events.iter().any(
        |e| matches!(&e.what, What::ProcessFailed { words, .. } if words.contains("endless"))
    ));
    let calls = scenario(
        "fslab = 1\n[limits]\ncalls = 100\n[[process]]\nname = \"a\"\nprogram = '''\nwhile true {\n stat(\"/\")\n}\n'''\n",
    );
    let recording = recorded(&calls);
    assert_eq!(recording.end(), Some(End::TooManyCalls(100)));
    // What ran until then can be looked at.
    assert!(recording.at(recording.len() / 2).machine.calls() > 10);
}
