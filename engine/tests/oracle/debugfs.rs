//! Questions to debugfs, many in one run.

use super::tools::{limited, output};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// debugfs on one image.
#[derive(Clone, Debug)]
pub struct Debugfs {
    image: PathBuf,
    /// Before `-f`: `-w`, or nothing.
    options: Vec<&'static str>,
}

impl Debugfs {
    pub fn new(image: &Path) -> Self {
        Self {
            image: image.to_owned(),
            options: Vec::new(),
        }
    }

    pub fn writing(image: &Path) -> Self {
        Self {
            image: image.to_owned(),
            options: vec!["-w"],
        }
    }

    /// What each command printed.
    pub fn ask<S: AsRef<str>>(&self, commands: &[S]) -> Result<Vec<Vec<u8>>, String> {
        let mut script = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
        for command in commands {
            writeln!(script, "{}", command.as_ref()).map_err(|error| error.to_string())?;
        }
        script.flush().map_err(|error| error.to_string())?;
        let mut run = limited::<&str>(60, "debugfs", &[]);
        run.args(&self.options)
            .arg("-f")
            .arg(script.path())
            .arg(&self.image);
        let done = output(&mut run)?;
        let complaints = complaints(&done.stderr);
        // debugfs answers 0 whatever its commands did.
        if !done.status.success() || (!self.options.is_empty() && !complaints.is_empty()) {
            return Err(format!("debugfs {}: {complaints}", self.image.display()));
        }
        split(&done.stdout, commands)
    }

    pub fn ask_one(&self, command: &str) -> Result<Vec<u8>, String> {
        let answers = self.ask(&[command])?;
        answers
            .into_iter()
            .next()
            .ok_or_else(|| format!("debugfs {command}: no answer"))
    }
}

/// What is said on stderr besides the version.
fn complaints(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().filter(|line| !line.starts_with("debugfs 1."));
    lines.collect::<Vec<_>>().join("; ")
}

/// Cuts the output of `debugfs -f` at the echoes of the commands.
fn split<S: AsRef<str>>(output: &[u8], commands: &[S]) -> Result<Vec<Vec<u8>>, String> {
    let mut starts = Vec::with_capacity(commands.len());
    let mut from = 0;
    for command in commands {
        let echo = format!("debugfs: {}\n", command.as_ref());
        let at = find(&output[from..], echo.as_bytes());
        let at = at.ok_or_else(|| format!("debugfs did not echo {:?}", command.as_ref()))? + from;
        from = at + echo.len();
        starts.push((at, from));
    }
    let ends = starts.iter().skip(1).map(|&(at, _)| at);
    let ends = ends.chain([output.len()]);
    let pieces = starts.iter().zip(ends);
    Ok(pieces
        .map(|(&(_, from), to)| output[from..to].to_vec())
        .collect())
}

pub fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len())
        .position(|window| window == needle)
}

/// The inode that owns each block, by debugfs.
pub fn icheck(image: &Path, blocks: &[u64]) -> Result<Vec<Option<u32>>, String> {
    // One pass over all inodes for each command: few commands, but a line of
    // debugfs holds no more than 8 KiB.
    let line = |chunk: &[u64]| {
        let words: Vec<String> = chunk.iter().map(u64::to_string).collect();
        format!("icheck {}", words.join(" "))
    };
    let commands: Vec<String> = blocks.chunks(400).map(line).collect();
    let answers = Debugfs::new(image).ask(&commands)?;
    let mut owners = BTreeMap::new();
    for answer in answers {
        for row in String::from_utf8_lossy(&answer).lines() {
            let Some((block, owner)) = row.split_once('\t') else {
                continue;
            };
            if let Ok(block) = block.parse::<u64>() {
                owners.insert(block, owner.parse::<u32>().ok());
            }
        }
    }
    let known = |block| {
        owners
            .get(block)
            .copied()
            .ok_or(format!("icheck left out {block}"))
    };
    blocks.iter().map(known).collect()
}
