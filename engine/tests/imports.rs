//! What `strace` and `fio` recorded: it is imported, runs, and leaves the tree that the real
//! program left.

mod oracle;

use fslab_engine::disk::ReadAt;
use fslab_engine::ext4::read::Fs;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use fslab_engine::scenario::import::{StraceOptions, strace};
use fslab_engine::units::InodeNr;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strace")
}

fn log(name: &str) -> String {
    let packed = std::fs::File::open(folder().join(format!("{name}.log.xz"))).unwrap();
    let mut bytes = Vec::new();
    lzma_rust2::XzReader::new(packed, true)
        .read_to_end(&mut bytes)
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Path → type, mode, bytes, SHA-256 or a link's target; as `NAME.tree` has it.
type Tree = BTreeMap<String, [String; 4]>;

fn real_tree(name: &str) -> Tree {
    let text = std::fs::read_to_string(folder().join(format!("{name}.tree"))).unwrap();
    let line = |l: &str| {
        let mut parts = l.split('\t').map(str::to_owned);
        let path = parts.next()?;
        Some((
            path,
            [parts.next()?, parts.next()?, parts.next()?, parts.next()?],
        ))
    };
    text.lines().filter_map(line).collect()
}

fn simulated_tree<R: ReadAt>(medium: R) -> Tree {
    let fs = Fs::open(medium).unwrap();
    let mut tree = Tree::new();
    let mut todo = vec![(String::new(), InodeNr(2))];
    while let Some((path, nr)) = todo.pop() {
        let inode = fs.inode(nr).unwrap();
        let mode = format!("{:o}", inode.i_mode() & 0o7777);
        let entry = match inode.i_mode() & 0xF000 {
            0x4000 => {
                let (entries, problems) = fs.read_dir(&inode);
                assert_eq!(problems, []);
                for e in entries {
                    let name = String::from_utf8(e.name.to_vec()).unwrap();
                    if name != "." && name != ".." && !(path.is_empty() && name == "lost+found") {
                        let slash = if path.is_empty() { "" } else { "/" };
                        todo.push((format!("{path}{slash}{name}"), e.inode));
                    }
                }
                ["d".into(), mode, String::new(), String::new()]
            }
            0xA000 => {
                let target = fs.symlink_target(&inode).unwrap();
                let target = String::from_utf8(target.to_vec()).unwrap();
                ["l".into(), String::new(), String::new(), target]
            }
            _ => {
                let content = fs.content(&inode);
                let mut bytes = vec![0; inode.size() as usize];
                fs.read_content(&content, 0, &mut bytes).unwrap();
                [
                    "f".into(),
                    mode,
                    bytes.len().to_string(),
                    oracle::sha256(&bytes),
                ]
            }
        };
        if !path.is_empty() {
            tree.insert(path, entry);
        }
    }
    tree
}

fn run(text: &str) -> Recording {
    let scenario = Scenario::parse(text).unwrap_or_else(|e| panic!("{}", e[0]));
    let mut recording = Recording::new(Arc::new(scenario)).unwrap();
    while recording.record(100_000) {}
    recording
}

fn comes_out_as_it_was(name: &str) {
    let mut options = StraceOptions::default();
    if name == "vim" {
        // It writes to the home directory, too.
        options.root = Some(b"/tmp/rec/vim".to_vec());
    }
    let imported = strace(&log(name), &options).unwrap();
    eprintln!(
        "{name}: {} calls, skipped {:?}",
        imported.calls, imported.skipped
    );
    let recording = run(&imported.text);
    let simulated = simulated_tree(recording.head().drive().unwrap().contents().clone());
    let real = real_tree(name);
    for (path, entry) in &real {
        let (mut want, mut got) = (
            entry.clone(),
            simulated.get(path).cloned().unwrap_or_default(),
        );
        if imported.unknown > 0 && want[0] == "f" {
            // `copy_file_range` moves bytes that no log shows; how many it does.
            (want[3], got[3]) = Default::default();
        }
        assert_eq!(got, want, "{name}: {path}\n{}", imported.text);
    }
    // Only cp of coreutils 9 copies so.
    let unknown = imported.unknown;
    assert_eq!(unknown > 0, name == "cp", "{name}: {unknown} unknown");
    let more: Vec<&String> = simulated
        .keys()
        .filter(|p| !real.contains_key(*p))
        .collect();
    assert!(more.is_empty(), "{name}: {more:?} are not in the real tree");
}

#[test]
fn cp_comes_out_as_it_was() {
    comes_out_as_it_was("cp");
}

#[test]
fn tar_comes_out_as_it_was() {
    comes_out_as_it_was("tar");
}

#[test]
fn dd_comes_out_as_it_was() {
    comes_out_as_it_was("dd");
}

#[test]
fn git_comes_out_as_it_was() {
    comes_out_as_it_was("git");
}

#[test]
fn sqlite_comes_out_as_it_was() {
    comes_out_as_it_was("sqlite");
}

#[test]
fn sqlite_with_a_write_ahead_log_comes_out_as_it_was() {
    comes_out_as_it_was("sqlitewal");
}

#[test]
fn vim_comes_out_as_it_was() {
    comes_out_as_it_was("vim");
}

#[test]
fn rsync_comes_out_as_it_was() {
    comes_out_as_it_was("rsync");
}
