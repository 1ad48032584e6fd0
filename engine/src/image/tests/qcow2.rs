use super::*;
use crate::image::qcow2::{Qcow2, Qcow2Error};
use proptest::prelude::*;

/// Has qemu-img convert `bytes` with these options.
fn convert(bytes: &[u8], options: &str, more: &[&str]) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let (raw, out) = (dir.path().join("raw"), dir.path().join("qcow2"));
    std::fs::write(&raw, bytes).unwrap();
    let mut args = vec!["convert", "-f", "raw", "-O", "qcow2", "-o", options];
    args.extend(more);
    args.extend([raw.to_str().unwrap(), out.to_str().unwrap()]);
    run("qemu-img", &args)?;
    Some(std::fs::read(out).unwrap())
}

const WAYS: &[(&str, &[&str])] = &[
    ("compat=1.1", &[]),
    ("compat=0.10", &[]),
    ("compat=1.1,cluster_size=512", &[]),
    ("compat=1.1,cluster_size=2M", &[]),
    ("compat=0.10,cluster_size=4k", &["-c"]),
    ("compat=1.1", &["-c"]),
    ("compat=1.1,cluster_size=2M", &["-c"]),
    ("compat=1.1,compression_type=zstd", &["-c"]),
    (
        "compat=1.1,compression_type=zstd,cluster_size=512k",
        &["-c"],
    ),
    ("compat=1.1,extended_l2=on", &[]),
    ("compat=1.1,extended_l2=on,cluster_size=64k", &["-c"]),
    ("compat=1.1,preallocation=metadata", &[]),
    ("compat=1.1,lazy_refcounts=on", &[]),
];

#[test]
fn equals_what_qemu_converted() {
    for len in [5_000_704, 512, 4_194_304] {
        let bytes = mixed(len, 21);
        for (options, more) in WAYS {
            let Some(image) = convert(&bytes, options, more) else {
                return;
            };
            assert!(Qcow2::detect(&image));
            let qcow2 = Qcow2::open(medium(image)).unwrap();
            assert_eq!(qcow2.notes(), Vec::<String>::new());
            same_in_pieces(&qcow2, &bytes);
        }
    }
}

#[test]
fn writes_of_qemu_io_within_clusters_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("q");
    let name = path.to_str().unwrap();
    for options in ["extended_l2=on", "compat=1.1", "compat=0.10"] {
        let made = run(
            "qemu-img",
            &["create", "-f", "qcow2", "-o", options, name, "8M"],
        );
        let writes = [
            "write -P 7 70000 3000",
            "write -P 9 4096 2048",
            "write -z 71680 512",
            "write -z 1M 512k",
            "write -P 3 8388000 608",
            "discard 4096 4096",
        ];
        let args: Vec<&str> = writes
            .iter()
            .flat_map(|w| ["-c", w])
            .chain([name])
            .collect();
        if made.is_none() || run("qemu-io", &args).is_none() {
            return;
        }
        let raw = dir.path().join("raw");
        run(
            "qemu-img",
            &["convert", "-O", "raw", name, raw.to_str().unwrap()],
        );
        let qcow2 = Qcow2::open(file(&path)).unwrap();
        same_in_pieces(&qcow2, &std::fs::read(&raw).unwrap());
    }
}

#[test]
fn holes_are_passed_over_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("q");
    if run(
        "qemu-img",
        &["create", "-f", "qcow2", path.to_str().unwrap(), "2T"],
    )
    .is_none()
    {
        return;
    }
    let qcow2 = Qcow2::open(file(&path)).unwrap();
    assert_eq!(qcow2.len(), 2 << 40);
    assert_eq!(qcow2.next_data(12345), 2 << 40);
}

#[test]
fn snapshots_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("q");
    let name = path.to_str().unwrap();
    if run("qemu-img", &["create", "-f", "qcow2", name, "1M"]).is_none() {
        return;
    }
    run("qemu-img", &["snapshot", "-c", "one", name]);
    let notes = Qcow2::open(file(&path)).unwrap().notes();
    assert!(notes[0].contains("1 snapshot"), "{notes:?}");
}

