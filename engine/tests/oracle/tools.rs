//! Running other people's programs, with a limit on their time.

use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What `timeout` answers when it had to end the program.
const TIMED_OUT: i32 = 124;
/// The same, when only SIGKILL did.
const KILLED: i32 = 137;

/// A command that is ended after `seconds`: some of these tools ask without end.
pub fn limited<S: AsRef<OsStr>>(seconds: u32, program: &str, args: &[S]) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "2", &seconds.to_string(), program]);
    command.args(args).stdin(Stdio::null());
    // Times are printed in words beside the numbers; messages must be English.
    command.env("LC_ALL", "C").env("TZ", "UTC");
    command
}

pub fn output(command: &mut Command) -> Result<Output, String> {
    command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))
}

/// Standard output of a command that must succeed.
pub fn succeed(command: &mut Command) -> Result<Vec<u8>, String> {
    let done = output(command)?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let words = String::from_utf8_lossy(&done.stderr);
    let also = String::from_utf8_lossy(&done.stdout[..done.stdout.len().min(2000)]).into_owned();
    Err(format!("{command:?}: {}: {words}{also}", done.status))
}

/// `succeed` for a command given as words, with a minute's limit.
pub fn run<S: AsRef<OsStr>>(program: &str, args: &[S]) -> Result<Vec<u8>, String> {
    succeed(&mut limited(60, program, args))
}

const LOOP_MOUNT: &str = include_str!("../loop_mount.sh");

/// Runs a shell script with `image` mounted at `$2` by the real kernel; `$3` and on are
/// `more`. In a mount namespace of its own: one that another test makes meanwhile would
/// keep a copy of a mount made outside, and with it the loop device.
pub fn while_mounted(image: &Path, at: &Path, script: &str, more: &[&OsStr]) -> Result<(), String> {
    let whole = format!(
        "{LOOP_MOUNT}\nloop_mount \"$1\" \"$2\" || exit 77; ({script}); code=$?; umount \"$2\" || exit 78; exit $code"
    );
    let mut words: Vec<&OsStr> = ["-m", "--propagation", "private", "sh", "-c"]
        .map(OsStr::new)
        .to_vec();
    words.extend([
        whole.as_ref(),
        "sh".as_ref(),
        image.as_os_str(),
        at.as_os_str(),
    ]);
    words.extend(more);
    succeed(&mut limited(60, "unshare", &words)).map(drop)
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A run of `e2fsck -fn`.
#[derive(Clone, Debug)]
pub struct Fsck {
    /// The exit code; `None` when it had to be ended.
    pub code: Option<i32>,
    pub output: String,
    pub took: Duration,
}

/// What `e2fsck -fn` says, and how long it took to say it.
pub fn fsck(image: &Path, limit_seconds: u32) -> Result<Fsck, String> {
    fsck_words(&["-fn".as_ref(), image.as_os_str()], limit_seconds)
}

pub fn fsck_with_journal(image: &Path, journal: &Path, limit: u32) -> Result<Fsck, String> {
    let words = [
        "-fn".as_ref(),
        "-j".as_ref(),
        journal.as_os_str(),
        image.as_os_str(),
    ];
    fsck_words(&words, limit)
}

fn fsck_words(words: &[&OsStr], limit: u32) -> Result<Fsck, String> {
    let start = Instant::now();
    let done = output(&mut limited(limit, "e2fsck", words))?;
    let took = start.elapsed();
    let code = done.status.code();
    Ok(Fsck {
        code: code.filter(|&code| code != TIMED_OUT && code != KILLED),
        output: String::from_utf8_lossy(&done.stdout).into_owned(),
        took,
    })
}
