//! The same scenarios give the same events here as natively (`engine/tests/lessons.rs`):
//! `cargo xtask test --only wasm-tests`.
#![cfg(target_arch = "wasm32")]

use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use std::sync::Arc;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

macro_rules! lessons {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../lessons/", $name, "/scenario.toml")))),*]
    };
}

const LESSONS: &[(&str, &str)] = lessons![
    "01-one-file",
    "02-delayed-allocation",
    "03-fsync",
    "04-transactions",
    "05-append-log",
    "06-directory-grows",
    "07-extents-split",
    "08-full-disk",
    "09-unlink-open",
    "10-replace-by-rename",
    "11-truncate-and-write",
    "12-two-processes",
];

const ON_RECORD: &str = include_str!("../../lessons/hashes.txt");

#[wasm_bindgen_test]
fn events_are_those_on_record() {
    for (name, text) in LESSONS {
        let scenario = Scenario::parse(text).unwrap();
        let mut recording = Recording::new(Arc::new(scenario)).unwrap();
        while recording.record(100_000) {}
        let line = format!("{name} {} {:016x}", recording.len(), recording.hash());
        assert!(
            ON_RECORD.lines().any(|l| l == line),
            "not on record: {line}"
        );
    }
    assert!(ON_RECORD.lines().count() >= LESSONS.len());
}
