//! Every kind of failure that other readers of ext4 are known for, each with an image
//! made for it: what must open opens, what can be read is read right, damage is said,
//! and everything ends. (Replays of the journals among them: `journal.rs`. Kinds that a
//! recipe shows: `truth.rs`.)

mod exercise;
mod oracle;

use fslab_engine::disk::FileReader;
use fslab_engine::ext4::layout::FileType;
use fslab_engine::ext4::read::Fs;
use oracle::special::{Found, Maker, SPECIALS, SpecialImage, special};

type Reader = Fs<FileReader>;

#[test]
fn every_known_failure_of_readers() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for kind in SPECIALS
        .iter()
        .filter(|s| matches!(s.maker, Maker::Built(_)))
    {
        let Some(Found::Built(image)) = special(kind) else {
            continue;
        };
        looked_at += 1;
        let flaws = check(&image).into_iter();
        wrong.extend(flaws.map(|flaw| format!("{} ({}): {flaw}", kind.name, kind.failure)));
    }
    eprintln!("{looked_at} special images were looked at");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn check(image: &SpecialImage) -> Vec<String> {
    let medium = FileReader::open(&image.path).unwrap();
    let expect = &image.expect;
    let fs = match (Fs::open(medium), expect.opens) {
        (Ok(_), Some(false)) => return vec!["opens, but must not".into()],
        (Err(e), Some(true)) => return vec![format!("does not open: {e}")],
        (Err(e), _) => {
            assert!(e.to_string().len() > 20, "{e} is no sentence");
            return Vec::new();
        }
        (Ok(fs), _) => fs,
    };
    let mut wrong = Vec::new();
    for (path, sha256) in &expect.contents {
        match contents(&fs, path) {
            Ok((bytes, problems)) if oracle::sha256(&bytes) == *sha256 && problems.is_empty() => {}
            Ok((bytes, problems)) => {
                wrong.push(format!(
                    "{path:?} reads as other {} bytes; {problems:?}",
                    bytes.len()
                ));
            }
            Err(e) => wrong.push(format!("{path:?} cannot be read: {e}")),
        }
    }
    for path in &expect.damaged {
        if let Ok((_, problems)) = contents(&fs, path)
            && problems.is_empty()
            && xattr_problems(&fs, path).is_empty()
        {
            wrong.push(format!("{path:?} is read without a word on its damage"));
        }
    }
    for path in &expect.tolerated {
        let _ = contents(&fs, path);
    }
    if fs.geometry().blocks < 1 << 24 {
        let medium = FileReader::open(&image.path).unwrap();
        if let Err(e) = exercise::everything(&medium) {
            wrong.push(format!("opens once and not again: {e}"));
        }
    }
    wrong
}

/// A file's bytes, or a directory's names, and all that was found wrong on the way.
fn contents(fs: &Reader, path: &[u8]) -> Result<(Vec<u8>, Vec<String>), String> {
    let inode = fs.resolve_link(path).map_err(|e| e.to_string())?;
    let mut problems = Vec::new();
    if inode.file_type() == FileType::Symlink {
        let target = fs.symlink_target(&inode).map_err(|e| e.to_string())?;
        return Ok((target, words(&problems)));
    }
    if inode.file_type() == FileType::Directory {
        let (entries, more) = fs.read_dir(&inode);
        problems.extend(more);
        problems.extend(fs.htree(&inode).into_iter().flat_map(|tree| tree.problems));
        return Ok((
            entries.into_iter().flat_map(|e| e.name).collect(),
            words(&problems),
        ));
    }
    let content = fs.content(&inode);
    problems.extend_from_slice(content.problems());
    let mut bytes = vec![0; content.size.min(1 << 26) as usize];
    let n = fs
        .read_content(&content, 0, &mut bytes)
        .map_err(|e| e.to_string())?;
    bytes.truncate(n);
    Ok((bytes, words(&problems)))
}

/// What is wrong with a file's attributes.
fn xattr_problems(fs: &Reader, path: &[u8]) -> Vec<String> {
    let inode = fs.resolve_link(path).unwrap();
    words(&fs.xattrs(&inode).1)
}

fn words(problems: &[fslab_engine::ext4::Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
