//! Every workload of one call: after any power cut what was made safe is there, and the
//! filesystem is whole.

#[allow(dead_code, reason = "other tests use the rest")]
mod crash_support;

use crash_support::{explored, moments, parse};
use fslab_engine::crash::one_call;

/// Broken expectations, problems and what cannot be told, of all workloads.
fn wrong(mkfs: &str, mount: &str, some: impl Fn(&str) -> bool) -> (usize, usize, Vec<String>) {
    let (mut workloads, mut states, mut wrong) = (0, 0, Vec::new());
    for w in one_call(mkfs, mount).into_iter().filter(|w| some(&w.name)) {
        workloads += 1;
        let scenario = parse(&w.text);
        let mut got_there = false;
        for moment in moments(scenario) {
            let field = explored(moment, 2000);
            states += field.states().len();
            got_there |= field.judge().given.contains_key("done");
            for v in field.verdicts() {
                if !v.is_good() {
                    wrong.push(format!("{}: {v:?}", w.name));
                }
            }
        }
        // ext3 has no fallocate (EOPNOTSUPP).
        let space = ["fallocate", "punch", "zero a range"];
        let cannot = mkfs.contains("ext3") && space.iter().any(|s| w.name.starts_with(s));
        assert!(
            got_there || cannot,
            "{} stopped on the way:\n{}",
            w.name,
            w.text
        );
    }
    (workloads, states, wrong)
}

#[test]
fn nothing_that_was_made_safe_is_lost() {
    for (mkfs, mount) in [
        ("-t ext4", ""),
        ("-t ext4 -b 1024", "data=journal"),
        ("-t ext3", ""),
    ] {
        let (workloads, states, wrong) = wrong(mkfs, mount, |_| true);
        println!(
            "{mkfs} {mount}: {workloads} workloads, {states} states, {} wrong",
            wrong.len()
        );
        assert!(workloads > 100);
        assert_eq!(wrong, Vec::<String>::new(), "{mkfs} {mount}");
    }
}

/// The same on a drive that says that a flush is done when it is not: something is lost, so
/// the test can fail.
#[test]
fn a_drive_that_lies_loses_what_was_made_safe() {
    let lies = |mut text: String| {
        text = text.replacen("[run]", "[crash]\nflush = \"ignored\"\n[run]", 1);
        text
    };
    let mut lost = 0;
    for w in one_call("-t ext4", "") {
        if !w.name.starts_with("create and write /bar") {
            continue;
        }
        for moment in moments(parse(&lies(w.text))) {
            let field = explored(moment, 500);
            lost += field
                .verdicts()
                .iter()
                .filter(|v| !v.broken.is_empty())
                .count();
        }
    }
    assert!(lost > 0);
}
