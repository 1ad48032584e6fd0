use super::*;
use crate::scenario::Scenario;
use proptest::prelude::*;

fn import(job: &str) -> Imported {
    fio(job, &FioOptions::default()).unwrap_or_else(|e| panic!("{e}\n{job}"))
}

/// The lines of the program, without their indents.
fn program(job: &str) -> Vec<String> {
    let imported = import(job);
    if let Err(e) = Scenario::parse(&imported.text) {
        panic!("{}\n{}", e[0], imported.text);
    }
    imported.text.lines().map(|l| l.trim().to_owned()).collect()
}

fn has(job: &str, line: &str) {
    let lines = program(job);
    assert!(lines.iter().any(|l| l == line), "{line}\n{lines:#?}");
}

#[test]
fn jobs_become_calls() {
    let plain = "[global]\nrw=write\nsize=1m\n";
    has(
        &format!("{plain}[a]\nbs=64k"),
        "must(pwrite(fd, data(64k), n * 64k))",
    );
    has(&format!("{plain}[a]\nbs=64k"), "for n in range(16) {");
    has(
        &format!("{plain}[a]"),
        "fd = must(open(\"/a.0.0\", O_WRONLY | O_CREAT))",
    );
    // As `fallocate=native` has it, which is usual.
    has(&format!("{plain}[a]"), "must(fallocate(fd, 0, 0, 1M))");
    has(
        &format!("{plain}[a]\nfallocate=keep"),
        "must(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1M))",
    );
    has(
        &format!("{plain}[a]\ndirect=1\nsync=1"),
        "fd = must(open(\"/a.0.0\", O_WRONLY | O_DIRECT | O_SYNC))",
    );
    has(&format!("{plain}[a]\nfsync=8"), "if n % 8 == 7 {");
    has(
        &format!("{plain}[a]\ndirectory=/mnt/x"),
        "mkdir(\"/mnt/x\")",
    );
    has(
        &format!("{plain}[a]\nfilename=x:y"),
        "must(pwrite(fds[n % 2], data(4k), (n / 2) * 4k))",
    );
    has(
        &format!("{plain}[a]\noverwrite=1"),
        "must(pwrite(fd, data(min(1M, 1M - at)), at))",
    );
    has(&format!("{plain}[a]\nthinktime=5ms"), "sleep(5ms)");
    has(&format!("{plain}[a]\nnumjobs=3"), "name = \"a.2\"");
    has(
        &format!("{plain}[a]\nrw=randwrite\nnorandommap"),
        "block = random(256)",
    );
    has(
        &format!("{plain}[a]\nrw=randwrite\nrandom_distribution=zipf:1.2"),
        "block = zipf(256, 120) * 40503 % 256",
    );
    has(
        &format!("{plain}[a]\nrw=randrw\nrwmixread=70"),
        "if random(100) < 70 {",
    );
    has(
        &format!("{plain}[a]\ntime_based\nruntime=2m"),
        "while now() - began < 120s {",
    );
    has(&format!("{plain}randseed=7\n[a]"), "seed = 7");
}

#[test]
fn jobs_that_wait_for_one_another_are_one_program() {
    let job = "[global]\nrw=write\nsize=64k\n[a]\n[b]\nstonewall\n";
    let lines = program(job);
    assert_eq!(lines.iter().filter(|l| *l == "[[process]]").count(), 1);
    assert!(import(job).skipped.is_empty());
    // Among several copies they cannot wait, which is said.
    let many = import(&format!("{job}numjobs=2\n"));
    assert_eq!(many.skipped.len(), 1);
    assert_eq!(many.text.matches("[[process]]").count(), 3);
}

#[test]
fn what_cannot_be_carried_over_is_listed() {
    let job = "[a]\nrw=write\nsize=64k\niodepth=32\nioengine=libaio\nramp_time=5\nsurprise=1\ngroup_reporting\n";
    let imported = import(job);
    let lines: Vec<u64> = imported.skipped.iter().map(|s| s.line).collect();
    assert_eq!(lines, [4, 5, 6, 7]);
    assert_eq!(
        imported.ignored.keys().collect::<Vec<_>>(),
        ["group_reporting"]
    );
}

