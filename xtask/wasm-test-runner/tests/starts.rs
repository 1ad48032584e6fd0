//! Also makes cargo build the runner whenever it builds the tests.

use std::process::Command;

#[test]
fn the_runner_starts() {
    let output = Command::new(env!("CARGO_BIN_EXE_wasm-test-runner"))
        .arg("--help")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
