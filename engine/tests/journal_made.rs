//! Journals made here, byte by byte, from jbd2's documentation: every format of tags and
//! checksums, logs that go over the ring's end and over the end of numbers, cuts and
//! damage. What a replay should do is worked out apart, from the list of transactions.

mod journal_maker;

use fslab_engine::disk::ReadAt;
use fslab_engine::ext4::journal::{
    CopyFate, Journal, JournalPlace, LogBlockKind, Outcome, Overlay, ScanStop, TransactionState,
};
use fslab_engine::ext4::read::Fs;
use fslab_engine::view;
use journal_maker::{BLOCK, Kind, Made, Maker, RING, Sum, contents, put};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn open(bytes: &Vec<u8>) -> Journal {
    Journal::open_device(bytes, None::<&Fs<Vec<u8>>>).unwrap()
}

/// What the transactions leave, written down without a thought of journals: the last
/// copy of each block, unless it was revoked in that transaction or a later one.
fn expected(made: &[Made]) -> BTreeMap<u64, Vec<u8>> {
    let mut out = BTreeMap::new();
    for (i, t) in made.iter().enumerate() {
        for (home, seed) in &t.blocks {
            let revoked = made[i..].iter().any(|later| later.revokes.contains(home));
            if !revoked {
                out.insert(*home, contents(*seed));
            }
        }
    }
    out
}

fn kinds() -> impl Strategy<Value = Kind> {
    let sums = prop_oneof![Just(Sum::None), Just(Sum::V1), Just(Sum::V2), Just(Sum::V3)];
    (sums, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(sum, wide, uuids, asynchronous)| Kind {
            sum,
            wide,
            uuids,
            asynchronous,
        },
    )
}

