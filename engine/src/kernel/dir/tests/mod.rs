//! Random changes to a directory, held against a table of names and against our reader.

mod odd;

use super::*;
use crate::device::Ram;
use crate::disk::{CowDisk, ReadAt};
use crate::ext4::mkfs::{FsType, Options, mkfs};
use crate::ext4::read::Fs;
use crate::kernel::{MountOptions, alloc, map};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A filesystem, a directory in its root, and a file that all names lead to.
struct Bench {
    vol: Volume,
    root: InodeInfo,
    dir: InodeInfo,
    file: InodeNr,
}

const MIB: u64 = 1 << 20;

fn make(features: &[&str], block_size: u32, megabytes: u64) -> Volume {
    let options = Options {
        fs_type: FsType::Ext4,
        block_size: Some(block_size),
        features: features.iter().map(|f| (*f).to_string()).collect(),
        hash_seed: *b"0123456789abcdef",
        uuid: [7; 16],
        now: 1_700_000_000,
        ..Options::default()
    };
    let mut disk = CowDisk::new(megabytes * MIB);
    mkfs(&options, &mut disk, megabytes * MIB).unwrap();
    Volume::open(Box::new(Ram::new(disk)), MountOptions::default()).unwrap()
}

fn new_inode(vol: &mut Volume, root: &InodeInfo, mode: u16, name: &[u8]) -> InodeInfo {
    let nr = alloc::new_inode(vol, Some(root), mode, name).unwrap();
    let raw = vec![0; usize::from(vol.geo.inode_size)].into_boxed_slice();
    let mut inode = InodeInfo::new(vol, nr, raw);
    inode.raw.set_i_mode(mode);
    inode.raw.set_i_links_count(1);
    if vol.geo.inode_size > 128 {
        inode.raw.set_i_extra_isize(32);
    }
    map::init(vol, &mut inode);
    inode
}

impl Bench {
    fn new(features: &[&str], block_size: u32, megabytes: u64) -> Self {
        let mut vol = make(features, block_size, megabytes);
        let mut root = vol.read_inode(InodeNr(2)).unwrap();
        let mut dir = new_inode(&mut vol, &root, 0o40755, b"dir");
        init(&mut vol, &mut dir, root.nr).unwrap();
        let mut file = new_inode(&mut vol, &root, 0o100_644, b"file");
        vol.write_inode(&mut file).unwrap();
        add(&mut vol, &mut root, b"dir", dir.nr, 2).unwrap();
        Self {
            vol,
            root,
            dir,
            file: file.nr,
        }
    }

    fn add(&mut self, name: &[u8]) -> Result<()> {
        add(&mut self.vol, &mut self.dir, name, self.file, 1)
    }

    /// Writes everything and opens it with our reader.
    fn read(&mut self) -> Fs<Box<dyn crate::device::Device>> {
        self.vol.write_inode(&mut self.root).unwrap();
        self.vol.write_inode(&mut self.dir).unwrap();
        self.vol.commit_super().unwrap();
        self.vol.sync_buffers().unwrap();
        Fs::open(self.vol.device().boxed_clone()).unwrap()
    }

    /// What the directory holds, by the reader, by the calls and by the model, is the
    /// same.
    fn check(&mut self, model: &BTreeMap<Vec<u8>, InodeNr>) {
        let fs = self.read();
        let inode = fs.inode(self.dir.nr).unwrap();
        let (names, problems) = fs.read_dir(&inode);
        assert_eq!(problems, []);
        if let Some(htree) = fs.htree(&inode) {
            assert_eq!(htree.problems, []);
            check_hashes(&fs, &htree, &names);
        }
        check_sums(&fs, &inode);
        let mut expected = model.clone();
        expected.insert(b".".to_vec(), self.dir.nr);
        expected.insert(b"..".to_vec(), self.root.nr);
        let read: BTreeMap<_, _> = names.iter().map(|e| (e.name.clone(), e.inode)).collect();
        assert_eq!(names.len(), read.len(), "no name comes twice");
        assert_eq!(read, expected);
        let listed = entries(&mut self.vol, &self.dir).unwrap();
        assert_eq!(listed.len(), expected.len());
        let listed: BTreeMap<_, _> = listed.into_iter().map(|e| (e.name, e.inode)).collect();
        assert_eq!(listed, expected);
        for (name, inode) in &expected {
            let found = lookup(&mut self.vol, &self.dir, name).unwrap();
            assert_eq!(found.map(|f| f.inode), Some(*inode), "{name:?}");
        }
        let empty = is_empty(&mut self.vol, &self.dir).unwrap();
        assert_eq!(empty, model.is_empty());
    }
}

