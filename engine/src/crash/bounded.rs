//! Every workload of one call over a few files, made safe in every way there is, as ACE
//! makes them (Mohan et al., "Finding Crash-Consistency Bugs with Bounded Black-Box Crash
//! Testing", OSDI 2018), with what has to be there afterwards.
//!
//! What is expected is what POSIX says of the call that makes safe, and ext4's documentation
//! of names: `fsync` of a new file takes its name along.

/// What all files hold before the call: 8 KiB.
const HELD: &str = "repeat(\"a\", 8k)";

/// A workload, as a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workload {
    /// The call and what makes it safe, as "rename /foo /A/bar, then fsync".
    pub name: String,
    /// The scenario's text.
    pub text: String,
}

/// A call, and what is there after it.
struct Case {
    name: String,
    /// In the workload language.
    lines: String,
    /// The file that the call is about afterwards; `None`: it is gone.
    file: Option<&'static str>,
    /// Directories whose names it changed.
    dirs: Vec<&'static str>,
    /// Names, and what they lead to.
    after: Vec<(&'static str, After)>,
    /// The file was there before, with the same contents: its name or attributes change.
    old_file: bool,
    /// Conditions that hold at any time, whatever was made safe.
    always: Vec<String>,
}

/// What a name leads to.
enum After {
    Nothing,
    Directory,
    /// A file with these contents, in the workload language.
    File(String),
    /// Something else that is true of it.
    Such(String),
}

/// All workloads, on filesystems made and mounted with these options.
pub fn one_call(mkfs: &str, mount: &str) -> Vec<Workload> {
    let mut all = Vec::new();
    for case in cases() {
        for (how, lines) in safe(&case) {
            all.push(Workload {
                name: format!("{}, then {how}", case.name),
                text: text(&case, how, &lines, mkfs, mount),
            });
        }
    }
    all
}

/// The ways to make a call's effect safe.
fn safe(case: &Case) -> Vec<(&'static str, String)> {
    let mut all = vec![("sync", "sync()".to_owned())];
    let with = |call: &str, path: &str| {
        format!("fd = must(open(\"{path}\"))\nmust({call}(fd))\nclose(fd)")
    };
    if let Some(file) = case.file {
        all.push(("fsync", with("fsync", file)));
        all.push(("fdatasync", with("fdatasync", file)));
    }
    let dirs: Vec<String> = case.dirs.iter().map(|d| with("fsync", d)).collect();
    if !dirs.is_empty() {
        all.push(("fsync of its directories", dirs.join("\n")));
    }
    all
}

/// What has to be so once that is done.
fn expected(case: &Case, how: &str) -> String {
    let mut all: Vec<String> = Vec::new();
    for (path, after) in &case.after {
        let own = case.file == Some(*path);
        let by_file = matches!(how, "fsync" | "fdatasync");
        // fdatasync need not make safe what changes no byte of the file: a name that an old
        // file gets, an attribute.
        if by_file && !own || how == "fdatasync" && case.old_file {
            continue;
        }
        let contents = how != "fsync of its directories";
        match after {
            After::Nothing => all.push(format!("not exists(\"{path}\")")),
            After::Directory => all.push(format!("not failed(stat(\"{path}\"))")),
            After::File(held) if contents => all.push(format!("content(\"{path}\") == {held}")),
            After::Such(words) => all.push(words.clone()),
            After::File(_) => all.push(format!("exists(\"{path}\")")),
        }
    }
    match all.is_empty() {
        true => "true".into(),
        false => all.join(" and "),
    }
}

fn text(case: &Case, how: &str, lines: &str, mkfs: &str, mount: &str) -> String {
    let always: String = case
        .always
        .iter()
        .map(|words| {
            format!(
                "[[expect]]\nname = \"at any time\"\ncondition = '''not begun or ({words})'''\n"
            )
        })
        .collect();
    format!(
        "fslab = 1\ntitle = \"{}, then {how}\"\n[device]\nsize = \"16M\"\n[mkfs]\noptions = \"{mkfs}\"\n\
         [mount]\noptions = \"{mount}\"\n[run]\nlinger = \"0s\"\nunmount = false\n{always}\
         [[expect]]\nname = \"what was made safe is there\"\ncondition = '''not done or ({})'''\n\
         [[process]]\non_error = \"stop\"\nprogram = '''\n\
         fn make(path) {{\n    fd = must(open(path, O_CREAT | O_WRONLY))\n    must(write(fd, {HELD}))\n    close(fd)\n}}\n\
         mkdir(\"/A\")\nmkdir(\"/B\")\nmake(\"/foo\")\nmake(\"/A/foo\")\nsetxattr(\"/foo\", \"user.old\", \"1\")\nsync()\n\
         begun = true\n{}\n{lines}\ndone = true\nsleep(1ms)\n'''\n",
        case.name,
        expected(case, how),
        case.lines,
    )
}

fn on(path: &'static str, name: String, lines: String, held: String) -> Case {
    Case {
        name,
        lines,
        file: Some(path),
        dirs: Vec::new(),
        after: vec![(path, After::File(held))],
        old_file: false,
        always: vec![format!("exists(\"{path}\")")],
    }
}

/// The directory of a path.
fn dir(path: &str) -> &'static str {
    if path.starts_with("/A/") { "/A" } else { "/" }
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for path in ["/foo", "/A/foo"] {
        all.extend(writes(path));
        all.extend(space(path));
        all.push(removed(path));
    }
    for path in ["/bar", "/A/bar"] {
        all.extend(made(path));
    }
    all.extend(renames());
    all.extend(attributes());
    all
}

