//! Reading what `dumpe2fs` prints.

use super::tools::run;
use super::truth::Group;
use std::collections::BTreeMap;
use std::path::Path;

/// The header by its field names, and the groups.
pub type Dump = (BTreeMap<String, String>, Vec<Group>);

pub fn dumpe2fs(image: &Path) -> Result<Dump, String> {
    let text = run("dumpe2fs", &[image.as_os_str()])?;
    let text = String::from_utf8_lossy(&text);
    let mut header = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for line in text.lines() {
        if line.starts_with("Group ") && line.contains("(Blocks") {
            groups.push(Group {
                flags: flags(line),
                ..Group::default()
            });
        } else if let Some(group) = groups.last_mut() {
            counts(line, group);
        } else if let Some((name, value)) = line.split_once(':') {
            header.insert(name.to_owned(), value.trim().to_owned());
        }
    }
    Ok((header, groups))
}

fn flags(line: &str) -> Vec<String> {
    let list = line
        .split_once('[')
        .map_or("", |(_, rest)| rest.trim_end_matches(']'));
    let names = list.split(", ").filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// `7017 free blocks, 2032 free inodes, 3 directories, 2032 unused inodes`
fn counts(line: &str, group: &mut Group) {
    let line = line.trim();
    if !line.starts_with(|first: char| first.is_ascii_digit()) || !line.contains(" free inodes") {
        return;
    }
    for item in line.split(", ") {
        let (count, what) = item.split_once(' ').unwrap_or((item, ""));
        let count = count.parse().unwrap_or(u64::MAX);
        match what {
            "free blocks" | "free clusters" => group.free_blocks = count,
            "free inodes" => group.free_inodes = count,
            "directories" => group.used_dirs = count,
            "unused inodes" => group.unused_inodes = Some(count),
            _ => {}
        }
    }
}
