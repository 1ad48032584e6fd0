//! What becomes of each call.

use super::super::emit::{contents, size, string};
use super::super::line::{Arg, Line, strings};
use super::super::world::Open;
use super::Importer;

/// Flags of `open` that mean something here.
const FLAGS: [&str; 12] = [
    "O_WRONLY",
    "O_RDWR",
    "O_CREAT",
    "O_EXCL",
    "O_TRUNC",
    "O_APPEND",
    "O_DSYNC",
    "O_SYNC",
    "O_DIRECT",
    "O_DIRECTORY",
    "O_NOFOLLOW",
    "O_TMPFILE",
];

impl Importer {
    pub(super) fn take(&mut self, number: u64, line: &Line) {
        self.number = number;
        let a = &line.args;
        match line.name.as_str() {
            "openat" => self.opens(line, a.first(), a.get(1), a.get(2), a.get(3)),
            "open" => self.opens(line, None, a.first(), a.get(1), a.get(2)),
            "creat" => {
                let flags = Arg::Other("O_WRONLY|O_CREAT|O_TRUNC".into());
                self.opens(line, None, a.first(), Some(&flags), a.get(1));
            }
            "close" => self.closes(line),
            "dup" | "dup2" | "dup3" => self.duplicates(line),
            "fcntl" if a.get(1).is_some_and(|c| c.words().starts_with("F_DUPFD")) => {
                self.duplicates(line)
            }
            "chdir" | "fchdir" | "umask" => self.moves(line),
            "fork" | "vfork" | "clone" | "clone3" => self.forks(line),
            "execve" if line.ret == Some(0) => {
                let keep = |_: &i64, open: &mut Open| !open.close_on_exec;
                self.process(line.pid).fds.retain(keep);
            }
            "read" | "pread64" | "readv" | "preadv" | "write" | "pwrite64" | "writev"
            | "pwritev" | "copy_file_range" | "sendfile" | "lseek" => self.moves_bytes(line),
            "mmap" => self.maps(line),
            _ if line.ret.is_none_or(|r| r < 0) => self.ignore(line),
            "fsync" | "fdatasync" | "syncfs" | "ftruncate" | "fallocate" | "sync_file_range"
            | "fchmod" | "fchown" | "flock" => self.on_descriptor(line),
            "sync" => self.say(line, "sync()"),
            _ => self.on_paths(line),
        }
    }

    fn opens(
        &mut self,
        line: &Line,
        at: Option<&Arg>,
        name: Option<&Arg>,
        flags: Option<&Arg>,
        mode: Option<&Arg>,
    ) {
        let Some(fd) = line.ret.filter(|r| *r >= 0) else {
            return self.ignore(line);
        };
        let absolute = match name {
            Some(Arg::Str { bytes, .. }) => self.process(line.pid).absolute(at, bytes),
            _ => None,
        }
        .or_else(|| line.ret_path.clone());
        let path = absolute.as_deref().and_then(|p| self.places.inside(p));
        let has = |flag| flags.is_some_and(|f| f.has(flag));
        let mut open = Open {
            path: None,
            variable: String::new(),
            absolute,
            close_on_exec: has("O_CLOEXEC"),
        };
        if let Some(path) = path {
            self.found_or_made(
                &path,
                has("O_CREAT") || has("O_TMPFILE"),
                has("O_DIRECTORY"),
            );
            self.variables += 1;
            open.variable = format!("f{}", self.variables);
            let words: Vec<&str> = FLAGS.into_iter().filter(|f| has(f)).collect();
            let words = if words.is_empty() {
                "O_RDONLY".to_owned()
            } else {
                words.join(" | ")
            };
            let umask = self.process(line.pid).umask;
            let mode = mode
                .and_then(Arg::number)
                .map(|m| format!(", 0{:o}", m as u64 & !u64::from(umask) & 0o7777));
            let mode = mode
                .filter(|_| has("O_CREAT") || has("O_TMPFILE"))
                .unwrap_or_default();
            let statement = format!("{} = open({}, {words}{mode})", open.variable, string(&path));
            self.say(line, &statement);
            open.path = Some(path);
        } else {
            self.ignore(line);
        }
        self.process(line.pid).fds.insert(fd, open);
    }

