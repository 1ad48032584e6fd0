//! Journals as debugfs writes them: every tag format, revokes, escapes.

use super::super::cache::copy_sparse;
use super::super::tools::{limited, output, sha256};
use super::Expect;
use super::bench::{Bench, Done, pattern, read};

const BLOCK: usize = 1024;
const PLAIN: &str = "-t ext4 -b 1024 -O ^metadata_csum,^64bit";
const WIDE: &str = "-t ext4 -b 1024 -O ^metadata_csum,64bit";

/// A filesystem with a file of four blocks, `victim`, at known places.
struct Victim<'a> {
    bench: &'a Bench,
    first: u64,
    contents: Vec<u8>,
}

impl<'a> Victim<'a> {
    fn new(bench: &'a Bench, words: &str) -> Done<Self> {
        bench.mkfs(16, words)?;
        let contents = pattern(1, 4 * BLOCK);
        bench.put("victim", &contents)?;
        let extents = bench.stat("victim")?.1.extents;
        let first = extents.first().ok_or("victim has no extent")?.physical;
        Ok(Self {
            bench,
            first,
            contents,
        })
    }

    /// Writes transactions: each some blocks of the victim with new contents,
    /// or a revoke of some.
    fn log(&self, open: &str, writes: &[Log]) -> Done {
        let mut commands = vec![format!("jo {open}")];
        for (index, write) in writes.iter().enumerate() {
            let list = |places: &[u64]| {
                let blocks: Vec<String> = places
                    .iter()
                    .map(|n| (self.first + n).to_string())
                    .collect();
                blocks.join(",")
            };
            commands.push(match write {
                Log::Blocks(places, bytes) => self.data(index, &list(places), bytes, "")?,
                Log::Uncommitted(places, bytes) => self.data(index, &list(places), bytes, "-c")?,
                Log::Revoke(places) => format!("jw -r {}", list(places)),
            });
        }
        commands.push("jc".to_owned());
        let words: Vec<&str> = commands.iter().map(String::as_str).collect();
        self.bench.debugfs(&words).map(drop)
    }

    fn data(&self, index: usize, list: &str, bytes: &[u8], options: &str) -> Done<String> {
        let input = self.bench.beside(bytes)?;
        let own = input.with_extension(index.to_string());
        std::fs::rename(&input, &own).map_err(|error| error.to_string())?;
        Ok(format!("jw -b {list} {options} {}", own.display()))
    }

    /// The expectation: what e2fsck's own replay makes of these blocks.
    fn expect(&self, note: &str, replayed: &[(u64, &[u8])], untouched: &[u64]) -> Done<Expect> {
        let copy = self.bench.image.with_extension("replayed");
        copy_sparse(&self.bench.image, &copy)?;
        // It answers 1 for having written, and cannot be told not to.
        output(limited(30, "e2fsck", &["-y", "-E", "journal_only"]).arg(&copy))?;
        let mut expect = Expect::opened(note).content("victim", &self.contents);
        for &(place, wanted) in replayed {
            let found = self.block(&copy, place)?;
            if found != wanted {
                return Err(format!("e2fsck did not replay block {place} so"));
            }
            expect.replayed.insert(self.first + place, sha256(&found));
        }
        for &place in untouched {
            let start = place as usize * BLOCK;
            if self.block(&copy, place)? != self.contents[start..start + BLOCK] {
                return Err(format!("e2fsck replayed block {place}"));
            }
            expect.not_replayed.push(self.first + place);
        }
        Ok(expect)
    }

    fn block(&self, image: &std::path::Path, place: u64) -> Done<Vec<u8>> {
        read(image, (self.first + place) * BLOCK as u64, BLOCK)
    }
}

