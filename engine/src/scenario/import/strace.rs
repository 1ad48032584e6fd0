//! A log of `strace -f` as a scenario: one process makes the calls of all, in the log's
//! order, with the pauses that its times tell. So the tree comes out as it did.

mod calls;

use super::line::{Arg, Line, call, head};
use super::world::{Before, Open, Places, Process, clean};
use super::{ImportError, Imported, MAX_LOG, MAX_SKIPPED, Skipped, emit};
use std::collections::BTreeMap;

/// How a log is imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StraceOptions {
    /// The directory that is replayed; its paths become those of the filesystem's root.
    /// `None`: the one that everything that was changed lies in.
    pub root: Option<Vec<u8>>,
    /// Where the program was started, for relative paths; the root, where `None`.
    pub cwd: Option<Vec<u8>>,
    /// Pauses shorter than this are left out, ns.
    pub shortest_pause: u64,
    /// The scenario's title.
    pub title: String,
}

impl Default for StraceOptions {
    fn default() -> Self {
        Self {
            root: None,
            cwd: None,
            shortest_pause: 1_000_000,
            title: "Imported from strace".to_owned(),
        }
    }
}

/// Longest pause that is kept, ns: people look at a run.
const LONGEST_PAUSE: u64 = 10_000_000_000;

/// Imports a log of `strace -f`, best made with `-y -ttt -s 65536`.
pub fn strace(log: &str, options: &StraceOptions) -> Result<Imported, ImportError> {
    if log.len() > MAX_LOG {
        return Err(ImportError::TooLong(log.len()));
    }
    let lines = lines(log);
    if lines.is_empty() {
        return Err(ImportError::Nothing(
            "there is no call in this log; `strace -f -y -ttt -s 65536 -o LOG PROGRAM` makes one",
        ));
    }
    let mut importer = Importer::new(&lines, options);
    for (number, line) in &lines {
        importer.take(*number, line);
    }
    importer.finish(options)
}

/// The calls of a log in the order in which they returned, each with the number of its
/// line. Calls that were cut in two by others are put together.
fn lines(log: &str) -> Vec<(u64, Line)> {
    let mut unfinished: BTreeMap<u64, (Option<u64>, String)> = BTreeMap::new();
    let mut found = Vec::new();
    for (text, number) in log.lines().zip(1..) {
        let (pid, at, rest) = head(text);
        if let Some(begun) = rest.trim_end().strip_suffix("<unfinished ...>") {
            unfinished.insert(pid, (at, begun.trim_end().to_owned()));
            continue;
        }
        let line = match resumed(rest) {
            Some(end) => unfinished
                .remove(&pid)
                .and_then(|(begun_at, begun)| call(pid, begun_at.or(at), &format!("{begun}{end}"))),
            None => call(pid, at, rest),
        };
        found.extend(line.map(|line| (number, line)));
    }
    found
}

/// What stands behind `<... name resumed>`.
fn resumed(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix("<... ")?;
    inside.split_once("resumed>").map(|(_, end)| end)
}

/// What is known on the way through a log.
#[derive(Debug)]
struct Importer {
    places: Places,
    processes: BTreeMap<u64, Process>,
    first_cwd: Option<Vec<u8>>,
    before: Before,
    program: String,
    variables: u32,
    calls: u64,
    /// Writes whose bytes the log does not hold.
    unknown: u64,
    skipped: Vec<Skipped>,
    ignored: BTreeMap<String, u64>,
    /// When the last call was made, and who made it.
    last: Option<u64>,
    pid: Option<u64>,
    shortest_pause: u64,
    /// The line of the log that is being looked at.
    number: u64,
}

impl Importer {
    fn new(lines: &[(u64, Line)], options: &StraceOptions) -> Self {
        let told = lines.iter().find_map(|(_, l)| match l.args.first() {
            Some(Arg::Number {
                n: super::line::AT_FDCWD,
                path,
            }) => path.clone(),
            _ => None,
        });
        let cwd = options.cwd.clone().or(told);
        let changed = changed_paths(lines, cwd.as_deref());
        let root = options
            .root
            .as_deref()
            .map(clean)
            .or_else(|| common_directory(&changed))
            .or_else(|| cwd.clone());
        let root = root.or_else(|| Some(b"/".to_vec()));
        Self {
            first_cwd: cwd.or_else(|| root.clone()),
            places: Places { root },
            processes: BTreeMap::new(),
            before: Before::default(),
            program: String::new(),
            variables: 0,
            calls: 0,
            unknown: 0,
            skipped: Vec::new(),
            ignored: BTreeMap::new(),
            last: None,
            pid: None,
            shortest_pause: options.shortest_pause,
            number: 0,
        }
    }

    fn process(&mut self, pid: u64) -> &mut Process {
        let cwd = &self.first_cwd;
        self.processes.entry(pid).or_insert_with(|| Process {
            cwd: cwd.clone(),
            umask: 0o022,
            ..Process::default()
        })
    }

