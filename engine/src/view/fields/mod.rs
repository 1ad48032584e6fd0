//! The fields of on-disk structures, with their values in words.

mod inode;
mod time;
mod words;

pub use inode::{inode_fields, mode_text};
pub use time::{seconds_text, time_text};
pub(crate) use words::{flag_names, group_flag_names};

use super::{FieldValue, escape};
use crate::ext4::layout::{Field, Order, Shown, Timestamp};
use std::fmt::Write;

/// Bytes of a field without a reading of its own that are shown.
const MOST_RAW: usize = 64;

/// A structure whose fields are wanted: its table, its bytes, and how they are ordered.
#[derive(Clone, Copy, Debug)]
pub struct Structure<'a> {
    /// The table of fields.
    pub fields: &'static [Field],
    /// The bytes, from the structure's first on; a field that they do not reach is left
    /// out.
    pub bytes: &'a [u8],
    /// Where the first byte is, counted as [`FieldValue::offset`] is to count.
    pub base: usize,
    /// Order of bytes.
    pub order: Order,
}

impl<'a> Structure<'a> {
    /// A structure of ext4's, which are little-endian.
    pub fn little(fields: &'static [Field], bytes: &'a [u8], base: usize) -> Self {
        Self {
            fields,
            bytes,
            base,
            order: Order::Little,
        }
    }

    /// A structure of jbd2's, which are big-endian.
    pub fn big(fields: &'static [Field], bytes: &'a [u8], base: usize) -> Self {
        Self {
            order: Order::Big,
            ..Self::little(fields, bytes, base)
        }
    }

    /// Every field that is there.
    pub fn values(&self) -> Vec<FieldValue> {
        self.fields.iter().filter_map(|f| self.value(f)).collect()
    }

    /// One field; `None` where the bytes end before it does.
    pub fn value(&self, field: &Field) -> Option<FieldValue> {
        let raw = slice(self.bytes, field)?;
        Some(FieldValue {
            name: field.name.to_string(),
            offset: self.base as u32 + field.offset,
            len: field.len,
            shown: field.shown,
            value: self.text(field, raw),
            help: field.help.to_string(),
        })
    }

    fn text(&self, field: &Field, raw: &[u8]) -> String {
        match field.shown {
            Shown::Text => text(raw),
            Shown::Uuid => uuid(raw),
            Shown::Raw => hex_bytes(raw),
            Shown::Time => self.time(field, raw),
            Shown::Number | Shown::Block | Shown::Inode | Shown::Hex => {
                let Some(n) = number(raw, self.order) else {
                    return hex_bytes(raw);
                };
                let digits = match (field.name, field.shown) {
                    ("i_mode", _) => format!("{n:#07o}"),
                    (_, Shown::Hex) => format!("{n:#0width$x}", width = 2 + raw.len() * 2),
                    _ => n.to_string(),
                };
                match words::words(field.name, n, self.order) {
                    Some(words) if !words.is_empty() => format!("{digits} ({words})"),
                    _ => digits,
                }
            }
        }
    }

    /// Seconds, joined with what other fields say of the same time.
    fn time(&self, field: &Field, raw: &[u8]) -> String {
        let Some(secs) = number(raw, self.order) else {
            return hex_bytes(raw);
        };
        if field.name == "i_dtime" {
            return dtime(secs as u32);
        }
        if let Some(extra) = self.companion(field.name, "_extra") {
            return time_text(Timestamp::decode(secs as u32, extra as u32));
        }
        if field.name.starts_with("i_") {
            return time_text(Timestamp::decode(secs as u32, 0));
        }
        let high = self.companion(field.name, "_hi").unwrap_or(0);
        let whole = secs | high << 32;
        if whole == 0 {
            return "never".to_string();
        }
        let whole = i64::try_from(whole).unwrap_or(i64::MAX);
        match self.number_of("h_commit_nsec") {
            Some(nanos) => time_text(Timestamp {
                secs: whole,
                nanos: nanos as u32,
            }),
            None => seconds_text(whole),
        }
    }

    fn companion(&self, name: &str, suffix: &str) -> Option<u64> {
        self.number_of(&format!("{name}{suffix}"))
    }

    fn number_of(&self, name: &str) -> Option<u64> {
        let field = self.fields.iter().find(|f| f.name == name)?;
        number(slice(self.bytes, field)?, self.order)
    }
}

