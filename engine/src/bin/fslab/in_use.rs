//! Images that somebody else has in use are not changed.

use anyhow::{Context, bail};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Takes an image for oneself, as long as the file is kept: two commands that change it at
/// once would lose each other's changes.
pub fn take(file: &File, image: &Path) -> anyhow::Result<()> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another command is changing it", image.display())
        }
        // Some filesystems know no locks; then nobody can be asked.
        Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(e)) => return Err(e).context(image.display().to_string()),
    }
    refuse_attached(image)
}

/// Refuses an image that a loop device of this system is made of: the kernel may have it
/// mounted, and would write over what changes under it.
fn refuse_attached(image: &Path) -> anyhow::Result<()> {
    let Ok(image) = image.canonicalize() else {
        return Ok(());
    };
    let Ok(devices) = std::fs::read_dir("/sys/block") else {
        return Ok(());
    };
    for device in devices.flatten() {
        let backing = device.path().join("loop/backing_file");
        let Ok(of) = std::fs::read_to_string(backing) else {
            continue;
        };
        if Path::new(of.trim_end_matches('\n')) == image {
            let name = device.file_name();
            bail!(
                "{}: /dev/{} is made of it, and may be mounted; unmount it first",
                image.display(),
                name.to_string_lossy()
            );
        }
    }
    Ok(())
}