#[test]
fn what_is_not_read_is_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (base, over, outside, locked) = (at("base"), at("over"), at("outside"), at("locked"));
    if run("qemu-img", &["create", "-f", "qcow2", &base, "1M"]).is_none() {
        return;
    }
    run(
        "qemu-img",
        &["create", "-f", "qcow2", "-b", &base, "-F", "qcow2", &over],
    );
    let option = format!("data_file={}", at("data"));
    run(
        "qemu-img",
        &["create", "-f", "qcow2", "-o", &option, &outside, "1M"],
    );
    run(
        "qemu-img",
        &[
            "create",
            "-f",
            "qcow2",
            "--object",
            "secret,id=s,data=x",
            "-o",
            "encrypt.format=luks,encrypt.key-secret=s,encrypt.iter-time=10",
            &locked,
            "1M",
        ],
    );
    for (path, says) in [
        (over, "backing"),
        (outside, "another file"),
        (locked, "LUKS"),
    ] {
        let error = Qcow2::open(file(Path::new(&path))).unwrap_err();
        assert!(matches!(error, Qcow2Error::Unsupported { .. }));
        assert!(error.to_string().contains(says), "{error}");
    }
}

/// Filesystems to make an e2image of: two new ones and e2fsprogs' own.
fn filesystems() -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fs");
    let mut out = Vec::new();
    for block in ["1024", "4096"] {
        blank(&path, 20 << 20);
        if run("mke2fs", &["-qF", "-b", block, path.to_str().unwrap()]).is_some() {
            out.push(std::fs::read(&path).unwrap());
        }
        let name = format!("/work/shared/e2fsprogs/images/i_qcow.image{block}.img.gz");
        match std::fs::read(&name) {
            Ok(packed) => {
                let opened = crate::image::open(medium(packed), Default::default()).unwrap();
                out.push(all(&opened.content));
            }
            Err(_) => eprintln!("skipped: {name} is not here"),
        }
    }
    out
}

#[test]
fn e2image_output_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (fs, q, raw) = (at("fs"), at("q"), at("raw"));
    for bytes in filesystems() {
        std::fs::write(&fs, bytes).unwrap();
        for (to_qcow2, to_raw) in [("-Q", "-r"), ("-aQ", "-ar")] {
            if run("e2image", &[to_qcow2, &fs, &q]).is_none() {
                return;
            }
            run("e2image", &[to_raw, &fs, &raw]);
            let qcow2 = Qcow2::open(file(Path::new(&q))).unwrap();
            assert_eq!(qcow2.version(), 2);
            same_in_pieces(&qcow2, &std::fs::read(&raw).unwrap());
            std::fs::remove_file(&q).unwrap();
            std::fs::remove_file(&raw).unwrap();
        }
    }
}

#[test]
fn a_cut_image_says_what_is_missing() {
    let bytes: Vec<u8> = mixed(1_000_000, 2).into_iter().map(|b| b | 1).collect();
    let Some(image) = convert(&bytes, "compat=1.1", &[]) else {
        return;
    };
    let cut = image.len() - 400_000;
    let qcow2 = Qcow2::open(medium(image[..cut].to_vec())).unwrap();
    let mut got = vec![0; 300_000];
    qcow2.read_at(0, &mut got).unwrap();
    assert!(got == bytes[..300_000]);
    let said = qcow2
        .read_at(900_000, &mut [0; 100])
        .unwrap_err()
        .to_string();
    assert!(said.contains(&format!("ends at {cut}")), "{said}");
}

fn two_kinds() -> Option<[Vec<u8>; 3]> {
    let bytes = mixed(300_032, 4);
    Some([
        convert(&bytes, "cluster_size=4k", &[])?,
        convert(&bytes, "cluster_size=4k", &["-c"])?,
        convert(&bytes, "extended_l2=on,compression_type=zstd", &["-c"])?,
    ])
}

#[test]
fn no_damage_panics() {
    let Some(images) = two_kinds() else { return };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let damage = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20);
    // Half of the damage hits the header and tables.
    let strategy = (0..3usize, damage, any::<bool>(), any::<u64>());
    runner
        .run(&strategy, |(which, damage, front, place)| {
            let mut image = images[which].clone();
            let within = if front { 112 } else { image.len() };
            for (at, value) in damage {
                image[at.index(within)] = value;
            }
            if let Ok(qcow2) = Qcow2::open(medium(image)) {
                let at = place % qcow2.len().max(1);
                for at in [0, at, qcow2.len().saturating_sub(70_000)] {
                    let n = (qcow2.len() - at).min(70_000) as usize;
                    let _ = qcow2.read_at(at, &mut vec![0; n]);
                    let _ = qcow2.next_data(at);
                }
            }
            Ok(())
        })
        .unwrap();
}
