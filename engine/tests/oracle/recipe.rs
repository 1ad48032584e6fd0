//! What an image is made from.

/// How the contents come into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The kernel mounts it and the filler runs there.
    Kernel,
    /// The kernel refuses it: filled in memory, then `mke2fs -d`; the truth by
    /// debugfs.
    Staged,
    /// The kernel refuses it once the steps after filling are done: truth by a
    /// walk before these.
    KernelBefore,
    /// Filled by debugfs in the steps after; the truth by debugfs.
    Debugfs,
}

/// Something done to an image with e2fsprogs.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// `tune2fs` with these words.
    Tune(&'static str),
    /// `debugfs -w` with these commands.
    Debugfs(&'static [&'static str]),
    /// `e2fsck -fy` with these words: repairs what the steps left unfinished.
    Fsck(&'static str),
}

/// An image: how to make it, what is special in filling it.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    pub name: &'static str,
    /// Words for mke2fs, besides a fixed UUID and hash seed.
    pub mkfs: &'static str,
    pub block_size: u32,
    pub mib: u64,
    pub mount: &'static str,
    /// Done to the empty filesystem.
    pub before: &'static [Step],
    /// Beside, or without, one of everything: see `EXTRAS` in `fill_more.py`.
    pub extra: &'static [&'static str],
    pub standard: bool,
    /// Done to the filled filesystem.
    pub after: &'static [Step],
    pub source: Source,
    pub external_journal: bool,
    /// A word on what it is for, where its name does not say it.
    pub about: &'static str,
}

impl Recipe {
    /// What most recipes are: 4 KiB blocks, one of everything.
    pub const BASE: Self = Self {
        name: "",
        mkfs: "-t ext4",
        block_size: 4096,
        mib: 48,
        mount: "",
        before: &[],
        extra: &[],
        standard: true,
        after: &[],
        source: Source::Kernel,
        external_journal: false,
        about: "",
    };

    pub const fn new(name: &'static str, mkfs: &'static str) -> Self {
        Self {
            name,
            mkfs,
            ..Self::BASE
        }
    }

    /// The same with 1 KiB blocks, which make trees deeper.
    pub const fn small_blocks(name: &'static str, mkfs: &'static str) -> Self {
        Self {
            name,
            mkfs,
            block_size: 1024,
            mib: 40,
            ..Self::BASE
        }
    }
}
