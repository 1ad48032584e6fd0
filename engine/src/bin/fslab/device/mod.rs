//! `fslab device`: the simulated hardware on its own.

mod disk;
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
}

pub fn run(args: &DeviceArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Wa(a) => wa::run(a),
        Command::Disk(a) => disk::run(a),
    }
}
