use super::*;
use crate::image::identify::identify;
use crate::image::partition::{PartitionTable, TableKind, read};

fn table(path: &Path) -> Option<PartitionTable> {
    let medium = file(path);
    read(&medium, &identify(&medium))
}

/// Has sfdisk write `script` on a new disk.
fn sfdisk(dir: &Path, len: u64, script: &str) -> Option<std::path::PathBuf> {
    let path = dir.join("disk");
    blank(&path, len);
    let args = [
        "-q",
        "--no-reread",
        "--no-tell-kernel",
        path.to_str().unwrap(),
    ];
    run_in("sfdisk", &args, script.as_bytes())?;
    Some(path)
}

const LOGICAL: &str = "label: dos
2048,4096,83,*
6144,30000,5
8192,2048,82
12288,2048,83
16384,2048,c
40000,1000,da
";

#[test]
fn mbr_with_logical_partitions() {
    let dir = tempfile::tempdir().unwrap();
    let Some(path) = sfdisk(dir.path(), 32 << 20, LOGICAL) else {
        return;
    };
    let t = table(&path).unwrap();
    assert_eq!((t.kind, t.sector_size), (TableKind::Mbr, 512));
    let found: Vec<_> = t
        .partitions
        .iter()
        .map(|p| {
            (
                p.number,
                p.start_byte / 512,
                p.len_bytes / 512,
                p.type_code.as_str(),
                p.note.as_str(),
            )
        })
        .collect();
    let want = [
        (1, 2048, 4096, "0x83", ""),
        (2, 6144, 30000, "0x05", ""),
        (3, 40000, 1000, "0xda", ""),
        (5, 8192, 2048, "0x82", ""),
        (6, 12288, 2048, "0x83", ""),
        (7, 16384, 2048, "0x0c", ""),
    ];
    // sfdisk numbers the primary ones in the script's order.
    let mut found = found;
    found.sort();
    assert_eq!(found.len(), want.len(), "{found:?}");
    for (f, w) in found.iter().zip(want) {
        assert_eq!((f.1, f.2, f.3, f.4), (w.1, w.2, w.3, w.4));
    }
    assert!(t.partitions[0].bootable && !t.partitions[1].bootable);
    assert!(t.get(2).unwrap().container);
    assert_eq!(t.notes, Vec::<String>::new());
}

#[test]
fn a_chain_that_bites_its_tail_is_followed_once() {
    let dir = tempfile::tempdir().unwrap();
    let Some(path) = sfdisk(dir.path(), 32 << 20, LOGICAL) else {
        return;
    };
    let mut disk = std::fs::read(&path).unwrap();
    // The second record's link leads back to the first.
    let first = 6144 * 512;
    let link = u32::from_le_bytes(disk[first + 446 + 24..][..4].try_into().unwrap());
    let second = (6144 + link as usize) * 512;
    disk[second + 446 + 24..][..4].fill(0);
    std::fs::write(&path, &disk).unwrap();
    let t = table(&path).unwrap();
    assert!(
        t.notes[0].contains("returns to sector 6144"),
        "{:?}",
        t.notes
    );
    assert_eq!(t.partitions.len(), 5);
    // Or nowhere.
    disk[second + 446 + 24..][..4].fill(0xff);
    std::fs::write(&path, &disk).unwrap();
    let t = table(&path).unwrap();
    assert!(t.notes[0].contains("no boot record"), "{:?}", t.notes);
}

const GPT: &str = "label: gpt
start=2048, size=4096, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, name=\"EFI\"
start=8192, size=8192, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, name=\"Wurzel \u{e4}\", attrs=LegacyBIOSBootable
";

fn check_gpt(t: &PartitionTable) {
    assert_eq!((t.kind, t.sector_size), (TableKind::Gpt, 512));
    let [a, b] = &t.partitions[..] else {
        panic!("{t:?}");
    };
    assert_eq!((a.number, a.start_byte, a.len_bytes), (1, 1 << 20, 2 << 20));
    assert_eq!(
        (a.name.as_str(), a.type_name.as_str()),
        ("EFI", "EFI system")
    );
    assert_eq!(b.name, "Wurzel \u{e4}");
    assert_eq!(b.type_code, "0FC63DAF-8483-4772-8E79-3D69D8477DE4");
    assert!(b.bootable && !a.bootable);
}

