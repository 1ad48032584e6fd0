//! The command line against e2fsprogs, on images that mke2fs makes.

use fslab_engine::ext4::layout::Timestamp;
use fslab_engine::view::fields::time_text;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Files that every image here has, and the images themselves.
struct Bench {
    dir: tempfile::TempDir,
}

const IMAGES: &[(&str, &[&str])] = &[
    ("ext2.img", &["-t", "ext2", "-b", "1024"]),
    ("ext3.img", &["-t", "ext3", "-b", "2048", "-I", "128"]),
    ("ext4.img", &["-t", "ext4", "-b", "4096"]),
    (
        "inline.img",
        &["-t", "ext4", "-b", "1024", "-O", "inline_data", "-I", "512"],
    ),
    (
        "bigalloc.img",
        &["-t", "ext4", "-b", "4096", "-O", "bigalloc", "-C", "16384"],
    ),
];

impl Bench {
    fn new() -> Option<Self> {
        for tool in ["mke2fs", "debugfs", "dumpe2fs"] {
            if tool_output(tool, &["-V"]).is_none() {
                eprintln!("skipped: {tool} does not run here");
                return None;
            }
        }
        let bench = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        bench.fill();
        for (name, options) in IMAGES {
            let image = bench.path(name);
            let mut words: Vec<&std::ffi::OsStr> = Vec::new();
            let tree = bench.tree();
            words.extend(["-q", "-F", "-d"].map(std::ffi::OsStr::new));
            words.push(tree.as_os_str());
            words.extend(options.iter().map(std::ffi::OsStr::new));
            words.extend([image.as_os_str(), "24M".as_ref()]);
            let made = Command::new("mke2fs").args(&words).output().unwrap();
            assert!(
                made.status.success(),
                "mke2fs {words:?}: {}",
                String::from_utf8_lossy(&made.stderr)
            );
        }
        Some(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn tree(&self) -> PathBuf {
        self.path("tree")
    }

    fn fill(&self) {
        let at = |name: &str| self.tree().join(name);
        std::fs::create_dir_all(at("sub/deep")).unwrap();
        std::fs::write(at("small"), "hello\n").unwrap();
        std::fs::write(at("empty"), "").unwrap();
        let noise: Vec<u8> = (0..700_000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8)
            .collect();
        std::fs::write(at("large"), &noise).unwrap();
        let sparse = std::fs::File::create(at("sparse")).unwrap();
        for i in 0..9u64 {
            std::os::unix::fs::FileExt::write_at(&sparse, &[1; 3000], i * 500_000).unwrap();
        }
        sparse.set_len(5_000_000).unwrap();
        std::os::unix::fs::symlink("small", at("fast")).unwrap();
        std::os::unix::fs::symlink(format!("/{}", "long/".repeat(30)), at("slow")).unwrap();
        std::fs::write(at("sub/a\u{1b}[31mb\nc"), "control\n").unwrap();
        for i in 0..120 {
            std::fs::write(at(&format!("sub/deep/name-{i:03}")), format!("{i}\n")).unwrap();
        }
        std::fs::hard_link(at("small"), at("sub/again")).unwrap();
    }
}

fn tool_output(tool: &str, args: &[&str]) -> Option<Output> {
    Command::new(tool)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .ok()
}

/// What debugfs answers.
fn debugfs(image: &Path, command: &str) -> String {
    let out = tool_output("debugfs", &["-R", command, image.to_str().unwrap()]).unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn fslab<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fslab"))
        .args(args)
        .output()
        .unwrap()
}

/// Standard output of a run that went well and had nothing to complain of.
fn quiet(command: &str, image: &Path, rest: &[&str]) -> Vec<u8> {
    let mut args = vec![command, image.to_str().unwrap()];
    args.extend(rest);
    let out = fslab(&args);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() && stderr.is_empty(),
        "fslab {args:?}: {stderr}"
    );
    out.stdout
}

fn text(command: &str, image: &Path, rest: &[&str]) -> String {
    String::from_utf8(quiet(command, image, rest)).unwrap()
}

fn json(command: &str, image: &Path, rest: &[&str]) -> Value {
    let mut args = vec!["--json"];
    args.extend(rest);
    serde_json::from_slice(&quiet(command, image, &args)).unwrap()
}

/// The number after a word of `debugfs stat`, as "Links:".
fn after<'a>(text: &'a str, word: &str) -> &'a str {
    let start = text
        .find(word)
        .unwrap_or_else(|| panic!("{word} in {text}"))
        + word.len();
    text[start..].split_whitespace().next().unwrap()
}

