//! What numbers of some fields mean.

use crate::ext4::layout::{
    Compat, EXTENT_MAX_WRITTEN, FileType, GroupFlags, Incompat, InodeFlags, JournalIncompat, Order,
    RoCompat, TagFlags, xattr_prefix,
};

/// What `n` means in the field of this name; `None` where it is a mere number.
pub(super) fn words(name: &str, n: u64, order: Order) -> Option<String> {
    let bits = n as u32;
    if order == Order::Big {
        return journal(name, bits).or_else(|| bitmaps_of_journal(name, bits));
    }
    let one_of = |known: &[(u64, &str)]| {
        let found = known.iter().find(|(k, _)| *k == n);
        found.map(|(_, words)| (*words).to_string())
    };
    match name {
        "s_feature_compat" => Some(Compat::from_bits_retain(bits).names().join(", ")),
        "s_feature_incompat" => Some(Incompat::from_bits_retain(bits).names().join(", ")),
        "s_feature_ro_compat" => Some(RoCompat::from_bits_retain(bits).names().join(", ")),
        "i_flags" => Some(flag_names(InodeFlags::from_bits_retain(bits)).join(", ")),
        "bg_flags" => Some(group_flag_names(bits as u16).join(", ")),
        "i_mode" => Some(super::mode_text(n as u16)),
        "s_state" => Some(bit_words(bits, STATE)),
        "s_flags" => Some(bit_words(bits, SB_FLAGS)),
        "s_default_mount_opts" => Some(mount_options(bits)),
        "s_errors" => one_of(&[(1, "go on"), (2, "remount read-only"), (3, "panic")]),
        "s_creator_os" => one_of(&[
            (0, "Linux"),
            (1, "Hurd"),
            (2, "Masix"),
            (3, "FreeBSD"),
            (4, "Lites"),
        ]),
        "s_rev_level" => one_of(&[(0, "original"), (1, "dynamic")]),
        "s_def_hash_version" | "hash_version" => one_of(HASHES),
        "s_checksum_type" => one_of(&[(1, "crc32c")]),
        "s_encoding" => one_of(&[(1, "UTF-8 12.1")]),
        "s_log_block_size" | "s_log_cluster_size" if n < 32 => {
            Some(format!("{} bytes", 1024u64 << n))
        }
        "s_log_groups_per_flex" if n < 32 => Some(format!("{} groups", 1u64 << n)),
        "s_max_mnt_count" if n == 0xFFFF => Some("no check by mounts".into()),
        "s_checkinterval" if n == 0 => Some("no check by time".into()),
        "mmp_seq" => one_of(&[(0xFF4D_4D50, "clean"), (0xE24D_4D50, "being checked")]),
        "file_type" => Some(FileType::from_dir_entry(n as u8).words().into()),
        "e_name_index" => xattr_prefix(n as u8).map(Into::into),
        "ee_len" if n > EXTENT_MAX_WRITTEN.into() => Some(format!(
            "{} blocks, unwritten",
            n - u64::from(EXTENT_MAX_WRITTEN)
        )),
        "i_ctime_extra" | "i_mtime_extra" | "i_atime_extra" | "i_crtime_extra" => {
            Some(format!("{} nanoseconds, epoch {}", n >> 2, n & 3))
        }
        _ => None,
    }
}

const STATE: &[(u32, &str)] = &[
    (1, "clean"),
    (2, "errors seen"),
    (4, "orphans being recovered"),
];
const SB_FLAGS: &[(u32, &str)] = &[(1, "signed hash"), (2, "unsigned hash"), (4, "test")];
const HASHES: &[(u64, &str)] = &[
    (0, "legacy"),
    (1, "half_md4"),
    (2, "tea"),
    (3, "legacy, unsigned"),
    (4, "half_md4, unsigned"),
    (5, "tea, unsigned"),
    (6, "siphash"),
];
/// `s_default_mount_opts`, in the words of mount(8); the journal's mode apart.
const MOUNT_OPTIONS: &[(u32, &str)] = &[
    (0x1, "debug"),
    (0x2, "bsdgroups"),
    (0x4, "user_xattr"),
    (0x8, "acl"),
    (0x10, "uid16"),
    (0x100, "nobarrier"),
    (0x200, "block_validity"),
    (0x400, "discard"),
    (0x800, "nodelalloc"),
];

fn mount_options(bits: u32) -> String {
    let mode = match bits & 0x60 {
        0x20 => Some("journal_data"),
        0x40 => Some("journal_data_ordered"),
        0x60 => Some("journal_data_writeback"),
        _ => None,
    };
    let rest = bit_words(bits & !0x60, MOUNT_OPTIONS);
    let parts = [mode.unwrap_or(""), &rest];
    parts
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Names of the bits that are set, those without a name as one number at the end.
fn bit_words(bits: u32, known: &[(u32, &str)]) -> String {
    let mut left = bits;
    let mut out: Vec<String> = Vec::new();
    for (bit, word) in known {
        if bits & bit != 0 {
            out.push((*word).to_string());
            left &= !bit;
        }
    }
    if left != 0 {
        out.push(format!("{left:#x}"));
    }
    out.join(", ")
}

/// Names of flags in the kernel's words, in lower case; bits without a name as a number.
pub(crate) fn flag_names<F: bitflags::Flags<Bits = u32>>(flags: F) -> Vec<String> {
    let mut left = flags.bits();
    let mut out = Vec::new();
    for (name, flag) in flags.iter_names() {
        out.push(name.to_ascii_lowercase());
        left &= !flag.bits();
    }
    if left != 0 {
        out.push(format!("{left:#x}"));
    }
    out
}

/// Names of a group's flags, as `dumpe2fs` prints them.
pub(crate) fn group_flag_names(bits: u16) -> Vec<String> {
    let known = [
        (GroupFlags::INODE_UNINIT, "INODE_UNINIT"),
        (GroupFlags::BLOCK_UNINIT, "BLOCK_UNINIT"),
        (GroupFlags::INODE_ZEROED, "ITABLE_ZEROED"),
    ];
    let words = known.map(|(flag, word)| (u32::from(flag.bits()), word));
    let text = bit_words(bits.into(), &words);
    let some = !text.is_empty();
    text.split(", ")
        .filter(|_| some)
        .map(str::to_string)
        .collect()
}

fn journal(name: &str, n: u32) -> Option<String> {
    let word = match (name, n) {
        ("h_blocktype", 1) => "descriptor",
        ("h_blocktype", 2) => "commit",
        ("h_blocktype", 3) => "superblock, first version",
        ("h_blocktype", 4) => "superblock, second version",
        ("h_blocktype", 5) => "revoke",
        ("s_start", 0) => "nothing to replay",
        ("s_checksum_type" | "h_chksum_type", 1) => "crc32",
        ("s_checksum_type" | "h_chksum_type", 4) => "crc32c",
        _ => return None,
    };
    Some(word.to_string())
}

fn bitmaps_of_journal(name: &str, bits: u32) -> Option<String> {
    let names = match name {
        "t_flags" => flag_names(TagFlags::from_bits_retain(bits)),
        "s_feature_incompat" => flag_names(JournalIncompat::from_bits_retain(bits)),
        "s_feature_compat" => return Some(bit_words(bits, &[(1, "checksum")])),
        _ => return None,
    };
    Some(names.join(", "))
}
