//! Random changes to attributes, held against tables of them and against our reader.

use super::*;
use crate::device::{Device, Ram};
use crate::disk::CowDisk;
use crate::ext4::mkfs::{FsType, Options, mkfs};
use crate::ext4::read::Fs;
use crate::kernel::{MountOptions, alloc, map};
use crate::units::InodeNr;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

struct Bench {
    vol: Volume,
    inodes: Vec<InodeInfo>,
}

impl Bench {
    fn new(features: &[&str], block_size: u32, inode_size: u32, files: usize) -> Self {
        let options = Options {
            fs_type: FsType::Ext4,
            block_size: Some(block_size),
            inode_size: Some(inode_size),
            features: features.iter().map(|f| (*f).to_string()).collect(),
            uuid: [7; 16],
            now: 1_700_000_000,
            ..Options::default()
        };
        let len = 16 << 20;
        let mut disk = CowDisk::new(len);
        mkfs(&options, &mut disk, len).unwrap();
        let mut vol = Volume::open(Box::new(Ram::new(disk)), MountOptions::default()).unwrap();
        let inodes = (0..files)
            .map(|_| {
                let root = vol.read_inode(InodeNr(2)).unwrap();
                let nr = alloc::new_inode(&mut vol, Some(&root), 0o100_644, b"").unwrap();
                let raw = vec![0; inode_size as usize].into_boxed_slice();
                let mut inode = InodeInfo::new(&vol, nr, raw);
                inode.raw.set_i_mode(0o100_644);
                inode.raw.set_i_links_count(1);
                if inode_size > 128 {
                    inode.raw.set_i_extra_isize(32);
                }
                map::init(&vol, &mut inode);
                inode
            })
            .collect();
        Self { vol, inodes }
    }

    fn set(&mut self, file: usize, name: &[u8], value: Option<&[u8]>) -> Result<()> {
        let flags = if value.is_some() {
            SetFlags::empty()
        } else {
            SetFlags::REPLACE
        };
        set(&mut self.vol, &mut self.inodes[file], name, value, flags)
    }

    fn read(&mut self) -> Fs<Box<dyn Device>> {
        for inode in &mut self.inodes {
            self.vol.write_inode(inode).unwrap();
        }
        self.vol.commit_super().unwrap();
        self.vol.sync_buffers().unwrap();
        Fs::open(self.vol.device().boxed_clone()).unwrap()
    }

    fn check(&mut self, models: &[Model]) {
        let fs = self.read();
        for (file, model) in models.iter().enumerate() {
            let inode = fs.inode(self.inodes[file].nr).unwrap();
            let (read, problems) = fs.xattrs(&inode);
            assert_eq!(problems, []);
            let read: Model = read.into_iter().map(|x| (x.name, x.value)).collect();
            assert_eq!(&read, model);
            let mut listed = list(&mut self.vol, &self.inodes[file]).unwrap();
            listed.sort();
            let expected: Vec<_> = model.keys().cloned().collect();
            assert_eq!(listed, expected);
            for (name, value) in model {
                let got = get(&mut self.vol, &self.inodes[file], name);
                assert_eq!(got.as_ref(), Ok(value));
            }
        }
    }

    /// Everything given up leaves no inode or block behind.
    fn empty(&mut self, before: (u64, u32)) {
        for inode in &mut self.inodes {
            release(&mut self.vol, inode).unwrap();
            assert_eq!(inode.sectors(&self.vol), 0);
        }
        assert_eq!((self.vol.free_clusters, self.vol.free_inodes), before);
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => (0u8..12).prop_map(|n| format!("user.{n}").into_bytes()),
        2 => (0u8..4).prop_map(|n| format!("trusted.t{n}").into_bytes()),
        1 => (0u8..4).prop_map(|n| format!("security.{n}").into_bytes()),
        1 => (1usize..=250, 0u8..4).prop_map(|(len, n)| {
            let mut name = format!("user.{n}").into_bytes();
            name.resize(5 + len, 0xE4);
            name
        }),
    ]
}

/// Few distinct values of all lengths, so that blocks are alike now and then.
fn value(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => (0usize..40, 0u8..2).prop_map(|(len, b)| vec![b; len]),
        3 => (0usize..600, 0u8..2).prop_map(|(len, b)| vec![b; len]),
        1 => (0..longest, 0u8..2).prop_map(|(len, b)| vec![b; len]),
    ]
}