#[test]
fn what_is_wrong_is_told_by_line() {
    let says = |job: &str| fio(job, &FioOptions::default()).unwrap_err().to_string();
    let cases = [
        (
            "",
            "there is no job in this file; a job is a section [name] with rw= and size=",
        ),
        (
            "rw=write\n",
            "line 1: this stands in no section; the first line is [global] or a job's [name]",
        ),
        (
            "[a]\nrw=write\n",
            "line 1: job [a] needs size=: nothing is there to take it from",
        ),
        (
            "[a]\nrw=rite\n",
            "line 2: rw is read, write, randread, randwrite, rw or randrw, not \"rite\"",
        ),
        (
            "[a]\nsize=4q\n",
            "line 2: size needs a number of bytes up to 16T, as in 4k or 1g, not \"4q\"",
        ),
        (
            "[a]\nsize=1m\ninclude x.fio\n",
            "line 3: include names another file, which is not read: put its lines here",
        ),
        (
            "[a]\nsize=1m\nnumjobs=1000\n",
            "line 3: numjobs needs a number from 1 to 64, not \"1000\"",
        ),
        (
            "[a]\nsize=1m\nfilename=/dev/sda\n",
            "line 1: job [a]: devices cannot be read or written: only files",
        ),
        (
            "[a]\nsize=1k\n",
            "line 1: job [a]: a file is smaller than a block",
        ),
    ];
    for (job, words) in cases {
        assert_eq!(says(job), words);
    }
}

/// A permutation, as the comment in `each_once` has it, at a small size.
#[test]
fn numbers_below_a_power_of_two_come_each_once() {
    for bits in 2..14u32 {
        let all = 1u64 << bits;
        let mut seen = vec![false; all as usize];
        let mut x = 3 % all;
        for _ in 0..all {
            x = (x * 1_103_515_245 + 12_345) % all;
            let block = (x ^ (x >> (bits / 2))) as usize;
            assert!(!std::mem::replace(&mut seen[block], true));
        }
    }
}

proptest! {
    /// Settings in any order and of any value give a scenario that can be read, or a sentence.
    #[test]
    fn any_job_is_imported_or_refused(lines in prop::collection::vec(line(), 0..14), name in "[a-z\\]'\"\\\\{]{1,4}") {
        let job = format!("[global]\n{}\n[{name}]\n{}", lines[..lines.len() / 2].join("\n"), lines[lines.len() / 2..].join("\n"));
        if let Ok(imported) = fio(&job, &FioOptions::default()) {
            let read = Scenario::parse(&imported.text);
            prop_assert!(read.is_ok(), "{}\n{}", read.unwrap_err()[0], imported.text);
        }
    }

    #[test]
    fn any_text_is_imported_or_refused(text in any::<String>()) {
        let _ = fio(&text, &FioOptions::default());
    }
}

fn line() -> impl Strategy<Value = String> {
    let keys = vec![
        "rw",
        "bs",
        "size",
        "filesize",
        "nrfiles",
        "filename",
        "directory",
        "numjobs",
        "fsync",
        "fdatasync",
        "direct",
        "sync",
        "end_fsync",
        "fallocate",
        "overwrite",
        "ioengine",
        "iodepth",
        "rate",
        "runtime",
        "time_based",
        "loops",
        "offset",
        "randseed",
        "random_distribution",
        "rwmixread",
        "thinktime",
        "stonewall",
        "io_size",
        "unlink",
        "norandommap",
        "startdelay",
        "thinktime_blocks",
        "unheard_of",
    ];
    let values = vec![
        "randwrite",
        "randrw",
        "rw",
        "write",
        "read",
        "4k",
        "1m",
        "8g",
        "64k,4k",
        "16",
        "1",
        "0",
        "2",
        "3",
        "zipf:0.9",
        "none",
        "keep",
        "/x/y",
        "a:b:c",
        "10s",
        "5ms",
        "99999999999999999999",
        "-1",
        "50%",
        "",
        "'''",
        "\"",
    ];
    let sensible = prop::sample::select(vec![
        "size=8m",
        "rw=randrw",
        "rw=randwrite",
        "size=3g",
        "bs=4k",
        "filesize=1m",
    ]);
    prop_oneof![
        2 => (prop::sample::select(keys), prop::sample::select(values)).prop_map(|(k, v)| format!("{k}={v}")),
        2 => sensible.prop_map(String::from),
    ]
}
