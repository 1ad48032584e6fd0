//! `fslab device`: the simulated hardware on its own.

mod disk;
mod list;
mod probe;
mod replay;
mod wa;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub struct DeviceArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Measure the write amplification of a flash translation layer
    Wa(wa::WaArgs),
    /// Measure random reads on a disk by queue depth and order
    Disk(disk::DiskArgs),
    /// Find a medium's pages, open segments and FAT area by its times, as flashbench does
    Probe(probe::ProbeArgs),
    /// Drive a device by a block trace: blkparse's text or CSV
    Replay(replay::ReplayArgs),
    /// List the devices that are built in, each number with its source
    List(list::ListArgs),
}

pub fn run(args: &DeviceArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Wa(a) => wa::run(a),
        Command::Disk(a) => disk::run(a),
        Command::Probe(a) => probe::run(a),
        Command::Replay(a) => replay::run(a),
        Command::List(a) => list::run(a),
    }
}