const KINDS: &[(&[&str], u32, u32)] = &[
    (&[], 1024, 256),
    (&[], 4096, 256),
    (&["^metadata_csum"], 1024, 128),
    (&["ea_inode"], 1024, 256),
    (&["ea_inode", "^metadata_csum"], 4096, 512),
    (&["^extent,^64bit,^flex_bg", "ea_inode"], 1024, 256),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn attributes_are_those_that_were_set(
        kind in 0..KINDS.len(),
        steps in proptest::collection::vec((0usize..4, 0u8..10, name(), value(9000)), 1..300),
    ) {
        let (features, block_size, inode_size) = KINDS[kind];
        let mut bench = Bench::new(features, block_size, inode_size, 4);
        let before = (bench.vol.free_clusters, bench.vol.free_inodes);
        let mut models = vec![Model::new(); 4];
        for (file, what, name, value) in steps {
            let there = models[file].get(&name);
            let got = get(&mut bench.vol, &bench.inodes[file], &name).ok();
            prop_assert_eq!(got.as_ref(), there);
            let was_there = there.is_some();
            if what < 7 {
                match bench.set(file, &name, Some(&value)) {
                    Ok(()) => {
                        models[file].insert(name, value);
                    }
                    // Without ea_inode there is only so much room.
                    Err(e) => prop_assert_eq!(e, Errno::ENOSPC),
                }
            } else {
                let done = bench.set(file, &name, None);
                let expected = if was_there { Ok(()) } else { Err(Errno::ENODATA) };
                prop_assert_eq!(done, expected);
                models[file].remove(&name);
            }
        }
        bench.check(&models);
        bench.empty(before);
    }
}

#[test]
fn calls_fail_as_linux_has_it() {
    let mut bench = Bench::new(&[], 1024, 256, 1);
    let flagged = |b: &mut Bench, name: &[u8], flags| {
        set(&mut b.vol, &mut b.inodes[0], name, Some(b"v"), flags)
    };
    let b = &mut bench;
    assert_eq!(
        flagged(b, b"user.a", SetFlags::REPLACE),
        Err(Errno::ENODATA)
    );
    assert_eq!(flagged(b, b"user.a", SetFlags::CREATE), Ok(()));
    assert_eq!(flagged(b, b"user.a", SetFlags::CREATE), Err(Errno::EEXIST));
    assert_eq!(flagged(b, b"user.a", SetFlags::REPLACE), Ok(()));
    for (name, error) in [
        (&b"user."[..], Errno::EINVAL),
        (b"", Errno::ERANGE),
        (b"system.data", Errno::EOPNOTSUPP),
        (b"nothing", Errno::EOPNOTSUPP),
    ] {
        assert_eq!(b.set(0, name, Some(b"v")), Err(error));
        assert_eq!(get(&mut b.vol, &b.inodes[0], name), Err(error));
    }
    let mut long = b"user.".to_vec();
    long.resize(256, b'x');
    assert_eq!(b.set(0, &long, Some(b"v")), Err(Errno::ERANGE));
    let value = vec![0; 65537];
    assert_eq!(b.set(0, b"user.a", Some(&value)), Err(Errno::E2BIG));
    assert_eq!(b.set(0, b"user.a", Some(&value[1..])), Err(Errno::ENOSPC));
    assert_eq!(
        get(&mut b.vol, &b.inodes[0], b"user.b"),
        Err(Errno::ENODATA)
    );
}

/// 1100 inodes with the same long attribute: 1024 share a block, the others another.
#[test]
fn a_block_is_shared_up_to_its_limit() {
    let mut bench = Bench::new(&[], 1024, 128, 1100);
    let before = bench.vol.free_clusters;
    let value = vec![7; 300];
    for file in 0..1100 {
        bench.set(file, b"user.same", Some(&value)).unwrap();
    }
    assert_eq!(before - bench.vol.free_clusters, 2);
    let model = Model::from([(b"user.same".to_vec(), value)]);
    bench.check(&vec![model; 1100]);
    // One that changes gets a block of its own, and comes back to the shared one.
    bench.set(0, b"user.same", Some(b"other")).unwrap();
    assert_eq!(before - bench.vol.free_clusters, 3);
    bench.set(0, b"user.same", Some(&[7; 300])).unwrap();
    assert_eq!(before - bench.vol.free_clusters, 2);
    let free_inodes = bench.vol.free_inodes;
    bench.empty((before, free_inodes));
}

