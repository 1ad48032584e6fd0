//! What mke2fs refuses or warns of, and in which words.

use super::{fslab, name, run};
use std::path::Path;

/// Options and sizes that `mke2fs -n` refuses.
pub const REFUSED: &[(&str, &str)] = &[
    ("-t ext4 -E resize=1000000,desc_size=64", "64M"),
    ("-E resize=1000000,desc_size=64", "64M"),
    ("-b 1000", "64M"),
    ("-b 512", "64M"),
    ("-b 131072", "64M"),
    ("-b x", "64M"),
    ("-C 1024", "64M"),
    ("-t ext4 -O bigalloc -C 1024", "64M"),
    ("-t ext4 -O bigalloc -C 2048 -b 4096", "64M"),
    ("-t ext4 -O bigalloc -C 1g", "64M"),
    ("-C 16384", "64M"),
    ("-t ext4 -O bigalloc,^extent,^64bit", "64M"),
    ("-g 100", "64M"),
    ("-g 1001", "64M"),
    ("-g 128", "64M"),
    ("-g 100000", "64M"),
    ("-g x", "64M"),
    ("-t ext4 -g 32768 -b 1024", "64M"),
    ("-G 3 -t ext4", "64M"),
    ("-G 0 -t ext4", "64M"),
    ("-G x -t ext4", "64M"),
    ("-G 16", "64M"),
    ("-t ext4 -O ^flex_bg -G 16", "64M"),
    ("-i 100", "64M"),
    ("-i 100000000", "64M"),
    ("-i x", "64M"),
    ("-I 100", "64M"),
    ("-I 192", "64M"),
    ("-I 64", "64M"),
    ("-I 8192", "64M"),
    ("-I x", "64M"),
    ("-I 128 -O inline_data", "64M"),
    ("-I 128 -O project", "64M"),
    ("-N x", "64M"),
    ("-N 5000000000", "64M"),
    ("-N 1000000", "64M"),
    ("-N 4000000000", "64M"),
    ("-m 60", "64M"),
    ("-m -1", "64M"),
    ("-m x", "64M"),
    ("-O foo", "64M"),
    ("-O ^foo", "64M"),
    ("-O recover", "64M"),
    ("-O ^metadata_csum,extent,foo", "64M"),
    ("-r 2", "64M"),
    ("-r x", "64M"),
    ("-r 0 -O extent", "64M"),
    ("-r 0 -j", "64M"),
    ("-r 0 -E resize=1000000", "64M"),
    ("-t ext4 -O ^extent", "64M"),
    ("-O 64bit", "64M"),
    ("-t ext4 -O meta_bg", "64M"),
    ("-t ext4 -O ^sparse_super", "64M"),
    ("-t ext4 -O ^metadata_csum,metadata_csum_seed", "64M"),
    ("-E resize=100", "64M"),
    ("-E resize=x", "64M"),
    ("-E resize", "64M"),
    ("-E num_backup_sb=3", "64M"),
    ("-E num_backup_sb=3 -O sparse_super2", "64M"),
    ("-E foo=1", "64M"),
    ("-E stride=x", "64M"),
    ("-E stride", "64M"),
    ("-E stripe-width=x", "64M"),
    ("-E hash_seed=x", "64M"),
    ("-E root_owner=x", "64M"),
    ("-E root_owner=1:y", "64M"),
    ("-E mmp_update_interval=x", "64M"),
    ("-E quotatype=foo", "64M"),
    ("-E quotatype=usrquota:foo -O quota", "64M"),
    ("-E encoding=foo", "64M"),
    ("-E encoding_flags=strict", "64M"),
    ("-E encoding=utf8,encoding_flags=foo", "64M"),
    ("-E desc_size=64", "64M"),
    ("-t ext4 -E desc_size=100", "64M"),
    ("-E offset=x", "64M"),
    ("-E orphan_file_size=x -t ext4 -O orphan_file", "64M"),
    ("-J size=x", "64M"),
    ("-J size=100", "64M"),
    ("-J foo=1", "64M"),
    ("-J size", "64M"),
    ("-t ext2", "20k"),
    ("-t ext2", "8k"),
    ("-t ext2", "1k"),
    ("-t ext2", "0"),
    ("-t ext2", "x"),
    ("-t ext2", "64Q"),
    ("-t ext2", "64.5M"),
    ("-t ext2", "20T"),
    ("-t ext4", "2E"),
    ("-t ext4 -t ext4", "64M"),
    ("-T news -T small", "64M"),
    ("-U x", "64M"),
    ("-e foo", "64M"),
    ("-o foo", "64M"),
    ("-t ext4 -I 4096 -N 1000000", "2G"),
    ("-b -512", "64M"),
    ("-b -1", "64M"),
    ("-C -5 -t ext4 -O bigalloc", "64M"),
    ("-N -5", "64M"),
    ("-s 0", "64M"),
    ("-J size=4 -b 4096 -J size=1", "64M"),
    ("-O none,extra", "64M"),
    ("-E stride=4,foo", "64M"),
    ("-E offset=1x", "64M"),
    ("-t ext4 -O bigalloc -g 100000", "64M"),
    ("-t ext4 -E desc_size=x", "64M"),
    ("-J device=/nowhere/at/all", "64M"),
    ("-G 12 -G 7 -t ext4", "64M"),
];

