//! Waits for changes to what the page is made of.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, Result};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::workspace::Workspace;

/// Editors and git touch several files at once: wait until they are done.
const SETTLE: Duration = Duration::from_millis(150);

/// Folders, with all in them, and single files; from the root.
const TREES: [&str; 5] = ["engine/src", "web/src", "web/js", "assets", "lessons"];
const FILES: [&str; 5] = [
    "index.html",
    "Cargo.toml",
    "Cargo.lock",
    "engine/Cargo.toml",
    "web/Cargo.toml",
];

/// Watches for as long as it lives.
pub struct Sources {
    root: PathBuf,
    events: Receiver<notify::Result<Event>>,
    _watcher: RecommendedWatcher,
}

impl Sources {
    pub fn watch(workspace: &Workspace) -> Result<Self> {
        let (send, events) = channel();
        let mut watcher = notify::recommended_watcher(send).context("Files cannot be watched.")?;
        let mut add = |path: &str, mode| -> Result<()> {
            let folder = workspace.root.join(path);
            if folder.is_dir() {
                watcher
                    .watch(&folder, mode)
                    .with_context(|| format!("{} cannot be watched.", folder.display()))?;
            }
            Ok(())
        };
        for tree in TREES {
            add(tree, RecursiveMode::Recursive)?;
        }
        // A file is watched by its folder, since editors replace files.
        for folder in ["", "engine", "web"] {
            add(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(Self {
            root: workspace.root.clone(),
            events,
            _watcher: watcher,
        })
    }

    /// Returns when something changed and then stayed still for a moment.
    pub fn wait(&self) -> Result<()> {
        loop {
            let event = self.events.recv().context("Files are no longer watched.")?;
            if self.matters(&event) {
                break;
            }
        }
        while self.events.recv_timeout(SETTLE).is_ok() {}
        Ok(())
    }

    fn matters(&self, event: &notify::Result<Event>) -> bool {
        match event {
            // The build itself opens and reads all of these.
            Ok(event) if event.kind.is_access() => false,
            Ok(event) => event.paths.iter().any(|path| is_source(&self.root, path)),
            // Events were lost: assume the worst.
            Err(_) => true,
        }
    }
}

fn is_source(root: &Path, path: &Path) -> bool {
    let Ok(path) = path.strip_prefix(root) else {
        return false;
    };
    TREES.iter().any(|tree| path.starts_with(tree))
        || FILES.iter().any(|file| path == Path::new(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_page_is_made_of_matters() {
        let root = Path::new("/work");
        for source in [
            "web/src/app.rs",
            "index.html",
            "assets/style.css",
            "engine/src/lib.rs",
        ] {
            assert!(is_source(root, &root.join(source)), "{source}");
        }
        for other in [
            "web/e2e/src/lib.rs",
            "target/x",
            "README.md",
            "engine/tests/a.rs",
        ] {
            assert!(!is_source(root, &root.join(other)), "{other}");
        }
    }
}
