//! Extended attributes: inside the inode, in a block of their own, in value inodes.

use super::acl::acl_to_linux;
use super::{Fs, InodeBuf};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    GOOD_OLD_INODE_SIZE, Order, XATTR_MAGIC, XattrEntry, XattrHeader, wire, xattr_prefix,
};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::units::{BlockNr, InodeNr};
use serde::{Deserialize, Serialize};

/// Longest value that Linux hands out, bytes (`XATTR_SIZE_MAX`).
const MAX_VALUE: u32 = 65536;
const ENTRY: usize = 16;
const HEADER: usize = 32;
/// `e_name_index` of the attribute that holds the rest of inline data.
const SYSTEM: u8 = 7;

/// Where an attribute is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum XattrHome {
    /// Inside the inode.
    Inode,
    /// In the inode's attribute block.
    Block(BlockNr),
}

/// An extended attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Xattr {
    /// Its full name, prefix included.
    pub name: Vec<u8>,
    /// The prefix's number.
    pub index: u8,
    /// Its value, as Linux hands it out (POSIX ACLs are kept in another form on disk).
    pub value: Vec<u8>,
    /// Where it is kept.
    pub home: XattrHome,
    /// The inode that holds the value, where one does.
    pub value_inode: Option<InodeNr>,
}

impl Xattr {
    /// Whether Linux lists it: the rest of inline data and encryption contexts it keeps
    /// to itself.
    pub fn is_listed(&self) -> bool {
        matches!(self.index, 1..=4 | 6)
    }
}

/// An entry before its value is fetched. `offset` is of the entry in its region.
pub(crate) struct RawXattr<'a> {
    pub entry: XattrEntry<&'a [u8]>,
    pub name: &'a [u8],
    pub offset: usize,
}

/// Goes through the entries at the start of `region` from byte `at` on.
pub(crate) fn each_xattr<'a>(
    region: &'a [u8],
    mut at: usize,
    each: &mut dyn FnMut(RawXattr<'a>),
) -> Result<(), Flaw> {
    loop {
        match region.get(at..at + 4) {
            None | Some([0, 0, 0, 0]) => return Ok(()),
            Some(_) => {}
        }
        let past_end = |what: &str| {
            Flaw::Other(format!(
                "has an entry at byte {at} whose {what} goes past the end"
            ))
        };
        let raw = region.get(at..at + ENTRY).ok_or_else(|| past_end("head"))?;
        let entry = XattrEntry(raw);
        let name_len = usize::from(entry.e_name_len());
        let name = region
            .get(at + ENTRY..at + ENTRY + name_len)
            .ok_or_else(|| past_end("name"))?;
        each(RawXattr {
            entry,
            name,
            offset: at,
        });
        at += ENTRY + name_len.next_multiple_of(4);
    }
}

impl<R: ReadAt> Fs<R> {
    /// All attributes of an inode, in the order they are stored, and what is wrong with
    /// them.
    pub fn xattrs(&self, inode: &InodeBuf) -> (Vec<Xattr>, Vec<Problem>) {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        if let Some(region) = inode_region(inode) {
            let place = Place::InodeXattrs(inode.nr);
            self.collect(region, 0, place, XattrHome::Inode, &mut all, &mut problems);
        }
        let at = inode.file_acl();
        if at.0 != 0 {
            self.block_xattrs(inode, at, &mut all, &mut problems);
        }
        (all, problems)
    }

    fn block_xattrs(
        &self,
        inode: &InodeBuf,
        at: BlockNr,
        all: &mut Vec<Xattr>,
        problems: &mut Vec<Problem>,
    ) {
        let place = Place::XattrBlock(inode.nr, at);
        if !self.geo.holds(at, 1) {
            let expected = format!("a block of the filesystem, up to {}", self.geo.blocks - 1);
            problems.push(Problem::value(
                Place::Inode(inode.nr),
                "i_file_acl",
                at.0,
                expected,
            ));
            return;
        }
        let block = match self.block(at) {
            Ok(block) => block,
            Err(e) => return problems.push(e.into_problem(place)),
        };
        let head = XattrHeader(&block[..]);
        if head.h_magic() != XATTR_MAGIC {
            let (found, expected) = (head.h_magic().into(), XATTR_MAGIC.into());
            return problems.push(Problem::new(place, Flaw::Magic { found, expected }));
        }
        if self.sb.has_metadata_csum() {
            let (found, expected) = (
                head.h_checksum(),
                checksum::xattr_block(self.seed, at, &block),
            );
            if found != expected {
                problems.push(Problem::new(place, Flaw::Checksum { found, expected }));
            }
        }
        self.collect(&block, HEADER, place, XattrHome::Block(at), all, problems);
    }

