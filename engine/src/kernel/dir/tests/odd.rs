//! Directories that are full, damaged, read while they change, folded, or inside inodes.

use super::*;
use crate::ext4::layout::FileType;

#[test]
fn max_dir_size_ends_a_directory() {
    let mut bench = Bench::new(&[], 1024, 16);
    bench.vol.options.max_dir_size_kb = 8;
    let error = (0..1000).find_map(|n| bench.add(&long(n)).err());
    assert_eq!(error, Some(Errno::ENOSPC));
    assert_eq!(bench.dir.size, 8 << 10);
}

#[test]
fn a_damaged_index_is_not_needed_to_find_names() {
    for csum in [false, true] {
        let features: &[&str] = if csum { &[] } else { &["^metadata_csum"] };
        let mut bench = Bench::new(features, 1024, 16);
        let mut model = fill(&mut bench, (0..100).map(long));
        let root = block::read(&mut bench.vol, &bench.dir, Lblk(0), block::Expect::Any).unwrap();
        let at = root.at;
        drop(root);
        // An unknown hash.
        block::change_node(&mut bench.vol, &bench.dir, at, |b| b[28] = 77).unwrap();
        for name in model.keys() {
            assert!(lookup(&mut bench.vol, &bench.dir, name).unwrap().is_some());
        }
        let added = bench.add(b"new");
        if csum {
            assert_eq!(added, Err(Errno::EFSCORRUPTED));
            continue;
        }
        assert_eq!(added, Ok(()));
        model.insert(b"new".to_vec(), bench.file);
        assert!(!bench.dir.has(InodeFlags::INDEX));
        bench.check(&model);
    }
}

#[test]
fn folded_and_encrypted_directories_are_only_read() {
    for flag in [InodeFlags::CASEFOLD, InodeFlags::ENCRYPT] {
        let mut bench = Bench::new(&[], 1024, 16);
        fill(&mut bench, (0..20).map(long));
        bench.dir.set_flag(flag, true);
        assert_eq!(bench.add(b"x"), Err(Errno::EOPNOTSUPP));
        let gone = remove(&mut bench.vol, &mut bench.dir, &long(1));
        assert_eq!(gone, Err(Errno::EOPNOTSUPP));
        assert!(
            lookup(&mut bench.vol, &bench.dir, &long(1))
                .unwrap()
                .is_some()
        );
    }
}

#[test]
fn a_directory_that_is_read_while_it_changes_gives_what_stays() {
    let mut bench = Bench::new(&[], 1024, 16);
    fill(&mut bench, (0..200).map(long));
    let mut cursor = Cursor::default();
    let mut seen = read(&mut bench.vol, &bench.dir, &mut cursor, 50).unwrap();
    for n in 200..600 {
        bench.add(&long(n)).unwrap();
    }
    loop {
        let more = read(&mut bench.vol, &bench.dir, &mut cursor, 7).unwrap();
        if more.is_empty() {
            break;
        }
        seen.extend(more);
    }
    let mut names: Vec<_> = seen.iter().map(|e| e.name.clone()).collect();
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "no name comes twice");
    assert!((0..200).all(|n| names.contains(&long(n))));
    assert!(seen.iter().any(|e| e.file_type == FileType::Regular));
}

/// An inline directory as the kernel makes it: the parent, and entries to the end of
/// `i_block`.
#[test]
fn an_inline_directory_gets_a_block_when_it_grows() {
    let mut bench = Bench::new(&["inline_data"], 1024, 16);
    let mut bytes = [0; 60];
    bytes[..4].copy_from_slice(&2u32.to_le_bytes());
    entry::set_rec_len(&mut bytes[4..], 0, 56, 1024);
    for name in [&b"one"[..], b"two"] {
        let entry::Room::At(slot) = entry::room(&bytes[4..], name, 1024, 1000) else {
            panic!("there is room");
        };
        let new = New {
            inode: bench.file.0,
            file_type: 1,
            name,
        };
        entry::insert(&mut bytes[4..], slot, new, 1024);
    }
    let old = block::read(&mut bench.vol, &bench.dir, Lblk(0), block::Expect::Any).unwrap();
    let dir = &mut bench.dir;
    alloc::free_blocks(&mut bench.vol, dir, old.at, 1, true).unwrap();
    dir.set_flag(InodeFlags::EXTENTS, false);
    dir.set_flag(InodeFlags::INLINE_DATA, true);
    dir.set_i_block(bytes);
    block::set_size(dir, 60);
    let mut model: BTreeMap<_, _> = [b"one".to_vec(), b"two".to_vec()]
        .into_iter()
        .map(|n| (n, bench.file))
        .collect();
    set_parent(&mut bench.vol, &mut bench.dir, InodeNr(2)).unwrap();
    assert_eq!(entries(&mut bench.vol, &bench.dir).unwrap().len(), 4);
    assert!(!is_empty(&mut bench.vol, &bench.dir).unwrap());
    remove(&mut bench.vol, &mut bench.dir, b"one")
        .unwrap()
        .unwrap();
    model.remove(&b"one"[..]);
    bench.add(b"three").unwrap();
    model.insert(b"three".to_vec(), bench.file);
    assert!(!bench.dir.has(InodeFlags::INLINE_DATA));
    bench.check(&model);
}

/// Bytes that a directory cannot have do no worse than errors.
#[test]
fn damage_gives_errors() {
    let mut state = 1u64;
    let mut random = move |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % n
    };
    for round in 0..60u32 {
        let features: &[&str] = if round % 4 == 0 {
            &[]
        } else {
            &["^metadata_csum"]
        };
        let mut bench = Bench::new(features, 1024, 16);
        bench.vol.options.errors = Some(crate::kernel::ErrorsBehaviour::Continue);
        fill(&mut bench, (0..20 + round * 20).map(long));
        let blocks = block::blocks(&bench.vol, &bench.dir);
        for _ in 0..1 + random(8) {
            let lblk = Lblk(random(blocks) as u32 * u32::from(random(3) > 0));
            let at = map::lookup(&mut bench.vol, &bench.dir, lblk, 1)
                .unwrap()
                .start;
            let bytes = bench
                .vol
                .change(at, crate::event::Meta::Directory, bench.dir.nr);
            let byte = if random(2) == 0 {
                random(48)
            } else {
                random(1024)
            };
            bytes.unwrap()[byte as usize] = random(256) as u8;
        }
        if round % 7 == 0 {
            bench.dir.size += random(1 << 30);
        }
        for n in 0..60 {
            let _ = lookup(&mut bench.vol, &bench.dir, &long(n));
            let _ = bench.add(&long(10_000 + n));
            let _ = remove(&mut bench.vol, &mut bench.dir, &long(n));
        }
        let _ = entries(&mut bench.vol, &bench.dir);
        let _ = is_empty(&mut bench.vol, &bench.dir);
        let _ = set_parent(&mut bench.vol, &mut bench.dir, InodeNr(2));
    }
}
