//! Images that the real kernel filled and aged: fslab changes them, the kernel goes on.

mod kernel_ops;
mod oracle;

use kernel_ops::run;

/// Calls of a sequence, over its three parts.
const LENGTH: usize = 1200;

/// After random calls by the kernel, by fslab and by the kernel again, e2fsck finds
/// nothing, and all see what the model has.
#[test]
fn aged_images() {
    if let Err(why) = oracle::available() {
        return oracle::skipped(&why).unwrap_or(());
    }
    let failures = run::all(&run::cases(31), LENGTH, run::aged);
    assert!(failures.is_empty(), "{} failed: see above", failures.len());
}