    /// A path was opened: it is made now, or was there.
    fn found_or_made(&mut self, path: &[u8], makes: bool, directory: bool) {
        if self.before.knows(path) {
            return;
        }
        if makes {
            self.before.makes(path);
        } else if directory {
            self.before.needs_dir(path);
        } else {
            self.before.needs_file(path, 0);
        }
    }

    fn closes(&mut self, line: &Line) {
        let fd = line.args.first().and_then(Arg::number).unwrap_or(-1);
        let Some(open) = self
            .process(line.pid)
            .fds
            .remove(&fd)
            .filter(|o| o.path.is_some())
        else {
            return self.ignore(line);
        };
        // Another descriptor may still be the same.
        let kept = |p: &super::Process| p.fds.values().any(|o| o.variable == open.variable);
        if self.processes.values().any(kept) {
            return self.ignore(line);
        }
        self.say(line, &format!("close({})", open.variable));
    }

    fn duplicates(&mut self, line: &Line) {
        let from = line.args.first().and_then(Arg::number).unwrap_or(-1);
        let Some(to) = line.ret.filter(|r| *r >= 0) else {
            return;
        };
        let on_exec = line.args.iter().any(|a| a.words().contains("CLOEXEC"));
        let process = self.process(line.pid);
        if let Some(mut open) = process.fds.get(&from).cloned() {
            open.close_on_exec = on_exec;
            process.fds.insert(to, open);
        } else {
            process.fds.remove(&to);
        }
    }

    fn moves(&mut self, line: &Line) {
        if line.ret.is_none_or(|r| r < 0) {
            return;
        }
        let first = line.args.first();
        let process = self.process(line.pid);
        match (line.name.as_str(), first) {
            ("chdir", Some(Arg::Str { bytes, .. })) => process.cwd = process.absolute(None, bytes),
            ("fchdir", Some(Arg::Number { n, path })) => {
                let known = process.fds.get(n).and_then(|o| o.absolute.clone());
                process.cwd = path.clone().or(known);
            }
            ("umask", Some(arg)) => process.umask = arg.number().unwrap_or(0o022) as u16 & 0o777,
            _ => {}
        }
    }

    /// A child begins with what its parent has open.
    fn forks(&mut self, line: &Line) {
        let Some(child) = line.ret.filter(|r| *r > 0) else {
            return;
        };
        let parent = self.process(line.pid).clone();
        self.processes
            .entry(child.cast_unsigned())
            .or_insert(parent);
    }

    fn moves_bytes(&mut self, line: &Line) {
        let a = &line.args;
        let n = line.ret.unwrap_or(-1);
        let reads = matches!(line.name.as_str(), "read" | "pread64" | "readv" | "preadv");
        let target = match line.name.as_str() {
            "copy_file_range" => a.get(2),
            _ => a.first(),
        };
        let Some(open) = self.open(line.pid, target) else {
            return self.ignore(line);
        };
        if n < 0 {
            return self.ignore(line);
        }
        let fd = &open.variable;
        let offset = |i: usize| a.get(i).and_then(Arg::number).unwrap_or(0).cast_unsigned();
        let n = n.cast_unsigned();
        if reads {
            let (at, statement) = match line.name.as_str() {
                "pread64" => (
                    offset(3),
                    format!("pread({fd}, {}, {})", size(n), size(offset(3))),
                ),
                "preadv" => (
                    offset(3),
                    format!("pread({fd}, {}, {})", size(n), size(offset(3))),
                ),
                _ => (0, format!("read({fd}, {})", size(n))),
            };
            if let Some(path) = &open.path {
                self.grows_before(path, at, n, line.name.starts_with('p'));
            }
            return self.say(line, &statement);
        }
        let statement = match line.name.as_str() {
            "lseek" => {
                let whence = a.get(2).map_or("SEEK_SET", Arg::words);
                // Where it led is what counts, whatever it was counted from.
                if ["SEEK_DATA", "SEEK_HOLE"].contains(&whence) {
                    return self.ignore(line);
                }
                format!("lseek({fd}, {}, SEEK_SET)", size(n))
            }
            "write" | "writev" => format!("write({fd}, {})", self.contents(a.get(1), n)),
            "pwrite64" | "pwritev" => {
                format!(
                    "pwrite({fd}, {}, {})",
                    self.contents(a.get(1), n),
                    size(offset(3))
                )
            }
            _ => format!("write({fd}, {})", self.contents(None, n)),
        };
        self.say(line, &statement);
    }

