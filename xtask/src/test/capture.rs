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
        // That nobody reads our output is no reason to stop the tests.
        let _ = to.write_all(&line);
        notices.extend(notice(&String::from_utf8_lossy(&line)));
        line.clear();
    }
    notices
}

fn notice(line: &str) -> Option<String> {
    Some(line.trim().strip_prefix(MARK)?.to_owned())
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
}
