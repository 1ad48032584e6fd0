use super::*;
use crate::image::identify::{Kind, identify};

/// Makes a filesystem in a file of `len` bytes by a command whose last argument it is.
fn made(program: &str, args: &[&str], len: u64) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fs");
    blank(&path, len);
    run(program, &[args, &[path.to_str().unwrap()]].concat())?;
    Some(std::fs::read(path).unwrap())
}

#[test]
fn what_the_tools_make_is_named() {
    const MIB: u64 = 1 << 20;
    for (program, args, len, id) in [
        ("mke2fs", &["-qF", "-t", "ext2"][..], 8 * MIB, "ext2"),
        ("mke2fs", &["-qF", "-t", "ext3"], 16 * MIB, "ext3"),
        ("mke2fs", &["-qF", "-t", "ext4"], 16 * MIB, "ext4"),
        ("mke2fs", &["-qF", "-O", "journal_dev"], 8 * MIB, "jbd"),
        ("mkfs.vfat", &[], 4 * MIB, "fat12"),
        ("mkfs.vfat", &["-F", "16"], 32 * MIB, "fat16"),
        ("mkfs.vfat", &["-F", "32"], 64 * MIB, "fat32"),
        ("mkfs.exfat", &[], 8 * MIB, "exfat"),
        ("mkfs.xfs", &["-q", "-f"], 512 * MIB, "xfs"),
        ("mkfs.btrfs", &["-q", "-f"], 128 * MIB, "btrfs"),
        ("mkfs.f2fs", &["-q", "-f"], 64 * MIB, "f2fs"),
        ("mkfs.minix", &["-1"], MIB, "minix"),
        ("mkfs.minix", &["-2"], MIB, "minix"),
        ("mkfs.minix", &["-3"], MIB, "minix"),
        ("mkfs.bfs", &[], MIB, "bfs"),
        ("mkswap", &[], MIB, "swap"),
    ] {
        if let Some(fs) = made(program, args, len) {
            let it = identify(&fs);
            assert_eq!(it.id, id, "{program} {args:?}");
            let ours = matches!(it.kind, Kind::Ext | Kind::ExtJournal);
            assert_eq!(ours, program == "mke2fs");
            assert!(ours || it.sentence.contains(';'), "{}", it.sentence);
        }
    }
}

#[test]
fn squashfs_luks_and_disks_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(at("in")).unwrap();
    if run(
        "mksquashfs",
        &[&at("in"), &at("sq"), "-quiet", "-no-progress"],
    )
    .is_some()
    {
        assert_eq!(identify(&file(Path::new(&at("sq")))).id, "squashfs");
    }
    let luks = at("luks");
    blank(Path::new(&luks), 32 << 20);
    let args = [
        "luksFormat",
        "-q",
        "--pbkdf",
        "pbkdf2",
        "--pbkdf-force-iterations",
        "1000",
        &luks,
        "-",
    ];
    if run_in("cryptsetup", &args, b"secret").is_some() {
        let it = identify(&file(Path::new(&luks)));
        assert_eq!((it.id, it.kind), ("luks", Kind::Volume));
    }
    for (format, id) in [
        ("vmdk", "vmdk"),
        ("vdi", "vdi"),
        ("vhdx", "vhdx"),
        ("vpc", "vhd"),
        ("qed", "qed"),
        ("parallels", "parallels"),
    ] {
        if run(
            "qemu-img",
            &["create", "-q", "-f", format, &at(format), "4M"],
        )
        .is_some()
        {
            let it = identify(&file(Path::new(&at(format))));
            assert_eq!((it.id, it.kind), (id, Kind::DiskImage), "{format}");
            assert!(it.sentence.contains("qemu-img convert"));
        }
    }
    blank(Path::new(&at("e")), 8 << 20);
    if run("mke2fs", &["-qF", &at("e")]).is_some()
        && run("e2image", &[&at("e"), &at("e2i")]).is_some()
    {
        assert_eq!(identify(&file(Path::new(&at("e2i")))).id, "e2image");
    }
}