/// Contents that change.
fn writes(path: &'static str) -> Vec<Case> {
    let write = |what: &str, at: u64, len: u64| {
        let held = match at {
            8192 => format!("{HELD} + repeat(\"b\", {len})"),
            at if at > 8192 => format!(
                "{HELD} + repeat(\"\\x00\", {}) + repeat(\"b\", {len})",
                at - 8192
            ),
            at => format!(
                "repeat(\"a\", {at}) + repeat(\"b\", {len}) + repeat(\"a\", {})",
                8192 - at - len
            ),
        };
        let lines = format!(
            "fd = must(open(\"{path}\", O_WRONLY))\nmust(pwrite(fd, repeat(\"b\", {len}), {at}))\nclose(fd)"
        );
        on(path, format!("{what} {path}"), lines, held)
    };
    let cut = |what: &str, len: u64| {
        let held = match len {
            0..=8192 => format!("repeat(\"a\", {len})"),
            len => format!("{HELD} + repeat(\"\\x00\", {})", len - 8192),
        };
        let lines = format!("truncate(\"{path}\", {len})");
        on(path, format!("{what} {path}"), lines, held)
    };
    vec![
        write("append a block to", 8192, 4096),
        write("append 100 bytes to", 8192, 100),
        write("overwrite a block of", 0, 4096),
        write("overwrite 3000 bytes across blocks of", 2500, 3000),
        write("write behind the end of", 20_000, 4096),
        cut("truncate to nothing", 0),
        cut("truncate to 5000 bytes", 5000),
        cut("extend by truncate", 20_000),
    ]
}

/// Space that is taken, given back or zeroed.
fn space(path: &'static str) -> Vec<Case> {
    let call = |what: &str, mode: &str, at: u64, len: u64, held: String| {
        let lines = format!(
            "fd = must(open(\"{path}\", O_WRONLY))\nmust(fallocate(fd, {mode}, {at}, {len}))\nclose(fd)"
        );
        on(path, format!("{what} {path}"), lines, held)
    };
    let zeroed = "repeat(\"\\x00\", 4k) + repeat(\"a\", 4k)";
    vec![
        call(
            "fallocate behind the end of",
            "0",
            8192,
            8192,
            format!("{HELD} + repeat(\"\\x00\", 8k)"),
        ),
        call(
            "fallocate KEEP_SIZE in",
            "FALLOC_FL_KEEP_SIZE",
            8192,
            8192,
            HELD.into(),
        ),
        call(
            "punch a hole in",
            "FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE",
            0,
            4096,
            zeroed.into(),
        ),
        call(
            "zero a range of",
            "FALLOC_FL_ZERO_RANGE",
            0,
            4096,
            zeroed.into(),
        ),
    ]
}

/// A name that goes.
fn removed(path: &'static str) -> Case {
    Case {
        name: format!("unlink {path}"),
        lines: format!("unlink(\"{path}\")"),
        file: None,
        dirs: vec![dir(path)],
        after: vec![(path, After::Nothing)],
        old_file: true,
        always: vec![format!(
            "not exists(\"{path}\") or content(\"{path}\") == {HELD}"
        )],
    }
}