fn transactions() -> impl Strategy<Value = Vec<Made>> {
    let home = prop_oneof![3 => 0u64..12, 1 => Just(0xFFFF_FFF0u64)];
    let one = (
        proptest::collection::vec((home, any::<u8>()), 0..8),
        proptest::collection::vec(0u64..12, 0..4),
    );
    proptest::collection::vec(
        one.prop_map(|(blocks, revokes)| Made { blocks, revokes }),
        1..8,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Wherever the log starts in the ring, whatever its first number, in each format.
    #[test]
    fn a_replay_does_what_the_transactions_say(
        kind in kinds(),
        made in transactions(),
        start in prop_oneof![1u32..=RING, Just(RING)],
        sequence in prop_oneof![any::<u32>(), (u32::MAX - 3)..=u32::MAX],
        torn: bool,
    ) {
        let mut maker = Maker::new(kind, start, sequence);
        for (i, t) in made.iter().enumerate() {
            maker.transaction(t, !(torn && i + 1 == made.len()));
        }
        let whole = if torn { &made[..made.len() - 1] } else { &made[..] };
        let journal = open(&maker.bytes);
        prop_assert_eq!(journal.problems(), &[]);
        prop_assert_eq!(journal.log().place(), JournalPlace::Bare);
        let last = sequence.wrapping_add(whole.len() as u32);
        prop_assert_eq!(journal.scan_end().sequence, last);
        prop_assert_eq!(&journal.scan_end().why, &ScanStop::NoMagic);
        for (t, blocks) in journal.transactions().iter().zip(&maker.written) {
            let found: Vec<u32> = t.blocks.iter().map(|b| b.block).collect();
            prop_assert_eq!(&found, blocks);
        }
        let base = vec![0xEE; 16 * BLOCK];
        let overlay = Overlay::new(base.clone(), maker.bytes.clone(), journal.replay_map());
        let expected = expected(whole);
        let homes: Vec<u64> = journal.replayed().keys().copied().collect();
        prop_assert_eq!(homes, expected.keys().copied().collect::<Vec<_>>());
        for home in 0..16u64 {
            let mut found = vec![0; BLOCK];
            overlay.read_at(home * BLOCK as u64, &mut found).unwrap();
            let wanted = expected.get(&home).cloned().unwrap_or_else(|| vec![0xEE; BLOCK]);
            prop_assert!(found == wanted, "block {}", home);
        }
    }

    /// Journals that are not what they were: nothing panics, nothing hangs.
    #[test]
    fn damaged_journals_never_panic(
        kind in kinds(),
        made in transactions(),
        start in 1u32..=RING,
        damage in proptest::collection::vec((0u32..40, 0usize..80, any::<u32>()), 1..8),
        sb in proptest::collection::vec((0usize..23, any::<u32>(), 0u32..32), 0..3),
        cut in proptest::option::of(0usize..BLOCK * 64),
    ) {
        let mut maker = Maker::new(kind, start, 7);
        for t in &made {
            maker.transaction(t, true);
        }
        let mut bytes = maker.bytes;
        for (block, at, value) in damage {
            let block = (start + block - 1) % RING + 1;
            put(&mut bytes, block as usize * BLOCK + at, &value.to_be_bytes());
        }
        for (field, value, shift) in sb {
            put(&mut bytes, 4 * field + 12, &(value >> shift).to_be_bytes());
        }
        bytes.truncate(cut.unwrap_or(bytes.len()));
        look_at_everything(&bytes);
    }
}

/// Every two words of the journal's superblock, each at a value that means something
/// else: what random damage meets once in some thousand runs.
#[test]
fn no_two_words_of_the_superblock_make_it_panic() {
    let words = 3..26usize;
    let values = [0, 1, 2, 0x3FF, 0x7FFF_FFFF, u32::MAX];
    let sound = three(V3).bytes;
    for a in words.clone() {
        for b in a..words.end {
            for x in values {
                for y in if a == b { &values[..1] } else { &values[..] } {
                    let mut bytes = sound.clone();
                    put(&mut bytes, 4 * b, &y.to_be_bytes());
                    put(&mut bytes, 4 * a, &x.to_be_bytes());
                    look_at_everything(&bytes);
                }
            }
        }
    }
}

fn look_at_everything(bytes: &Vec<u8>) {
    let Ok(mut journal) = Journal::open_device(bytes, None::<&Fs<Vec<u8>>>) else {
        return;
    };
    journal.read_history(bytes, &mut |_, _| true);
    let seen = view::journal::journal(&journal, 0, 0);
    assert!(!seen.state.is_empty() && !seen.scan_end.is_empty());
    let ring = journal.log().ring_len() as usize;
    let live: usize = journal.transactions().iter().map(|t| t.blocks.len()).sum();
    let old: usize = journal
        .history()
        .transactions
        .iter()
        .map(|t| t.blocks.len())
        .sum();
    assert!(
        live <= ring + 1 && old <= 2 * ring + 2,
        "{live} and {old} of {ring}"
    );
    for home in journal.replayed().keys().take(40) {
        for v in journal.old_versions((*home).into()) {
            let _ = journal.read_version(bytes, &v);
        }
    }
    let overlay = Overlay::new(vec![0; 16 * BLOCK], bytes.clone(), journal.replay_map());
    let _ = overlay.read_at(0, &mut vec![0; 16 * BLOCK]);
    for problem in journal.problems() {
        assert!(!problem.to_string().is_empty());
    }
}

const V3: Kind = Kind {
    sum: Sum::V3,
    wide: true,
    uuids: false,
    asynchronous: false,
};

/// Three transactions of two blocks: each is a descriptor, two copies, a commit.
fn three(kind: Kind) -> Maker {
    let mut maker = Maker::new(kind, 1, 10);
    for i in 0..3u8 {
        let blocks = vec![(5, 10 * i + 1), (6 + u64::from(i), 10 * i + 2)];
        maker.transaction(
            &Made {
                blocks,
                revokes: Vec::new(),
            },
            true,
        );
    }
    maker
}

fn states(journal: &Journal) -> Vec<TransactionState> {
    journal.transactions().iter().map(|t| t.state).collect()
}

/// A wrong checksum of a commit block ends the log before its transaction, in each version.
#[test]
fn a_bad_commit_ends_the_log() {
    use TransactionState::{AfterEnd, BadChecksum, Replay};
    for sum in [Sum::V1, Sum::V2, Sum::V3] {
        for asynchronous in [false, true] {
            let mut maker = three(Kind {
                sum,
                asynchronous,
                ..V3
            });
            // The second transaction's commit block is block 8; byte 0x10 its checksum.
            maker.bytes[8 * BLOCK + 0x10] ^= 1;
            let journal = open(&maker.bytes);
            assert_eq!(journal.scan_end().why, ScanStop::CommitChecksum);
            assert_eq!(
                (journal.scan_end().block, journal.scan_end().sequence),
                (8, 11)
            );
            let expected = if asynchronous {
                &[Replay, BadChecksum, AfterEnd][..]
            } else {
                &[Replay, BadChecksum]
            };
            assert_eq!(states(&journal), expected, "{sum:?} {asynchronous}");
            let replays = matches!(
                journal.outcome(),
                Outcome::Replay {
                    first: 10,
                    last: 10,
                    homes: 2,
                    ..
                }
            );
            assert!(replays, "{:?}", journal.outcome());
        }
    }
}

/// A commit block of which only the first sector was written counts: so newer kernels have it.
#[test]
fn a_commit_block_cut_after_its_first_sector_counts() {
    let mut maker = three(V3);
    maker.bytes[8 * BLOCK + 512..9 * BLOCK].fill(0xAA);
    let journal = open(&maker.bytes);
    assert_eq!(states(&journal), [TransactionState::Replay; 3]);
    assert!(journal.transactions()[1].commit.unwrap().cut_short);
}

/// A wrong checksum of a descriptor: with a commit block younger than the one before,
/// Linux refuses everything; with an older one, the log just ends.
#[test]
fn a_bad_descriptor_is_damage_or_stale() {
    let mut maker = three(V3);
    maker.bytes[5 * BLOCK + 1000] ^= 1;
    let journal = open(&maker.bytes);
    assert_eq!(journal.scan_end().why, ScanStop::Corrupt);
    assert!(matches!(journal.outcome(), Outcome::Refused(_)));
    assert!(journal.replayed().is_empty());

    let mut maker = Maker::new(V3, 1, 10);
    let one = Made {
        blocks: vec![(5, 1)],
        revokes: Vec::new(),
    };
    maker.transaction(&one, true);
    maker.time -= 1000;
    maker.transaction(&one, true);
    maker.bytes[4 * BLOCK + 1000] ^= 1;
    let journal = open(&maker.bytes);
    assert_eq!(journal.scan_end().why, ScanStop::Stale);
    assert!(matches!(
        journal.outcome(),
        Outcome::Replay {
            first: 10,
            last: 10,
            ..
        }
    ));
}

/// A copy with a wrong checksum stays out, the rest goes home.
#[test]
fn a_bad_copy_stays_out() {
    let mut maker = three(V3);
    // The last copy of block 5 is block 10 of the journal.
    maker.bytes[10 * BLOCK + 77] ^= 1;
    let journal = open(&maker.bytes);
    let Outcome::Replay { homes, damaged, .. } = journal.outcome() else {
        panic!()
    };
    assert_eq!((*homes, *damaged), (4, 1));
    assert_eq!(journal.replayed()[&5].journal_block, 6);
    let LogBlockKind::Copy(copy) = &journal.transactions()[2].blocks[1].kind else {
        panic!()
    };
    assert_eq!(copy.fate, CopyFate::BadChecksum);
}

/// A lap ago the ring held others: they are history, those under the live log are gone.
#[test]
fn an_earlier_lap_is_history() {
    let mut maker = Maker::new(V3, 1, 100);
    let one = |n: u8| Made {
        blocks: vec![(u64::from(n), n)],
        revokes: Vec::new(),
    };
    for n in 0..8 {
        maker.transaction(&one(n), true);
    }
    // The log starts anew in the middle of the third: blocks 8 to 13, transactions 300, 301.
    let old = maker.bytes.clone();
    let mut new = Maker::new(V3, 8, 300);
    put(&mut new.bytes, BLOCK, &old[BLOCK..]);
    new.transaction(&one(50), true);
    new.transaction(&one(51), true);
    let mut journal = open(&new.bytes);
    journal.read_history(&new.bytes, &mut |_, _| true);
    let seen: Vec<_> = journal
        .history()
        .transactions
        .iter()
        .map(|t| (t.sequence, t.start, t.state))
        .collect();
    use TransactionState::{History, HistoryTorn};
    // Transactions have three blocks: 100 at 1, 101 at 4, 102 at 7 (its descriptor is left),
    // 103 at 10 and 104 at 13 (blocks 10 to 13 are overwritten), 105 at 16.
    let expected = [
        (100, 1, History),
        (101, 4, History),
        (102, 7, HistoryTorn),
        (104, 15, History),
        (105, 16, History),
        (106, 19, History),
        (107, 22, History),
    ];
    assert_eq!(seen, expected);
}