const PATHS: &[&str] = &[
    "/small",
    "/empty",
    "/large",
    "/sparse",
    "/fast",
    "/slow",
    "/sub",
    "/sub/deep",
    "/lost+found",
];

#[test]
fn agrees_with_e2fsprogs() {
    let Some(bench) = Bench::new() else { return };
    for (name, _) in IMAGES {
        let image = bench.path(name);
        stat_as_debugfs(&image);
        list_as_debugfs(&image);
        extents_as_debugfs(&image);
        contents(&bench, &image);
        info_as_dumpe2fs(&image);
        owners_as_icheck(&image);
    }
    text_is_aligned_and_escaped(&bench.path("ext2.img"));
    exits(&bench);
    not_an_image(&bench);
    damaged(&bench);
    backups(&bench);
    packed(&bench);
}

fn stat_as_debugfs(image: &Path) {
    for path in PATHS {
        let ours = json("stat", image, &[path]);
        let theirs = debugfs(image, &format!("stat {path}"));
        assert_eq!(ours["nr"].to_string(), after(&theirs, "Inode:"));
        let mode = format!("{:04o}", ours["mode"].as_u64().unwrap() & 0o7777);
        assert_eq!(mode, after(&theirs, "Mode:"), "{path}");
        assert_eq!(
            ours["links"].to_string(),
            after(&theirs, "Links:"),
            "{path}"
        );
        assert_eq!(ours["size"].to_string(), after(&theirs, "Size:"), "{path}");
        assert_eq!(
            ours["sectors"].to_string(),
            after(&theirs, "Blockcount:"),
            "{path}"
        );
        assert_eq!(ours["uid"].to_string(), after(&theirs, "User:"), "{path}");
        let flags = &ours["fields"]
            .as_array()
            .unwrap()
            .iter()
            .find(|f| f["name"] == "i_flags")
            .unwrap()["value"];
        let flags = flags.as_str().unwrap().split(' ').next().unwrap();
        let number = |hex: &str| u32::from_str_radix(hex.trim_start_matches("0x"), 16).unwrap();
        assert_eq!(number(flags), number(after(&theirs, "Flags:")), "{path}");
        for (ours, word) in [
            (&ours["mtime"], "mtime:"),
            (&ours["ctime"], "ctime:"),
            (&ours["atime"], "atime:"),
        ] {
            // "0x6745aa00:00000000", the extra word only where the inode has one.
            let mut words = after(&theirs, word).split(':').map(number);
            let time = Timestamp::decode(words.next().unwrap(), words.next().unwrap_or(0));
            assert_eq!(ours.as_str().unwrap(), time_text(time), "{word} of {path}");
        }
        let shown = text("stat", image, &[path]);
        assert!(shown.contains("Mode") && !shown.contains('\u{1b}'));
    }
}

fn list_as_debugfs(image: &Path) {
    for dir in ["/", "/sub", "/sub/deep"] {
        let ours = json("ls", image, &[dir]);
        let mut ours: Vec<(String, String)> = ours["listings"][0]["dir"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                (
                    row["inode"].to_string(),
                    row["name"].as_str().unwrap().to_string(),
                )
            })
            .collect();
        // inode, mode (type), uid, gid, size, date, time, name; -p: /inode/mode/uid/gid/name/size/
        let theirs = debugfs(image, &format!("ls -p {dir}"));
        let mut theirs: Vec<(String, String)> = theirs
            .split("/\n")
            .filter_map(|line| {
                let cells: Vec<&str> = line.trim_start_matches('\n').split('/').collect();
                let (inode, name) = (cells.get(1)?, cells.get(5)?);
                let named = !matches!(*name, "." | "..") && *inode != "0" && !name.is_empty();
                named.then(|| {
                    (
                        inode.to_string(),
                        fslab_engine::view::escape(name.as_bytes()),
                    )
                })
            })
            .collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{dir} of {}", image.display());
    }
}

