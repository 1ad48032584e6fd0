//! Where things are.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::tool;

/// The folders of this checkout.
#[derive(Debug, Clone)]
pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
}

impl Workspace {
    /// Asks cargo, which knows about every way to move the target folder.
    pub fn find() -> Result<Self> {
        let metadata = tool::output(tool::cargo(manifest_root()).args([
            "metadata",
            "--no-deps",
            "--format-version=1",
        ]))?;
        let metadata: serde_json::Value =
            serde_json::from_str(&metadata).context("cargo metadata wrote no JSON.")?;
        let folder = |key: &str| -> Result<PathBuf> {
            let path = metadata[key]
                .as_str()
                .with_context(|| format!("cargo names no {key}."))?;
            Ok(PathBuf::from(path))
        };
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
        })
    }

    /// A cargo command in this workspace.
    pub fn cargo(&self) -> std::process::Command {
        tool::cargo(&self.root)
    }

    /// A folder under `target` for `purpose`, made if need be.
    pub fn scratch(&self, purpose: &str) -> Result<PathBuf> {
        let folder = self.target.join(purpose);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("The folder {} cannot be made.", folder.display()))?;
        Ok(folder)
    }
}

fn manifest_root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}
