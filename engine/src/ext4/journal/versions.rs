//! Old and new contents of one block, as the log holds them.

use super::Journal;
use super::transaction::{CopyFate, TransactionState};
use crate::disk::ReadAt;
use crate::ext4::layout::{JOURNAL_MAGIC, Timestamp};
use crate::ext4::{Place, Problem};
use crate::units::BlockNr;
use serde::{Deserialize, Serialize};

/// A copy of a block in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Version {
    /// Transaction that wrote it.
    pub transaction: u32,
    /// What becomes of that transaction.
    pub state: TransactionState,
    /// When the transaction was committed, where it was.
    pub committed: Option<Timestamp>,
    /// The journal's block that holds it.
    pub journal_block: u32,
    /// Its first four bytes stand for the journal's magic.
    pub escaped: bool,
    /// Whether its checksum holds; `None` where it has none.
    pub checksum_ok: Option<bool>,
    /// What a replay does with it.
    pub fate: CopyFate,
    /// A replay leaves the block with these contents.
    pub replayed: bool,
}

impl Journal {
    /// The copies of a block, oldest first: those of old transactions as far as
    /// [`Journal::read_history`] has found them, then those of the live log.
    pub fn old_versions(&self, block: BlockNr) -> Vec<Version> {
        let all = self.history.transactions.iter().chain(&self.transactions);
        let of_block = all.flat_map(|t| {
            t.copies()
                .filter(move |(_, copy)| copy.home == block.0)
                .map(move |c| (t, c))
        });
        of_block
            .map(|(t, (journal_block, copy))| Version {
                transaction: t.sequence,
                state: t.state,
                committed: t.commit.map(|c| c.time),
                journal_block,
                escaped: copy.escaped,
                checksum_ok: copy.checksum_ok,
                fate: copy.fate,
                replayed: copy.fate == CopyFate::Replayed,
            })
            .collect()
    }

    /// The block's contents in that version, as they were before the journal escaped
    /// them.
    pub fn read_version<R: ReadAt + ?Sized>(
        &self,
        medium: &R,
        version: &Version,
    ) -> Result<Vec<u8>, Problem> {
        let mut bytes = self.log.block(medium, version.journal_block)?;
        if version.escaped {
            let Some(start) = bytes.get_mut(..4) else {
                return Err(Problem::other(
                    Place::JournalBlock(version.journal_block),
                    "is too short",
                ));
            };
            start.copy_from_slice(&JOURNAL_MAGIC.to_be_bytes());
        }
        Ok(bytes)
    }
}
