//! What is at a place of the map, in words.

use fslab_engine::view::owners::{Flags, Kind};

use super::geometry::Geometry;
use super::raster::Level;
use super::shares::{Share, Totals, WHOLE};
use crate::format::{count, grouped, percent, sentence};
use crate::owner_map::Owned;

/// A block: "Block 8,193 · group 1 · inode table".
///
/// `owner` names the owner better than by its inode's number: "/home/a.txt (inode 12),
/// block 3 of the file".
pub fn block(
    block: u64,
    owned: Option<&Owned>,
    geometry: &Geometry,
    partial: bool,
    owner: Option<&str>,
) -> String {
    let mut words = format!("Block {}", grouped(block));
    if block >= geometry.first {
        words += &format!(" · group {}", grouped(geometry.group_of(block)));
    }
    let Some(owned) = owned else {
        return words + " · not read yet";
    };
    words += " · ";
    words += kind(owned.kind, partial);
    match (owner, owned.inode) {
        (Some(owner), _) => words += &format!(" of {owner}"),
        (None, Some(inode)) => words += &format!(" of inode {}", grouped(inode.into())),
        (None, None) => {}
    }
    for state in states(owned.flags) {
        words += " · ";
        words += state;
    }
    words
}

/// A kind, as a block's words have it.
fn kind(kind: Kind, partial: bool) -> &'static str {
    match kind {
        Kind::Unowned if partial => "in use, owner not yet known",
        kind => kind.words(),
    }
}

fn states(flags: Flags) -> impl Iterator<Item = &'static str> {
    [
        (Flags::BACKUP, "a backup"),
        (Flags::UNWRITTEN, "unwritten, reads as zeros"),
        (Flags::SLACK, "not mapped, but in a cluster that is"),
        (Flags::SHARED, "shared, as is allowed"),
        (Flags::MARKED_FREE, "✕ free by the bitmap"),
    ]
    .into_iter()
    .filter(move |&(flag, _)| flags.contains(flag))
    .map(|(_, words)| words)
}

/// A group: "Group 12 · blocks 393,216 to 425,983 · 45 % in use · inode table 2 %, …".
pub fn group(group: u64, share: Option<&Share>, geometry: &Geometry, partial: bool) -> String {
    let (start, end) = (geometry.start(group), geometry.end(group));
    let mut words = format!(
        "Group {} · blocks {} to {}",
        grouped(group),
        grouped(start),
        grouped(end.saturating_sub(1))
    );
    let Some(share) = share else { return words };
    // Shares are of a full tile, which the last group need not fill.
    let whole = u64::from(WHOLE) * geometry.len(group) / geometry.most();
    let of = |part: u64| percent(part.min(whole), whole);
    let used: u64 = in_use(|kind| share.parts[kind.index()].into())
        .map(|(_, n)| n)
        .sum();
    words += &format!(" · {} in use", of(used));
    let parts = most_first(|kind| share.parts[kind.index()].into());
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|&(_, part)| part * 100 >= whole)
        .map(|(k, part)| format!("{} {}", kind(k, partial), of(part)))
        .collect();
    if !parts.is_empty() {
        words += " · ";
        words += &parts.join(", ");
    }
    if share.damaged {
        words += " · ✕ damaged";
    }
    words
}

/// Kinds that are in use, with how much of each.
fn in_use(of: impl Fn(Kind) -> u64) -> impl Iterator<Item = (Kind, u64)> {
    Kind::ALL
        .iter()
        .map(move |&kind| (kind, of(kind)))
        .filter(|&(kind, n)| n > 0 && kind != Kind::Free)
}

/// The three of which there is most.
fn most_first(of: impl Fn(Kind) -> u64) -> Vec<(Kind, u64)> {
    let mut parts: Vec<_> = in_use(of).collect();
    parts.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    parts.truncate(3);
    parts
}

/// The whole map, for who cannot see it.
pub fn summary(totals: &Totals, geometry: &Geometry, partial: bool) -> String {
    let mut words = format!(
        "Block map: {} in {}",
        count(geometry.blocks, "block"),
        count(geometry.groups, "group")
    );
    let all = totals.all();
    if all == 0 {
        return words + ", not read yet";
    }
    let share = |n| percent(n, all);
    words += &format!(", {} free", share(totals.get(Kind::Free)));
    for (k, n) in most_first(|kind| totals.get(kind)) {
        words += &format!(", {} {}", kind(k, partial), share(n));
    }
    let twice = totals.get(Kind::Twice);
    let unowned = if partial {
        0
    } else {
        totals.get(Kind::Unowned)
    };
    for (n, what) in [(twice, Kind::Twice), (unowned, Kind::Unowned)] {
        if n > 0 {
            words += &format!("; {} {}", count(n, "block"), what.words());
        }
    }
    words
}

/// What a mark of the picture stands for.
pub fn scale(level: Level, cell: f64, unit: f64) -> String {
    match level {
        Level::Groups => "One tile is a group, filled as far as it is used".into(),
        Level::Runs => {
            let side = unit / cell;
            format!(
                "One dot is about {}",
                count((side * side).round().max(1.0) as u64, "block")
            )
        }
        Level::Squares if cell < 4.0 * unit => "One dot is a block".into(),
        Level::Squares => "One square is a block".into(),
    }
}

/// A kind's name in the legend.
pub fn name(kind: Kind, partial: bool) -> String {
    match kind {
        Kind::Unowned if partial => "Owner not yet known".into(),
        Kind::Boot => "Boot block".into(),
        Kind::ReservedDescriptors => "Reserved descriptors".into(),
        Kind::Descriptors => "Descriptors".into(),
        Kind::BlockBitmap => "Block bitmaps".into(),
        Kind::InodeBitmap => "Inode bitmaps".into(),
        Kind::InodeTable => "Inode tables".into(),
        Kind::Directory => "Directories".into(),
        Kind::Htree => "Directory index".into(),
        Kind::ExtentIndex => "Extent index".into(),
        Kind::Indirect => "Indirect".into(),
        Kind::Xattr => "Attributes".into(),
        Kind::Symlink => "Symbolic links".into(),
        Kind::Internal => "Internal files".into(),
        Kind::Unowned => "Owned by nobody".into(),
        other => sentence(other.words().split(':').next().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_told_in_words() {
        let geometry = Geometry::new(20_000, 1, 8192, 1);
        let mut owned = Owned {
            start: 8193,
            len: 4,
            inode: None,
            kind: Kind::InodeTable,
            flags: Flags::empty(),
        };
        assert_eq!(
            block(8193, Some(&owned), &geometry, false, None),
            "Block 8,193 · group 1 · inode table"
        );
        owned.kind = Kind::Data;
        owned.flags = Flags::UNWRITTEN;
        assert_eq!(
            block(8193, Some(&owned), &geometry, false, Some("/a (inode 12)")),
            "Block 8,193 · group 1 · file data of /a (inode 12) · unwritten, reads as zeros"
        );
        assert_eq!(
            block(0, None, &geometry, true, None),
            "Block 0 · not read yet"
        );
    }
}