    /// A read showed so many bytes of a file that was there before.
    fn grows_before(&mut self, path: &[u8], at: u64, n: u64, placed: bool) {
        if let Some(bytes) = self.before.files.get_mut(path) {
            let end = if placed { at + n } else { *bytes + n };
            *bytes = (*bytes).max(end);
        }
    }

    /// What was written: as it stands in the log, or so many bytes of a pattern.
    fn contents(&mut self, arg: Option<&Arg>, n: u64) -> String {
        let pieces = match arg {
            Some(Arg::Str { bytes, whole }) => vec![(bytes.clone(), *whole)],
            Some(Arg::Other(iov)) => strings(iov),
            _ => Vec::new(),
        };
        let whole = pieces.iter().all(|(_, whole)| *whole);
        let bytes: Vec<u8> = pieces.into_iter().flat_map(|(bytes, _)| bytes).collect();
        if whole && bytes.len() as u64 >= n && n > 0 {
            let bytes = &bytes[..n as usize];
            return match bytes.iter().all(|b| *b == 0) {
                true => format!("zeros({})", size(n)),
                false => contents(bytes),
            };
        }
        if n > 0 {
            self.unknown += 1;
        }
        format!("pattern({}, {})", size(n), self.number)
    }

    fn maps(&mut self, line: &Line) {
        let writes = line.args.get(2).is_some_and(|p| p.has("PROT_WRITE"));
        let shared = line.args.get(3).is_some_and(|f| f.has("MAP_SHARED"));
        if self.open(line.pid, line.args.get(4)).is_none() || !(writes && shared) {
            return self.ignore(line);
        }
        self.skip(
            line,
            "a file that is written through memory leaves no calls to do again",
        );
    }

    fn on_descriptor(&mut self, line: &Line) {
        let a = &line.args;
        let Some(open) = self.open(line.pid, a.first()) else {
            return self.ignore(line);
        };
        let fd = &open.variable;
        let n = |i: usize| a.get(i).and_then(Arg::number).unwrap_or(0).cast_unsigned();
        let statement = match line.name.as_str() {
            "ftruncate" => format!("ftruncate({fd}, {})", size(n(1))),
            "fallocate" => {
                let mode = match a.get(1) {
                    Some(Arg::Other(words)) => words.replace('|', " | "),
                    mode => mode.and_then(Arg::number).unwrap_or(0).to_string(),
                };
                format!("fallocate({fd}, {mode}, {}, {})", size(n(2)), size(n(3)))
            }
            "sync_file_range" => format!("sync_file_range({fd}, {}, {})", size(n(1)), size(n(2))),
            "fchmod" => format!("fchmod({fd}, 0{:o})", n(1)),
            "fchown" | "flock" => return self.ignore(line),
            name => format!("{name}({fd})"),
        };
        self.say(line, &statement);
    }

