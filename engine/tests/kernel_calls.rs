//! Random sequences of calls: the same results from the model and the real kernel.

mod kernel_ops;
mod oracle;

use kernel_ops::run;

/// The model says what the kernel does.
#[test]
fn model_and_kernel() {
    if let Err(why) = oracle::available() {
        return oracle::skipped(&why).unwrap_or(());
    }
    let cases = run::cases(31);
    let failures = run::all(&cases, run::LENGTH, run::model_and_kernel);
    assert!(failures.is_empty(), "{} failed: see above", failures.len());
}

/// fslab does what the model does, and leaves an image that e2fsck and the kernel take.
#[test]
#[ignore = "all_three has this in it; alone it is quicker to run and to shrink"]
fn fslab_alone() {
    if let Err(why) = oracle::available() {
        return oracle::skipped(&why).unwrap_or(());
    }
    let failures = run::all(&run::cases(31), run::LENGTH, run::fslab_alone);
    assert!(failures.is_empty(), "{} failed: see above", failures.len());
}

/// fslab, the kernel and the model.
#[test]
fn all_three() {
    if let Err(why) = oracle::available() {
        return oracle::skipped(&why).unwrap_or(());
    }
    let failures = run::all(&run::cases(200), run::LENGTH, run::all_three);
    assert!(failures.is_empty(), "{} failed: see above", failures.len());
}
