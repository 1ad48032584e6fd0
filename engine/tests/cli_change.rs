//! The commands that change an image, judged by e2fsprogs: contents by debugfs, the whole
//! by e2fsck.

mod oracle;

use oracle::{Debugfs, available, fsck, skipped};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Image {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl Image {
    fn new(kind: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        let image = Self { _dir: dir, path };
        let mut args: Vec<&str> = vec!["mkfs", "-q"];
        args.extend(kind);
        let path = image.path.to_str().unwrap().to_string();
        args.extend([path.as_str(), "16M"]);
        let made = run(&args, b"");
        assert!(made.status.success(), "{made:?}");
        image
    }

    /// A command and its arguments; the image comes after the command's name.
    fn fslab(&self, args: &[&str], input: &[u8]) -> Output {
        let mut all = vec![args[0], self.path.to_str().unwrap()];
        all.extend(&args[1..]);
        run(&all, input)
    }

    fn ok(&self, args: &[&str]) {
        let out = self.fslab(args, b"");
        assert!(out.status.success(), "{args:?}: {out:?}");
    }

    fn refused(&self, args: &[&str], words: &str) {
        let before = std::fs::read(&self.path).unwrap();
        let out = self.fslab(args, b"");
        assert_eq!(out.status.code(), Some(1), "{args:?}");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(said.contains(words), "{args:?}: {said}");
        assert!(
            std::fs::read(&self.path).unwrap() == before,
            "{args:?} changed the image"
        );
    }

    fn ask(&self, question: &str) -> String {
        let answer = Debugfs::new(&self.path).ask_one(question).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn run(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fslab"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that is refused does not read what it is given.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn check(path: &Path) {
    let checked = fsck(path, 20).unwrap();
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

const KINDS: [&[&str]; 4] = [
    &["-t", "ext2", "-b", "1024"],
    &["-t", "ext3", "-b", "1024"],
    &["-t", "ext4", "-b", "1024"],
    &["-t", "ext4", "-b", "4096", "-O", "^has_journal"],
];

#[test]
fn a_tree_is_made_and_changed() {
    if let Err(why) = available() {
        return skipped(&why).unwrap_or(());
    }
    for kind in KINDS {
        let image = Image::new(kind);
        image.ok(&["mkdir", "-p", "/a/b/c"]);
        let contents: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
        let written = image.fslab(&["write", "/a/file"], &contents);
        assert!(written.status.success(), "{written:?}");
        image.fslab(&["write", "/a/file", "--append"], b"the end");
        image.fslab(&["write", "/a/file", "--at", "5"], b"HERE");
        image.ok(&["ln", "/a/file", "/a/b/hard"]);
        image.ok(&["ln", "-s", "../a/file", "/soft"]);
        image.ok(&["mv", "/a/b/hard", "/a/b/c/moved"]);
        image.ok(&["chmod", "4751", "/a/b"]);
        image.ok(&["chown", "1000:70000", "/a/b/c"]);
        image.ok(&["setfattr", "-n", "user.note", "-v", "some words", "/a/file"]);
        check(&image.path);

        let mut expected = contents.clone();
        expected[5..9].copy_from_slice(b"HERE");
        expected.extend(b"the end");
        let found = Debugfs::new(&image.path)
            .ask_one("cat /a/b/c/moved")
            .unwrap();
        assert!(found == expected, "{kind:?}");
        let stat = image.ask("stat /a/file");
        assert!(stat.contains("Links: 2"), "{stat}");
        assert!(image.ask("stat /a/b").contains("Mode:  04751"));
        let owner = image.ask("stat /a/b/c");
        assert!(owner.contains("User:  1000   Group: 70000"), "{owner}");
        assert!(
            image
                .ask("stat /soft")
                .contains("Fast link dest: \"../a/file\"")
        );
        assert!(image.ask("ea_get /a/file user.note").contains("some words"));

        image.ok(&["truncate", "-s", "1000", "/a/file"]);
        image.ok(&["setfattr", "-n", "user.note", "/a/file"]);
        image.ok(&["rm", "/soft"]);
        check(&image.path);
        assert!(image.ask("stat /a/file").contains("Size: 1000"));
        image.ok(&["rm", "-r", "/a"]);
        check(&image.path);
        let left = image.ask("ls -p /");
        assert!(
            !left.contains("/a/") && left.contains("lost+found"),
            "{left}"
        );
    }
}

#[test]
fn ranges_are_allocated_and_given_back() {
    if let Err(why) = available() {
        return skipped(&why).unwrap_or(());
    }
    let image = Image::new(KINDS[2]);
    image.ok(&["fallocate", "-l", "100000", "/f"]);
    assert!(image.ask("stat /f").contains("Size: 100000"));
    let data = vec![7; 100_000];
    image.fslab(&["write", "/f", "--at", "0"], &data);
    image.ok(&["fallocate", "-p", "-o", "10240", "-l", "20480", "/f"]);
    image.ok(&["fallocate", "-c", "-o", "40960", "-l", "10240", "/f"]);
    image.ok(&["fallocate", "-i", "-o", "1024", "-l", "2048", "/f"]);
    check(&image.path);
    // What is left: a hole of 20480 bytes, 10240 fewer bytes, then 2048 more, all zeros.
    let mut expected = data.clone();
    expected[10_240..30_720].fill(0);
    expected.drain(40_960..51_200);
    expected.splice(1024..1024, vec![0; 2048]);
    let found = Debugfs::new(&image.path).ask_one("cat /f").unwrap();
    assert!(found == expected);
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    if let Err(why) = available() {
        return skipped(&why).unwrap_or(());
    }
    let image = Image::new(KINDS[2]);
    image.ok(&["mkdir", "/d"]);
    image.ok(&["mkdir", "/d/e"]);
    image.refused(&["mkdir", "/d"], "/d: File exists");
    image.refused(&["rmdir", "/d"], "/d: Directory not empty");
    image.refused(&["rm", "/d"], "/d: Is a directory");
    image.refused(&["rm", "/none"], "/none: No such file or directory");
    image.refused(&["mv", "/d", "/d/e/f"], "/d: Invalid argument");
    image.refused(&["write", "/none/f"], "No such file or directory");
    image.refused(&["truncate", "-s", "5", "/d"], "/d: Is a directory");
    let big = vec![1; 17 << 20];
    let before = std::fs::read(&image.path).unwrap();
    let full = image.fslab(&["write", "/big"], &big);
    assert!(
        String::from_utf8_lossy(&full.stderr).contains("No space left on device"),
        "{full:?}"
    );
    assert!(std::fs::read(&image.path).unwrap() == before);
}

/// As the kernel does on the same image: a log of 1 MiB is no limit to how much is changed.
#[test]
fn a_small_journal_is_no_limit() {
    if let Err(why) = available() {
        return skipped::<()>(&why).unwrap_or(());
    }
    let image = Image::new(&["-t", "ext4", "-b", "1024"]);
    image.ok(&["mkdir", "/d"]);
    let names: Vec<String> = (0..1500)
        .map(|n| format!("/d/a_long_name_{n:05}"))
        .collect();
    let words = |command| -> Vec<&str> {
        [command]
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .collect()
    };
    image.ok(&words("mkdir"));
    assert_eq!(fsck(&image.path, 20).unwrap().code, Some(0));
    image.ok(&["rm", "-r", "/d"]);
    assert_eq!(fsck(&image.path, 20).unwrap().code, Some(0));
}

/// Files that were removed while they were open are finished off, with their time.
#[test]
fn orphans_are_deleted_with_a_time() {
    if let Err(why) = available() {
        return skipped::<()>(&why).unwrap_or(());
    }
    for kind in ["ext3", "ext4"] {
        let mut image = Image::new(&["-t", kind]);
        let copy = image.path.with_file_name("copy");
        let at = image.path.with_file_name("mount");
        std::fs::create_dir(&at).unwrap();
        let script = r#"exec 7>"$2/a" 8>"$2/b"; rm "$2/a" "$2/b"; sync -f "$2"; cp "$1" "$3"; exec 7>&- 8>&-"#;
        oracle::while_mounted(&image.path, &at, script, &[copy.as_os_str()]).unwrap();
        image.path = copy;
        image.ok(&["mkdir", "/new"]);
        let checked = fsck(&image.path, 20).unwrap();
        assert_eq!(checked.code, Some(0), "{kind}: {}", checked.output);
        let told = image.ask("show_super_stats -h");
        assert!(!told.contains("Last mount time:          n/a"), "{told}");
    }
}

/// What is in use is left alone.
#[test]
fn an_image_in_use_is_refused() {
    let image = Image::new(&["-t", "ext4"]);
    let held = std::fs::File::open(&image.path).unwrap();
    held.lock().unwrap();
    image.refused(&["mkdir", "/a"], "another command is changing it");
    held.unlock().unwrap();
    if let Err(why) = available() {
        return skipped::<()>(&why).unwrap_or(());
    }
    let at = image.path.with_file_name("mount");
    std::fs::create_dir(&at).unwrap();
    let script = format!(
        r#"! {} mkdir "$1" /a 2> "$3" && ! {} mkfs -q -t ext4 "$1" 8M 2>> "$3""#,
        env!("CARGO_BIN_EXE_fslab"),
        env!("CARGO_BIN_EXE_fslab")
    );
    let said = image.path.with_file_name("said");
    oracle::while_mounted(&image.path, &at, &script, &[said.as_os_str()]).unwrap();
    let said = std::fs::read_to_string(said).unwrap();
    assert_eq!(said.matches("may be mounted").count(), 2, "{said}");
    image.ok(&["mkdir", "/a"]);
}

#[test]
fn a_cut_image_is_not_changed() {
    let image = Image::new(&["-t", "ext4", "-b", "4096"]);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&image.path)
        .unwrap();
    file.set_len(7 << 20).unwrap();
    // 16 MiB are 4096 blocks of 4 KiB, 7 MiB are 1792.
    image.refused(
        &["mkdir", "/a"],
        "has 4096 blocks, but the device ends after 1792",
    );
}

#[test]
fn names_are_bytes_and_odd_ones_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let image = Image::new(&["-t", "ext4"]);
    let name = std::ffi::OsStr::from_bytes(b"/\xff\xfe");
    let mut mkdir = Command::new(env!("CARGO_BIN_EXE_fslab"));
    assert!(
        mkdir
            .arg("mkdir")
            .arg(&image.path)
            .arg(name)
            .status()
            .unwrap()
            .success()
    );
    let mut rmdir = Command::new(env!("CARGO_BIN_EXE_fslab"));
    assert!(
        rmdir
            .arg("rmdir")
            .arg(&image.path)
            .arg(name)
            .status()
            .unwrap()
            .success()
    );
    image.ok(&["mkdir", "/d"]);
    image.refused(&["rm", "-r", "/d/.."], "are not removed");
    // Linux takes capabilities of 20 or 24 bytes only.
    let set = ["setfattr", "-n", "security.capability", "-v", "1", "/d"];
    image.refused(&set, "Invalid argument");
    image.ok(&["write", "/f"]);
    image.ok(&["truncate", "-s", "1M", "/f"]);
    assert!(image.ask("stat /f").contains("Size: 1048576"));
}