/// Every leaf holds only names whose hashes are its own.
fn check_hashes<R: ReadAt>(
    fs: &Fs<R>,
    htree: &crate::ext4::read::Htree,
    names: &[crate::ext4::read::DirEntry],
) {
    // An inner node's first entry stands for the hash that leads to the node.
    let mut from = BTreeMap::from([(0, 0)]);
    let mut leaves: Vec<(u32, u32)> = Vec::new();
    for node in &htree.nodes {
        let mut entries = node.entries.clone();
        entries[0].0 = from[&node.lblk];
        if node.level == 0 {
            leaves.extend(entries);
        } else {
            from.extend(entries.iter().map(|&(hash, block)| (block, hash)));
        }
    }
    let first = leaves[0].1;
    leaves.sort_by_key(|&(hash, block)| (hash, block != first));
    let ends: BTreeMap<u32, (u32, u32)> = leaves
        .iter()
        .enumerate()
        .map(|(i, &(hash, block))| {
            let end = leaves.get(i + 1).map_or(u32::MAX, |l| l.0);
            (block, (hash & !1, end))
        })
        .collect();
    let seed = fs.superblock().hash_seed();
    for e in names.iter().filter(|e| e.lblk != 0) {
        let (hash, _) = crate::ext4::read::name_hash(htree.hash.unwrap(), seed, &e.name).unwrap();
        let (from, end) = ends[&(e.lblk as u32)];
        assert!(hash >= from && hash <= end, "{:?}", e.name);
    }
}

fn check_sums<R: ReadAt>(fs: &Fs<R>, inode: &crate::ext4::read::InodeBuf) {
    if !fs.superblock().has_metadata_csum() {
        return;
    }
    let nodes: Vec<u64> = fs
        .htree(inode)
        .map(|h| h.nodes.iter().map(|n| n.lblk.into()).collect())
        .unwrap_or_default();
    let mut bad = Vec::new();
    fs.each_dir_block(inode, &mut bad, &mut |b| {
        if !nodes.contains(&b.lblk) {
            assert_eq!(fs.dir_block_checksum_ok(inode, b.bytes), Some(true));
        }
    });
    assert_eq!(bad, []);
}

/// Names of all lengths, with few distinct ones so that they come again.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let names = prop_oneof![
        6 => (0u32..400).prop_map(|n| format!("f{n}").into_bytes()),
        2 => (0u32..300, 1usize..=255).prop_map(|(n, len)| {
            let mut name = format!("{n:03}").into_bytes();
            name.resize(len, b'x');
            name
        }),
        1 => proptest::collection::vec(1u8..=255, 1..60)
            .prop_map(|v| v.into_iter().map(|b| if b == b'/' { b'!' } else { b }).collect()),
    ];
    names.prop_filter("every directory has these", |n| {
        !matches!(&n[..], b"." | b"..")
    })
}

/// How much room a directory has and how its names are found.
const KINDS: &[(&[&str], u32)] = &[
    (&[], 1024),
    (&[], 4096),
    (&["^metadata_csum"], 1024),
    (&["^metadata_csum"], 4096),
    (&["^dir_index"], 1024),
    (&["^filetype"], 1024),
    (&["^extent,^64bit,^flex_bg", "^metadata_csum"], 1024),
    (&["large_dir"], 1024),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn names_are_those_that_were_added_and_not_removed(
        kind in 0..KINDS.len(),
        version in 0u8..3,
        unsigned in any::<bool>(),
        steps in proptest::collection::vec((0u8..10, name()), 1..1500),
    ) {
        let (features, block_size) = KINDS[kind];
        let mut bench = Bench::new(features, block_size, 16);
        bench.vol.sb.set_s_def_hash_version(version);
        bench.vol.sb.set_s_flags(if unsigned { 2 } else { 1 });
        let mut model = BTreeMap::new();
        for (what, name) in steps {
            let there = lookup(&mut bench.vol, &bench.dir, &name).unwrap();
            prop_assert_eq!(there.map(|f| f.inode), model.get(&name).copied());
            match what {
                0..6 if there.is_none() => {
                    bench.add(&name).unwrap();
                    model.insert(name, bench.file);
                }
                6..9 => {
                    let gone = remove(&mut bench.vol, &mut bench.dir, &name).unwrap();
                    prop_assert_eq!(gone.map(|f| f.inode), model.remove(&name));
                }
                _ => {
                    let to = InodeNr(2);
                    let done = replace(&mut bench.vol, &mut bench.dir, &name, to, 2);
                    if let Some(inode) = model.get_mut(&name) {
                        prop_assert_eq!(done, Ok(()));
                        *inode = to;
                    } else {
                        prop_assert_eq!(done, Err(Errno::ENOENT));
                    }
                }
            }
        }
        bench.check(&model);
    }
}