enum Log {
    Blocks(&'static [u64], Vec<u8>),
    Uncommitted(&'static [u64], Vec<u8>),
    Revoke(&'static [u64]),
}

/// Logged, then revoked: not to be replayed. Its neighbour is.
pub fn revoke(bench: &Bench) -> Done<Expect> {
    let victim = Victim::new(bench, PLAIN)?;
    let new = pattern(2, 2 * BLOCK);
    victim.log("", &[Log::Blocks(&[0, 1], new.clone()), Log::Revoke(&[1])])?;
    victim.expect("block 1 is revoked", &[(0, &new[..BLOCK])], &[1, 2, 3])
}

/// A revoke holds for what was logged up to it, not for what comes after.
pub fn revoked_then_logged(bench: &Bench) -> Done<Expect> {
    let victim = Victim::new(bench, PLAIN)?;
    let (old, new) = (pattern(2, 2 * BLOCK), pattern(3, BLOCK));
    let again = Log::Blocks(&[1], new.clone());
    victim.log(
        "",
        &[Log::Blocks(&[0, 1], old), Log::Revoke(&[0, 1]), again],
    )?;
    victim.expect("block 1 was logged again", &[(1, &new)], &[0, 2, 3])
}

/// Two transactions: tags with and without a UUID, and after a last one.
fn tags(bench: &Bench, words: &str, open: &str) -> Done<Expect> {
    let victim = Victim::new(bench, words)?;
    let (first, second) = (pattern(2, 3 * BLOCK), pattern(3, BLOCK));
    let logs = [
        Log::Blocks(&[0, 1, 2], first.clone()),
        Log::Blocks(&[1], second.clone()),
    ];
    victim.log(open, &logs)?;
    let replayed = [
        (0, &first[..BLOCK]),
        (1, &second[..]),
        (2, &first[2 * BLOCK..]),
    ];
    victim.expect("three blocks, then one again", &replayed, &[3])
}

pub fn tags_plain(bench: &Bench) -> Done<Expect> {
    tags(bench, PLAIN, "")
}

pub fn tags_plain_64bit(bench: &Bench) -> Done<Expect> {
    tags(bench, WIDE, "")
}

pub fn tags_v2(bench: &Bench) -> Done<Expect> {
    tags(bench, PLAIN, "-c -v 2")
}

pub fn tags_v2_64bit(bench: &Bench) -> Done<Expect> {
    tags(bench, WIDE, "-c -v 2")
}

pub fn tags_v3(bench: &Bench) -> Done<Expect> {
    tags(bench, PLAIN, "-c -v 3")
}

pub fn tags_v3_64bit(bench: &Bench) -> Done<Expect> {
    tags(bench, "-t ext4 -b 1024 -O metadata_csum,64bit", "-c -v 3")
}

/// A copy that starts with the journal's magic has it zeroed in the journal.
pub fn escaped(bench: &Bench) -> Done<Expect> {
    let victim = Victim::new(bench, PLAIN)?;
    let mut new = pattern(2, BLOCK);
    new[..4].copy_from_slice(&0xC03B_3998_u32.to_be_bytes());
    victim.log("", &[Log::Blocks(&[2], new.clone())])?;
    victim.expect(
        "block 2 begins with the journal's magic",
        &[(2, &new)],
        &[0, 1, 3],
    )
}

pub fn uncommitted(bench: &Bench) -> Done<Expect> {
    let victim = Victim::new(bench, PLAIN)?;
    let (first, second) = (pattern(2, BLOCK), pattern(3, BLOCK));
    victim.log(
        "",
        &[
            Log::Blocks(&[0], first.clone()),
            Log::Uncommitted(&[1], second),
        ],
    )?;
    victim.expect(
        "the second transaction has no commit",
        &[(0, &first)],
        &[1, 2, 3],
    )
}

/// One byte of a logged copy is not what its tag says.
pub fn bad_checksum(bench: &Bench) -> Done<Expect> {
    let victim = Victim::new(bench, "-t ext4 -b 1024 -O metadata_csum,64bit")?;
    let (first, second) = (pattern(2, BLOCK), pattern(0x55, BLOCK));
    victim.log(
        "-c -v 3",
        &[
            Log::Blocks(&[0], first.clone()),
            Log::Blocks(&[1], second.clone()),
        ],
    )?;
    let all = bench.bytes(0, 16 << 20)?;
    let starts = |block: usize| all[block * BLOCK..].starts_with(&second);
    let copy = (0..all.len() / BLOCK)
        .find(|&block| starts(block))
        .ok_or("no copy in the journal")?;
    bench.patch((copy * BLOCK + 100) as u64, &[!second[100]])?;
    victim.expect(
        "the second transaction's copy is damaged",
        &[(0, &first)],
        &[1, 2, 3],
    )
}
