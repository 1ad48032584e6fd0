//! `fslab`: looks inside ext2, ext3 and ext4 images, makes and changes them, on the command
//! line.
//!
//! Ends with 0 when what was asked for was shown (problems found on the way are listed on
//! stderr), with 1 and a sentence when it cannot be had (for `cat`: not in full), with 2 when
//! the command line is not understood.
#![forbid(unsafe_code)]

mod args;
mod blocks;
mod cat;
mod change;
mod crash;
mod device;
mod extents;
mod groups;
mod import;
mod in_use;
mod info;
mod journal;
mod link;
mod ls;
mod map;
mod mkfs;
mod open;
mod out;
mod partitions;
mod run;
mod search;
mod stat;
mod target;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) if is_broken_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => {
            out::note(sentence(&e));
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Info(a) => info::run(a),
        Command::Ls(a) => ls::run(a),
        Command::Cat(a) => cat::run(a),
        Command::Stat(a) => stat::run(a),
        Command::Extents(a) => extents::run(a),
        Command::Map(a) => map::run(a),
        Command::Journal(a) => journal::run(a),
        Command::Blocks(a) => blocks::run(a),
        Command::Groups(a) => groups::run(a),
        Command::Search(a) => search::run(a),
        Command::Mkfs(a) => mkfs::run(a),
        Command::Write(a) => change::write(a),
        Command::Rm(a) => change::rm(a),
        Command::Mkdir(a) => change::mkdir(a),
        Command::Rmdir(a) => change::rmdir(a),
        Command::Ln(a) => change::ln(a),
        Command::Mv(a) => change::mv(a),
        Command::Chmod(a) => change::chmod(a),
        Command::Chown(a) => change::chown(a),
        Command::Truncate(a) => change::truncate(a),
        Command::Fallocate(a) => change::fallocate(a),
        Command::Setfattr(a) => change::setfattr(a),
        Command::Device(a) => device::run(a),
        Command::Run(a) => run::run(a),
        Command::Crash(a) => crash::run(a),
        Command::Link(a) => link::run(a),
        Command::Import(a) => import::run(a),
    }
}

/// An error with its causes, each said once.
fn sentence(e: &anyhow::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    for cause in e.chain().map(ToString::to_string) {
        if said.last() != Some(&cause) {
            said.push(cause);
        }
    }
    said.join(": ")
}

/// Whether the reader of the output has gone, as `head` does.
fn is_broken_pipe(e: &anyhow::Error) -> bool {
    e.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        let json = cause
            .downcast_ref::<serde_json::Error>()
            .and_then(serde_json::Error::io_error_kind);
        io.map(std::io::Error::kind).or(json) == Some(std::io::ErrorKind::BrokenPipe)
    })
}
