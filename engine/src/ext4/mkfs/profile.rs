//! The defaults of `/etc/mke2fs.conf` as e2fsprogs 1.47.0 ships it (Debian 12's is the
//! same), and the choice of usage type by size that mke2fs.8 describes under `-T`.

use super::error::MkfsError;
use super::features::Features;
use super::options::FsType;

/// What the profile says once all of its sections are taken together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    pub(super) features: Features,
    pub(super) block_size: u32,
    pub(super) inode_size: u32,
    pub(super) inode_ratio: u32,
}

const BASE: &str = "sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr";
const EXT3: &str = "has_journal";
const EXT4: &str = "has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize";

/// The usage type for a filesystem of this many bytes.
fn by_size(bytes: u64) -> &'static str {
    const M: u64 = 1 << 20;
    match bytes {
        _ if bytes < 3 * M => "floppy",
        _ if bytes < 512 * M => "small",
        _ if bytes < (4 * M) * M => "default",
        _ if bytes < (16 * M) * M => "big",
        _ => "huge",
    }
}

/// Whether mke2fs.conf has a section for a usage type.
pub(super) fn is_defined(usage: &str) -> bool {
    let sections = "ext3 ext4 small floppy big huge news largefile largefile4 hurd default";
    usage.is_empty() || sections.split(' ').any(|name| name == usage)
}

/// `revision0` filesystems get no features by default.
pub(super) fn profile(
    fs_type: FsType,
    usage: &[String],
    bytes: u64,
    revision0: bool,
) -> Result<Profile, MkfsError> {
    let mut features = Features::default();
    if !revision0 {
        features.edit(BASE)?;
        match fs_type {
            FsType::Ext2 => {}
            FsType::Ext3 => features.edit(EXT3)?,
            FsType::Ext4 => features.edit(EXT4)?,
        }
    }
    let mut profile = Profile {
        features,
        block_size: 4096,
        inode_size: 256,
        inode_ratio: 16384,
    };
    if usage.is_empty() {
        profile.apply(by_size(bytes));
    }
    for name in usage {
        match name.as_str() {
            "ext3" if !revision0 => profile.features.edit(EXT3)?,
            "ext4" if !revision0 => profile.features.edit(EXT4)?,
            _ => profile.apply(name),
        }
    }
    Ok(profile)
}

impl Profile {
    /// A section of `[fs_types]`; one that is not there changes nothing.
    fn apply(&mut self, name: &str) {
        let (ratio, block_size) = match name {
            "small" => (4096, Some(1024)),
            "floppy" => (8192, Some(1024)),
            "big" => (32768, None),
            "huge" => (65536, None),
            "news" => (4096, None),
            // blocksize = -1: the size of a page.
            "largefile" => (1 << 20, Some(4096)),
            "largefile4" => (4 << 20, Some(4096)),
            "hurd" => {
                self.block_size = 4096;
                self.inode_size = 128;
                return;
            }
            _ => return,
        };
        self.inode_ratio = ratio;
        self.block_size = block_size.unwrap_or(self.block_size);
    }
}
