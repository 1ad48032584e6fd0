//! Shows what a command prints while it prints it, and keeps the notices.
//!
//! A test that cannot run here prints a line that starts with `skipped: ` to
//! standard error and returns. Those lines must not be lost in the noise.

use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::tool;

const MARK: &str = "skipped: ";

/// Runs to the end; anything but success is an error.
pub fn run(command: &mut Command, notices: &mut Vec<String>) -> Result<()> {
    if std::io::stdout().is_terminal() {
        // Cargo no longer sees the terminal, since we stand between.
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| tool::cannot_start(command))?;
    let out = child
        .stdout
        .take()
        .map(|pipe| thread::spawn(|| pass(pipe, std::io::stdout())));
    let err = child
        .stderr
        .take()
        .map(|pipe| thread::spawn(|| pass(pipe, std::io::stderr())));
    let status = child.wait()?;
    for thread in [out, err].into_iter().flatten() {
        notices.extend(thread.join().unwrap_or_default());
    }
    if !status.success() {
        bail!("{} ended with {status}.", tool::describe(command));
    }
    Ok(())
}

/// Copies line by line; gives the notices among them.
fn pass(from: impl Read, mut to: impl Write) -> Vec<String> {
    let mut from = BufReader::new(from);
    let mut notices = Vec::new();
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        notices.extend(notice(&text));
        if !is_noise(&text) {
            // That nobody reads our output is no reason to stop the tests.
            let _ = to.write_all(&line);
        }
        line.clear();
    }
    notices
}

fn notice(line: &str) -> Option<String> {
    Some(line.trim().strip_prefix(MARK)?.to_owned())
}

/// What nextest repeats for every test that passed, since it is asked to show
/// what those print.
fn is_noise(line: &str) -> bool {
    let Some(inner) = line.strip_prefix("    ") else {
        return line.trim().is_empty() || line.contains("stdout ───");
    };
    let inner = inner.trim();
    inner.is_empty()
        || inner == "running 1 test"
        || inner.starts_with("test result: ok. 1 passed")
        || (inner.starts_with("test ") && inner.ends_with("... ok"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_kept_and_everything_is_passed_on() {
        let text = b"one\n    skipped: no loop device\ntwo \xff\nnot skipped: this\n";
        let mut seen = Vec::new();
        assert_eq!(pass(&text[..], &mut seen), ["no loop device"]);
        assert_eq!(seen, text);
    }

    #[test]
    fn passed_tests_are_told_once() {
        let text = b"PASS a\n  stdout \xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\n\n    running 1 test\n    test a ... ok\n    seen\n\n    test result: ok. 1 passed; 0 failed\n";
        let mut seen = Vec::new();
        pass(&text[..], &mut seen);
        assert_eq!(seen, b"PASS a\n    seen\n");
    }
}