/// Each block of the file's, by debugfs's bmap.
fn extents_as_debugfs(image: &Path) {
    for path in ["/large", "/sparse", "/sub/deep"] {
        let map = json("extents", image, &[path]);
        let runs = map["runs"].as_array().unwrap();
        assert!(!runs.is_empty());
        assert_eq!(map["total_runs"].as_u64().unwrap(), runs.len() as u64);
        for run in runs {
            let n = |field: &str| run[field].as_u64().unwrap();
            for i in [0, n("len") - 1] {
                let theirs = debugfs(image, &format!("bmap {path} {}", n("lblk") + i));
                assert_eq!(
                    (n("start") + i).to_string(),
                    theirs.trim(),
                    "{path} of {}",
                    image.display()
                );
            }
        }
        let shown = text("extents", image, &[path]);
        assert_eq!(
            shown.lines().filter(|l| l.contains("  at  ")).count(),
            runs.len(),
            "{shown}"
        );
    }
    // Every node and run is told once, in a tree.
    let map = json("extents", image, &["/sparse"]);
    let nodes = map["nodes"].as_array().unwrap();
    assert_eq!(nodes[0]["parent"], Value::Null);
    assert!(nodes.iter().skip(1).all(|n| n["parent"].is_u64()));
}

fn contents(bench: &Bench, image: &Path) {
    for name in ["small", "empty", "large", "sparse"] {
        let mut expected = std::fs::read(bench.tree().join(name)).unwrap();
        // mke2fs 1.47.0 with inline_data cuts the hole off a file's end.
        if name == "sparse" && image.ends_with("inline.img") {
            let dumped = bench.path("dumped");
            debugfs(image, &format!("dump /{name} {}", dumped.display()));
            expected = std::fs::read(&dumped).unwrap();
        }
        assert!(
            quiet("cat", image, &[&format!("/{name}")]) == expected,
            "{name} of {}",
            image.display()
        );
        // Into a file, with its holes.
        let to = bench.path("out");
        let file = std::fs::File::create(&to).unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_fslab"))
            .args([
                "cat".as_ref(),
                image.as_os_str(),
                format!("/{name}").as_ref(),
            ])
            .stdout(file)
            .status()
            .unwrap();
        assert!(status.success());
        assert!(
            std::fs::read(&to).unwrap() == expected,
            "{name} of {} into a file",
            image.display()
        );
    }
    assert_eq!(
        quiet("cat", image, &["/fast"]),
        b"hello\n",
        "links are followed"
    );
    let escaped = quiet("cat", image, &["/sub/a\\x1b[31mb\\nc"]);
    assert_eq!(escaped, b"control\n", "a name as it is shown leads back");
}

fn info_as_dumpe2fs(image: &Path) {
    let ours = json("info", image, &[]);
    let theirs = tool_output("dumpe2fs", &["-h", image.to_str().unwrap()]).unwrap();
    let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let line = |name: &str| {
        let found = theirs.lines().find_map(|l| l.strip_prefix(name));
        found.unwrap_or_else(|| panic!("{name}")).trim().to_string()
    };
    assert_eq!(ours["uuid"].as_str().unwrap(), line("Filesystem UUID:"));
    for (field, name) in [
        ("blocks", "Block count:"),
        ("free_blocks", "Free blocks:"),
        ("inodes", "Inode count:"),
        ("free_inodes", "Free inodes:"),
        ("block_size", "Block size:"),
        ("first_data_block", "First block:"),
        ("inode_size", "Inode size:"),
        ("blocks_per_group", "Blocks per group:"),
    ] {
        assert_eq!(
            ours[field].to_string(),
            line(name),
            "{field} of {}",
            image.display()
        );
    }
    let features: Vec<&str> = ours["features"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f.as_str().unwrap())
        .collect();
    assert_eq!(features.join(" "), line("Filesystem features:"));
    assert_eq!(ours["state"][0], "It was cleanly unmounted");
    let groups = json("groups", image, &[]);
    let free: u64 = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["info"]["free_inodes"].as_u64().unwrap())
        .sum();
    assert_eq!(free.to_string(), line("Free inodes:"));
}

fn owners_as_icheck(image: &Path) {
    let map = json("map", image, &["--runs", "--names"]);
    let totals = map["totals"].as_object().unwrap();
    let sum: u64 = totals.values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(sum, map["blocks"].as_u64().unwrap());
    assert_eq!(totals["unowned"], 0);
    assert_eq!(totals["twice"], 0);
    assert_eq!(map["marked_free"], 0);
    let mut end = 0;
    for run in map["runs"].as_array().unwrap() {
        assert_eq!(run["start"].as_u64().unwrap(), end);
        end += run["len"].as_u64().unwrap();
        let slack = run["flags"]
            .as_array()
            .is_some_and(|f| f.contains(&"slack".into()));
        if let Some(inode) = run["inode"].as_u64().filter(|&i| i > 10 && !slack) {
            let start = run["start"].as_u64().unwrap();
            let theirs = debugfs(image, &format!("icheck {start}"));
            assert_eq!(
                after(&theirs, &format!("{start}")),
                inode.to_string(),
                "block {start}"
            );
        }
        if run["path"] == "/large" && run["kind"] == "data" {
            let start = run["start"].to_string();
            let blocks = json("blocks", image, &[&start]);
            let words = blocks["blocks"][0]["words"].as_str().unwrap();
            assert!(words.contains("of the file /large (inode "), "{words}");
        }
    }
    let lines = text("map", image, &["--runs"]);
    assert_eq!(lines.lines().count(), map["runs"].as_array().unwrap().len());
}

