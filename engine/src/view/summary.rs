use super::fields::{Structure, seconds_text, uuid};
use super::wording::count;
use super::{Summary, escape};
use crate::disk::ReadAt;
use crate::ext4::journal::{FcValue, Journal};
use crate::ext4::layout::{Compat, Incompat, RoCompat, SUPERBLOCK_OFFSET, Superblock};
use crate::ext4::read::{Fs, Orphan, SuperblockAt};

/// An image at a glance.
pub fn summary<R: ReadAt>(fs: &Fs<R>) -> Summary {
    summary_with(fs, None)
}

/// An image at a glance, where `fs` is what a replay of its journal would leave.
/// `left_out`: the [`fast_commits_left_out`] of that journal.
pub fn summary_after_replay<R: ReadAt>(fs: &Fs<R>, left_out: u64) -> Summary {
    summary_with(fs, Some(left_out))
}

/// Fast commits that ext4 would replay after a journal's log, and fslab does not apply.
pub fn fast_commits_left_out(journal: &Journal) -> u64 {
    let Some(area) = journal.fast_commits() else {
        return 0;
    };
    let replayed = area.tags.iter().take(area.replayed);
    let ends = replayed.filter(|tag| matches!(tag.value, FcValue::Tail { .. }));
    ends.count() as u64
}

fn summary_with<R: ReadAt>(fs: &Fs<R>, replayed: Option<u64>) -> Summary {
    let (sb, geo) = (fs.superblock(), *fs.geometry());
    let (orphans, more) = fs.orphans();
    let mut problems = fs.problems().to_vec();
    problems.extend(more);
    Summary {
        kind: kind(sb).to_string(),
        label: text(&sb.s_volume_name().0),
        uuid: uuid(&sb.s_uuid().0),
        last_mounted: text(&sb.s_last_mounted().0),
        block_size: geo.block_size,
        cluster_blocks: geo.cluster_blocks,
        blocks: geo.blocks,
        free_blocks: sb.free_blocks_count(),
        first_data_block: geo.first_data_block,
        blocks_per_group: geo.blocks_per_group,
        groups: geo.groups,
        flex_groups: flex_groups(sb),
        inodes: geo.inodes,
        free_inodes: sb.s_free_inodes_count(),
        inode_size: geo.inode_size,
        image_bytes: fs.medium().len(),
        features: sb.feature_names(),
        state: state(fs, &orphans, replayed),
        fields: superblock_fields(fs),
        orphans,
        problems,
    }
}

/// "ext4" with any feature that ext3 does not know, else "ext3" with a journal: the rule of
/// libblkid.
fn kind<T: AsRef<[u8]>>(sb: &Superblock<T>) -> &'static str {
    let ext3_incompat = Incompat::FILETYPE | Incompat::RECOVER | Incompat::META_BG;
    let ext3_ro = RoCompat::SPARSE_SUPER | RoCompat::LARGE_FILE | RoCompat::BTREE_DIR;
    if !ext3_incompat.contains(sb.incompat()) || !ext3_ro.contains(sb.ro_compat()) {
        "ext4"
    } else if sb.compat().contains(Compat::HAS_JOURNAL) {
        "ext3"
    } else {
        "ext2"
    }
}

fn flex_groups<T: AsRef<[u8]>>(sb: &Superblock<T>) -> u32 {
    if sb.incompat().contains(Incompat::FLEX_BG) {
        1u32.checked_shl(sb.s_log_groups_per_flex().into())
            .unwrap_or(1)
    } else {
        1
    }
}

/// Every field, offsets from the start of the image for the primary superblock and of the
/// block for a backup.
fn superblock_fields<R: ReadAt>(fs: &Fs<R>) -> Vec<super::FieldValue> {
    let base = match fs.superblock_at() {
        SuperblockAt::Primary => SUPERBLOCK_OFFSET as usize,
        SuperblockAt::Backup { .. } => 0,
    };
    Structure::little(Superblock::FIELDS, &fs.superblock().0, base).values()
}

fn text(raw: &[u8]) -> String {
    let end = raw.iter().position(|&b| b == 0).unwrap_or(raw.len());
    escape(&raw[..end])
}

/// Sentences on the state, most important first.
fn state<R: ReadAt>(fs: &Fs<R>, orphans: &[Orphan], replayed: Option<u64>) -> Vec<String> {
    let sb = fs.superblock();
    let mut out = Vec::new();
    if let SuperblockAt::Backup { group, .. } = fs.superblock_at() {
        out.push(format!(
            "This is seen through the backup superblock of group {group}, in block {}; counts \
             and state in a backup are those of when it was last written",
            fs.superblock_at().block()
        ));
    }
    out.extend(replayed.map(replay_words));
    out.extend(how_it_was_left(sb, replayed.is_some()));
    out.extend(errors(sb));
    out.extend(journal(sb));
    out.extend(orphan_words(orphans));
    if sb.incompat().contains(Incompat::MMP) {
        out.push(format!(
            "Block {} guards against mounting it twice",
            sb.s_mmp_block()
        ));
    }
    if sb.ro_compat().contains(RoCompat::READONLY) {
        out.push("It is marked never to be written to".into());
    }
    out.push(times(sb));
    out
}

