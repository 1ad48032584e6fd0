//! `cargo xtask …`: everything that is done to fslab from outside.
//!
//! Needs nothing but a Rust toolchain: what else a command wants, it gets from
//! the package registries or says plainly that it does without.

mod bench;
mod dist;
mod net;
mod serve;
mod server;
mod site;
mod sizes;
mod test;
mod tool;
mod wasm_opt;
mod watch;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Serve, test, measure and publish fslab")]
enum Command {
    /// Build the page, serve it on this machine, and rebuild when a source changes
    Serve(serve::Args),
    /// Write the page as static files that any host can serve from any path
    Dist(dist::Args),
    /// Run every check that CI runs
    Test(test::Args),
    /// Measure sizes and speeds
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Serve(args) => serve::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Dist(args) => dist::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Test(args) => test::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}
