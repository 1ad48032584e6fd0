//! e2fsprogs' own test images, which stay outside the project.

use super::cache::{cached, skipped};
use super::tools::{Fsck, fsck};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An image and what e2fsck 1.47.0 makes of it: a row of `expected.tsv`.
#[derive(Clone, Debug)]
pub struct SharedImage {
    pub name: String,
    pub compressed: PathBuf,
    /// Exit codes of `e2fsck -fn`, `-fy`, and `-fn` after that; `None` where it
    /// had to be ended.
    pub fsck_fn: Option<i32>,
    pub fsck_fy: Option<i32>,
    pub fsck_fn_after: Option<i32>,
    pub problem_codes: Vec<String>,
    pub features: Vec<String>,
}

/// The folder beside the project, or `FSLAB_SHARED`.
pub fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("FSLAB_SHARED").map_or_else(beside, PathBuf::from)
}

/// All of the images, in the table's order.
pub fn images() -> Option<Vec<SharedImage>> {
    let folder = folder().join("e2fsprogs");
    let table = match fs::read_to_string(folder.join("expected.tsv")) {
        Ok(table) => table,
        Err(error) => return skipped(&format!("{}: {error}", folder.display())),
    };
    let mut lines = table.lines().filter(|line| !line.is_empty());
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    Some(lines.map(|line| row(&columns, line, &folder)).collect())
}

fn row(columns: &[&str], line: &str, folder: &Path) -> SharedImage {
    let cells: Vec<&str> = line.split('\t').collect();
    let cell = |name: &str| {
        let place = columns.iter().position(|column| *column == name);
        place
            .and_then(|place| cells.get(place))
            .copied()
            .unwrap_or_default()
    };
    let list = |text: &str| {
        let words = text.split([' ', ',']).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let name = cells.first().copied().unwrap_or_default();
    SharedImage {
        name: name.to_owned(),
        compressed: folder.join("images").join(format!("{name}.img.gz")),
        fsck_fn: cell("e2fsck_fn").parse().ok(),
        fsck_fy: cell("e2fsck_fy").parse().ok(),
        fsck_fn_after: cell("e2fsck_fn_after").parse().ok(),
        problem_codes: list(cell("problem_codes")),
        features: list(cell("features")),
    }
}

impl SharedImage {
    /// The image, unpacked once.
    pub fn unpacked(&self) -> Result<PathBuf, String> {
        let text = |error: io::Error| format!("{}: {error}", self.compressed.display());
        let folder = cached(&format!("e2fsprogs-{}", self.name), "1", |folder| {
            let packed = File::open(&self.compressed).map_err(text)?;
            let mut plain = flate2::read::GzDecoder::new(packed);
            let mut out = File::create(folder.join("image.img")).map_err(text)?;
            copy_with_holes(&mut plain, &mut out).map_err(text)
        })?;
        Ok(folder.join("image.img"))
    }

    /// `e2fsck -fn`, ended after `limit` seconds, and its time: the least of
    /// three runs, since these take milliseconds.
    pub fn fsck_time(&self, limit: u32) -> Result<Fsck, String> {
        let image = self.unpacked()?;
        let mut best = fsck(&image, limit)?;
        // The time of a run that does not end says nothing more the second time.
        while best.code.is_some() && best.took < Duration::from_millis(200) {
            let again = fsck(&image, limit)?;
            if again.took >= best.took {
                break;
            }
            best = again;
        }
        Ok(best)
    }
}

/// Leaves zeros out: some of these are large and empty.
fn copy_with_holes(from: &mut impl io::Read, to: &mut File) -> io::Result<()> {
    use io::{Read, Seek, SeekFrom, Write};
    let mut length = 0u64;
    loop {
        let mut piece = Vec::with_capacity(65536);
        let count = from.by_ref().take(65536).read_to_end(&mut piece)?;
        if count == 0 {
            return to.set_len(length);
        }
        if piece.iter().any(|&byte| byte != 0) {
            to.seek(SeekFrom::Start(length))?;
            to.write_all(&piece)?;
        }
        length += count as u64;
    }
}
