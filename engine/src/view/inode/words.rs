//! What an inode is and how it is kept, in plain sentences.

use super::Known;
use crate::ext4::layout::{FileType, InodeFlags};
use crate::ext4::read::Run;
use crate::view::wording::{blocks, count, grouped, span};

/// Characters of a link's target that are told.
const TARGET_SHOWN: usize = 120;
/// What [`reserved_inode_name`](crate::ext4::layout::reserved_inode_name) calls inode 7.
const RESIZE: &str = "reserved descriptors (resize inode)";
/// Pieces whose places are told.
const PIECES_TOLD: usize = 3;

pub(super) fn inode_words(known: &Known<'_>) -> String {
    let mut out = vec![what(known)];
    let told = known.reserved == Some(RESIZE) || is_idle(known);
    if !known.in_use && known.map.total_runs > 0 {
        out.push(pieces(known));
    } else if !told && known.in_use {
        out.extend(kept(known));
        out.extend(gaps(known));
        out.extend(special(known));
    }
    out.extend(life(known));
    out.join(" ")
}

/// Whether it is one of the filesystem's own inodes that this filesystem does not use.
fn is_idle(known: &Known<'_>) -> bool {
    let inode = known.inode;
    known.reserved.is_some() && known.map.total_runs == 0 && inode.size() == 0
}

/// What one of the filesystem's own inodes is for.
fn reserved_words(known: &Known<'_>) -> Option<String> {
    let nr = known.inode.nr;
    Some(match known.reserved? {
        "reserved, without a use" => {
            format!("Inode {nr} is reserved by ext4, which has no use for it today.")
        }
        "root directory" => "The root directory, where every path begins.".into(),
        "bad blocks" if known.map.total_runs == 0 => {
            "The bad-blocks inode would own blocks of the disk that cannot be used; there are none."
                .into()
        }
        "bad blocks" => {
            "The bad-blocks inode owns the blocks of the disk that cannot be used, so that no file \
             gets them."
                .into()
        }
        name if is_idle(known) => {
            format!("Inode {nr} is reserved for this: {name}. It is not in use here.")
        }
        RESIZE => "The resize inode holds the blocks after the group descriptors, so that they \
                   stay free for more descriptors when the filesystem is made larger; no \
                   directory names it."
            .into(),
        name => {
            let size = count(known.inode.size(), "byte");
            format!("The filesystem's own {name}: a file of {size} that no directory names.")
        }
    })
}

/// What it is.
fn what(known: &Known<'_>) -> String {
    let inode = known.inode;
    let size = count(inode.size(), "byte");
    if !known.in_use {
        return free(known);
    }
    if let Some(words) = reserved_words(known) {
        return words;
    }
    if inode.flags().contains(InodeFlags::EA_INODE) {
        return format!(
            "Not a file of anybody's: it holds the value, {size} long, of an extended attribute \
             that is too long for its owner."
        );
    }
    match (inode.file_type(), inode.device()) {
        (FileType::Regular, _) => format!("A regular file of {size}."),
        (FileType::Directory, _) if known.htree => {
            format!("A directory of {size}, with an index (htree) that finds a name by its hash.")
        }
        (FileType::Directory, _) => format!("A directory of {size}."),
        (FileType::Symlink, _) => symlink(known),
        (kind @ (FileType::CharDevice | FileType::BlockDevice), Some((major, minor))) => {
            format!(
                "A {}: it stands for the kernel's device {major}:{minor} and has no \
                     contents.",
                kind.words()
            )
        }
        (FileType::Fifo, _) => "A named pipe: what one process writes to it another reads; \
                                nothing of that is kept on disk."
            .into(),
        (FileType::Socket, _) => "A socket, by whose name processes find each other; nothing \
                                  that they say is kept on disk."
            .into(),
        _ => format!(
            "It is in use, but its mode, {:#06x}, is of no known type.",
            inode.i_mode()
        ),
    }
}

fn free(known: &Known<'_>) -> String {
    let inode = known.inode;
    if inode.raw().iter().all(|&b| b == 0) {
        return format!("Inode {} is free and was never used.", inode.nr);
    }
    let kind = match inode.file_type() {
        FileType::Unknown => "what it was cannot be told".to_string(),
        kind => format!("it was last a {}", kind.words()),
    };
    let left = if known.map.total_runs == 0 {
        " Which blocks it had is no longer written in it."
    } else {
        " What it says of its blocks is left from then; they may be another's by now."
    };
    format!("Inode {} is free; {kind}.{left}", inode.nr)
}

