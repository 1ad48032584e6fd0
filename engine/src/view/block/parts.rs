//! The list of structures in a block, kept to a bearable length.

use crate::ext4::layout::Shown;
use crate::view::fields::Structure;
use crate::view::{FieldValue, Part, escape};

/// Most structures that are listed of a block.
const MOST_PARTS: usize = 2048;
/// Most fields that are given of a block; structures past it are listed without.
const MOST_FIELDS: usize = 8192;
/// Bytes of a text that are shown: more than any name has.
const TEXT_SHOWN: usize = 256;

/// The structures found so far.
#[derive(Default)]
pub(super) struct Parts {
    list: Vec<Part>,
    fields: usize,
    left_out: usize,
    /// Where the first that was left out begins.
    cut_at: u32,
}

impl Parts {
    /// Whether fields of one more structure would be kept.
    pub fn has_room(&self) -> bool {
        self.list.len() < MOST_PARTS && self.fields < MOST_FIELDS
    }

    pub fn push(&mut self, mut part: Part) {
        if self.list.len() >= MOST_PARTS {
            if self.left_out == 0 {
                self.cut_at = part.offset;
            }
            self.left_out += 1;
            return;
        }
        if self.fields >= MOST_FIELDS {
            part.fields.clear();
        }
        self.fields += part.fields.len();
        self.list.push(part);
    }

    /// A structure all of whose fields are in its table.
    pub fn structure(&mut self, title: impl Into<String>, structure: Structure<'_>) {
        let fields = if self.has_room() {
            structure.values()
        } else {
            Vec::new()
        };
        self.push(part(title, structure.base, structure.bytes.len(), fields));
    }

    /// The list; what was left out is one structure at its end. `block_len`: bytes of the
    /// block.
    pub fn finish(mut self, block_len: usize) -> Vec<Part> {
        if self.left_out > 0 {
            let title = format!("{} more, not listed", self.left_out);
            let at = self.cut_at as usize;
            self.list
                .push(part(title, at, block_len.saturating_sub(at), Vec::new()));
        }
        self.list
    }
}

/// A structure that leads nowhere.
pub(super) fn part(
    title: impl Into<String>,
    offset: usize,
    len: usize,
    fields: Vec<FieldValue>,
) -> Part {
    Part {
        title: title.into(),
        offset: offset as u32,
        len: len as u32,
        fields,
        inode: None,
        block: None,
    }
}

/// A field that no table has, as a name is.
pub(super) fn text_field(name: &str, offset: usize, bytes: &[u8], help: &str) -> FieldValue {
    let shown = bytes.get(..TEXT_SHOWN).unwrap_or(bytes);
    let mut value = escape(shown);
    if shown.len() < bytes.len() {
        value.push('…');
    }
    FieldValue {
        name: name.into(),
        offset: offset as u32,
        len: bytes.len() as u32,
        shown: Shown::Text,
        value,
        help: help.into(),
    }
}

/// A number of four bytes that no table has.
pub(super) fn number_field(
    name: &str,
    offset: usize,
    shown: Shown,
    value: u32,
    help: &str,
) -> FieldValue {
    FieldValue {
        name: name.into(),
        offset: offset as u32,
        len: 4,
        shown,
        value: if shown == Shown::Hex {
            format!("{value:#010x}")
        } else {
            value.to_string()
        },
        help: help.into(),
    }
}
