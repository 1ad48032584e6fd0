//! What a log lets one know of its processes: working directories and descriptors; and of
//! the files that were there before.

use super::line::{AT_FDCWD, Arg};
use std::collections::{BTreeMap, BTreeSet};

/// A descriptor of a process.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Open {
    /// The path inside the root; `None`: it is about another place.
    pub(super) path: Option<Vec<u8>>,
    /// The variable that holds it; empty for other places.
    pub(super) variable: String,
    /// The absolute path, where known.
    pub(super) absolute: Option<Vec<u8>>,
    pub(super) close_on_exec: bool,
}

/// A process.
#[derive(Clone, Default, Debug)]
pub(super) struct Process {
    pub(super) cwd: Option<Vec<u8>>,
    pub(super) fds: BTreeMap<i64, Open>,
    pub(super) umask: u16,
}

/// Where names lead.
#[derive(Debug)]
pub(super) struct Places {
    /// The directory that is replayed; `None`: only what has relative paths.
    pub(super) root: Option<Vec<u8>>,
}

/// An absolute path without `.`, `..` and double slashes.
pub(super) fn clean(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut out = vec![b'/'];
    out.extend(parts.join(&b'/'));
    out
}

impl Process {
    /// The absolute path of a name that is looked up from a descriptor.
    pub(super) fn absolute(&self, at: Option<&Arg>, path: &[u8]) -> Option<Vec<u8>> {
        if path.starts_with(b"/") {
            return Some(clean(path));
        }
        let base = match at {
            Some(Arg::Number { n, path }) if *n != AT_FDCWD => path
                .clone()
                .or_else(|| self.fds.get(n).and_then(|o| o.absolute.clone())),
            Some(Arg::Number { path: Some(p), .. }) => Some(p.clone()),
            _ => self.cwd.clone(),
        }?;
        if path.is_empty() {
            return Some(clean(&base));
        }
        Some(clean(&[&base[..], b"/", path].concat()))
    }
}

impl Places {
    /// The path inside the root.
    pub(super) fn inside(&self, absolute: &[u8]) -> Option<Vec<u8>> {
        let root = self.root.as_deref()?;
        let rest = absolute.strip_prefix(root.strip_suffix(b"/").unwrap_or(root))?;
        match rest.first() {
            None => Some(b"/".to_vec()),
            Some(b'/') => Some(rest.to_vec()),
            Some(_) => None,
        }
    }
}

/// What was there before the log began, as far as the log shows.
#[derive(Clone, Default, Debug)]
pub(super) struct Before {
    /// Paths that the log made: they were not there.
    made: BTreeSet<Vec<u8>>,
    /// Files that were there, with the most bytes that were seen of them.
    pub(super) files: BTreeMap<Vec<u8>, u64>,
    pub(super) dirs: BTreeSet<Vec<u8>>,
    pub(super) links: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Before {
    /// A path was made now.
    pub(super) fn makes(&mut self, path: &[u8]) {
        self.needs_parents(path);
        if !self.knows(path) {
            self.made.insert(path.to_vec());
        }
    }

    pub(super) fn knows(&self, path: &[u8]) -> bool {
        self.made.contains(path)
            || self.files.contains_key(path)
            || self.dirs.contains(path)
            || self.links.contains_key(path)
            || path == b"/"
    }

    /// A file was found there.
    pub(super) fn needs_file(&mut self, path: &[u8], bytes: u64) {
        self.needs_parents(path);
        if self.made.contains(path) || self.dirs.contains(path) {
            return;
        }
        let size = self.files.entry(path.to_vec()).or_default();
        *size = (*size).max(bytes);
    }

    /// A directory was found there.
    pub(super) fn needs_dir(&mut self, path: &[u8]) {
        self.needs_parents(path);
        if path != b"/" && !self.made.contains(path) && !self.files.contains_key(path) {
            self.dirs.insert(path.to_vec());
        }
    }

    fn needs_parents(&mut self, path: &[u8]) {
        let ends = (1..path.len()).filter(|i| path[*i] == b'/');
        for end in ends {
            let parent = &path[..end];
            if !self.knows(parent) {
                self.dirs.insert(parent.to_vec());
            }
        }
    }

    /// The program that makes all of it.
    pub(super) fn program(&self) -> String {
        use super::emit::{size, string};
        let mut out = String::new();
        for dir in &self.dirs {
            out.push_str(&format!("mkdir({})\n", string(dir)));
        }
        for (path, bytes) in &self.files {
            out.push_str(&format!("fd = creat({})\n", string(path)));
            if *bytes > 0 {
                out.push_str(&format!("write(fd, pattern({}, 1))\n", size(*bytes)));
            }
            out.push_str("close(fd)\n");
        }
        for (path, target) in &self.links {
            out.push_str(&format!("symlink({}, {})\n", string(target), string(path)));
        }
        out
    }
}
