//! Every example in the documentation runs.

use fslab_engine::event::{Kind, What};
use fslab_engine::machine::End;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use fslab_engine::scenario::lang::{ItemKind, compile, complete, limits};
use std::sync::Arc;

const PAGE: &str = include_str!("../docs/scenario.md");
const LANGUAGE: &str = include_str!("../docs/language.md");

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

/// What a recording's processes said, their failures among it.
fn said(recording: &Recording) -> Vec<String> {
    let events = recording.events(0, recording.len(), usize::MAX);
    let said = events.iter().filter_map(|e| match &e.what {
        What::Printed { text } => Some(text.clone()),
        What::ProcessFailed { line, words, .. } => Some(format!("line {line}: {words}")),
        _ => None,
    });
    said.collect()
}

fn run(program: &str) -> Vec<String> {
    let text = format!("fslab = 1\n[[process]]\nprogram = '''\n{program}\n'''\n");
    let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
    let mut recording = Recording::new(Arc::new(scenario)).unwrap();
    while recording.record(100_000) {}
    said(&recording)
}

/// Programs of the language's page, each with what stands below it.
#[test]
fn programs_print_what_the_page_says() {
    let parts = LANGUAGE.split("```fsl\n").skip(1);
    let (mut programs, mut wrong) = (0, String::new());
    for part in parts {
        let (program, rest) = part.split_once("\n```\n").unwrap();
        let rest = rest.strip_prefix("```text\n").expect(program);
        let (told, _) = rest.split_once("\n```\n").unwrap();
        let said = run(program).join("\n");
        if said != told {
            wrong += &format!("{program}\n--- says\n{said}\n--- and not\n{told}\n\n");
        }
        programs += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(programs >= 9);
}

/// Every name that a program can use without making it is on the page: calls, functions
/// and workloads as they are written, constants, words.
#[test]
fn the_page_names_everything() {
    let all = complete("", 0).items;
    assert!(all.len() > 170);
    for item in all {
        let written = match item.kind {
            ItemKind::Call | ItemKind::Function | ItemKind::Workload => {
                let end = item.help.find("):").map_or(0, |at| at + 1);
                item.help[..end].to_owned()
            }
            _ => item.text.clone(),
        };
        assert!(
            LANGUAGE.contains(&format!("`{written}`")),
            "{written} is not on the page"
        );
    }
}

/// The grammar uses no rule that it does not have, has every word of the language, and its
/// units are units.
#[test]
fn the_grammar_is_whole() {
    let (_, rest) = LANGUAGE.split_once("```ebnf\n").unwrap();
    let (grammar, _) = rest.split_once("\n```\n").unwrap();
    let plain = |c: char| c.is_ascii_lowercase();
    let rules: Vec<&str> = grammar
        .lines()
        .filter_map(|l| l.split_once(" = ").or(l.split_once("= ")))
        .map(|(name, _)| name.trim())
        .filter(|name| !name.is_empty() && name.chars().all(plain))
        .collect();
    assert!(rules.len() > 25, "{rules:?}");
    // Single characters and their runs, which need no rule.
    let ends = [
        "newline",
        "letter",
        "digit",
        "digits",
        "octal",
        "hexadecimal",
        "binary",
        "hex",
        "character",
    ];
    let (grammar, comments) = (grammar.replace("(* or in '…' *)", ""), "(*");
    assert!(!grammar.contains(comments));
    // Every other part stands between quotes.
    let bare: String = grammar
        .replace("\"\\\"\"", "")
        .replace("'\"'", "")
        .split('"')
        .step_by(2)
        .collect::<Vec<_>>()
        .join(" ");
    for word in bare.split(|c| !plain(c)).filter(|w| !w.is_empty()) {
        assert!(
            rules.contains(&word) || ends.contains(&word),
            "{word} is no rule"
        );
    }
    for item in complete("", 0)
        .items
        .iter()
        .filter(|i| i.kind == ItemKind::Keyword)
    {
        assert!(
            grammar.contains(&format!("\"{}\"", item.text)),
            "{} is in no rule",
            item.text
        );
    }
    let (_, units) = grammar.split_once("unit    = ").unwrap();
    let (units, _) = units.split_once(" ;").unwrap();
    for unit in units.split('"').skip(1).step_by(2) {
        assert!(compile(&format!("x = 1{unit}")).is_ok(), "{unit}");
    }
}

#[test]
fn the_page_has_the_limits() {
    let mib = |n: usize| format!("{} MiB", n >> 20);
    let rows = [
        (
            "a program's text",
            format!("{} KiB", limits::MAX_SOURCE >> 10),
        ),
        (
            "brackets and blocks inside one another",
            limits::MAX_NESTING.to_string(),
        ),
        (
            "operators that hang on one another",
            limits::MAX_CHAIN.to_string(),
        ),
        (
            "variables of the program, or of one function",
            limits::MAX_VARIABLES.to_string(),
        ),
        (
            "parameters of a function",
            limits::MAX_PARAMETERS.to_string(),
        ),
        (
            "instructions of a compiled program",
            limits::MAX_INSTRUCTIONS.to_string(),
        ),
        (
            "functions that wait for one another",
            limits::MAX_CALL_DEPTH.to_string(),
        ),
        ("values on the stack", limits::MAX_STACK.to_string()),
        ("items of a list", limits::MAX_LIST.to_string()),
        ("lists inside lists", limits::MAX_LIST_NESTING.to_string()),
        (
            "bytes of a string, and of what one call reads",
            mib(limits::MAX_STRING),
        ),
        (
            "generated bytes in one call",
            limits::MAX_CONTENTS.to_string(),
        ),
        ("all values together", mib(limits::MAX_MEMORY as usize)),
        (
            "bytes of a printed line; longer ones are cut",
            limits::MAX_PRINT.to_string(),
        ),
        (
            "mistakes told of one program",
            limits::MAX_DIAGNOSTICS.to_string(),
        ),
    ];
    for (what, most) in rows {
        let row = format!("| {what} | {most} |");
        assert!(LANGUAGE.contains(&row), "the page lacks {row}");
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
        ("untar(\"/a\", describe_tree(3, 12, 8k, 7))", "15"),
        ("git_like(\"/a\", 2, 3)", "10"),
        ("build_like(\"/a\", 6, 4, 2)", "8"),
    ];
    for (call, told) in calls {
        assert_eq!(run(&format!("print({call})")), [told], "{call}");
    }
}