#[test]
fn packed_files_are_named() {
    for (program, args, id) in [
        ("bzip2", &["-c"][..], "bzip2"),
        ("lz4", &["-c"], "lz4"),
        ("gzip", &["-c"], "gzip"),
    ] {
        if let Some(out) = run_in(program, args, b"some bytes") {
            assert_eq!(identify(&out.stdout).id, id);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "x").unwrap();
    for format in ["ustar", "v7", "pax", "gnu"] {
        let format = format!("--format={format}");
        let args = ["-c", &format, "-C", dir.path().to_str().unwrap(), "a"];
        if let Some(out) = run("tar", &args) {
            assert_eq!(identify(&out.stdout).id, "tar", "{format}");
        }
    }
}

/// A file of zeros with these bytes at these places.
fn with(marks: &[(usize, &[u8])], len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    for (at, bytes) in marks {
        out[*at..][..<[u8]>::len(bytes)].copy_from_slice(bytes);
    }
    out
}

#[test]
fn marks_by_hand_are_named() {
    for (marks, id) in [
        (&[(3, &b"NTFS    "[..]), (510, b"\x55\xaa")][..], "ntfs"),
        (&[(32769, b"CD001")], "iso9660"),
        (
            &[(32769, b"CD001"), (36865, b"BEA01"), (38913, b"NSR02")],
            "udf",
        ),
        (&[(1024, b"\xe2\xe1\xf5\xe0")], "erofs"),
        (&[(512, b"LABELONE"), (536, b"LVM2 001")], "lvm2"),
        (&[(4096, b"\xfc\x4e\x2b\xa9")], "md"),
        (&[(131_072, b"\x0c\xb1\xba\0\0\0\0\0")], "zfs"),
        (&[(1024, b"H+\0\x04")], "hfsplus"),
        (&[(32, b"NXSB")], "apfs"),
        (&[(32768, b"JFS1")], "jfs"),
        (&[(65588, b"ReIsEr2Fs")], "reiserfs"),
        (&[(0, b"%PDF-1.4")], "pdf"),
        (&[(0, b"\xff\xd8\xff\xe0")], "jpeg"),
        (&[(0, b"\x7fELF")], "elf"),
        (&[(0, b"PK\x03\x04")], "zip"),
        (&[(1080, b"\x53\xef")], "ext2"),
        (&[(0, b"\xff\xd8\xff\xe0"), (1080, b"\x53\xef")], "jpeg"),
        (&[(262_144 - 65536, b"\xfc\x4e\x2b\xa9")], "md"),
    ] {
        assert_eq!(identify(&with(marks, 262_144)).id, id);
    }
}

#[test]
fn nothing_zeros_and_text_are_named() {
    assert_eq!(identify(&Vec::new()).kind, Kind::Empty);
    let it = identify(&vec![0; 5000]);
    assert_eq!(it.kind, Kind::Zeros);
    assert!(it.sentence.starts_with("All 5000 bytes"), "{}", it.sentence);
    let it = identify(&vec![0; 3 << 20]);
    assert!(
        it.sentence.starts_with("The first 1048576 bytes"),
        "{}",
        it.sentence
    );
    assert_eq!(
        identify(&b"<!DOCTYPE html><p>Not found".to_vec()).id,
        "html"
    );
    let long = "\u{e4}".repeat(600).into_bytes();
    assert_eq!(identify(&[b"a".to_vec(), long].concat()).id, "text");
    assert_eq!(identify(&vec![0xfe; 100]).kind, Kind::Unknown);
    assert_eq!(identify(&vec![0]).kind, Kind::Zeros);
}

#[test]
fn the_damaged_images_of_e2fsprogs_are_ext() {
    let Ok(dir) = std::fs::read_dir("/work/shared/e2fsprogs/images") else {
        eprintln!("skipped: the images of e2fsprogs are not here");
        return;
    };
    let mut foreign = Vec::new();
    for entry in dir {
        let path = entry.unwrap().path();
        let opened = crate::image::open(file(&path), crate::image::Limits::default()).unwrap();
        assert_eq!(opened.problems, [], "{path:?}");
        if opened.identity.kind != Kind::Ext {
            foreign.push((path.file_name().unwrap().to_owned(), opened.identity.id));
        }
    }
    eprintln!("not ext by their primary superblock: {foreign:?}");
    assert!(foreign.len() < 20);
}
