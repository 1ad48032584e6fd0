//! Every image of e2fsprogs' own tests is opened or refused with a sentence, in time.

mod exercise;

use std::io::Read;
use std::path::{Path, PathBuf};

fn shared() -> Option<PathBuf> {
    let dir = std::env::var_os("FSLAB_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let images = dir.join("e2fsprogs/images");
    if images.is_dir() {
        return Some(images);
    }
    eprintln!("skipped: {} is absent", images.display());
    None
}

#[test]
fn images_of_e2fsprogs_neither_panic_nor_hang() {
    let Some(dir) = shared() else { return };
    let mut paths: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    let mut opened = 0;
    let mut refused = Vec::new();
    for path in paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "gz"))
    {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).unwrap();
        flate2::read::MultiGzDecoder::new(file)
            .read_to_end(&mut bytes)
            .unwrap();
        match exercise::everything(&bytes) {
            Ok(_) => opened += 1,
            Err(sentence) => {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                eprintln!("{name}: {sentence}");
                refused.push(name);
            }
        }
    }
    // e2fsck 1.47.0 cannot open these either (exit code 8), or they are journals.
    let expected = [
        "f_crashdisk.img.gz",
        "f_detect_junk.img.gz",
        "f_detect_xfs.img.gz",
        "j_corrupt_ext_jnl_sb_block.j_corrupt_ext_jnl_sb_block.img.jnl.img.gz",
        "j_corrupt_ext_jnl_sb_csum.j_corrupt_ext_jnl_sb_csum.img.jnl.img.gz",
        "j_ext_dumpe2fs.img.gz",
    ];
    assert_eq!(refused, expected);
    assert_eq!(opened, 172 - expected.len());
}