/// Names that come.
fn made(path: &'static str) -> Vec<Case> {
    let case = |name: &str, lines: String, file: bool, after: After| Case {
        name: format!("{name} {path}"),
        lines,
        file: file.then_some(path),
        dirs: vec![dir(path)],
        after: vec![(path, after)],
        old_file: name.starts_with("link"),
        always: vec![format!("content(\"/foo\") == {HELD}")],
    };
    vec![
        case(
            "create",
            format!("close(must(open(\"{path}\", O_CREAT | O_WRONLY)))"),
            true,
            After::File("\"\"".into()),
        ),
        case(
            "create and write",
            format!(
                "fd = must(open(\"{path}\", O_CREAT | O_WRONLY))\nmust(write(fd, repeat(\"b\", 5000)))\nclose(fd)"
            ),
            true,
            After::File("repeat(\"b\", 5000)".into()),
        ),
        case(
            "mkdir",
            format!("mkdir(\"{path}\")"),
            true,
            After::Directory,
        ),
        case(
            "link /foo to",
            format!("link(\"/foo\", \"{path}\")"),
            true,
            After::File(HELD.into()),
        ),
        case(
            "symlink",
            format!("symlink(\"/foo\", \"{path}\")"),
            false,
            After::Such(format!("readlink(\"{path}\") == \"/foo\"")),
        ),
    ]
}

/// Names that change.
fn renames() -> Vec<Case> {
    let pairs: [(&str, &str, bool); 5] = [
        ("/foo", "/bar", false),
        ("/foo", "/A/bar", false),
        ("/A/foo", "/bar", false),
        ("/A/foo", "/A/bar", false),
        ("/foo", "/A/foo", true),
    ];
    let mut all: Vec<Case> = pairs
        .into_iter()
        .map(|(old, new, replaces)| Case {
            name: format!("rename {old} to {new}"),
            lines: format!("rename(\"{old}\", \"{new}\")"),
            file: Some(new),
            dirs: match dir(old) == dir(new) {
                true => vec![dir(old)],
                false => vec![dir(old), dir(new)],
            },
            after: vec![(old, After::Nothing), (new, After::File(HELD.into()))],
            old_file: true,
            always: match replaces {
                true => vec![format!("content(\"{new}\") == {HELD}")],
                false => vec![format!("exists(\"{old}\") != exists(\"{new}\")")],
            },
        })
        .collect();
    all.push(Case {
        name: "rename directory /A to /B/C".into(),
        lines: "rename(\"/A\", \"/B/C\")".into(),
        file: Some("/B/C"),
        dirs: vec!["/", "/B"],
        after: vec![
            ("/A", After::Nothing),
            ("/B/C", After::Directory),
            ("/B/C/foo", After::File(HELD.into())),
        ],
        old_file: true,
        always: vec!["exists(\"/A/foo\") != exists(\"/B/C/foo\")".into()],
    });
    all.push(Case {
        name: "rmdir /B".into(),
        lines: "rmdir(\"/B\")".into(),
        file: None,
        dirs: vec!["/"],
        after: vec![("/B", After::Nothing)],
        old_file: true,
        always: Vec::new(),
    });
    all
}

/// What is known of a file beside its contents.
fn attributes() -> Vec<Case> {
    let case = |name: &str, lines: &str, words: &str| Case {
        name: format!("{name} /foo"),
        lines: lines.into(),
        file: Some("/foo"),
        dirs: Vec::new(),
        after: vec![("/foo", After::Such(words.into()))],
        old_file: true,
        always: vec![format!("content(\"/foo\") == {HELD}")],
    };
    vec![
        case(
            "set an attribute of",
            "setxattr(\"/foo\", \"user.new\", \"value\")",
            "getxattr(\"/foo\", \"user.new\") == \"value\"",
        ),
        case(
            "remove an attribute of",
            "removexattr(\"/foo\", \"user.old\")",
            "getxattr(\"/foo\", \"user.old\") == ENODATA",
        ),
        case(
            "chmod",
            "chmod(\"/foo\", 0600)",
            "stat(\"/foo\").mode % 512 == 0600",
        ),
        case("chown", "chown(\"/foo\", 7, 8)", "stat(\"/foo\").uid == 7"),
    ]
}