fn symlink(known: &Known<'_>) -> String {
    if known.inode.flags().contains(InodeFlags::ENCRYPT) {
        return "A symbolic link whose target is encrypted.".into();
    }
    let Some(target) = known.target else {
        return "A symbolic link whose target cannot be read.".into();
    };
    let shown: String = target.chars().take(TARGET_SHOWN).collect();
    let more = if shown.len() < target.len() {
        "…"
    } else {
        ""
    };
    format!("A symbolic link to \"{shown}{more}\".")
}

/// Where its contents are.
fn kept(known: &Known<'_>) -> Option<String> {
    let inode = known.inode;
    if known.fast_symlink {
        return Some(
            "The target is short enough to be kept inside the inode, where other files \
                     have their map; it takes no block."
                .into(),
        );
    }
    if inode.flags().contains(InodeFlags::INLINE_DATA) {
        let spill = if inode.size() > 60 {
            ", the first 60 in i_block and the rest as an attribute"
        } else {
            ""
        };
        return Some(format!(
            "Its contents are so short that they are kept inside the inode{spill}; it takes no \
             block."
        ));
    }
    if matches!(
        inode.file_type(),
        FileType::CharDevice | FileType::BlockDevice | FileType::Fifo | FileType::Socket
    ) {
        return None;
    }
    let runs = &known.map.runs;
    let damaged = !known.map.problems.is_empty();
    if runs.is_empty() && damaged {
        return Some("Its map is damaged: none of its blocks can be found.".into());
    }
    if damaged {
        return Some(format!(
            "Its map is damaged, so this need be neither all of it nor right. {} {}",
            pieces(known),
            mapped_by(known)
        ));
    }
    if runs.is_empty() {
        return match inode.size() {
            0 => Some("It is empty and has no blocks.".into()),
            _ if known.reserved.is_some() => None,
            _ => Some("No block is allocated to it: all of it reads as zeros.".into()),
        };
    }
    Some(format!("{} {}", pieces(known), mapped_by(known)))
}

fn pieces(known: &Known<'_>) -> String {
    let runs = &known.map.runs;
    let all: u64 = runs.iter().map(|r| u64::from(r.len)).sum();
    let total = known.map.total_runs;
    let place = |r: &Run| span(r.start.0, u64::from(r.len));
    let is = if known.in_use { "is" } else { "was" };
    if let ([only], 1) = (&runs[..], total) {
        return format!("It {is} kept in one piece: {}.", place(only));
    }
    let told: Vec<String> = runs.iter().take(PIECES_TOLD).map(place).collect();
    let rest = if total > PIECES_TOLD as u64 {
        " and so on"
    } else {
        ""
    };
    let at_least = if total > runs.len() as u64 {
        "more than "
    } else {
        ""
    };
    format!(
        "It {is} kept in {} pieces, {at_least}{} in all: {}{rest}.",
        grouped(total),
        blocks(all),
        told.join(", then ")
    )
}

/// What says which blocks it has.
fn mapped_by(known: &Known<'_>) -> String {
    let nodes = known.map.nodes.iter().filter(|n| n.block.is_some()).count() as u64;
    let extents = known.inode.flags().contains(InodeFlags::EXTENTS);
    match (extents, nodes) {
        (true, 0) if known.map.total_runs == 1 => "One extent in the inode says where.".into(),
        (true, 0) => "The extents in the inode say where.".into(),
        (true, n) => format!(
            "A tree of extents says where: its root is in the inode, {} more in {} of their own.",
            if n == 1 {
                "one node".to_string()
            } else {
                format!("{} nodes", grouped(n))
            },
            if n == 1 { "a block" } else { "blocks" },
        ),
        (false, 0) => "The block numbers in the inode say where.".into(),
        (false, n) => format!(
            "The first 12 block numbers are in the inode, the rest in {} of numbers (indirect \
             blocks).",
            count(n, "block")
        ),
    }
}

