//! Blocks of the journal, each by itself.

use super::parts::{number_field, part};
use super::{Context, InMap};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    CommitBlock, JOURNAL_MAGIC, JournalBlockType, JournalHeader, JournalIncompat,
    JournalSuperblock, JournalTag, JournalTag3, Order, RevokeHeader, Shown, TagFlags, wire,
};
use crate::units::Lblk;
use crate::view::FieldValue;
use crate::view::fields::Structure;
use crate::view::wording::count;

const HEAD: usize = JournalHeader::SIZE;
const UUID: usize = 16;

impl<R: ReadAt> Context<'_, R> {
    pub(super) fn journal(&mut self) {
        let Some(raw) = self.bytes.get(..HEAD) else {
            return;
        };
        let head = JournalHeader(raw);
        let kind = (head.h_magic() == JOURNAL_MAGIC)
            .then(|| JournalBlockType::from_disk(head.h_blocktype()))
            .flatten();
        let Some(kind) = kind else {
            self.says = Some("It holds a copy of another block, or what is left of one.".into());
            return;
        };
        let of = format!("of transaction {}", head.h_sequence());
        let says = match kind {
            JournalBlockType::Descriptor => {
                format!("It is a descriptor block {of}: it says where the blocks after it belong.")
            }
            JournalBlockType::Commit => {
                format!("It is the commit block {of}: with it on the disk, the transaction counts.")
            }
            JournalBlockType::Revoke => format!(
                "It is a revoke block {of}: it names blocks that earlier transactions may not be \
                 replayed onto."
            ),
            JournalBlockType::SuperblockV1 | JournalBlockType::SuperblockV2 => {
                "It is the journal's superblock.".into()
            }
        };
        self.says = Some(says);
        match kind {
            JournalBlockType::Descriptor => self.tags(raw),
            JournalBlockType::Revoke => self.revokes(),
            JournalBlockType::Commit => {
                self.big("commit block", CommitBlock::FIELDS, CommitBlock::SIZE)
            }
            JournalBlockType::SuperblockV1 | JournalBlockType::SuperblockV2 => {
                self.big(
                    "journal superblock",
                    JournalSuperblock::FIELDS,
                    JournalSuperblock::SIZE,
                );
            }
        }
    }

    fn big(&mut self, title: &str, fields: &'static [crate::ext4::layout::Field], size: usize) {
        if let Some(raw) = self.bytes.get(..size) {
            self.parts.structure(title, Structure::big(fields, raw, 0));
        }
    }

    /// Features of the journal, by its superblock.
    fn journal_features(&self) -> JournalIncompat {
        let features = || {
            let runs = self.fs.runs(self.inode.as_ref()?);
            let first = runs.find(Lblk(0))?.start;
            let block = self.fs.block(first).ok()?;
            let sb = JournalSuperblock(&block[..]);
            let second = sb.h_magic() == JOURNAL_MAGIC && sb.h_blocktype() == 4;
            second.then(|| JournalIncompat::from_bits_retain(sb.s_feature_incompat()))
        };
        features().unwrap_or(JournalIncompat::empty())
    }

    /// A descriptor block: a tag for each block after it.
    fn tags(&mut self, head: &[u8]) {
        self.parts
            .structure("header", Structure::big(JournalHeader::FIELDS, head, 0));
        let features = self.journal_features();
        let v3 = features.contains(JournalIncompat::CSUM_V3);
        let wide = features.contains(JournalIncompat::BIT64);
        let summed = features.intersects(JournalIncompat::CSUM_V2 | JournalIncompat::CSUM_V3);
        let size = tag_size(features);
        let end = self.bytes.len() - if summed { 4 } else { 0 };
        let (mut at, mut n) = (HEAD, 0);
        while let Some(raw) = self.bytes[..end].get(at..at + size) {
            let (low, high, flags, fields) = if v3 {
                let t = JournalTag3(raw);
                let fields = Structure::big(JournalTag3::FIELDS, raw, at).values();
                (t.t_blocknr(), t.t_blocknr_high(), t.t_flags(), fields)
            } else {
                let t = JournalTag(raw);
                // Without 64bit, what follows the flags is not the number's high half.
                let cut = if wide { raw } else { &raw[..8] };
                let fields = Structure::big(JournalTag::FIELDS, cut, at).values();
                (
                    t.t_blocknr(),
                    t.t_blocknr_high(),
                    t.t_flags().into(),
                    fields,
                )
            };
            let home = u64::from(low) | if wide { u64::from(high) << 32 } else { 0 };
            let mut tag = part(format!("tag {n}: copy of block {home}"), at, size, fields);
            tag.block = Some(home);
            self.parts.push(tag);
            n += 1;
            at += size;
            let flags = TagFlags::from_bits_retain(flags);
            if !flags.contains(TagFlags::SAME_UUID) {
                self.uuid(at, end);
                at += UUID;
            }
            if flags.contains(TagFlags::LAST_TAG) {
                break;
            }
        }
        self.journal_tail(summed);
    }

    /// Whose blocks those of a descriptor block are; it ends before byte `end`.
    fn uuid(&mut self, at: usize, end: usize) {
        let Some(raw) = self.bytes[..end].get(at..at + UUID) else {
            return;
        };
        let field = FieldValue {
            name: "uuid".into(),
            offset: at as u32,
            len: UUID as u32,
            shown: Shown::Uuid,
            value: crate::view::fields::uuid(raw),
            help: "whose blocks these are".into(),
        };
        self.parts
            .push(part("UUID of the journal's user", at, UUID, vec![field]));
    }

    fn revokes(&mut self) {
        let Some(raw) = self.bytes.get(..RevokeHeader::SIZE) else {
            return;
        };
        self.parts
            .structure("header", Structure::big(RevokeHeader::FIELDS, raw, 0));
        let features = self.journal_features();
        let wide = features.contains(JournalIncompat::BIT64);
        let size = if wide { 8 } else { 4 };
        let summed = features.intersects(JournalIncompat::CSUM_V2 | JournalIncompat::CSUM_V3);
        let room = self.bytes.len() - if summed { 4 } else { 0 };
        let end = (RevokeHeader(raw).r_count() as usize).min(room);
        let mut at = RevokeHeader::SIZE;
        let mut n = 0u64;
        while at + size <= end {
            let nr = if wide {
                wire::get::<u64>(self.bytes, at, Order::Big)
            } else {
                wire::get::<u32>(self.bytes, at, Order::Big).into()
            };
            let field = FieldValue {
                name: "blocknr".into(),
                offset: at as u32,
                len: size as u32,
                shown: Shown::Block,
                value: nr.to_string(),
                help: "not to be replayed from earlier transactions".into(),
            };
            let mut entry = part(format!("revoked: block {nr}"), at, size, vec![field]);
            entry.block = Some(nr);
            self.parts.push(entry);
            at += size;
            n += 1;
        }
        if let Some(says) = &mut self.says {
            says.push_str(&format!(" It names {}.", count(n, "block")));
        }
        self.journal_tail(summed);
    }

    fn journal_tail(&mut self, summed: bool) {
        let at = self.bytes.len() - 4;
        if summed {
            let stored = wire::get(self.bytes, at, Order::Big);
            let field = number_field("t_checksum", at, Shown::Hex, stored, "crc32c of the block");
            self.parts.push(part("checksum", at, 4, vec![field]));
        }
    }

    /// The block of the journal that this is.
    pub(super) fn journal_block(&self) -> Option<u64> {
        match self.in_map {
            Some(InMap::Content(lblk)) => Some(lblk),
            _ => None,
        }
    }
}

/// Bytes of a tag. Checksum v2 makes tags two bytes longer than what they hold (jbd2's
/// `journal_tag_bytes`).
fn tag_size(features: JournalIncompat) -> usize {
    if features.contains(JournalIncompat::CSUM_V3) {
        return JournalTag3::SIZE;
    }
    let wide = if features.contains(JournalIncompat::BIT64) {
        4
    } else {
        0
    };
    let summed = if features.contains(JournalIncompat::CSUM_V2) {
        2
    } else {
        0
    };
    8 + wide + summed
}