#[test]
fn gpt_and_its_backup() {
    let dir = tempfile::tempdir().unwrap();
    let Some(path) = sfdisk(dir.path(), 16 << 20, GPT) else {
        return;
    };
    let disk = std::fs::read(&path).unwrap();
    let t = table(&path).unwrap();
    check_gpt(&t);
    assert_eq!(t.notes, Vec::<String>::new());
    // Damage the primary header, its entries, or lose both; the backup serves.
    for (at, n, says) in [
        (512 + 40, 1, "CRC"),
        (1024 + 56, 8, "entries do not match"),
        (512, 8, "no primary"),
    ] {
        let mut disk = disk.clone();
        disk[at..at + n].fill(0x5a);
        std::fs::write(&path, disk).unwrap();
        let t = table(&path).unwrap();
        check_gpt(&t);
        assert!(t.notes[0].contains(says), "{:?}", t.notes);
        assert!(
            t.notes
                .iter()
                .any(|n| n.contains("backup at byte 16776704")),
            "{:?}",
            t.notes
        );
    }
    // Cut off: the partitions stay, with notes.
    std::fs::write(&path, &disk[..7 << 20]).unwrap();
    let t = table(&path).unwrap();
    check_gpt(&t);
    assert!(t.notes[0].contains("cut off"), "{:?}", t.notes);
    assert!(
        t.partitions[1].note.contains("1048576 bytes past"),
        "{:?}",
        t.partitions
    );
    // Both copies of the entries damaged: shown as they are.
    let mut both = disk.clone();
    both[1024 + 128] ^= 1;
    let entries = both.len() - 33 * 512;
    both[entries] ^= 1;
    std::fs::write(&path, &both).unwrap();
    let t = table(&path).unwrap();
    assert!(
        t.notes.last().unwrap().contains("as they are"),
        "{:?}",
        t.notes
    );
    assert_eq!(t.partitions.len(), 2);
    // A guard with nothing behind it.
    let mut guard = disk;
    guard[512..].fill(0);
    std::fs::write(&path, &guard).unwrap();
    let t = table(&path).unwrap();
    assert_eq!(t.kind, TableKind::Mbr);
    assert_eq!(t.partitions[0].type_name, "GPT protective");
}

#[test]
fn gpt_by_sgdisk_on_sectors_of_4096_is_found() {
    // sgdisk takes a file's sectors for 512 bytes; the table is moved to 4096 by hand.
    let dir = tempfile::tempdir().unwrap();
    let Some(path) = sfdisk(dir.path(), 16 << 20, "label: gpt\nstart=2048, size=4096\n") else {
        return;
    };
    let old = std::fs::read(&path).unwrap();
    let sectors = old.len() / 512;
    let mut disk = vec![0; sectors * 4096];
    disk[..512].copy_from_slice(&old[..512]);
    let mut header = old[512..1024].to_vec();
    // Entries stay in sector 2, now of 4096 bytes.
    disk[8192..][..32 * 512].copy_from_slice(&old[1024..34 * 512]);
    header[16..20].fill(0);
    let mut crc = flate2::Crc::new();
    crc.update(&header[..92]);
    header[16..20].copy_from_slice(&crc.sum().to_le_bytes());
    disk[4096..4608].copy_from_slice(&header);
    let t = read(&disk, &identify(&disk)).unwrap();
    assert_eq!((t.kind, t.sector_size), (TableKind::Gpt, 4096));
    assert_eq!(
        (t.partitions[0].start_byte, t.partitions[0].len_bytes),
        (2048 * 4096, 4096 * 4096)
    );
    assert!(t.notes[0].contains("no backup"), "{:?}", t.notes);
}

