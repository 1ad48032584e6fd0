//! Any text as a program: coloured, completed, compiled, run for a while. The first eight
//! bytes choose what the kernel answers and where the cursor is. Good seeds are the
//! programs of `tests/wrong_programs` and the prelude, each behind eight bytes:
//! `seeds.sh` writes them to the folder `programs`.
#![no_main]

#[path = "../../tests/any_program/mod.rs"]
mod any_program;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((seed, text)) = input.split_first_chunk::<8>() else { return };
    if let Ok(text) = std::str::from_utf8(text) {
        any_program::everything(text, u64::from_le_bytes(*seed));
    }
});
