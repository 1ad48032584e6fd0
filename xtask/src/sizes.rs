//! How large a site is, as it is and as hosts send it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    pub raw: usize,
    pub gzip: usize,
    pub brotli: usize,
}

impl Sizes {
    fn of(bytes: &[u8]) -> Result<Self> {
        Ok(Self {
            raw: bytes.len(),
            gzip: gzip(bytes)?,
            brotli: brotli(bytes)?,
        })
    }

    fn add(self, other: Self) -> Self {
        Self {
            raw: self.raw + other.raw,
            gzip: self.gzip + other.gzip,
            brotli: self.brotli + other.brotli,
        }
    }
}

/// The sizes of every file of a site, and together.
pub fn measure(site: &Path) -> Result<(Vec<(PathBuf, Sizes)>, Sizes)> {
    let mut files = Vec::new();
    collect(site, site, &mut files)?;
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let total = files
        .iter()
        .fold(Sizes::default(), |sum, (_, sizes)| sum.add(*sizes));
    Ok((files, total))
}

pub fn print(site: &Path) -> Result<()> {
    let (files, total) = measure(site)?;
    println!("{:>10} {:>10} {:>10}  file", "raw", "gzip", "brotli");
    for (file, sizes) in &files {
        print_line(*sizes, &file.display().to_string());
    }
    print_line(total, "in all");
    Ok(())
}

fn print_line(sizes: Sizes, name: &str) {
    println!(
        "{:>10} {:>10} {:>10}  {name}",
        sizes.raw, sizes.gzip, sizes.brotli
    );
}

fn collect(site: &Path, folder: &Path, files: &mut Vec<(PathBuf, Sizes)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(site, &path, files)?;
        } else {
            let bytes =
                fs::read(&path).with_context(|| format!("{} cannot be read.", path.display()))?;
            files.push((path.strip_prefix(site)?.to_owned(), Sizes::of(&bytes)?));
        }
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

/// At the quality that hosts which compress beforehand use.
fn brotli(bytes: &[u8]) -> Result<usize> {
    let mut packed = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut packed, 64 * 1024, 11, 22);
    encoder.write_all(bytes)?;
    drop(encoder);
    Ok(packed.len())
}
