//! Directory blocks: names, and the nodes of htrees.

use super::parts::{part, text_field};
use super::{Context, InMap};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    DIR_TAIL_TYPE, DirEntryHead, DirTail, DxCountLimit, DxEntry, DxRootInfo, DxTail, FileType,
    InodeFlags,
};
use crate::ext4::read::{RawEntry, each_entry};
use crate::ext4::{Place, Problem, checksum};
use crate::view::fields::Structure;
use crate::view::wording::count;
use crate::view::{Part, escape};

const HEAD: usize = DirEntryHead::SIZE;
const ENTRY: usize = DxEntry::SIZE;

impl<R: ReadAt> Context<'_, R> {
    /// The block of the directory that this is; 0 where that is not known.
    fn dir_lblk(&self) -> u64 {
        match self.in_map {
            Some(InMap::Content(lblk)) => lblk,
            _ => 0,
        }
    }

    fn dir_place(&self) -> Place {
        match &self.inode {
            Some(inode) => Place::DirBlock(inode.nr, self.dir_lblk()),
            None => Place::Block(self.nr),
        }
    }

    pub(super) fn dir_leaf(&mut self) {
        let encrypted = self
            .inode
            .as_ref()
            .is_some_and(|i| i.flags().contains(InodeFlags::ENCRYPT));
        let (bytes, mut names) = (self.bytes, 0u64);
        let parts = &mut self.parts;
        let walked = each_entry(bytes, bytes.len() as u32, &mut |e| {
            names += u64::from(e.inode != 0);
            let with_fields = parts.has_room();
            parts.push(entry(bytes, &e, with_fields));
        });
        if let Err(flaw) = walked {
            self.problems.push(Problem::new(self.dir_place(), flaw));
        }
        let hidden = if encrypted { ", encrypted" } else { "" };
        self.says = Some(format!("It holds {}{hidden}.", count(names, "name")));
        self.dir_tail();
    }

    fn dir_tail(&mut self) {
        let Some(at) = self.bytes.len().checked_sub(DirTail::SIZE) else {
            return;
        };
        let (body, raw) = self.bytes.split_at(at);
        let tail = DirTail(raw);
        let is_tail = tail.det_reserved_zero1() == 0
            && usize::from(tail.det_rec_len()) == DirTail::SIZE
            && tail.det_reserved_ft() == DIR_TAIL_TYPE;
        if !is_tail {
            return;
        }
        self.parts
            .structure("checksum", Structure::little(DirTail::FIELDS, raw, at));
        if let Some(seed) = self.owner_seed() {
            self.checksum(
                self.dir_place(),
                tail.det_checksum(),
                checksum::of_inode(seed, body),
            );
        }
    }

    /// The root or an inner node of an htree.
    pub(super) fn htree(&mut self) {
        let root = self.dir_lblk() == 0;
        let bytes = self.bytes;
        let start = if root { 32 } else { 8 };
        if bytes.len() < start + ENTRY {
            return;
        }
        if root {
            for (at, name) in [(0, "."), (12, "..")] {
                let raw = &bytes[at..at + HEAD];
                let mut fields = Structure::little(DirEntryHead::FIELDS, raw, at).values();
                fields.push(text_field(
                    "name",
                    at + HEAD,
                    &bytes[at + HEAD..at + HEAD + name.len()],
                    "the name",
                ));
                let mut dot = part(format!("entry \"{name}\""), at, 12, fields);
                dot.inode = Some(DirEntryHead(raw).inode());
                self.parts.push(dot);
            }
            let info = &bytes[24..32];
            self.parts.structure(
                "about the tree",
                Structure::little(DxRootInfo::FIELDS, info, 24),
            );
        } else {
            let fake = Structure::little(DirEntryHead::FIELDS, &bytes[..HEAD], 0);
            self.parts.structure(
                "an unused entry, so that old readers pass over the block",
                fake,
            );
        }
        let head = DxCountLimit(&bytes[start..start + ENTRY]);
        let fits = (bytes.len() - start) / ENTRY;
        let (used, limit) = (
            usize::from(head.count()).min(fits),
            usize::from(head.limit()).min(fits),
        );
        self.parts.structure(
            "counts, and the block for the lowest hashes",
            Structure::little(DxCountLimit::FIELDS, &bytes[start..start + ENTRY], start),
        );
        for i in 1..used {
            let at = start + i * ENTRY;
            let raw = &bytes[at..at + ENTRY];
            let e = DxEntry(raw);
            let title = format!(
                "hashes from {:#010x}: block {} of the directory",
                e.hash(),
                e.block()
            );
            self.parts
                .structure(title, Structure::little(DxEntry::FIELDS, raw, at));
        }
        let level = if root { "root" } else { "inner node" };
        self.says = Some(format!(
            "It is the {level} of the directory's htree and points to {}.",
            count(used as u64, "block")
        ));
        self.htree_tail(start, used, limit);
    }

    fn htree_tail(&mut self, start: usize, used: usize, limit: usize) {
        let at = start + limit * ENTRY;
        let (Some(seed), Some(raw)) = (self.owner_seed(), self.bytes.get(at..at + DxTail::SIZE))
        else {
            return;
        };
        self.parts
            .structure("checksum", Structure::little(DxTail::FIELDS, raw, at));
        let tail = DxTail(raw);
        if let Some(covered) = self.bytes.get(..start + used * ENTRY) {
            let expected = checksum::htree(seed, covered, &tail);
            self.checksum(self.dir_place(), tail.dt_checksum(), expected);
        }
    }
}

/// An entry with its name.
fn entry(bytes: &[u8], e: &RawEntry<'_>, with_fields: bool) -> Part {
    let at = e.offset;
    let title = match e.inode {
        0 => "unused".to_string(),
        _ => match FileType::from_dir_entry(e.file_type) {
            FileType::Unknown => format!("entry \"{}\"", escape(e.name)),
            kind => format!("entry \"{}\", {}", escape(e.name), kind.words()),
        },
    };
    let mut fields = Vec::new();
    if with_fields && let Some(raw) = bytes.get(at..at + HEAD) {
        fields = Structure::little(DirEntryHead::FIELDS, raw, at).values();
        if !e.name.is_empty() {
            fields.push(text_field("name", at + HEAD, e.name, "the name"));
        }
    }
    let mut part = part(title, at, e.rec_len, fields);
    part.inode = Some(e.inode).filter(|&i| i != 0);
    part
}
