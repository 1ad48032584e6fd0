//! `cargo xtask serve`: build, serve, rebuild on change.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;

use crate::server::{Reload, Server, Site};
use crate::site::{self, Profile, Program};
use crate::watch::Sources;
use crate::workspace::Workspace;

/// Taken unless another is asked for or somebody else has it.
const USUAL_PORT: u16 = 8000;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The port to serve on; 0 for any that is free [default: 8000, or any free one]
    #[arg(long)]
    port: Option<u16>,
    /// Build the optimised page
    #[arg(long)]
    release: bool,
    /// Build an example in web/examples in the page's place
    #[arg(long, value_name = "NAME")]
    example: Option<String>,
}

pub fn run(args: &Args) -> Result<()> {
    let workspace = Workspace::find()?;
    let profile = if args.release {
        Profile::Release
    } else {
        Profile::Dev
    };
    let program = match &args.example {
        Some(name) => Program::Example(name),
        None => Program::Page,
    };
    let folder = workspace.scratch("site")?.join(match program {
        Program::Page => "serve",
        Program::Example(_) => "serve-example",
    });
    site::remove(&folder)?;

    // Watching begins before the build, so that no change falls between.
    let sources = Sources::watch(&workspace)?;
    let reload = Arc::new(Reload::default());
    let site = Site {
        folder: folder.clone(),
        prefix: "/".into(),
        reload: Some(Arc::clone(&reload)),
    };
    let server = listen(args.port, site)?;
    build(&workspace, program, profile, &folder);
    reload.announce();
    println!("fslab is at {}", server.address());

    loop {
        sources.wait()?;
        if build(&workspace, program, profile, &folder) {
            reload.announce();
        }
    }
}

fn listen(port: Option<u16>, site: Site) -> Result<Server> {
    match port {
        Some(port) => Server::start(port, site),
        None => Server::start(USUAL_PORT, site.clone()).or_else(|_| Server::start(0, site)),
    }
}

/// Builds, or says why not; says whether it did.
fn build(workspace: &Workspace, program: Program<'_>, profile: Profile, folder: &Path) -> bool {
    let start = Instant::now();
    match site::build_program(workspace, program, profile, folder) {
        Ok(()) => {
            println!("Built in {:.1} s", start.elapsed().as_secs_f64());
            true
        }
        Err(error) => {
            eprintln!("{error:#}");
            eprintln!("The build failed; it is tried again when a source changes.");
            false
        }
    }
}
