//! What only the mounted kernel can do: small Python programs, each in a mount
//! namespace of its own, so that whatever happens nothing stays mounted.

use super::tools::{limited, succeed};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The programs' text: what they make depends on it.
pub const SOURCES: [&str; 7] = [
    include_str!("py/common.py"),
    include_str!("py/fill.py"),
    include_str!("py/fill_more.py"),
    include_str!("py/walk.py"),
    include_str!("py/busy.py"),
    include_str!("py/with_loop.py"),
    include_str!("py/replay.py"),
];

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/oracle/py")
        .join(name)
}

/// Runs one of the programs on a request and reads its answer.
pub fn ask<T: DeserializeOwned>(name: &str, request: &Value) -> Result<T, String> {
    let path = program(name);
    let path = path.to_str().ok_or("the checkout's path is not UTF-8")?;
    // -B: no __pycache__ in the source tree.
    let request = request.to_string();
    let words = [
        "-m",
        "--propagation",
        "private",
        "python3",
        "-B",
        path,
        &request,
    ];
    let answer = succeed(&mut limited(120, "unshare", &words))?;
    serde_json::from_slice(&answer).map_err(|error| format!("{name}: {error}"))
}