/// Holes, unwritten parts, blocks past the end.
fn gaps(known: &Known<'_>) -> Vec<String> {
    let (map, inode) = (known.map, known.inode);
    let mut out = Vec::new();
    let complete = map.total_runs == map.runs.len() as u64 && map.problems.is_empty();
    let mapped_file = matches!(
        inode.file_type(),
        FileType::Regular | FileType::Directory | FileType::Symlink
    );
    if map.runs.is_empty() || !complete || !mapped_file {
        return out;
    }
    let size = inode.size().div_ceil(known.block_size.into());
    let (mut holes, mut missing, mut at, mut past, mut unwritten) = (0u64, 0u64, 0u64, 0u64, 0u64);
    let mut hole = |from: u64, to: u64| {
        if from < to {
            holes += 1;
            missing += to - from;
        }
    };
    for run in &map.runs {
        let (from, to) = (u64::from(run.lblk.0), run.end());
        hole(at, from.min(size));
        at = to;
        past += to.saturating_sub(size.max(from));
        if run.unwritten {
            unwritten += u64::from(run.len);
        }
    }
    hole(at, size);
    if holes > 0 {
        out.push(format!(
            "It has {} of {}: {} as zeros and {} no room.",
            count(holes, "hole"),
            blocks(missing),
            if holes == 1 { "it reads" } else { "they read" },
            if holes == 1 { "takes" } else { "take" }
        ));
    }
    if unwritten > 0 {
        out.push(format!(
            "{} of it {} allocated but unwritten: until something is written there, zeros are \
             read.",
            capital(&blocks(unwritten)),
            if unwritten == 1 { "is" } else { "are" }
        ));
    }
    // A verity tree is kept past the end on purpose, as are the maps of reserved inodes.
    if past > 0 && known.reserved.is_none() && !inode.flags().contains(InodeFlags::VERITY) {
        out.push(format!(
            "{} {} past its end, kept for it to grow.",
            capital(&blocks(past)),
            if past == 1 { "is" } else { "are" }
        ));
    }
    out
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Flags that change what one sees.
fn special(known: &Known<'_>) -> Vec<String> {
    let flags = known.inode.flags();
    let directory = known.inode.file_type() == FileType::Directory;
    let mut out = Vec::new();
    let mut say = |flag, words: &str| {
        if flags.contains(flag) {
            out.push(words.to_string());
        }
    };
    if directory {
        say(
            InodeFlags::ENCRYPT,
            "The names in it are encrypted, so they are shown as bytes without a meaning.",
        );
        say(
            InodeFlags::CASEFOLD,
            "Names in it are found whether in capitals or small letters.",
        );
    } else if known.inode.file_type() == FileType::Regular {
        say(
            InodeFlags::ENCRYPT,
            "Its contents are encrypted: without the key, its bytes mean nothing.",
        );
        say(
            InodeFlags::VERITY,
            "A tree of hashes past its end proves that its contents are unchanged.",
        );
    }
    say(
        InodeFlags::IMMUTABLE,
        "It may not be changed, renamed or deleted.",
    );
    say(InodeFlags::APPEND, "It may only be appended to.");
    out
}

/// Names, orphanhood, deletion.
fn life(known: &Known<'_>) -> Option<String> {
    let links = known.inode.i_links_count();
    if let Some(orphan) = known.orphan.filter(|_| known.in_use) {
        return Some(if orphan.links == 0 {
            "It is an orphan: it had lost its last name while something still had it open, and a \
             mount would free it."
                .into()
        } else {
            "It is on the list of orphans: it was being truncated, and a mount would finish that."
                .into()
        });
    }
    if let Some(when) = known.dtime {
        return Some(match known.in_use {
            false => format!("It was deleted on {when}."),
            true => format!("It says that it was deleted on {when}, yet the bitmap has it in use."),
        });
    }
    if !known.in_use {
        return (links > 0).then(|| {
            format!(
                "It still counts {}, yet the bitmap has it free.",
                count(links.into(), "name")
            )
        });
    }
    let named = known.reserved.is_none() && !known.inode.flags().contains(InodeFlags::EA_INODE);
    match (links, known.inode.file_type()) {
        (0, _) if named => {
            Some("It has no name left, yet it is not on the list of orphans.".into())
        }
        (n, kind) if named && n > 1 && kind != FileType::Directory => Some(format!(
            "It has {} names, each as good as the others (hard links).",
            grouped(n.into())
        )),
        _ => None,
    }
}
