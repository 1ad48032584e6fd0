//! Attribute blocks, and the attributes inside inodes.

use super::Context;
use super::parts::{number_field, part, text_field};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    GOOD_OLD_INODE_SIZE, Shown, XATTR_MAGIC, XattrEntry, XattrHeader, xattr_prefix,
};
use crate::ext4::read::{InodeBuf, each_xattr, inode_region};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::view::fields::Structure;
use crate::view::wording::count;
use crate::view::{Part, escape};

const ENTRY: usize = XattrEntry::SIZE;

impl<R: ReadAt> Context<'_, R> {
    pub(super) fn xattr(&mut self) {
        let bytes = self.bytes;
        let Some(raw) = bytes.get(..XattrHeader::SIZE) else {
            return;
        };
        let head = XattrHeader(raw);
        let place = match &self.inode {
            Some(inode) => Place::XattrBlock(inode.nr, self.nr),
            None => Place::Block(self.nr),
        };
        self.parts
            .structure("header", Structure::little(XattrHeader::FIELDS, raw, 0));
        if head.h_magic() != XATTR_MAGIC {
            let (found, expected) = (head.h_magic().into(), XATTR_MAGIC.into());
            self.problems
                .push(Problem::new(place, Flaw::Magic { found, expected }));
            return;
        }
        let n = self.attributes(bytes, XattrHeader::SIZE, 0, "", place);
        let shared = match head.h_refcount() {
            0 | 1 => String::new(),
            n => format!(" {n} inodes with equal attributes share it."),
        };
        self.says = Some(format!(
            "It holds {}.{shared}",
            count(n as u64, "attribute")
        ));
        if self.fs.superblock().has_metadata_csum() {
            let expected = checksum::xattr_block(self.fs.checksum_seed(), self.nr, bytes);
            self.checksum(place, head.h_checksum(), expected);
        }
    }

    /// The attributes inside an inode whose slot begins at byte `at` of the block.
    pub(super) fn inode_xattrs(&mut self, inode: &InodeBuf, at: usize) {
        let Some(region) = inode_region(inode) else {
            return;
        };
        let magic = at + GOOD_OLD_INODE_SIZE + usize::from(inode.i_extra_isize());
        let field = number_field(
            "h_magic",
            magic,
            Shown::Hex,
            XATTR_MAGIC,
            "attributes follow",
        );
        self.parts.push(part(
            format!("attributes of inode {}", inode.nr),
            magic,
            4,
            vec![field],
        ));
        let suffix = format!(" of inode {}", inode.nr);
        self.attributes(region, 0, magic + 4, &suffix, Place::InodeXattrs(inode.nr));
    }

    /// Entries from byte `from` of a region on, then their values in the order of bytes.
    /// The region begins at byte `base` of the block. Their number.
    fn attributes(
        &mut self,
        region: &[u8],
        from: usize,
        base: usize,
        suffix: &str,
        place: Place,
    ) -> usize {
        let (mut entries, mut values) = (Vec::new(), Vec::new());
        let walked = each_xattr(region, from, &mut |raw| {
            let e = &raw.entry;
            let name = full_name(e.e_name_index(), raw.name);
            let at = base + raw.offset;
            let mut fields = Structure::little(XattrEntry::FIELDS, e.0, at).values();
            if !raw.name.is_empty() {
                fields.push(text_field(
                    "e_name",
                    at + ENTRY,
                    raw.name,
                    "the name after its prefix",
                ));
            }
            let mut entry = part(
                format!("attribute {name}{suffix}"),
                at,
                ENTRY + raw.name.len(),
                fields,
            );
            entry.inode = Some(e.e_value_inum()).filter(|&i| i != 0);
            entries.push(entry);
            let (start, len) = (usize::from(e.e_value_offs()), e.e_value_size() as usize);
            if e.e_value_inum() == 0
                && len > 0
                && let Some(value) = region.get(start..start.saturating_add(len))
            {
                values.push(value_part(&name, suffix, base + start, value));
            }
        });
        if let Err(flaw) = walked {
            self.problems.push(Problem::new(place, flaw));
        }
        let n = entries.len();
        values.sort_by_key(|v| v.offset);
        for part in entries.into_iter().chain(values) {
            self.parts.push(part);
        }
        n
    }
}

fn full_name(index: u8, name: &[u8]) -> String {
    let prefix = xattr_prefix(index).map_or_else(|| format!("(prefix {index}) "), str::to_string);
    prefix + &escape(name)
}

fn value_part(name: &str, suffix: &str, at: usize, value: &[u8]) -> Part {
    let field = text_field("value", at, value, "the value");
    let title = format!("value of {name}{suffix}");
    part(title, at, value.len(), vec![field])
}