/// What it refuses only when it is to write.
pub const REFUSED_LATER: &[(&str, &str)] = &[
    ("-t ext2 -b 1024 -I 1024 -N 1", "8M"),
    ("-E mmp_update_interval=1000 -O mmp", "64M"),
    ("-t ext4 -O orphan_file,^has_journal", "64M"),
    ("-t ext2 -O orphan_file", "64M"),
    ("-t ext4 -O orphan_file -E orphan_file_size=1000M", "64M"),
    ("-t ext4 -O orphan_file -E orphan_file_size=100000", "64M"),
    (
        "-t ext4 -b 4096 -O fast_commit -J size=1,fast_commit_size=4000",
        "64M",
    ),
    ("-t ext4", "60k"),
    ("-t ext4", "100k"),
];

/// What it warns of, and goes on.
pub const WARNED: &[(&str, &str)] = &[
    ("-b 8192", "64M"),
    ("-b 16384", "64M"),
    ("-E stride=16,stripe-width=24", "64M"),
    ("-j", "1M"),
    ("-t ext4", "200k"),
    ("-t ext5", "64M"),
    ("-T foo", "64M"),
    ("-L aaaaaaaaaaaaaaaaaaaaaaaaaaa", "64M"),
    ("-K", "64M"),
    ("-R stride=4", "64M"),
];

/// Odd, and taken without a word.
pub const TAKEN: &[(&str, &str)] = &[
    ("-b 3000", "64M"),
    ("-b 1k", "64M"),
    ("-b -2048", "64M"),
    ("-t ext4 -O bigalloc -C 5000", "64M"),
    ("-i 4k", "64M"),
    ("-r 0 -t ext4", "64M"),
    ("-r 0 -t ext3", "64M"),
    ("-E root_owner", "64M"),
    ("-E quotatype=prjquota", "64M"),
    ("-E encoding=utf8", "64M"),
    ("-E encoding=utf8-12.1,encoding_flags=strict", "64M"),
    ("-t ext4 -E desc_size=128", "64M"),
    ("-t ext4 -E desc_size=64,resize=1000000", "64M"),
    ("-E offset=1048576", "64M"),
    ("-E orphan_file_size=1M -t ext4 -O orphan_file", "64M"),
    ("-E orphan_file_size=1000M -t ext4 -O orphan_file", "64M"),
    ("-E orphan_file_size=1M -t ext4", "64M"),
    ("-E assume_storage_prezeroed=1", "64M"),
    ("-E discard,nodiscard", "64M"),
    ("-J size=0", "64M"),
    ("-J size=1", "64M"),
    ("-J size=4,location=x", "64M"),
    ("-J location=1000000000", "64M"),
    ("-J fast_commit_size=4", "64M"),
    ("-j", "100M"),
    ("-t ext2", "16385s"),
    ("-T news,largefile", "64M"),
    ("-U clear", "64M"),
    ("-U null", "64M"),
    ("-U time", "64M"),
    ("-U random", "64M"),
    (
        "-M aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "64M",
    ),
    ("-o freebsd", "64M"),
    ("-s 1", "64M"),
    ("-D", "64M"),
    ("-E stride=70000", "64M"),
    ("-E stripe_width=5", "64M"),
    ("-E test_fs", "64M"),
    ("-E lazy_itable_init=x", "64M"),
    ("-E lazy_itable_init", "64M"),
    ("-t ext4 -b 1024 -O ^resize_inode,^flex_bg -N 4000000", "1G"),
    ("-g 256 -b 1024", "64M"),
    ("-t ext4 -g 256 -b 4096", "64M"),
    ("-O quota", "64M"),
    ("-O quota,project -t ext4", "64M"),
];

/// Words without what differs by program and file.
fn words(said: &str, file: &Path) -> String {
    let said = said.replace(name(file), "FILE");
    let mut all: Vec<&str> = said.split_whitespace().collect();
    all.retain(|word| !["mke2fs:", "fslab:", "FILE:", "FILE"].contains(word));
    let all = all.join(" ");
    // What follows is what would be made, or help.
    let ends = [" Bad option(s) specified:", "Creating filesystem", "Usage:"];
    let end = ends.iter().filter_map(|end| all.find(end)).min();
    let said = &all[..end.unwrap_or(all.len())];
    said.trim_end_matches([' ', '.']).to_string()
}

/// What both say of a row: whether they take it, and their words.
pub fn both(row: &(&str, &str), dry: bool, folder: &Path) -> ((bool, String), (bool, String)) {
    // mke2fs -n wants the file to be there.
    let file = folder.join("image");
    std::fs::write(&file, b"").unwrap();
    let mut args = vec!["-q", "-F"];
    args.extend(dry.then_some("-n"));
    args.extend(row.0.split(' ').filter(|word| !word.is_empty()));
    args.extend([name(&file), row.1]);
    let args: Vec<String> = args.into_iter().map(str::to_string).collect();
    let theirs = run("mke2fs", &args);
    std::fs::write(&file, b"").unwrap();
    let ours = fslab(&args);
    let result = |done: &std::process::Output| {
        // Warnings first, then what would be made.
        let both = [&done.stderr[..], &done.stdout[..]].concat();
        let said = words(&String::from_utf8_lossy(&both), &file);
        (done.status.success(), said)
    };
    (result(&theirs), result(&ours))
}