fn replay_words(left_out: u64) -> String {
    let shown = "Shown as its journal's replay would leave it";
    match left_out {
        0 => shown.into(),
        n => format!(
            "{shown}, but without {} that would follow",
            count(n, "fast commit")
        ),
    }
}

/// `replayed`: the superblock still says that a replay is wanted, but it has been done.
fn how_it_was_left<T: AsRef<[u8]>>(sb: &Superblock<T>, replayed: bool) -> Option<String> {
    const CLEAN: u16 = 1;
    const ERRORS: u16 = 2;
    let (state, recover) = (sb.s_state(), sb.incompat().contains(Incompat::RECOVER));
    let words = match (state & ERRORS != 0, recover, state & CLEAN != 0) {
        (false, true, _) if replayed => return None,
        (true, ..) => "Errors have been found in it; a check is due (e2fsck)".into(),
        (_, true, _) => {
            "It was not unmounted: its journal holds changes that a mount would replay first, \
             and what is shown here is the state before that"
                .into()
        }
        (_, _, true) => "It was cleanly unmounted".into(),
        _ => "It was not cleanly unmounted, or is mounted; a check is due (e2fsck)".into(),
    };
    Some(words)
}

fn errors<T: AsRef<[u8]>>(sb: &Superblock<T>) -> Option<String> {
    let number = sb.s_error_count();
    if number == 0 {
        return None;
    }
    let place = |time: i64, function: &[u8], line: u32| {
        let mut out = String::new();
        if time != 0 {
            out.push_str(&format!(" on {}", seconds_text(time)));
        }
        let function = text(function);
        if !function.is_empty() {
            out.push_str(&format!(" in {function} (line {line})"));
        }
        out
    };
    let first = place(
        joined(sb.s_first_error_time(), sb.s_first_error_time_hi()),
        &sb.s_first_error_func().0,
        sb.s_first_error_line(),
    );
    let last = place(
        joined(sb.s_last_error_time(), sb.s_last_error_time_hi()),
        &sb.s_last_error_func().0,
        sb.s_last_error_line(),
    );
    let told: Vec<String> = [("the first", first), ("the last", last)]
        .into_iter()
        .filter(|(_, place)| !place.is_empty())
        .map(|(which, place)| format!("{which}{place}"))
        .collect();
    let errors = count(number.into(), "error");
    Some(match told.len() {
        0 => format!("The kernel has recorded {errors}, but not when or where"),
        _ => format!("The kernel has recorded {errors}: {}", told.join(", ")),
    })
}

fn journal<T: AsRef<[u8]>>(sb: &Superblock<T>) -> Option<String> {
    if !sb.compat().contains(Compat::HAS_JOURNAL) {
        return Some("It has no journal".into());
    }
    if sb.s_journal_inum() != 0 {
        return Some(format!("Its journal is inode {}", sb.s_journal_inum()));
    }
    Some(format!(
        "Its journal is on another device, whose UUID is {}",
        uuid(&sb.s_journal_uuid().0)
    ))
}

fn orphan_words(orphans: &[Orphan]) -> Option<String> {
    let gone = orphans.iter().filter(|o| o.links == 0).count();
    let cut = orphans.len() - gone;
    let had = |n: usize| {
        let (files, was) = (count(n as u64, "file"), if n == 1 { "was" } else { "were" });
        format!("{files} had no name left but {was} still open")
    };
    let truncated = |n: usize| {
        let (files, was) = (count(n as u64, "file"), if n == 1 { "was" } else { "were" });
        format!("{files} {was} being truncated")
    };
    match (gone, cut) {
        (0, 0) => None,
        (n, 0) => Some(format!(
            "{}; a mount would free {}",
            had(n),
            if n == 1 { "it" } else { "them" }
        )),
        (0, n) => Some(format!("{}; a mount would finish that", truncated(n))),
        (gone, cut) => Some(format!(
            "{}, and {}; a mount would free the former and finish the latter",
            had(gone),
            truncated(cut)
        )),
    }
}

fn times<T: AsRef<[u8]>>(sb: &Superblock<T>) -> String {
    let made = joined(sb.s_mkfs_time(), sb.s_mkfs_time_hi());
    let mounted = joined(sb.s_mtime(), sb.s_mtime_hi());
    let written = joined(sb.s_wtime(), sb.s_wtime_hi());
    let say = |t: i64| {
        if t == 0 {
            "never".to_string()
        } else {
            seconds_text(t)
        }
    };
    format!(
        "Made: {}; last mounted: {}; last written: {}",
        say(made),
        say(mounted),
        say(written)
    )
}

fn joined(low: u32, high: u8) -> i64 {
    i64::from(high) << 32 | i64::from(low)
}