#[test]
fn sgdisk_agrees() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    blank(&path, 64 << 20);
    let name = path.to_str().unwrap();
    let args = [
        "-n",
        "5:0:+8M",
        "-t",
        "5:8e00",
        "-n",
        "100:0:+1M",
        "-c",
        "100:hundred \u{1f333}",
        name,
    ];
    if run("sgdisk", &args).is_none() {
        return;
    }
    let t = table(&path).unwrap();
    assert_eq!(t.notes, Vec::<String>::new());
    assert_eq!(
        t.partitions.iter().map(|p| p.number).collect::<Vec<_>>(),
        [5, 100]
    );
    assert_eq!(t.get(5).unwrap().type_name, "Linux LVM");
    assert_eq!(t.get(100).unwrap().name, "hundred \u{1f333}");
    // A hybrid MBR is told.
    run("sgdisk", &["-h", "5", name]);
    let t = table(&path).unwrap();
    assert_eq!(t.kind, TableKind::Gpt);
    assert!(t.notes[0].contains("hybrid"), "{:?}", t.notes);
}

/// A sector with these entries: flag, kind, start, sectors.
fn boot(entries: &[(u8, u8, u32, u32)]) -> Vec<u8> {
    let mut b = vec![0; 512];
    for (i, &(flag, kind, start, len)) in entries.iter().enumerate() {
        let e = &mut b[446 + i * 16..][..16];
        e[0] = flag;
        e[4] = kind;
        e[8..12].copy_from_slice(&start.to_le_bytes());
        e[12..].copy_from_slice(&len.to_le_bytes());
    }
    b[510..].copy_from_slice(&[0x55, 0xaa]);
    b
}

#[test]
fn overlaps_and_ends_are_noted() {
    let mut disk = boot(&[
        (0, 0x83, 10, 20),
        (0, 0x83, 25, 10),
        (0, 0x83, 90, 20),
        (0, 0x83, 200, 1),
    ]);
    disk.resize(100 * 512, 0);
    let t = read(&disk, &identify(&disk)).unwrap();
    let notes: Vec<&str> = t.partitions.iter().map(|p| p.note.as_str()).collect();
    assert_eq!(
        notes,
        [
            "",
            "It overlaps partition 1",
            "It reaches 5120 bytes past the end of the image",
            "It starts past the end of the image, which has 51200 bytes"
        ]
    );
}

#[test]
fn a_boot_sector_that_is_no_table_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fs");
    let name = path.to_str().unwrap();
    for (program, args) in [
        ("mkfs.vfat", &["-F", "12"][..]),
        ("mkfs.vfat", &["-F", "16"]),
        ("mkfs.vfat", &["-F", "32"]),
        ("mkfs.exfat", &[]),
    ] {
        blank(&path, 64 << 20);
        if run(program, &[args, &[name]].concat()).is_some() {
            assert_eq!(table(&path), None, "{program}");
        }
    }
    // ext with boot code: 55 AA, and text or nothing where entries would be.
    blank(&path, 8 << 20);
    if run("mke2fs", &["-qF", name]).is_none() {
        return;
    }
    let fs = std::fs::read(&path).unwrap();
    for filler in [0, b'x'] {
        let mut with_code = fs.clone();
        with_code[..510].fill(filler);
        with_code[510..512].copy_from_slice(&[0x55, 0xaa]);
        assert_eq!(read(&with_code, &identify(&with_code)), None);
    }
    // A real table beside a stale superblock is shown, and told.
    let mut both = fs;
    both[..512].copy_from_slice(&boot(&[(0x80, 0x83, 2048, 2048)]));
    let t = read(&both, &identify(&both)).unwrap();
    assert!(
        t.notes[0].contains("mark of an ext2 filesystem"),
        "{:?}",
        t.notes
    );
}

#[test]
fn an_mbr_counts_in_4096_where_that_alone_makes_sense() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fs");
    blank(&path, 4 << 20);
    if run("mke2fs", &["-qF", path.to_str().unwrap()]).is_none() {
        return;
    }
    let mut disk = boot(&[(0, 0x83, 256, 1024)]);
    disk.resize(1 << 20, 0);
    disk.extend(std::fs::read(&path).unwrap());
    let t = read(&disk, &identify(&disk)).unwrap();
    assert_eq!((t.sector_size, t.partitions[0].start_byte), (4096, 1 << 20));
    assert!(t.notes[0].contains("4096"), "{:?}", t.notes);
}