fn acl(rules: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut value = 2u32.to_le_bytes().to_vec();
    for (tag, perm, id) in rules {
        value.extend(tag.to_le_bytes());
        value.extend(perm.to_le_bytes());
        value.extend(id.to_le_bytes());
    }
    value
}

#[test]
fn acls_and_modes_follow_each_other() {
    const ACCESS: &[u8] = b"system.posix_acl_access";
    const NONE: u32 = !0;
    let mut bench = Bench::new(&[], 1024, 256, 1);
    let simple = acl(&[(1, 7, NONE), (4, 5, NONE), (32, 0, NONE)]);
    bench.set(0, ACCESS, Some(&simple)).unwrap();
    assert_eq!(bench.inodes[0].raw.i_mode(), 0o100_750);
    assert_eq!(
        get(&mut bench.vol, &bench.inodes[0], ACCESS),
        Err(Errno::ENODATA)
    );
    let full = acl(&[
        (1, 6, NONE),
        (2, 7, 1000),
        (4, 4, NONE),
        (16, 5, NONE),
        (32, 4, NONE),
    ]);
    bench.set(0, ACCESS, Some(&full)).unwrap();
    assert_eq!(bench.inodes[0].raw.i_mode(), 0o100_654);
    bench.check(&[Model::from([(ACCESS.to_vec(), full)])]);
    bench.inodes[0].raw.set_i_mode(0o100_600);
    acl_chmod(&mut bench.vol, &mut bench.inodes[0]).unwrap();
    let less = acl(&[
        (1, 6, NONE),
        (2, 7, 1000),
        (4, 4, NONE),
        (16, 0, NONE),
        (32, 0, NONE),
    ]);
    assert_eq!(get(&mut bench.vol, &bench.inodes[0], ACCESS), Ok(less));
    let unmasked = acl(&[(1, 6, NONE), (2, 7, 1000), (4, 4, NONE), (32, 4, NONE)]);
    assert_eq!(bench.set(0, ACCESS, Some(&unmasked)), Err(Errno::EINVAL));
    let default = b"system.posix_acl_default";
    assert_eq!(bench.set(0, default, Some(&simple)), Err(Errno::EACCES));
}

/// Bytes that attributes cannot have do no worse than errors.
#[test]
fn damage_gives_errors() {
    let mut state = 1u64;
    let mut random = move |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % n) as usize
    };
    for round in 0..200 {
        let mut bench = Bench::new(&["ea_inode", "^metadata_csum"], 1024, 256, 2);
        bench.vol.options.errors = Some(crate::kernel::ErrorsBehaviour::Continue);
        for n in 0..6usize {
            for file in 0..2 {
                let name = format!("user.{n}");
                bench
                    .set(file, name.as_bytes(), Some(&vec![1; n * n * 40]))
                    .unwrap();
            }
        }
        for _ in 0..=random(4) {
            let byte = random(256) as u8;
            let at = block::of(&bench.inodes[0]).unwrap();
            match random(3) {
                0 => bench.inodes[0].raw.0[128 + random(128)] = byte,
                n => {
                    let end = if n == 1 { 200 } else { 1024 };
                    let kind = crate::event::Meta::Xattr;
                    bench.vol.change(at, kind, InodeNr(0)).unwrap()[random(end)] = byte;
                }
            }
        }
        for n in 0..8usize {
            for file in 0..2 {
                let name = format!("user.{n}");
                let _ = get(&mut bench.vol, &bench.inodes[file], name.as_bytes());
                let value = vec![2; (n * 37 + round) % 300];
                let _ = bench.set(file, name.as_bytes(), (n % 3 != 0).then_some(&value[..]));
                let _ = list(&mut bench.vol, &bench.inodes[file]);
            }
        }
        for inode in &mut bench.inodes {
            let _ = release(&mut bench.vol, inode);
        }
    }
}
