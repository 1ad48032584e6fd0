//! Small images, one for each kind of failure that readers of ext4 are known to
//! have met: those at the end of `../shared/oracles/README.md`, and bad input.
//!
//! Left out there, as no reader can fail so: repairing before replay, the htree
//! split limit without the checksum tail, a bitmap checksum not updated.

mod bench;
mod directories;
mod extents;
mod huge;
mod journals;
mod supers;

use super::cache::{available, cached, skipped};
use super::image::{Image, image_named};
use super::kernel;
use super::truth::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a reader should make of a special image.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Expect {
    /// Whether the filesystem opens; `None` where either is defensible.
    pub opens: Option<bool>,
    /// Files that must be read so, by their SHA-256, before any replay.
    pub contents: BTreeMap<Bytes, String>,
    /// Names that are listed, but whose reading must be refused or reported.
    pub damaged: Vec<Bytes>,
    /// Names whose reading must end, with whatever result.
    pub tolerated: Vec<Bytes>,
    /// What a replay must write: blocks with the SHA-256 of what they hold then.
    pub replayed: BTreeMap<u64, String>,
    /// What a replay must not write, though the journal has copies of it.
    pub not_replayed: Vec<u64>,
    /// For those who read the test.
    pub note: String,
}

type Build = fn(&bench::Bench) -> Result<Expect, String>;

/// Where the image of a kind of failure comes from.
#[derive(Clone, Copy, Debug)]
pub enum Maker {
    /// Made for it alone.
    Built(Build),
    /// One of the recipes shows it: compare with its truth.
    Recipe(&'static str),
}

/// A kind of failure.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    pub name: &'static str,
    /// In the words of the README, or of the "Bad input".
    pub failure: &'static str,
    pub maker: Maker,
}

const fn built(name: &'static str, failure: &'static str, build: Build) -> Special {
    Special {
        name,
        failure,
        maker: Maker::Built(build),
    }
}

const fn recipe(name: &'static str, failure: &'static str) -> Special {
    Special {
        name,
        failure,
        maker: Maker::Recipe(name),
    }
}

pub static SPECIALS: &[Special] = &[
    built("revoke", "journal revoke feature", journals::revoke),
    built(
        "revoke-then-logged",
        "journal revoke feature",
        journals::revoked_then_logged,
    ),
    built("tags-none", "journal tag size", journals::tags_plain),
    built(
        "tags-none-64bit",
        "journal tag size with 64bit",
        journals::tags_plain_64bit,
    ),
    built(
        "tags-v2",
        "journal tag size with csum v2",
        journals::tags_v2,
    ),
    built(
        "tags-v2-64bit",
        "journal tag size with csum v2 and 64bit",
        journals::tags_v2_64bit,
    ),
    built(
        "tags-v3",
        "journal tag size with csum v3",
        journals::tags_v3,
    ),
    built(
        "tags-v3-64bit",
        "journal tag size with csum v3 and 64bit",
        journals::tags_v3_64bit,
    ),
    built(
        "escaped",
        "a logged block that begins with the magic",
        journals::escaped,
    ),
    built(
        "uncommitted",
        "a transaction without its commit block",
        journals::uncommitted,
    ),
    built(
        "bad-journal-checksum",
        "a logged block that does not match",
        journals::bad_checksum,
    ),
    recipe("inode-128", "128-byte inodes"),
    recipe("hash-tea", "TEA hashes"),
    recipe("hash-tea-unsigned", "TEA and unsigned hashes"),
    recipe("hash-half-md4-unsigned", "unsigned hashes"),
    recipe("hash-legacy-unsigned", "unsigned hashes"),
    recipe("encrypt", "encrypted directories taken for damage"),
    recipe("inline-data", "inline data's length in inode and xattr"),
    recipe("inline-data-1k", "inline data's length in inode and xattr"),
    recipe("large-dir", "several index nodes"),
    recipe("meta-bg", "meta_bg"),
    recipe("meta-bg-32", "meta_bg"),
    recipe("ea-inode", "ea_inode values"),
    recipe("orphan-file", "orphan_file of newer mke2fs"),
    recipe("csum-seed", "metadata_csum_seed of newer mke2fs"),
    recipe("no-64bit", "32-byte descriptors"),
    recipe("64bit", "64-byte descriptors"),
    recipe(
        "bigalloc-1k",
        "wrong first_data_block: 0 at 1 KiB blocks with clusters",
    ),
    built(
        "first-data-block",
        "wrong first_data_block",
        supers::first_data_block,
    ),
    built("backup-super", "corrupt superblock", supers::backup_only),
    built("zero-geometry", "corrupt superblock", supers::zero_geometry),
    built(
        "huge-block-size",
        "corrupt superblock",
        supers::huge_block_size,
    ),
    built(
        "descriptor-128",
        "descriptors larger than 64 bytes",
        supers::descriptor_128,
    ),
    built("truncated", "truncated files", supers::truncated),
    built(
        "blocks-beyond",
        "block numbers past the end",
        supers::blocks_beyond,
    ),
    built(
        "unknown-incompat",
        "features nobody knows",
        supers::unknown_incompat,
    ),
    built(
        "orphan-loop",
        "cycles: the orphan list",
        supers::orphan_loop,
    ),
    built(
        "extent-loop",
        "endless loop in an extent iterator",
        extents::self_index,
    ),
    built(
        "extent-loop-deep",
        "endless loop in an extent iterator",
        extents::deep_loop,
    ),
    built(
        "indirect-loop",
        "cycles: an indirect block in itself",
        extents::indirect_loop,
    ),
    built(
        "unwritten",
        "unwritten extents read as data",
        extents::unwritten,
    ),
    built(
        "hole-at-end",
        "a hole at the end cut off",
        extents::hole_at_end,
    ),
    built("index-nodes", "several index nodes", extents::index_nodes),
    built(
        "long-node",
        "an extent node read as 512 bytes",
        extents::long_node,
    ),
    built(
        "empty-index",
        "zero entries at depth above zero",
        extents::empty_index,
    ),
    built(
        "out-of-order",
        "extents out of order",
        extents::out_of_order,
    ),
    built(
        "overlap",
        "extents out of order: overlapping",
        extents::overlap,
    ),
    built(
        "extent-past-end",
        "block numbers past the end",
        extents::past_end,
    ),
    built(
        "extent-past-logical",
        "logical blocks past 2^32",
        extents::past_logical,
    ),
    built(
        "symlink-length",
        "a symlink's length beyond its buffer",
        directories::symlink_length,
    ),
    built(
        "inline-length",
        "inline data's length in inode and xattr",
        directories::inline_length,
    ),
    built(
        "directory-loop",
        "cycles: directories",
        directories::directory_loop,
    ),
    built(
        "bad-entries",
        "entries of no or too much length",
        directories::bad_entries,
    ),
    built(
        "htree-loop",
        "cycles: an index block in itself",
        directories::htree_loop,
    ),
    built(
        "bad-xattr-block",
        "attributes past the end of their block",
        directories::bad_xattr_block,
    ),
    built(
        "bad-ea-inode",
        "ea_inode values: not such an inode",
        directories::bad_ea_inode,
    ),
    built(
        "high-halves",
        "high and low halves swapped",
        huge::high_halves,
    ),
];

