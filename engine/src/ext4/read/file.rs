//! What a file holds.

use super::{Fs, InodeBuf, Runs};
use crate::disk::ReadAt;
use crate::ext4::layout::{FileType, Incompat, InodeFlags};
use crate::ext4::{Error, Place, Problem};
use crate::units::Lblk;

/// Longest target of a symbolic link that Linux keeps, bytes.
pub const MAX_SYMLINK: u64 = 4096;
/// Bytes of contents that fit in `i_block`.
pub(super) const IN_BLOCK: usize = 60;

/// A file's contents, found but not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileContent {
    /// Bytes of the file.
    pub size: u64,
    body: Body,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Body {
    Inline(Vec<u8>),
    Mapped(Runs),
}

impl FileContent {
    /// What is wrong with the file's map.
    pub fn problems(&self) -> &[Problem] {
        match &self.body {
            Body::Inline(_) => &[],
            Body::Mapped(runs) => &runs.problems,
        }
    }

    /// The file's runs; none for a file that is kept inside its inode.
    pub fn runs(&self) -> &[super::Run] {
        match &self.body {
            Body::Inline(_) => &[],
            Body::Mapped(runs) => &runs.runs,
        }
    }

    /// Whether the contents are inside the inode.
    pub fn is_inline(&self) -> bool {
        matches!(self.body, Body::Inline(_))
    }
}

impl<R: ReadAt> Fs<R> {
    /// Finds a file's contents.
    pub fn content(&self, inode: &InodeBuf) -> FileContent {
        let size = inode.size();
        let body = if inode.flags().contains(InodeFlags::INLINE_DATA) {
            Body::Inline(self.inline_data(inode))
        } else if self.is_fast_symlink(inode) {
            Body::Inline(inode.i_block().0.to_vec())
        } else {
            Body::Mapped(self.runs(inode))
        };
        FileContent { size, body }
    }

    /// Reads from byte `offset` of the contents on; holes and unwritten blocks give
    /// zeros. Fewer bytes than `buf` holds only at the end of the file.
    pub fn read_content(
        &self,
        content: &FileContent,
        offset: u64,
        buf: &mut [u8],
    ) -> Result<usize, Error> {
        let left = content.size.saturating_sub(offset);
        let n = (buf.len() as u64).min(left) as usize;
        let buf = &mut buf[..n];
        match &content.body {
            Body::Inline(bytes) => {
                buf.fill(0);
                let from = (offset as usize).min(bytes.len());
                let have = n.min(bytes.len() - from);
                buf[..have].copy_from_slice(&bytes[from..from + have]);
            }
            Body::Mapped(runs) => self.read_mapped(runs, offset, buf)?,
        }
        Ok(n)
    }

    fn read_mapped(&self, runs: &Runs, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        let size = u64::from(self.geo.block_size);
        let (mut at, mut rest) = (offset, buf);
        while !rest.is_empty() {
            // Files end within 2^32 blocks; what lies beyond is hole.
            let lblk = Lblk((at / size).min(u32::MAX.into()) as u32);
            let run = runs.find(lblk).filter(|_| at / size <= u32::MAX.into());
            let end = match run {
                Some(run) => run.end() * size,
                None => runs
                    .runs
                    .get(runs.runs.partition_point(|r| r.lblk <= lblk))
                    .map_or(u64::MAX, |next| u64::from(next.lblk.0) * size),
            };
            let n = (rest.len() as u64).min(end.saturating_sub(at).max(1)) as usize;
            let (now, later) = rest.split_at_mut(n);
            match run.filter(|r| !r.unwritten) {
                Some(run) => {
                    let from = run.start.0 * size + (at - u64::from(run.lblk.0) * size);
                    self.medium
                        .read_at(from, now)
                        .map_err(|e| Error::unreadable(Place::Block(run.start), e))?;
                }
                None => now.fill(0),
            }
            at += n as u64;
            rest = later;
        }
        Ok(())
    }

    /// Contents kept inside the inode: first in `i_block`, then in the value of the
    /// attribute `system.data`.
    pub(super) fn inline_data(&self, inode: &InodeBuf) -> Vec<u8> {
        let mut bytes = inode.i_block().0.to_vec();
        if inode.size() > IN_BLOCK as u64 || inode.file_type() == FileType::Directory {
            bytes.extend(self.inline_attribute(inode).unwrap_or_default());
        }
        bytes
    }

    /// Whether a symbolic link's target is in `i_block`. Without ea_inode the kernel
    /// tells it by the link having no blocks, with it by its length.
    pub(super) fn is_fast_symlink(&self, inode: &InodeBuf) -> bool {
        let elsewhere = InodeFlags::INLINE_DATA | InodeFlags::EXTENTS;
        if inode.file_type() != FileType::Symlink || inode.flags().intersects(elsewhere) {
            return false;
        }
        if self.sb.incompat().contains(Incompat::EA_INODE) {
            return inode.size() < IN_BLOCK as u64;
        }
        let attributes = if inode.file_acl().0 == 0 {
            0
        } else {
            u64::from(self.geo.block_size) * u64::from(self.geo.cluster_blocks) / 512
        };
        self.sectors(inode) == attributes
    }

    /// A symbolic link's target; of an encrypted one, the bytes that stand for it.
    pub fn symlink_target(&self, inode: &InodeBuf) -> Result<Vec<u8>, Error> {
        let most = if self.is_fast_symlink(inode) {
            IN_BLOCK as u64 - 1
        } else {
            MAX_SYMLINK.max(self.geo.block_size.into())
        };
        if !(1..=most).contains(&inode.size()) {
            let expected = format!("1 to {most} for a symbolic link kept as this one is");
            return Err(
                Problem::value(Place::Inode(inode.nr), "i_size", inode.size(), expected).into(),
            );
        }
        let content = self.content(inode);
        let mut target = vec![0; inode.size() as usize];
        self.read_content(&content, 0, &mut target)?;
        if inode.flags().contains(InodeFlags::ENCRYPT) {
            // fscrypt puts the length of the encrypted target, two bytes, before it.
            let len = target
                .first_chunk()
                .map_or(0, |raw| u16::from_le_bytes(*raw));
            return Ok(target.into_iter().skip(2).take(len.into()).collect());
        }
        // A target is a C string: a length beyond it is damage that shows nothing.
        if let Some(end) = target.iter().position(|&b| b == 0) {
            target.truncate(end);
        }
        if target.is_empty() {
            let words = "is a symbolic link without a target";
            return Err(Problem::other(Place::Inode(inode.nr), words).into());
        }
        Ok(target)
    }
}
