//! Whose a block is and what for, in plain sentences.

use super::{Context, InMap};
use crate::disk::ReadAt;
use crate::ext4::read::MetaKind;
use crate::view::owners::{Flags, Kind};
use crate::view::wording::grouped;

pub(super) fn block_words<R: ReadAt>(c: &Context<'_, R>) -> String {
    let mut out = vec![whose(c)];
    out.extend(c.says.clone());
    out.extend(c.owner.and_then(|o| flag_words(o.flags, o.kind)));
    out.join(" ")
}

fn whose<R: ReadAt>(c: &Context<'_, R>) -> String {
    let nr = c.nr;
    if let Some(owner) = c.owner.filter(|o| o.kind == Kind::Twice) {
        let all: Vec<String> = owner
            .claimants
            .iter()
            .map(|&(ino, kind)| match ino {
                0 => format!("the filesystem itself ({})", kind.words()),
                ino => format!("inode {ino} ({})", kind.words()),
            })
            .collect();
        return format!(
            "Block {nr} is owned twice, which is damage: by {}.",
            all.join(" and by ")
        );
    }
    match c.kind {
        Kind::Free => {
            format!("Block {nr} is free: what stands in it is left from before, or nothing.")
        }
        Kind::Boot => {
            format!("Block {nr} is before the filesystem's first block, left to a boot loader.")
        }
        Kind::Superblock if is_backup(c) => format!(
            "Block {nr} holds a backup of the superblock, in group {}.",
            group(c)
        ),
        Kind::Superblock => format!(
            "Block {nr} holds the superblock, which tells all sizes and where everything begins."
        ),
        Kind::Descriptors => descriptors(c),
        Kind::ReservedDescriptors => format!(
            "Block {nr} is kept free for group descriptors, should the filesystem be made larger."
        ),
        Kind::BlockBitmap => format!(
            "Block {nr} is the block bitmap of group {}: a bit for each of its blocks, set where \
             it is in use.",
            group(c)
        ),
        Kind::InodeBitmap => format!(
            "Block {nr} is the inode bitmap of group {}: a bit for each of its inodes, set where \
             it is in use.",
            group(c)
        ),
        Kind::InodeTable => inode_table(c),
        Kind::Unknown if c.owner.is_none() => {
            format!("Block {nr}: whose it is has not been looked for; only a scan can tell.")
        }
        Kind::Unknown => format!(
            "Block {nr}: nothing that was found owns it, and whether it is free cannot be told, as \
             its bitmap cannot be read or the image ends before it."
        ),
        Kind::Unowned => {
            format!("Block {nr} is marked as in use, but nothing that was found owns it.")
        }
        _ if c.guessed => format!(
            "Block {nr} looks like {}, by its magic number; whose it is only a scan can tell.",
            guessed(c.kind)
        ),
        Kind::Internal if c.inode.is_none() => format!("Block {nr} is the filesystem's own."),
        Kind::Xattr if !c.holds_a_value() => {
            format!("Block {nr} holds extended attributes of {}.", owner(c))
        }
        Kind::Xattr => format!(
            "Block {nr} is {} the value of an extended attribute, kept in {}.",
            content(c),
            owner(c)
        ),
        Kind::ExtentIndex | Kind::Indirect => {
            format!("Block {nr} says where blocks of {} are.", owner(c))
        }
        Kind::Journal => match c.journal_block() {
            Some(lblk) => format!("Block {nr} is block {} of the journal.", grouped(lblk)),
            None => format!("Block {nr} belongs to the journal."),
        },
        _ => format!("Block {nr} is {} {}.", content(c), owner(c)),
    }
}

fn guessed(kind: Kind) -> &'static str {
    match kind {
        Kind::Xattr => "a block of extended attributes",
        Kind::Journal => "a block of a journal",
        Kind::ExtentIndex => "a node of an extent tree",
        _ => "the guard against mounting twice",
    }
}

fn is_backup<R: ReadAt>(c: &Context<'_, R>) -> bool {
    c.fixed.is_some_and(|f| f.group.0 > 0)
}

fn group<R: ReadAt>(c: &Context<'_, R>) -> String {
    c.fixed.map_or_else(|| "?".into(), |f| f.group.to_string())
}

fn descriptors<R: ReadAt>(c: &Context<'_, R>) -> String {
    let Some(first) = c.first_described() else {
        return format!("Block {} has room for group descriptors.", c.nr);
    };
    let geo = c.fs.geometry();
    let last = first
        .0
        .saturating_add(geo.descs_per_block())
        .min(geo.groups)
        .saturating_sub(1);
    let copy = if is_backup(c) {
        " (in a group after the first, so a backup unless meta_bg keeps them here)"
    } else {
        ""
    };
    format!(
        "Block {} holds the descriptors of groups {first} to {last}{copy}.",
        c.nr
    )
}

fn inode_table<R: ReadAt>(c: &Context<'_, R>) -> String {
    let (Some(first), Some(fixed)) = (c.first_inode(), c.fixed) else {
        return format!("Block {} is part of an inode table.", c.nr);
    };
    debug_assert_eq!(fixed.kind, MetaKind::InodeTable);
    let geo = c.fs.geometry();
    let per_block = geo.block_size / u32::from(geo.inode_size);
    let end = (fixed.group.0.saturating_add(1))
        .saturating_mul(geo.inodes_per_group)
        .min(geo.inodes);
    let last = first.0.saturating_add(per_block - 1).min(end);
    format!(
        "Block {} is part of the inode table of group {}: inodes {first} to {last}.",
        c.nr, fixed.group
    )
}

/// "the file /etc/passwd (inode 12)", "inode 12".
fn owner<R: ReadAt>(c: &Context<'_, R>) -> String {
    let Some(info) = c.owner else {
        return "an unknown owner".into();
    };
    let Some(nr) = info.inode else {
        return "the filesystem".into();
    };
    match &info.path {
        Some(path) => format!("{path} (inode {nr})"),
        None => match crate::view::inode::reserved(c.fs.superblock(), crate::units::InodeNr(nr)) {
            Some(name) => format!("the {name} (inode {nr})"),
            None => format!("inode {nr}"),
        },
    }
}

/// "block 3 of the directory", "block 3 of".
fn content<R: ReadAt>(c: &Context<'_, R>) -> String {
    let of = match c.kind {
        Kind::Directory | Kind::Htree => "of the directory",
        Kind::Data => "of the file",
        Kind::Symlink => "of the symbolic link",
        _ => "of",
    };
    match c.in_map {
        Some(InMap::Content(lblk)) => format!("block {} {of}", grouped(lblk)),
        Some(InMap::Node(_)) => format!("in the map {of}"),
        None => format!("part {of}"),
    }
}

fn flag_words(flags: Flags, kind: Kind) -> Option<String> {
    let words = [
        (
            Flags::UNWRITTEN,
            "It is allocated but unwritten: until something is written, zeros are read, whatever \
             stands in it.",
        ),
        (
            Flags::MARKED_FREE,
            "The bitmap has it as free, which is damage: it could be given away.",
        ),
        (
            Flags::SHARED,
            if kind == Kind::Xattr {
                "Several inodes share it."
            } else {
                "Several files share it."
            },
        ),
        (
            Flags::SLACK,
            "No part of the file is in it: it is the rest of a cluster.",
        ),
    ];
    let said: Vec<&str> = words
        .iter()
        .filter(|(f, _)| flags.contains(*f))
        .map(|(_, w)| *w)
        .collect();
    (!said.is_empty()).then(|| said.join(" "))
}
