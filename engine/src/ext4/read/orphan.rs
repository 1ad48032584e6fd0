//! Inodes that were deleted while open, or being truncated, when the mount ended.

use super::{Fs, InodeBuf};
use crate::disk::ReadAt;
use crate::ext4::layout::{Compat, Order, wire};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::units::InodeNr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const ORPHAN_MAGIC: u32 = 0x0B10_CA04;
/// Magic and checksum at the end of an orphan file's block.
const TAIL: usize = 8;

/// Where an orphan is on record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum OrphanSource {
    /// The list that starts in the superblock and goes on in `i_dtime`.
    List,
    /// The orphan file.
    File,
}

/// An orphan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Orphan {
    /// Its inode.
    pub inode: InodeNr,
    /// Where it is on record.
    pub source: OrphanSource,
    /// Names it still has: an orphan with some was being truncated.
    pub links: u16,
}

impl<R: ReadAt> Fs<R> {
    /// All orphans on record, and what is wrong with the record.
    pub fn orphans(&self) -> (Vec<Orphan>, Vec<Problem>) {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        self.orphan_list(&mut all, &mut problems);
        if self.sb.compat().contains(Compat::ORPHAN_FILE) {
            self.orphan_file(&mut all, &mut problems);
        }
        (all, problems)
    }

    fn orphan_list(&self, all: &mut Vec<Orphan>, problems: &mut Vec<Problem>) {
        let mut seen = BTreeSet::new();
        let (mut next, mut place) = (InodeNr(self.sb.s_last_orphan()), Place::Superblock);
        while next.0 != 0 {
            if !seen.insert(next) {
                return problems.push(Problem::new(place, Flaw::Cycle { at: next.0.into() }));
            }
            let inode = match self.inode(next) {
                Ok(inode) => inode,
                Err(e) => {
                    return problems.push(Problem::other(
                        place,
                        format!("names {next} as an orphan: {e}"),
                    ));
                }
            };
            all.push(Orphan {
                inode: next,
                source: OrphanSource::List,
                links: inode.i_links_count(),
            });
            place = Place::Inode(next);
            next = InodeNr(inode.i_dtime());
        }
    }

    fn orphan_file(&self, all: &mut Vec<Orphan>, problems: &mut Vec<Problem>) {
        let ino = InodeNr(self.sb.s_orphan_file_inum());
        let file = match self.inode(ino) {
            Ok(file) => file,
            Err(e) => return problems.push(e.into_problem(Place::Superblock)),
        };
        let runs = self.runs(&file);
        problems.extend(runs.problems);
        for run in runs.runs {
            for i in 0..u64::from(run.len) {
                let (lblk, at) = (u64::from(run.lblk.0) + i, run.start.plus(i));
                let place = Place::OrphanBlock(ino, lblk);
                match self.block(at) {
                    Ok(bytes) => self.orphan_block(&file, at, place, &bytes, all, problems),
                    Err(e) => problems.push(e.into_problem(place)),
                }
            }
        }
    }

    fn orphan_block(
        &self,
        file: &InodeBuf,
        at: crate::units::BlockNr,
        place: Place,
        bytes: &[u8],
        all: &mut Vec<Orphan>,
        problems: &mut Vec<Problem>,
    ) {
        let (entries, tail) = bytes.split_at(bytes.len() - TAIL);
        let magic: u32 = wire::get(tail, 0, Order::Little);
        if magic != ORPHAN_MAGIC {
            let (found, expected) = (magic.into(), ORPHAN_MAGIC.into());
            return problems.push(Problem::new(place, Flaw::Magic { found, expected }));
        }
        if self.sb.has_metadata_csum() {
            let found = wire::get(tail, 4, Order::Little);
            let expected = checksum::orphan_block(self.inode_seed(file), at, entries);
            if found != expected {
                problems.push(Problem::new(place, Flaw::Checksum { found, expected }));
            }
        }
        for slot in entries.chunks_exact(4) {
            let ino = InodeNr(wire::get(slot, 0, Order::Little));
            if ino.0 == 0 {
                continue;
            }
            match self.inode(ino) {
                Ok(inode) => all.push(Orphan {
                    inode: ino,
                    source: OrphanSource::File,
                    links: inode.i_links_count(),
                }),
                Err(e) => problems.push(Problem::other(
                    place,
                    format!("names {ino} as an orphan: {e}"),
                )),
            }
        }
    }
}