/// A special image, made for it alone.
#[derive(Debug)]
pub struct SpecialImage {
    pub path: PathBuf,
    pub expect: Expect,
    /// Images of terabytes cannot stay: they go with this.
    _kept: Option<tempfile::TempDir>,
}

/// What there is for a kind of failure.
#[derive(Debug)]
pub enum Found {
    Built(SpecialImage),
    Recipe(Box<Image>),
}

/// The image for a kind of failure; panics when it can be made here but was not.
pub fn special(special: &Special) -> Option<Found> {
    if let Err(why) = available() {
        return skipped(&why);
    }
    let build = match special.maker {
        Maker::Recipe(name) => {
            return image_named(name).map(|image| Found::Recipe(Box::new(image)));
        }
        Maker::Built(build) => build,
    };
    if special.name == "high-halves" {
        return huge::image(build).map(Found::Built);
    }
    let name = format!("special-{}", special.name);
    let made = cached(&name, SOURCES, |folder| {
        let expect = build(&bench::Bench::new(folder))?;
        let text = serde_json::to_vec_pretty(&expect).map_err(|error| error.to_string())?;
        std::fs::write(folder.join("expect.json"), text).map_err(|error| error.to_string())
    });
    let loaded = made.and_then(|folder| load(&folder));
    Some(Found::Built(loaded.unwrap_or_else(|why| panic!("{why}"))))
}

fn load(folder: &Path) -> Result<SpecialImage, String> {
    let text = std::fs::read(folder.join("expect.json")).map_err(|error| error.to_string())?;
    let expect = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    Ok(SpecialImage {
        path: folder.join("image.img"),
        expect,
        _kept: None,
    })
}

/// What the kernel makes of some of an image's paths.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Probe {
    /// Why it does not mount.
    pub refused: Option<String>,
    #[serde(default)]
    pub paths: BTreeMap<Bytes, Probed>,
}

/// Contents, target or names by their hash, or an error.
#[derive(Clone, Debug, Deserialize)]
pub struct Probed {
    pub sha256: Option<String>,
    pub error: Option<String>,
}

/// Asks the kernel about every path that is expected somehow, before any replay.
pub fn kernel_probe(image: &SpecialImage) -> Result<Probe, String> {
    let mount = tempfile::tempdir().map_err(|error| error.to_string())?;
    let expect = &image.expect;
    let paths: Vec<&Bytes> = [&expect.damaged, &expect.tolerated]
        .into_iter()
        .flatten()
        .collect();
    let paths: Vec<&Bytes> = expect.contents.keys().chain(paths).collect();
    let request = json!({
        "image": image.path, "mnt": mount.path(), "options": "noload", "paths": paths,
    });
    kernel::ask("probe.py", &request)
}

/// What the images depend on.
const SOURCES: &str = concat!(
    include_str!("bench.rs"),
    include_str!("directories.rs"),
    include_str!("extents.rs"),
    include_str!("journals.rs"),
    include_str!("supers.rs"),
);
