//! Where special images are made: mke2fs, debugfs, and bytes changed in place.

use super::super::cache::blank;
use super::super::debugfs::Debugfs;
use super::super::stat::{Stat, stats};
use super::super::tools::{run, sha256};
use super::super::truth::Bytes;
use super::Expect;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub type Done<T = ()> = Result<T, String>;

pub fn text(error: std::io::Error) -> String {
    error.to_string()
}

/// A folder with the image being made.
#[derive(Debug)]
pub struct Bench {
    folder: PathBuf,
    pub image: PathBuf,
}

impl Bench {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            image: folder.join("image.img"),
        }
    }

    /// `mke2fs` with these words on an empty file.
    pub fn mkfs(&self, mib: u64, words: &str) -> Done {
        blank(&self.image, mib << 20)?;
        let mut all = vec!["-q".as_ref(), "-F".as_ref()];
        all.extend(words.split_whitespace().map(std::ffi::OsStr::new));
        all.push(self.image.as_os_str());
        run("mke2fs", &all).map(drop)
    }

    pub fn debugfs(&self, commands: &[&str]) -> Done<Vec<Vec<u8>>> {
        Debugfs::writing(&self.image).ask(commands)
    }

    /// A file outside the image, for debugfs to read.
    pub fn beside(&self, bytes: &[u8]) -> Done<PathBuf> {
        let path = self.folder.join("input");
        fs::write(&path, bytes).map_err(text)?;
        Ok(path)
    }

    /// A file in the image's root.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Done {
        let input = self.beside(bytes)?;
        self.take_in(name, &input)
    }

    /// A file in the image's root whose blocks alternate with holes, so that
    /// each is an extent: block `2n` starts with `n` in words.
    pub fn put_checkered(&self, name: &str, block_size: u64, count: u64) -> Done<Vec<u8>> {
        let input = self.folder.join("input");
        let file = File::create(&input).map_err(text)?;
        file.set_len(2 * count * block_size).map_err(text)?;
        for index in 0..count {
            let place = 2 * index * block_size;
            let mark = format!("{index:08}");
            file.write_all_at(mark.as_bytes(), place).map_err(text)?;
        }
        let bytes = fs::read(&input).map_err(text)?;
        self.take_in(name, &input)?;
        Ok(bytes)
    }

    fn take_in(&self, name: &str, input: &Path) -> Done {
        let said = self.debugfs(&[&format!("write {} {name}", input.display())])?;
        fs::remove_file(input).map_err(text)?;
        let made = said
            .first()
            .is_some_and(|words| words.starts_with(b"Allocated inode"));
        made.then_some(())
            .ok_or_else(|| format!("debugfs did not write {name}"))
    }

    pub fn stat(&self, name: &str) -> Done<(u32, Stat)> {
        let said = Debugfs::new(&self.image).ask_one(&format!("stat {name}"))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let number = said
            .split_whitespace()
            .nth(1)
            .and_then(|word| word.parse().ok());
        let number = number.ok_or_else(|| format!("stat {name}: {said}"))?;
        let stat = stats(&self.image, &[number])?.remove(0);
        Ok((number, stat))
    }

    /// The block of the file's extent tree with this name in `stat`'s list.
    pub fn tree_block(&self, name: &str, item: &str) -> Done<u64> {
        let said = Debugfs::new(&self.image).ask_one(&format!("stat {name}"))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let found = said.split_once(&format!("({item}):")).map(|(_, rest)| rest);
        let digits = found.and_then(|rest| rest.split([',', '\n']).next());
        digits
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| format!("no ({item}) in {said}"))
    }

    pub fn patch(&self, offset: u64, bytes: &[u8]) -> Done {
        let file = OpenOptions::new()
            .write(true)
            .open(&self.image)
            .map_err(text)?;
        file.write_all_at(bytes, offset).map_err(text)
    }

    pub fn bytes(&self, offset: u64, length: usize) -> Done<Vec<u8>> {
        read(&self.image, offset, length)
    }

    /// A copy of the image as it is now.
    pub fn copy(&self, name: &str) -> Done<PathBuf> {
        let copy = self.folder.join(name);
        super::super::cache::copy_sparse(&self.image, &copy)?;
        Ok(copy)
    }
}

pub fn read(image: &Path, offset: u64, length: usize) -> Done<Vec<u8>> {
    let mut bytes = vec![0; length];
    let file = File::open(image).map_err(text)?;
    file.read_exact_at(&mut bytes, offset).map_err(text)?;
    Ok(bytes)
}

/// Bytes that depend on where they are and on `seed`.
pub fn pattern(seed: u8, length: usize) -> Vec<u8> {
    let byte = |index: usize| (index.wrapping_mul(31) >> 3) as u8 ^ seed;
    (0..length).map(byte).collect()
}

pub fn path(name: &str) -> Bytes {
    Bytes(format!("/{name}").into_bytes())
}

impl Expect {
    /// A filesystem that opens.
    pub fn opened(note: &str) -> Self {
        Self {
            opens: Some(true),
            note: note.to_owned(),
            ..Self::default()
        }
    }

    pub fn content(mut self, name: &str, bytes: &[u8]) -> Self {
        self.contents.insert(path(name), sha256(bytes));
        self
    }

    pub fn damaged(mut self, name: &str) -> Self {
        self.damaged.push(path(name));
        self
    }

    pub fn tolerated(mut self, name: &str) -> Self {
        self.tolerated.push(path(name));
        self
    }
}
