//! Every example in the documentation runs.

use fslab_engine::event::Kind;
use fslab_engine::machine::End;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use std::sync::Arc;

const PAGE: &str = include_str!("../docs/scenario.md");

/// What stands in fences of `toml`.
fn examples() -> Vec<String> {
    let parts = PAGE.split("```toml\n").skip(1);
    parts
        .filter_map(|p| {
            p.split_once("\n```\n")
                .map(|(example, _)| example.to_owned())
        })
        .collect()
}

#[test]
fn examples_run_to_their_end_without_a_failure() {
    let all = examples();
    assert!(all.len() >= 3);
    for text in all {
        let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
        let mut recording = Recording::new(Arc::new(scenario)).unwrap();
        while recording.record(100_000) {}
        assert_eq!(recording.end(), Some(End::Finished), "{text}");
        let failed = |k| k == Kind::ProcessFailed;
        assert_eq!(recording.index().next_where(0, failed), None, "{text}");
    }
}

/// Wrong scenarios are told where they are wrong.
#[test]
fn mistakes_have_a_place_and_a_hint() {
    let says = |text: &str| {
        let errors = Scenario::parse(text).unwrap_err();
        errors[0].to_string()
    };
    let cases = [
        (
            "",
            "1:1: the first line has to be `fslab = 1`, the version of the format",
        ),
        (
            "fslab = 2\n",
            "1:9: this is version 2 of the format; version 1 is what is known here",
        ),
        (
            "fslab = 1\n[device]\nsise = \"4M\"\n",
            "3:1: there is no key `sise` here (did you mean `size`?)",
        ),
        (
            "fslab = 1\n[mount]\noptions = \"data=orderd\"\n",
            "3:11: `data=orderd` is not known: data is ordered, writeback, journal or alloc-on-commit",
        ),
        (
            "fslab = 1\n[mount]\noptions = \"nodelaloc\"\n",
            "3:11: ext4 knows no mount option `nodelaloc`; did you mean `nodelalloc`?",
        ),
        (
            "fslab = 1\n[device]\nkind = \"tape\"\n",
            "3:8: there is no device of kind \"tape\": it is \"ram\", \"hdd\", \"disk\", \"ssd\", \"block-mapped\" or \"card\"",
        ),
        (
            "fslab = 1\n[device]\nsize = \"1k\"\n",
            "3:8: a device has 64 KiB to 16 TiB",
        ),
    ];
    for (text, words) in cases {
        assert_eq!(says(text), words);
    }
    // A mistake in a program is told at its place in the whole file.
    let text = "fslab = 1\n[[process]]\nprogram = '''\nfd = open(\"/a\")\nfsnyc(fd)\n'''\n";
    let errors = Scenario::parse(text).unwrap_err();
    assert_eq!((errors[0].line, errors[0].column), (5, 1), "{errors:?}");
    let all = format!("{errors:?}");
    assert!(all.contains("fsync"), "{all}");
}

/// Each generator runs to its end, and says how much it did.
#[test]
fn generators_run() {
    let calls = [
        ("sequential(\"/a\", 200k)", "204800"),
        ("random_writes(\"/a\", 256k, 4k, 20)", "20"),
        ("zipf_writes(\"/a\", 256k, 4k, 20)", "20"),
        ("append_log(\"/a\", 10)", "10"),
        ("small_files(\"/a\", 2, 5)", "10"),
        ("mail_spool(\"/a\", 15)", "15"),
        ("wal_database(\"/a\", 16, 10, 5)", "10"),
        ("aging(\"/a\", 2, 10)", "20"),
    ];
    for (call, told) in calls {
        let text = format!("fslab = 1\n[[process]]\nprogram = '''\nprint({call})\n'''\n");
        let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
        let mut recording = Recording::new(Arc::new(scenario)).unwrap();
        while recording.record(100_000) {}
        let events = recording.events(0, recording.len(), usize::MAX);
        let said: Vec<String> = events
            .iter()
            .filter_map(|e| match &e.what {
                fslab_engine::event::What::Printed { text } => Some(text.clone()),
                fslab_engine::event::What::ProcessFailed { line, words, .. } => {
                    Some(format!("line {line}: {words}"))
                }
                _ => None,
            })
            .collect();
        assert_eq!(said, [told], "{call}");
    }
}