fn fill(bench: &mut Bench, names: impl Iterator<Item = Vec<u8>>) -> BTreeMap<Vec<u8>, InodeNr> {
    let mut model = BTreeMap::new();
    for name in names {
        bench.add(&name).unwrap();
        model.insert(name, bench.file);
    }
    model
}

fn long(n: u32) -> Vec<u8> {
    format!("{n:0200}").into_bytes()
}

/// 1 KiB blocks hold 124 entries in a root and 4 names of 200 bytes: a second level
/// comes before a thousand names, a third (with large_dir) after some 60,000.
#[test]
fn a_tree_grows_and_empties() {
    let mut bench = Bench::new(&[], 1024, 32);
    let mut model = fill(&mut bench, (0..5000).map(long));
    bench.check(&model);
    let fs = bench.read();
    let htree = fs.htree(&fs.inode(bench.dir.nr).unwrap()).unwrap();
    assert_eq!(htree.levels, 1);
    for n in (0..5000).filter(|n| n % 3 != 0) {
        remove(&mut bench.vol, &mut bench.dir, &long(n))
            .unwrap()
            .unwrap();
        model.remove(&long(n));
    }
    bench.check(&model);
    for name in model.keys() {
        remove(&mut bench.vol, &mut bench.dir, name)
            .unwrap()
            .unwrap();
    }
    bench.check(&BTreeMap::new());
}

#[test]
fn a_full_tree_has_no_space_and_large_dir_gives_it_a_level() {
    for large in [false, true] {
        let features: &[&str] = if large { &["large_dir"] } else { &[] };
        let mut bench = Bench::new(features, 1024, 64);
        let mut names = 0;
        let full = loop {
            match bench.add(&long(names)) {
                Ok(()) if names < 60_000 => names += 1,
                Ok(()) => break false,
                Err(e) => {
                    assert_eq!(e, Errno::ENOSPC);
                    break true;
                }
            }
        };
        assert_eq!(full, !large, "at {names} names");
        let fs = bench.read();
        let htree = fs.htree(&fs.inode(bench.dir.nr).unwrap()).unwrap();
        assert_eq!(htree.problems, []);
        assert_eq!(htree.levels, if large { 2 } else { 1 });
        let listed = entries(&mut bench.vol, &bench.dir).unwrap();
        assert_eq!(listed.len() as u32, names + 2 + u32::from(large));
    }
}

/// Equal hashes are found by trying: among so many names, some share all 31 bits.
#[test]
fn names_with_equal_hashes_go_on_in_the_next_block() {
    let mut bench = Bench::new(&[], 1024, 16);
    bench.vol.sb.set_s_def_hash_version(0);
    let version = index::hash_version(&bench.vol, 0).unwrap();
    let mut by_hash: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    for n in 0..400_000u32 {
        let name = format!("{n:06}").into_bytes();
        let hash = index::hash_of(&bench.vol, version, &name).0;
        by_hash.entry(hash).or_default().push(name);
    }
    let mut groups: Vec<_> = by_hash.into_values().collect();
    groups.sort_by_key(|g| std::cmp::Reverse(g.len()));
    assert!(groups[0].len() > 1, "there are equal hashes");
    let names: Vec<Vec<u8>> = groups.into_iter().take(3000).flatten().collect();
    let model = fill(&mut bench, names.into_iter());
    bench.check(&model);
}
