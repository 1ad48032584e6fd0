//! `cargo xtask dist`: the page as static files.

use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::site::{self, APP, Profile};
use crate::workspace::Workspace;
use crate::{sizes, wasm_opt};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to write to, emptied first
    #[arg(long, default_value = "dist")]
    out: PathBuf,
}

pub fn run(args: &Args) -> Result<()> {
    let workspace = Workspace::find()?;
    let site = build(&workspace)?;
    publish(&site, &args.out)?;
    sizes::print(&args.out)?;
    println!("The site is in {}", args.out.display());
    Ok(())
}

/// Builds the site as it is published; gives its folder under `target`.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    let site = workspace.scratch("site")?.join("dist");
    site::build(workspace, Profile::Release, &site)?;
    wasm_opt::shrink(workspace, &site.join(APP).join(site::WASM));
    name_by_contents(&site)?;
    Ok(site)
}

/// Copies the site, but not over somebody's other files.
fn publish(site: &Path, out: &Path) -> Result<()> {
    let ours = out.join("index.html").is_file();
    let empty = !out.exists() || fs::read_dir(out)?.next().is_none();
    ensure!(
        ours || empty,
        "{} holds something else than a site; name another folder.",
        out.display()
    );
    site::remove(out)?;
    site::copy_tree(site, out)
}

/// Renames the folder of the app after what is in it, so that a browser which
/// kept files of an older version never mixes the two.
fn name_by_contents(site: &Path) -> Result<()> {
    let name = format!("{APP}-{:016x}", hash_tree(&site.join(APP))?);
    fs::rename(site.join(APP), site.join(&name))?;
    let index = site.join("index.html");
    let html = fs::read_to_string(&index).context("The site has no index.html.")?;
    fs::write(
        &index,
        html.replace(&format!("=\"{APP}/"), &format!("=\"{name}/")),
    )?;
    Ok(())
}

fn hash_tree(folder: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    add_tree(folder, &mut hasher)?;
    Ok(hasher.finish())
}

fn add_tree(folder: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        hasher.write(entry.file_name().as_encoded_bytes());
        if entry.path().is_dir() {
            add_tree(&entry.path(), hasher)?;
        } else {
            hasher.write(&fs::read(entry.path())?);
        }
    }
    Ok(())
}
