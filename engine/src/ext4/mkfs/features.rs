//! Feature sets as mke2fs's `-O` edits them.

use super::error::MkfsError;
use crate::ext4::layout::{Compat, Incompat, RoCompat};

/// The three feature words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Features {
    pub(super) compat: Compat,
    pub(super) incompat: Incompat,
    pub(super) ro: RoCompat,
}

/// What mke2fs 1.47 lets one set.
const COMPAT: Compat = Compat::HAS_JOURNAL
    .union(Compat::RESIZE_INODE)
    .union(Compat::DIR_INDEX)
    .union(Compat::EXT_ATTR)
    .union(Compat::SPARSE_SUPER2)
    .union(Compat::FAST_COMMIT)
    .union(Compat::STABLE_INODES)
    .union(Compat::ORPHAN_FILE);
const INCOMPAT: Incompat = Incompat::FILETYPE
    .union(Incompat::EXTENTS)
    .union(Incompat::JOURNAL_DEV)
    .union(Incompat::META_BG)
    .union(Incompat::FLEX_BG)
    .union(Incompat::EA_INODE)
    .union(Incompat::MMP)
    .union(Incompat::BIT64)
    .union(Incompat::INLINE_DATA)
    .union(Incompat::ENCRYPT)
    .union(Incompat::CASEFOLD)
    .union(Incompat::CSUM_SEED)
    .union(Incompat::LARGEDIR);
const RO: RoCompat = RoCompat::LARGE_FILE
    .union(RoCompat::HUGE_FILE)
    .union(RoCompat::DIR_NLINK)
    .union(RoCompat::EXTRA_ISIZE)
    .union(RoCompat::SPARSE_SUPER)
    .union(RoCompat::GDT_CSUM)
    .union(RoCompat::BIGALLOC)
    .union(RoCompat::QUOTA)
    .union(RoCompat::METADATA_CSUM)
    .union(RoCompat::PROJECT)
    .union(RoCompat::VERITY);

impl Features {
    /// Edits the set by a list such as `extent,^flex_bg`; `none` empties it.
    pub(super) fn edit(&mut self, list: &str) -> Result<(), MkfsError> {
        let refused = || MkfsError::Feature(list.to_string());
        for word in list.split([',', ' ', '\t']).filter(|w| !w.is_empty()) {
            if word.eq_ignore_ascii_case("none") {
                *self = Self::default();
                continue;
            }
            let (on, name) = match word.strip_prefix(['^', '-']) {
                Some(name) => (false, name),
                None => (true, word.strip_prefix('+').unwrap_or(word)),
            };
            let one = Self::named(name).ok_or_else(refused)?;
            self.compat.set(one.compat, on);
            self.incompat.set(one.incompat, on);
            self.ro.set(one.ro, on);
        }
        Ok(())
    }

    fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = match name.as_str() {
            "extents" => "extent",
            "gdt_csum" | "uninit_groups" => "uninit_bg",
            "64bits" => "64bit",
            same => same,
        };
        let compat = Compat::WORDS.iter().find(|w| w.1 == name);
        let incompat = Incompat::WORDS.iter().find(|w| w.1 == name);
        let ro = RoCompat::WORDS.iter().find(|w| w.1 == name);
        let one = Self {
            compat: compat.map(|w| w.0).unwrap_or_default() & COMPAT,
            incompat: incompat.map(|w| w.0).unwrap_or_default() & INCOMPAT,
            ro: ro.map(|w| w.0).unwrap_or_default() & RO,
        };
        (one != Self::default()).then_some(one)
    }

    pub(super) fn has_compat(&self, flag: Compat) -> bool {
        self.compat.contains(flag)
    }

    pub(super) fn has_incompat(&self, flag: Incompat) -> bool {
        self.incompat.contains(flag)
    }

    pub(super) fn has_ro(&self, flag: RoCompat) -> bool {
        self.ro.contains(flag)
    }

    /// Whether descriptors carry a checksum of either kind.
    pub(super) fn group_checksums(&self) -> bool {
        self.ro
            .intersects(RoCompat::GDT_CSUM | RoCompat::METADATA_CSUM)
    }
}