fn text_is_aligned_and_escaped(image: &Path) {
    let listing = text("ls", image, &["-i", "/sub"]);
    assert!(listing.contains("a\\x1b[31mb\\nc\n"), "{listing}");
    let again = listing.lines().find(|l| l.ends_with(" again")).unwrap();
    assert!(again.contains("-rw-r--r-- 2 "), "{again}");
    let all = text("ls", image, &["-R", "/"]);
    assert!(all.contains("\n/sub/deep:\n") && all.contains("name-119"));
    assert!(all.contains("fast -> small\n"));
    let superblock = text("blocks", image, &["1", "--hex"]);
    // The magic number as it stands in the bytes: at 0x38, low byte first.
    assert!(superblock.contains("s_magic") && superblock.contains("00000030"));
    assert!(
        superblock
            .lines()
            .any(|l| l.starts_with("00000030") && l.contains(" 53 ef ")),
        "{superblock}"
    );
    let found = json("search", image, &["/small"]);
    let inode = json("stat", image, &["/small"])["nr"].clone();
    assert_eq!(found["found"][0]["Inode"]["nr"], inode);
    assert_eq!(json("stat", image, &[&format!("<{inode}>")])["nr"], inode);
    let first = debugfs(image, "blocks /small").trim().to_owned();
    let owner = text("search", image, &["block", &first]);
    assert!(
        owner.contains("of the file /small"),
        "block {first}: {owner}"
    );
    let strips = text("map", image, &[]);
    assert!(strips.contains("file data") && strips.contains('|'));
    // Groups of 8192 blocks in lines of 64 letters.
    assert!(strips.contains("a letter for up to 128 blocks"), "{strips}");
    assert!(text("groups", image, &["1"]).lines().count() == 2);
}

/// A backup superblock, by wish and by need.
fn backups(bench: &Bench) {
    let image = bench.path("ext2.img");
    let info = json("info", &image, &["--superblock", "backup:1:1024"]);
    assert!(
        info["state"][0]
            .as_str()
            .unwrap()
            .contains("backup superblock of group 1")
    );
    let mut bytes = std::fs::read(&image).unwrap();
    bytes[1024..2048].fill(0);
    let broken = bench.path("broken.img");
    std::fs::write(&broken, bytes).unwrap();
    let out = fslab(&["cat", broken.to_str().unwrap(), "/small"]);
    assert_eq!(out.stdout, b"hello\n");
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() && stderr.contains("The superblock has magic 0x0"),
        "{stderr}"
    );
}

/// Exit codes, and the sentence that comes with them.
fn exits(bench: &Bench) {
    let image = bench.path("ext4.img");
    let image = image.to_str().unwrap();
    let ext2 = bench.path("ext2.img");
    let absent = bench.path("absent");
    let nothing = bench.path("nothing");
    std::fs::write(&nothing, "").unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["info"], 2, "Usage"),
        (&["frobnicate", image], 2, "unrecognized"),
        (&["info", "/no/such/image"], 1, "No such file"),
        (&["info", nothing.to_str().unwrap()], 1, "no bytes"),
        (&["cat", image, "/nothing"], 1, "there is no nothing in /\n"),
        (
            &["stat", image, "/sub/deep/nothing/x"],
            1,
            "there is no nothing in /sub/deep\n",
        ),
        (&["cat", image, "/small/x"], 1, ": /small is not a dir"),
        (&["cat", image, "/fast/x/y"], 1, ": /small is not a dir"),
        (&["stat", image, "/empty/.."], 1, ": /empty is not a dir"),
        (
            &["search", image, "/sub/../sub/again/x"],
            1,
            ": /sub/again is not a dir",
        ),
        (&["cat", image, "/sub"], 1, "directory"),
        (&["stat", image, "<99999999>"], 1, "outside the filesystem"),
        (&["blocks", image, "99999999"], 1, "outside the filesystem"),
        (&["blocks", image, "5-3"], 2, "5 is past 3"),
        (&["blocks", image, "0-4096"], 1, "4097 blocks are more"),
        (&["groups", image, "99"], 1, "outside the filesystem"),
        (&["search", image, "what?"], 1, "is no path"),
        (
            &["info", image, "--superblock", "backup:1:4096"],
            1,
            "backup superblock",
        ),
        (&["journal", ext2.to_str().unwrap()], 1, "no journal"),
        (&["mkfs", absent.to_str().unwrap()], 1, "say how large"),
    ];
    for (args, code, words) in cases {
        let out = fslab(args);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(*code), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
        assert!(out.stdout.is_empty(), "{args:?}");
    }
    closed_pipe(image);
}

