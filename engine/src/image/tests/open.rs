use super::*;
use crate::image::{ImageError, Kind, LayerKind, Limits, Opener, open};

/// A disk with an ext2 filesystem in its second partition.
fn disk() -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let (fs, disk) = (dir.path().join("fs"), dir.path().join("disk"));
    blank(&fs, 4 << 20);
    run("mke2fs", &["-qF", fs.to_str().unwrap()])?;
    blank(&disk, 8 << 20);
    let script = b"label: gpt\nstart=2048,size=2048\nstart=4096,size=8192\n";
    let args = [
        "-q",
        "--no-reread",
        "--no-tell-kernel",
        disk.to_str().unwrap(),
    ];
    run_in("sfdisk", &args, script)?;
    let mut bytes = std::fs::read(&disk).unwrap();
    bytes[2 << 20..6 << 20].copy_from_slice(&std::fs::read(&fs).unwrap());
    Some(bytes)
}

#[test]
fn layers_come_off_one_by_one() {
    let Some(disk) = disk() else { return };
    // Android sparse of the disk, in a qcow2, in xz, in gzip.
    let mut sparse = 0xed26_ff3au32.to_le_bytes().to_vec();
    for word in [1u16, 0, 28, 12] {
        sparse.extend(word.to_le_bytes());
    }
    for word in [4096, 2048, 1, 0, 0x0000_cac1, 2048, 12 + disk.len() as u32] {
        sparse.extend(word.to_le_bytes());
    }
    sparse.extend(&disk);
    sparse.resize(sparse.len().next_multiple_of(512), 0);
    let dir = tempfile::tempdir().unwrap();
    let (raw, q) = (dir.path().join("raw"), dir.path().join("q"));
    std::fs::write(&raw, &sparse).unwrap();
    let args = [
        "convert",
        "-f",
        "raw",
        "-O",
        "qcow2",
        "-c",
        raw.to_str().unwrap(),
        q.to_str().unwrap(),
    ];
    if run("qemu-img", &args).is_none() {
        return;
    }
    let Some(xz) = run_in("xz", &["-c1"], &std::fs::read(&q).unwrap()) else {
        return;
    };
    let Some(gz) = run_in("gzip", &["-c"], &xz.stdout) else {
        return;
    };
    let mut opener = Opener::new(medium(gz.stdout), Limits::default());
    let mut steps = 0;
    while !opener.step(10_000).done {
        steps += 1;
    }
    assert!(steps > 4);
    let opened = opener.finish().unwrap();
    let kinds: Vec<_> = opened.layers.iter().map(|l| l.kind).collect();
    use LayerKind::*;
    assert_eq!(kinds, [Compressed, Compressed, Qcow2, AndroidSparse]);
    assert!(all(&opened.content) == disk);
    assert_eq!(opened.identity.kind, Kind::Unknown);
    assert_eq!(opened.identify_partition(2).unwrap().id, "ext2");
    assert!(all(&opened.partition(2).unwrap()) == disk[2 << 20..6 << 20]);
    let said = opened.partition(3).err().unwrap().to_string();
    assert_eq!(
        said,
        "there is no partition 3 in the image's table; it has 1, 2"
    );
}

#[test]
fn a_cut_download_still_opens() {
    let Some(disk) = disk() else { return };
    let noisy: Vec<u8> = [disk, mixed(4 << 20, 1)].concat();
    let Some(gz) = run_in("gzip", &["-c"], &noisy) else {
        return;
    };
    let half = gz.stdout.len() * 9 / 10;
    let opened = open(medium(gz.stdout[..half].to_vec()), Limits::default()).unwrap();
    assert_eq!(opened.problems.len(), 1);
    let said = opened.problems[0].to_string();
    assert!(said.contains(&format!("ends at byte {half}")), "{said}");
    assert_eq!(opened.identify_partition(2).unwrap().kind, Kind::Ext);
}

#[test]
fn a_fixed_vhd_loses_its_footer() {
    let Some(disk) = disk() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (raw, vhd) = (dir.path().join("raw"), dir.path().join("vhd"));
    std::fs::write(&raw, &disk).unwrap();
    let args = [
        "convert",
        "-f",
        "raw",
        "-O",
        "vpc",
        "-o",
        "subformat=fixed,force_size=on",
        raw.to_str().unwrap(),
        vhd.to_str().unwrap(),
    ];
    if run("qemu-img", &args).is_none() {
        return;
    }
    let opened = open(file(&vhd), Limits::default()).unwrap();
    assert_eq!(opened.layers[0].kind, LayerKind::FixedVhd);
    assert!(all(&opened.content) == disk);
    assert_eq!(opened.table.unwrap().notes, Vec::<String>::new());
}

#[test]
fn packing_without_end_is_refused() {
    let mut bytes = b"nothing".to_vec();
    for _ in 0..9 {
        let Some(out) = run_in("gzip", &["-c"], &bytes) else {
            return;
        };
        bytes = out.stdout;
    }
    let error = open(medium(bytes), Limits::default()).unwrap_err();
    assert_eq!(error, ImageError::TooDeep);
}

#[test]
fn nothing_and_foreign_things_open_as_what_they_are() {
    let opened = open(medium(Vec::new()), Limits::default()).unwrap();
    assert_eq!(opened.identity.kind, Kind::Empty);
    assert_eq!(
        opened.partition(1).err().unwrap().to_string(),
        "there is no partition 1: the image has no partition table"
    );
    let opened = open(
        medium(b"\xff\xd8\xff\xe0 and so on".to_vec()),
        Limits::default(),
    )
    .unwrap();
    assert_eq!(
        opened.identity.sentence,
        "This is a JPEG picture, not a disk image"
    );
}

#[test]
fn an_empty_compressed_file_is_an_empty_image() {
    for (program, args) in [("gzip", ["-c"]), ("zstd", ["-qc"]), ("xz", ["-c"])] {
        if let Some(out) = run_in(program, &args, b"") {
            let opened = open(medium(out.stdout), Limits::default()).unwrap();
            assert_eq!(
                (opened.identity.kind, opened.problems.len()),
                (Kind::Empty, 0)
            );
        }
    }
}
