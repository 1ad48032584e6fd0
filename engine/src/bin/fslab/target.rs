//! What a command is about: a path, or an inode by number.

use crate::open::Image;
use anyhow::bail;
use fslab_engine::ext4::read::InodeBuf;
use fslab_engine::units::InodeNr;
use fslab_engine::view::{escape, unescape};

/// Whether a symbolic link at a path's end is what is meant, or what it leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Follow,
    Keep,
}

/// The inode that a path, with the escapes that names are shown with, or "<N>" names.
pub fn find(fs: &Image, text: &str, links: Links) -> anyhow::Result<InodeBuf> {
    if let Some(number) = text.strip_prefix('<').and_then(|t| t.strip_suffix('>')) {
        let Ok(nr) = number.trim().parse() else {
            bail!("\"{}\" is no inode number", escape(number.as_bytes()));
        };
        return Ok(fs.inode(InodeNr(nr))?);
    }
    let path = unescape(text);
    Ok(match links {
        Links::Follow => fs.resolve(&path)?,
        Links::Keep => fs.resolve_link(&path)?,
    })
}