/// Deletion times and inode numbers share a field: a time before 1973 is taken for the
/// number of the next orphan.
pub(crate) const FIRST_DTIME: u32 = 100_000_000;

fn dtime(n: u32) -> String {
    match n {
        0 => "not deleted".to_string(),
        n if n < FIRST_DTIME => format!("{n} (on the list of orphans: the next is inode {n})"),
        n => seconds_text(n.into()),
    }
}

fn slice<'a>(bytes: &'a [u8], field: &Field) -> Option<&'a [u8]> {
    let from = field.offset as usize;
    bytes.get(from..from.checked_add(field.len as usize)?)
}

/// A number of up to 8 bytes.
fn number(raw: &[u8], order: Order) -> Option<u64> {
    if raw.len() > 8 {
        return None;
    }
    let join = |n: u64, b: &u8| n << 8 | u64::from(*b);
    Some(match order {
        Order::Little => raw.iter().rev().fold(0, join),
        Order::Big => raw.iter().fold(0, join),
    })
}

/// Text that a zero byte ends, escaped.
fn text(raw: &[u8]) -> String {
    let end = raw.iter().position(|&b| b == 0).unwrap_or(raw.len());
    escape(&raw[..end])
}

/// Sixteen bytes as a UUID is written.
pub(crate) fn uuid(raw: &[u8]) -> String {
    let mut out = String::new();
    for (i, b) in raw.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        let _ = write!(out, "{b:02x}");
    }
    out
}

/// Bytes in hexadecimal; many are cut short, zeros are counted.
pub(crate) fn hex_bytes(raw: &[u8]) -> String {
    if raw.iter().all(|&b| b == 0) {
        return match raw.len() {
            1 => "a zero byte".to_string(),
            n => format!("{n} zero bytes"),
        };
    }
    let mut out = String::new();
    for b in raw.iter().take(MOST_RAW) {
        let _ = write!(out, "{b:02x}");
    }
    if raw.len() > MOST_RAW {
        let _ = write!(out, "… and {} more", raw.len() - MOST_RAW);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ext4::layout::{GroupDesc, Superblock};

    fn value_of(structure: &Structure<'_>, name: &str) -> String {
        let values = structure.values();
        values.into_iter().find(|v| v.name == name).unwrap().value
    }

    #[test]
    fn times_of_the_superblock_have_eight_more_bits() {
        let mut raw = vec![0; 1024];
        raw[0x2C..0x30].copy_from_slice(&0x10u32.to_le_bytes());
        raw[0x275] = 1;
        let sb = Structure::little(Superblock::FIELDS, &raw, 0);
        // 2^32 + 16 by `date -u -d @4294967312`.
        assert_eq!(value_of(&sb, "s_mtime"), "2106-02-07T06:28:32Z");
        assert_eq!(value_of(&sb, "s_wtime"), "never");
    }

    #[test]
    fn flags_and_features_are_named_as_dumpe2fs_does() {
        let mut raw = vec![0; 1024];
        raw[0x60..0x64].copy_from_slice(&0x2C2u32.to_le_bytes());
        let sb = Structure::little(Superblock::FIELDS, &raw, 0);
        assert_eq!(
            value_of(&sb, "s_feature_incompat"),
            "0x000002c2 (filetype, extent, 64bit, flex_bg)"
        );
        let desc = [0xFF; 32];
        let desc = Structure::little(GroupDesc::FIELDS, &desc, 0);
        assert_eq!(
            value_of(&desc, "bg_flags"),
            "0xffff (INODE_UNINIT, BLOCK_UNINIT, ITABLE_ZEROED, 0xfff8)"
        );
        let end = desc.values().last().map(|f| f.offset + f.len);
        assert_eq!(end, Some(32), "a short descriptor's fields end with it");
    }

    #[test]
    fn text_is_escaped_and_bytes_are_counted() {
        assert_eq!(text(b"a\x1b[1m\0rest"), "a\\x1b[1m");
        assert_eq!(hex_bytes(&[0; 372]), "372 zero bytes");
        let long = hex_bytes(&[0xAB; 100]);
        assert!(long.ends_with("… and 36 more") && long.len() < 160);
    }

    #[test]
    fn offsets_count_from_where_the_caller_says() {
        let sb = Structure::little(Superblock::FIELDS, &[0; 1024], 1024);
        assert_eq!(sb.values()[1].offset, 1028);
    }
}
