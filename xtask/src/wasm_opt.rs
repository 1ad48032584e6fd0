//! wasm-opt, from the npm package `binaryen`, where Node is at hand.
//!
//! Distributions' own wasm-opt is often too old for the wasm this compiler makes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::tool;
use crate::workspace::Workspace;

const VERSION: &str = "132.0.0";

/// What the compiler may use; wasm-opt must be told, and adds nothing beyond it.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// Makes `wasm` smaller if that can be had; says so if not, and leaves it as it is.
pub fn shrink(workspace: &Workspace, wasm: &Path) {
    if let Err(error) = try_shrink(workspace, wasm) {
        eprintln!("{error:#}");
        eprintln!("Going on without wasm-opt: the wasm works, but is larger than it need be.");
    }
}

fn try_shrink(workspace: &Workspace, wasm: &Path) -> Result<()> {
    let node = tool::find("node").context("There is no Node.js to run wasm-opt with.")?;
    let script = install(workspace)?;
    let shrunk = wasm.with_extension("opt");
    let mut command = Command::new(node);
    command
        .arg(script)
        .arg("-O3")
        .args(FEATURES)
        .arg(wasm)
        .arg("-o")
        .arg(&shrunk);
    tool::run(&mut command)?;
    std::fs::rename(&shrunk, wasm).context("wasm-opt wrote no file.")
}

/// Installs the package once; gives the script to run.
fn install(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.scratch(&format!("tooling/binaryen-{VERSION}"))?;
    let script = folder.join("node_modules/binaryen/bin/wasm-opt");
    if !script.is_file() {
        let npm = tool::find("npm").context("There is no npm to install wasm-opt with.")?;
        let mut command = Command::new(npm);
        command.args([
            "install",
            "--no-audit",
            "--no-fund",
            "--no-save",
            "--prefix",
        ]);
        tool::run(command.arg(&folder).arg(format!("binaryen@{VERSION}")))?;
    }
    Ok(script)
}