/// What cannot be read here and there is refused, without waiting for a pipe's other end.
fn not_an_image(bench: &Bench) {
    let pipe = bench.path("pipe");
    if tool_output("mkfifo", &[pipe.to_str().unwrap()]).is_none_or(|o| !o.status.success()) {
        eprintln!("skipped: mkfifo does not run here");
        return;
    }
    for (path, words) in [(pipe, "this is a pipe"), (bench.tree(), "a directory")] {
        let out = fslab(&["info", path.to_str().unwrap()]);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1));
        assert!(stderr.contains(words), "{stderr}");
    }
    // A name that is not UTF-8.
    let odd: std::ffi::OsString =
        std::os::unix::ffi::OsStringExt::from_vec(b"bad\xffname.img".to_vec());
    let odd = bench.dir.path().join(odd);
    if std::fs::copy(bench.path("ext4.img"), &odd).is_ok() {
        let out = fslab(&["cat".as_ref(), odd.as_os_str(), "/small".as_ref()]);
        assert_eq!(out.stdout, b"hello\n");
    }
}

/// A file whose only extent leads out of the filesystem, and one past the image's end.
fn damaged(bench: &Bench) {
    let image = bench.path("damaged.img");
    std::fs::copy(bench.path("ext4.img"), &image).unwrap();
    let block: u64 = debugfs(&image, "bmap /large 100").trim().parse().unwrap();
    // ee_start_lo of the first extent, by debugfs, which mends the inode's checksum.
    let script = "set_inode_field /small block[5] 0xfffff000";
    let set = tool_output("debugfs", &["-w", "-R", script, image.to_str().unwrap()]).unwrap();
    assert!(set.status.success());
    let out = fslab(&["cat", image.to_str().unwrap(), "/small"]);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{stderr}");
    assert_eq!(out.stdout, [0; 6]);
    assert!(stderr.contains("is damaged"), "{stderr}");
    let stat = fslab(&["stat", "--json", image.to_str().unwrap(), "/small"]);
    let stat: Value = serde_json::from_slice(&stat.stdout).unwrap();
    let words = stat["words"].as_str().unwrap();
    assert!(words.contains("Its map is damaged"), "{words}");
    assert!(!words.contains("No block is allocated"), "{words}");

    let file = std::fs::File::options().write(true).open(&image).unwrap();
    file.set_len(block * 4096).unwrap();
    let out = fslab(&["cat", image.to_str().unwrap(), "/large"]);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{stderr}");
    let mut expected = std::fs::read(bench.tree().join("large")).unwrap();
    expected[100 * 4096..].fill(0);
    assert!(out.stdout == expected, "{stderr}");
    // 700,000 bytes are 171 blocks, of which 100 are left.
    assert!(stderr.contains("71 blocks of inode"), "{stderr}");
}