    fn on_paths(&mut self, line: &Line) {
        let a = &line.args;
        let (at, i) = match line.name.as_str() {
            "mkdirat" | "unlinkat" | "renameat" | "renameat2" | "linkat" | "fchmodat"
            | "fchmodat2" | "utimensat" | "mknodat" | "fchownat" => (a.first(), 1),
            _ => (None, 0),
        };
        let first = self.path(line.pid, at, a.get(i));
        match line.name.as_str() {
            "mkdir" | "mkdirat" => self.makes_dir(line, first, a.get(i + 1)),
            "rmdir" => self.with_path(line, first, true, |p| format!("rmdir({p})")),
            "unlinkat" if a.get(2).is_some_and(|f| f.has("AT_REMOVEDIR")) => {
                self.with_path(line, first, true, |p| format!("rmdir({p})"));
            }
            "unlink" | "unlinkat" => self.with_path(line, first, false, |p| format!("unlink({p})")),
            "truncate" => {
                let n = size(a.get(1).and_then(Arg::number).unwrap_or(0).cast_unsigned());
                self.with_path(line, first, false, |p| format!("truncate({p}, {n})"));
            }
            "chmod" | "fchmodat" | "fchmodat2" => {
                let mode = a.get(i + 1).and_then(Arg::number).unwrap_or(0);
                self.with_path(line, first, false, |p| format!("chmod({p}, 0{mode:o})"));
            }
            "rename" | "renameat" | "renameat2" | "link" | "linkat" => self.two_paths(line, first),
            "symlink" | "symlinkat" => self.makes_link(line),
            "setxattr" | "lsetxattr" => self.sets_attribute(line, first),
            "removexattr" | "lremovexattr" => {
                let name = self.name_of(a.get(1));
                self.with_path(line, first, false, |p| format!("removexattr({p}, {name})"));
            }
            "mknod" | "mknodat" | "swapon" | "fsetxattr" | "fremovexattr" if first.is_some() => {
                self.skip(line, "this call is not imported");
            }
            _ => self.ignore(line),
        }
    }

    fn name_of(&self, arg: Option<&Arg>) -> String {
        match arg {
            Some(Arg::Str { bytes, .. }) => string(bytes),
            _ => string(b""),
        }
    }

    fn with_path(
        &mut self,
        line: &Line,
        path: Option<Vec<u8>>,
        directory: bool,
        statement: impl FnOnce(&str) -> String,
    ) {
        let Some(path) = path else {
            return self.ignore(line);
        };
        self.found_or_made(&path, false, directory);
        let statement = statement(&string(&path));
        self.say(line, &statement);
    }

    fn makes_dir(&mut self, line: &Line, path: Option<Vec<u8>>, mode: Option<&Arg>) {
        let Some(path) = path.filter(|p| p != b"/") else {
            return self.ignore(line);
        };
        self.before.makes(&path);
        let umask = u64::from(self.process(line.pid).umask);
        let mode = mode.and_then(Arg::number).unwrap_or(0o777).cast_unsigned() & !umask & 0o7777;
        self.say(line, &format!("mkdir({}, 0{mode:o})", string(&path)));
    }

    fn two_paths(&mut self, line: &Line, first: Option<Vec<u8>>) {
        let a = &line.args;
        let pair = line.name.contains("at");
        let second = if pair {
            self.path(line.pid, a.get(2), a.get(3))
        } else {
            self.path(line.pid, None, a.get(1))
        };
        let (Some(old), Some(new)) = (first, second) else {
            return self.skip(
                line,
                "one of the two names is outside of the directory that is replayed",
            );
        };
        self.found_or_made(&old, false, false);
        self.before.makes(&new);
        let call = if line.name.starts_with("link") {
            "link"
        } else {
            "rename"
        };
        let flags = a
            .get(4)
            .map(Arg::words)
            .filter(|w| w.starts_with("RENAME_"));
        let flags = flags
            .map(|w| format!(", {}", w.replace('|', " | ")))
            .unwrap_or_default();
        self.say(
            line,
            &format!("{call}({}, {}{flags})", string(&old), string(&new)),
        );
    }

    fn makes_link(&mut self, line: &Line) {
        let a = &line.args;
        let path = if line.name == "symlinkat" {
            self.path(line.pid, a.get(1), a.get(2))
        } else {
            self.path(line.pid, None, a.get(1))
        };
        let Some(path) = path else {
            return self.ignore(line);
        };
        self.before.makes(&path);
        let target = self.name_of(a.first());
        self.say(line, &format!("symlink({target}, {})", string(&path)));
    }

    fn sets_attribute(&mut self, line: &Line, path: Option<Vec<u8>>) {
        let (name, value) = (
            self.name_of(line.args.get(1)),
            self.name_of(line.args.get(2)),
        );
        self.with_path(line, path, false, |p| {
            format!("setxattr({p}, {name}, {value})")
        });
    }
}
