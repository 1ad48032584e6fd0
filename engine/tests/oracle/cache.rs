//! `target/oracle`: what was built once and is used by every later test.

use super::kernel;
use super::tools::{hex, run};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Says why something was not tested. Always answers `None`.
pub fn skipped<T>(why: &str) -> Option<T> {
    eprintln!("skipped: {why}");
    None
}

/// Whether images can be made here; if not, why.
pub fn available() -> Result<(), String> {
    static ANSWER: OnceLock<Result<(), String>> = OnceLock::new();
    ANSWER.get_or_init(look).clone()
}

fn look() -> Result<(), String> {
    let status = fs::read_to_string("/proc/self/status").map_err(|_| "not Linux".to_owned())?;
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let effective = uid.and_then(|line| line.split_whitespace().nth(1));
    if effective != Some("0") {
        return Err("not root: cannot mount images".to_owned());
    }
    for tool in [
        "mke2fs", "debugfs", "dumpe2fs", "e2fsck", "tune2fs", "python3", "unshare",
    ] {
        let words = ["-c", &format!("command -v {tool}")];
        run("sh", &words).map_err(|_| format!("{tool} is not installed"))?;
    }
    if !Path::new("/dev/loop-control").exists() {
        return Err("no loop devices".to_owned());
    }
    Ok(())
}

/// Where images are kept.
fn root() -> PathBuf {
    // Cargo gives integration tests `<target>/tmp`.
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR"));
    beside.parent().unwrap_or(beside).join("oracle")
}

/// What of the world an image depends on besides its recipe.
fn world() -> &'static str {
    static WORLD: OnceLock<String> = OnceLock::new();
    WORLD.get_or_init(|| {
        let words = ["-c", "mke2fs -V 2>&1; uname -r"];
        let versions = run("sh", &words).unwrap_or_default();
        let sources = kernel::SOURCES.concat();
        format!("{}{sources}", String::from_utf8_lossy(&versions))
    })
}

/// The folder `name` holding what `build` made of `description`, made now unless
/// it was made before. Other processes wait; what failed leaves nothing.
pub fn cached(
    name: &str,
    description: &str,
    build: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let digest = Sha256::digest(format!("{description}\n{}", world()));
    let key = &hex(&digest)[..12];
    let text = |error: std::io::Error| format!("target/oracle/{name}: {error}");
    let root = root();
    let done = root.join(format!("{name}@{key}"));
    fs::create_dir_all(&root).map_err(text)?;
    let lock = File::create(root.join(format!("{name}.lock"))).map_err(text)?;
    lock.lock().map_err(text)?;
    if done.is_dir() {
        return Ok(done);
    }
    remove_old(&root, name).map_err(text)?;
    let half = root.join(format!("{name}@half"));
    fs::create_dir(&half).map_err(text)?;
    build(&half).map_err(|why| format!("oracle {name}: {why}"))?;
    fs::rename(&half, &done).map_err(text)?;
    Ok(done)
}

/// Earlier versions of an image, and one that was never finished.
fn remove_old(root: &Path, name: &str) -> std::io::Result<()> {
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        let stem = path.file_name().and_then(|file| file.to_str());
        if stem
            .and_then(|stem| stem.split_once('@'))
            .is_some_and(|(stem, _)| stem == name)
        {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(())
}

/// A copy that a test may write to; it goes with the folder.
pub fn scratch_copy(image: &Path) -> Result<(tempfile::TempDir, PathBuf), String> {
    fs::create_dir_all(root()).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir_in(root()).map_err(|error| error.to_string())?;
    let copy = folder.path().join("copy.img");
    copy_sparse(image, &copy)?;
    Ok((folder, copy))
}

pub fn copy_sparse(from: &Path, to: &Path) -> Result<(), String> {
    let words = ["--sparse=always".as_ref(), from.as_os_str(), to.as_os_str()];
    run("cp", &words).map(drop)
}

/// An empty sparse file.
pub fn blank(path: &Path, bytes: u64) -> Result<(), String> {
    let file = File::create(path).map_err(|error| error.to_string())?;
    file.set_len(bytes).map_err(|error| error.to_string())
}