/// A reader that goes away is nothing to complain of.
fn closed_pipe(image: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fslab"))
        .args(["cat", image, "/large"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    assert!(
        out.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

/// A disk with partitions, and a compressed image.
fn packed(bench: &Bench) {
    let fs = std::fs::read(bench.path("ext3.img")).unwrap();
    let disk = |types: &[u8]| {
        let mut disk = vec![0; 1 << 20];
        for (i, kind) in types.iter().enumerate() {
            let start = disk.len();
            let entry = &mut disk[446 + i * 16..446 + (i + 1) * 16];
            entry[4] = *kind;
            entry[8..12].copy_from_slice(&((start / 512) as u32).to_le_bytes());
            entry[12..16].copy_from_slice(&((fs.len() / 512) as u32).to_le_bytes());
            disk.extend_from_slice(&fs);
        }
        disk[510..512].copy_from_slice(&[0x55, 0xAA]);
        disk
    };
    let one = bench.path("one.disk");
    std::fs::write(&one, disk(&[0x83])).unwrap();
    let out = fslab(&["cat", one.to_str().unwrap(), "/small"]);
    assert_eq!(out.stdout, b"hello\n");
    assert!(String::from_utf8_lossy(&out.stderr).contains("partition 1 is the only one"));

    let two = bench.path("two.disk");
    std::fs::write(&two, disk(&[0x83, 0x83])).unwrap();
    let out = fslab(&["cat", two.to_str().unwrap(), "/small"]);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        stderr.contains("2 of its partitions") && stderr.contains(":1"),
        "{stderr}"
    );
    let info = fslab(&["info", two.to_str().unwrap()]);
    let shown = String::from_utf8_lossy(&info.stdout);
    assert!(info.status.success());
    assert_eq!(shown.matches("an ext3 filesystem").count(), 2, "{shown}");
    let info: Value =
        serde_json::from_slice(&fslab(&["info", "--json", two.to_str().unwrap()]).stdout).unwrap();
    assert_eq!(info["partitions"][1]["number"], 2);
    assert_eq!(info["partitions"][1]["ext"], true);
    let second = format!("{}:2", two.display());
    assert_eq!(quiet("cat", Path::new(&second), &["/small"]), b"hello\n");
    let third = fslab(&["info", &format!("{}:3", two.display())]);
    assert_eq!(third.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&third.stderr).contains("no partition 3"));
    // A file whose own name ends like that comes first.
    let odd = bench.path("odd:2");
    std::fs::copy(bench.path("ext4.img"), &odd).unwrap();
    assert_eq!(quiet("cat", &odd, &["/small"]), b"hello\n");

    let packed = bench.path("ext2.img.gz");
    let file = std::fs::File::create(&packed).unwrap();
    let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &std::fs::read(bench.path("ext2.img")).unwrap()).unwrap();
    gz.finish().unwrap();
    let out = fslab(&["cat", packed.to_str().unwrap(), "/small"]);
    assert_eq!(out.stdout, b"hello\n");
    assert!(String::from_utf8_lossy(&out.stderr).contains("gzip"));
}

/// With debugfs's own journal writer, a journal that wants a replay.
#[test]
fn journal_and_replay() {
    let Some(bench) = Bench::new() else { return };
    let image = bench.path("ext4.img");
    let nr: u64 = debugfs(&image, "bmap /small 0").trim().parse().unwrap();
    // Without metadata checksums in the way: a data block is logged, as data=journal does.
    let new = bench.path("new-block");
    let mut bytes = vec![0; 4096];
    bytes[..6].copy_from_slice(b"HELLO\n");
    std::fs::write(&new, &bytes).unwrap();
    let script = bench.path("script");
    std::fs::write(&script, format!("jo\njw -b {nr} {}\njc\n", new.display())).unwrap();
    let out = tool_output(
        "debugfs",
        &[
            "-w",
            "-f",
            script.to_str().unwrap(),
            image.to_str().unwrap(),
        ],
    )
    .unwrap();
    assert!(out.status.success());
    let view = json("journal", &image, &[]);
    let rows = view["transactions"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{view}");
    let homes: Vec<u64> = rows[0]["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|b| b["home"].as_u64())
        .collect();
    assert_eq!(homes, [nr]);
    assert_eq!(quiet("cat", &image, &["/small"]), b"hello\n");
    let replayed = fslab(&["cat", image.to_str().unwrap(), "/small", "--replayed"]);
    assert_eq!(replayed.stdout, b"HELLO\n");
    let stderr = String::from_utf8_lossy(&replayed.stderr);
    assert!(stderr.contains("with 1 block changed"), "{stderr}");
    let shown = text("journal", &image, &["--blocks"]);
    assert!(shown.contains(&format!("copy of block {nr}, ")), "{shown}");
    let after = fslab(&["info", "--json", image.to_str().unwrap(), "--replayed"]);
    let after: Value = serde_json::from_slice(&after.stdout).unwrap();
    let state = after["state"].to_string();
    assert!(state.contains("replay would leave it"), "{state}");
    assert!(!state.contains("before that"), "{state}");
    let copies = text("journal", &image, &["--block", &nr.to_string(), "--fields"]);
    assert!(
        copies.contains("which a replay would write home"),
        "{copies}"
    );
    let info = json("info", &image, &[]);
    assert!(info["state"][0].as_str().unwrap().contains("replay"));
}
