//! Builds the page: wasm by cargo, its bindings by wasm-bindgen's library, and
//! the files around them, put together in one folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

use crate::tool;
use crate::workspace::Workspace;

const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The folder inside the site that holds all but `index.html`.
pub const APP: &str = "app";

/// The wasm inside that folder, as wasm-bindgen names it.
pub const WASM: &str = "fslab_bg.wasm";

/// What the site runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program<'a> {
    /// The page.
    Page,
    /// An example in `web/examples`: a part of the page alone.
    Example(&'a str),
}

/// How hard the compiler works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    Dev,
    Release,
}

/// Builds the page into `site`, replacing what was there only on success.
pub fn build(workspace: &Workspace, profile: Profile, site: &Path) -> Result<()> {
    build_program(workspace, Program::Page, profile, site)
}

/// The same with another program in the page's place.
pub fn build_program(
    workspace: &Workspace,
    program: Program<'_>,
    profile: Profile,
    site: &Path,
) -> Result<()> {
    ensure_wasm_target(workspace)?;
    let wasm = compile(workspace, program, profile)?;
    let fresh = site.with_extension("new");
    remove(&fresh)?;
    assemble(workspace, profile, &wasm, &fresh)?;
    remove(site)?;
    fs::rename(&fresh, site).with_context(|| format!("{} cannot be replaced.", site.display()))
}

/// Adds the wasm target to the toolchain in use, if it lacks it.
///
/// `rust-toolchain.toml` names the target too, but where rustup installs nothing
/// by itself (`RUSTUP_AUTO_INSTALL=0`) that is not enough.
pub fn ensure_wasm_target(workspace: &Workspace) -> Result<()> {
    let mut rustc = std::process::Command::new("rustc");
    rustc.current_dir(&workspace.root);
    let library = tool::output(rustc.args(["--print=target-libdir", "--target", WASM_TARGET]))?;
    if Path::new(library.trim()).is_dir() {
        return Ok(());
    }
    if tool::find("rustup").is_none() {
        bail!("This Rust has no {WASM_TARGET} target and there is no rustup to add it.");
    }
    let mut rustup = std::process::Command::new("rustup");
    tool::run(
        rustup
            .current_dir(&workspace.root)
            .args(["target", "add", WASM_TARGET]),
    )
}

fn compile(workspace: &Workspace, program: Program<'_>, profile: Profile) -> Result<PathBuf> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package=fslab-web", "--target", WASM_TARGET]);
    let file = match program {
        Program::Page => {
            cargo.arg("--bin=fslab-web");
            "fslab-web.wasm".to_owned()
        }
        Program::Example(name) => {
            cargo.args(["--example", name]);
            format!("examples/{name}.wasm")
        }
    };
    let folder = match profile {
        Profile::Dev => "debug",
        Profile::Release => {
            cargo.arg("--release");
            "release"
        }
    };
    tool::run(&mut cargo)?;
    Ok(workspace.target.join(WASM_TARGET).join(folder).join(file))
}

fn assemble(workspace: &Workspace, profile: Profile, wasm: &Path, site: &Path) -> Result<()> {
    let app = site.join(APP);
    make(&app)?;
    bind(profile, wasm, &app)?;
    copy_tree(&workspace.root.join("web/js"), &app)?;
    copy_tree(&workspace.root.join("assets"), &app.join("assets"))?;
    copy(&workspace.root.join("index.html"), &site.join("index.html"))
}

/// Writes the wasm and the JavaScript that loads it, as an ES module.
fn bind(profile: Profile, wasm: &Path, folder: &Path) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .web(true)?
        .out_name("fslab")
        .typescript(false)
        // `init()` finds the wasm beside its own script.
        .omit_default_module_path(false)
        .debug(profile == Profile::Dev)
        .remove_name_section(profile == Profile::Release)
        .remove_producers_section(profile == Profile::Release);
    bindgen
        .generate(folder)
        .context("wasm-bindgen made no bindings.")
}

pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    make(to)?;
    let entries = fs::read_dir(from).with_context(|| format!("No folder {}.", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let (source, aim) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_tree(&source, &aim)?;
        } else {
            copy(&source, &aim)?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("{} cannot be copied.", from.display()))?;
    Ok(())
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made.", folder.display()))
}

/// Removes a folder that may not be there.
pub fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed.", folder.display()))
        }
        _ => Ok(()),
    }
}
