//! `fslab device`: the simulated hardware on its own.

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
}

pub fn run(args: &DeviceArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Wa(a) => wa::run(a),
    }
}
