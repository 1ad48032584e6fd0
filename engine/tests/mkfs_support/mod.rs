//! The oracle side of the tests of mkfs: images by the real mke2fs 1.47.0 beside ours.

pub mod matrix;
pub mod refusals;
pub mod same;
pub mod sound;

use std::path::Path;
use std::process::{Command, Output, Stdio};

const UUID: &str = "12345678-1234-1234-1234-123456789abc";
const SEED: &str = "hash_seed=12345678-1234-1234-1234-123456789abd";
/// The time of both, seconds since 1970.
const NOW: &str = "1600000000";

/// What mke2fs is told beside the identity, the seed and the file.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub options: &'static str,
    /// Words of `-E`, without the seed.
    pub extended: &'static str,
    pub size: &'static str,
}

impl Row {
    /// Bytes before the filesystem.
    pub fn offset(&self) -> u64 {
        let words = self.extended.split(',');
        let offset = words.filter_map(|word| word.strip_prefix("offset=")).next();
        offset.map_or(0, |bytes| bytes.parse().unwrap())
    }
}

/// A command that is ended after two minutes.
pub fn run<S: AsRef<str>>(program: &str, args: &[S]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-k", "2", "120", program]);
    command.args(args.iter().map(AsRef::as_ref));
    command.env("LC_ALL", "C").env("E2FSPROGS_FAKE_TIME", NOW);
    command.stdin(Stdio::null()).output().unwrap()
}

/// All that a command said.
pub fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Runs a command that must succeed.
pub fn succeed<S: AsRef<str>>(program: &str, args: &[S]) -> Result<String, String> {
    let done = run(program, args);
    match done.status.success() {
        true => Ok(text(&done)),
        false => Err(format!("{program}: {}", text(&done))),
    }
}

pub fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Whether there is the mke2fs whose blocks these are; says so where not.
pub fn mke2fs_is_here() -> bool {
    let version = Command::new("mke2fs").arg("-V").output();
    let here = version.is_ok_and(|v| text(&v).contains("1.47.0"));
    if !here {
        eprintln!("skipped: there is no mke2fs 1.47.0");
    }
    here
}

/// The words of a command line that makes `row` in `file`.
pub fn words(row: &Row, file: &Path) -> Vec<String> {
    let extended = match row.extended {
        "" => SEED.to_string(),
        more => format!("{SEED},{more}"),
    };
    let mut words = vec!["-q", "-F", "-U", UUID, "-E", &extended];
    words.extend(row.options.split(' ').filter(|word| !word.is_empty()));
    words.extend([name(file), row.size]);
    words.into_iter().map(str::to_string).collect()
}

/// Runs `fslab mkfs` at the time of mke2fs.
pub fn fslab(words: &[String]) -> Output {
    let mut args = vec!["mkfs".to_string(), "--now".to_string(), NOW.to_string()];
    args.extend_from_slice(words);
    run(env!("CARGO_BIN_EXE_fslab"), &args)
}

/// Makes both images.
pub fn make(row: &Row, theirs: &Path, ours: &Path) -> Result<(), String> {
    let _ = std::fs::remove_file(theirs);
    let _ = std::fs::remove_file(ours);
    succeed("mke2fs", &words(row, theirs))?;
    let done = fslab(&words(row, ours));
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("fslab: {}", text(&done))),
    }
}
