//! Changes bytes of real images and has the reader look at everything in them.
//!
//! An input is the number of a base image and a list of patches, not an image: so a
//! change of one byte of input is a change of a few bytes of an image that is otherwise
//! sound, deep inside the structures. The base images are the files of the folder that
//! `FSLAB_FUZZ_BASES` names; `seeds.sh` makes them.
#![no_main]

#[path = "../../tests/exercise/mod.rs"]
mod exercise;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static BASES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let dir = std::env::var("FSLAB_FUZZ_BASES").expect("FSLAB_FUZZ_BASES names a folder of images");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|p| std::fs::read(p).unwrap()).collect()
});

fuzz_target!(|input: &[u8]| {
    let Some((&base, mut patches)) = input.split_first() else { return };
    let mut image = BASES[usize::from(base) % BASES.len()].clone();
    // A patch: where (3 bytes), how many bytes, the bytes.
    while let [a, b, c, len, rest @ ..] = patches {
        let at = u32::from_le_bytes([*a, *b, *c, 0]) as usize % image.len();
        let len = usize::from(*len % 32).min(rest.len()).min(image.len() - at);
        image[at..at + len].copy_from_slice(&rest[..len]);
        patches = &rest[len..];
        if patches.is_empty() {
            break;
        }
    }
    // The last bytes may cut the image short.
    if let [.., 0xFF, cut] = input {
        image.truncate(image.len() * usize::from(*cut) / 256);
    }
    let _ = exercise::everything(&image);
});