    /// A statement of the program, after the pause before it.
    fn say(&mut self, line: &Line, statement: &str) {
        if let (Some(last), Some(at)) = (self.last, line.at) {
            let pause = at.saturating_sub(last).min(LONGEST_PAUSE);
            if pause >= self.shortest_pause {
                let pause = emit::time(pause / 1000 * 1000);
                self.program.push_str(&format!("sleep({pause})\n"));
            }
        }
        self.last = line.at.or(self.last);
        if self.pid != Some(line.pid) {
            if self.pid.is_some() {
                self.program.push_str(&format!("# process {}\n", line.pid));
            }
            self.pid = Some(line.pid);
        }
        self.program.push_str(statement);
        self.program.push('\n');
        self.calls += 1;
    }

    fn skip(&mut self, line: &Line, why: &str) {
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(Skipped {
                line: self.number,
                text: line.name.clone(),
                why: why.to_owned(),
            });
        }
    }

    fn ignore(&mut self, line: &Line) {
        *self.ignored.entry(line.name.clone()).or_default() += 1;
    }

    /// The descriptor that an argument names, where it is about the root.
    fn open(&self, pid: u64, arg: Option<&Arg>) -> Option<Open> {
        let n = arg?.number()?;
        let open = self.processes.get(&pid)?.fds.get(&n)?;
        open.path.is_some().then(|| open.clone())
    }

    /// The path inside the root of a name that is looked up from a descriptor.
    fn path(&mut self, pid: u64, at: Option<&Arg>, name: Option<&Arg>) -> Option<Vec<u8>> {
        let Some(Arg::Str { bytes, .. }) = name else {
            return None;
        };
        let process = self.process(pid);
        if let Some(fd) = bytes.strip_prefix(b"/proc/self/fd/") {
            let fd = std::str::from_utf8(fd).ok()?.parse().ok()?;
            return process.fds.get(&fd)?.path.clone();
        }
        let absolute = process.absolute(at, bytes)?;
        self.places.inside(&absolute)
    }

    fn finish(self, options: &StraceOptions) -> Result<Imported, ImportError> {
        if self.calls == 0 {
            return Err(ImportError::Nothing(
                "no call in this log is about a file inside the chosen directory; name another with --root",
            ));
        }
        let setup = self.before.program();
        let mut text = format!(
            "fslab = 1\ntitle = {}\nabout = {}\n\n",
            emit::toml(&options.title),
            emit::toml(&format!(
                "{} calls from a log of strace; {} could not be done again.",
                self.calls,
                self.skipped.len()
            ))
        );
        text.push_str("[device]\nsize = \"256M\"\n\n[[process]]\nname = \"program\"\numask = 0\nprogram = '''\n");
        if !setup.is_empty() {
            text.push_str("# What was there before.\n");
            text.push_str(&setup);
            text.push_str("sync()\n\n");
        }
        text.push_str(&self.program);
        text.push_str("'''\n");
        Ok(Imported {
            text,
            skipped: self.skipped,
            ignored: self.ignored,
            calls: self.calls,
            unknown: self.unknown,
        })
    }
}

/// Absolute paths that a log changes.
fn changed_paths(lines: &[(u64, Line)], cwd: Option<&[u8]>) -> Vec<Vec<u8>> {
    let process = Process {
        cwd: cwd.map(<[u8]>::to_vec),
        ..Process::default()
    };
    let special = |path: &[u8]| {
        [&b"/dev/"[..], b"/proc/", b"/sys/"]
            .iter()
            .any(|p| path.starts_with(p))
    };
    let mut found = Vec::new();
    for (_, line) in lines.iter().filter(|(_, l)| l.ret.is_some_and(|r| r >= 0)) {
        let writes = |i: usize| {
            line.args
                .get(i)
                .is_some_and(|f| f.has("O_CREAT") || f.has("O_WRONLY") || f.has("O_RDWR"))
        };
        let (at, name) = match line.name.as_str() {
            "openat" if writes(2) => (line.args.first(), line.args.get(1)),
            "open" if writes(1) => (None, line.args.first()),
            "creat" | "mkdir" | "rmdir" | "unlink" | "rename" | "truncate" => {
                (None, line.args.first())
            }
            "mkdirat" | "unlinkat" | "renameat" | "renameat2" => {
                (line.args.first(), line.args.get(1))
            }
            _ => continue,
        };
        if let Some(Arg::Str { bytes, .. }) = name
            && let Some(path) = process.absolute(at, bytes)
            && !special(&path)
        {
            found.push(path);
        }
    }
    found
}

/// The directory that all of these lie in.
fn common_directory(paths: &[Vec<u8>]) -> Option<Vec<u8>> {
    let parent = |path: &[u8]| -> Vec<u8> {
        let end = path.iter().rposition(|b| *b == b'/').unwrap_or(0);
        path[..end].to_vec()
    };
    let mut common = parent(paths.first()?);
    for path in &paths[1..] {
        let holds = |dir: &[u8]| path.starts_with(dir) && path.get(dir.len()) == Some(&b'/');
        while !common.is_empty() && !holds(&common) {
            common = parent(&common);
        }
    }
    if common.is_empty() {
        common.push(b'/');
    }
    Some(common)
}