    fn collect(
        &self,
        region: &[u8],
        at: usize,
        place: Place,
        home: XattrHome,
        all: &mut Vec<Xattr>,
        problems: &mut Vec<Problem>,
    ) {
        let mut bad = Vec::new();
        let walked = each_xattr(
            region,
            at,
            &mut |raw| match self.xattr(region, &raw, home) {
                Ok(xattr) => all.push(xattr),
                Err(flaw) => bad.push(flaw),
            },
        );
        problems.extend(
            bad.into_iter()
                .chain(walked.err())
                .map(|flaw| Problem::new(place, flaw)),
        );
    }

    fn xattr(&self, region: &[u8], raw: &RawXattr<'_>, home: XattrHome) -> Result<Xattr, Flaw> {
        let e = &raw.entry;
        let size = e.e_value_size();
        let past_end = |what: String| {
            Flaw::Other(format!(
                "has an entry at byte {} whose value {what}",
                raw.offset
            ))
        };
        if size > MAX_VALUE {
            return Err(past_end(format!(
                "is {size} bytes long; expected at most {MAX_VALUE}"
            )));
        }
        let value_inode = (e.e_value_inum() != 0).then(|| InodeNr(e.e_value_inum()));
        let value = match value_inode {
            Some(ino) => self
                .value_of(ino, size)
                .map_err(|why| past_end(format!("in inode {ino} cannot be read: {why}")))?,
            None => {
                let from = usize::from(e.e_value_offs());
                region
                    .get(from..from + size as usize)
                    .ok_or_else(|| {
                        past_end(format!(
                            "ends at byte {} of {}",
                            from + size as usize,
                            region.len()
                        ))
                    })?
                    .to_vec()
            }
        };
        let index = e.e_name_index();
        let mut name = match xattr_prefix(index) {
            Some(prefix) => prefix.as_bytes().to_vec(),
            None => format!("unknown-prefix-{index}.").into_bytes(),
        };
        name.extend_from_slice(raw.name);
        let value = if matches!(index, 2 | 3) {
            acl_to_linux(&value).unwrap_or(value)
        } else {
            value
        };
        Ok(Xattr {
            name,
            index,
            value,
            home,
            value_inode,
        })
    }

    /// The value that a value inode holds.
    fn value_of(&self, ino: InodeNr, size: u32) -> Result<Vec<u8>, crate::ext4::Error> {
        let inode = self.inode(ino)?;
        let content = self.content(&inode);
        let mut value = vec![0; size as usize];
        let n = self.read_content(&content, 0, &mut value)?;
        if n < value.len() {
            let problem = Problem::value(
                Place::Inode(ino),
                "i_size",
                inode.size(),
                format!("at least {size}"),
            );
            return Err(problem.into());
        }
        Ok(value)
    }

    /// The value of `system.data`, where an inline file's contents go on.
    pub(super) fn inline_attribute(&self, inode: &InodeBuf) -> Option<Vec<u8>> {
        let region = inode_region(inode)?;
        let mut value = None;
        // Damage after the attribute does not hide it.
        let _ = each_xattr(region, 0, &mut |raw| {
            if raw.entry.e_name_index() == SYSTEM
                && raw.name == b"data"
                && raw.entry.e_value_inum() == 0
            {
                let from = usize::from(raw.entry.e_value_offs());
                value = region
                    .get(from..from + raw.entry.e_value_size() as usize)
                    .map(<[u8]>::to_vec);
            }
        });
        value
    }
}

/// The space for attributes inside an inode, from the first entry on; `None` when none
/// was ever put there.
pub(crate) fn inode_region(inode: &InodeBuf) -> Option<&[u8]> {
    let raw = inode.raw();
    if raw.len() <= GOOD_OLD_INODE_SIZE {
        return None;
    }
    let at = GOOD_OLD_INODE_SIZE + usize::from(inode.i_extra_isize());
    let magic = raw.get(at..at + 4)?;
    (wire::get::<u32>(magic, 0, Order::Little) == XATTR_MAGIC).then(|| &raw[at + 4..])
}
