//! Joins what owners claim with what the bitmaps say into runs that cover every block
//! once.

use super::{BlockMap, Claim, Flags, Kind, MapRun};

/// Blocks in use by the bitmaps: first block and number of blocks, in order.
pub(super) type UsedRun = (u64, u32);

/// What the map is made of, beside the claims.
pub(super) struct Ground<'a> {
    pub used: &'a [UsedRun],
    /// Blocks that no bitmap tells of, in order.
    pub unknown: &'a [UsedRun],
    /// One past the last block that a bitmap could tell of.
    pub known_end: u64,
    pub first_data_block: u64,
    pub blocks: u64,
    pub cluster_blocks: u32,
    /// Blocks may be owned by several files (feature shared_blocks).
    pub sharing: bool,
}

/// The runs of bits set in a bitmap of `count` bits.
pub(super) fn set_runs(bits: &[u8], count: u32) -> impl Iterator<Item = (u32, u32)> {
    let count = count.min(bits.len() as u32 * 8);
    let word = move |i: u32| {
        let at = i as usize * 8;
        let mut raw = [0; 8];
        let have = bits.len().saturating_sub(at).min(8);
        raw[..have].copy_from_slice(&bits[at..at + have]);
        u64::from_le_bytes(raw)
    };
    // The first bit at or after `from` whose value is `set`; `count` for none.
    let next = move |from: u32, set: bool| {
        let mut at = from;
        while at < count {
            let w = if set { word(at / 64) } else { !word(at / 64) } >> (at % 64);
            if w != 0 {
                return (at + w.trailing_zeros()).min(count);
            }
            at = (at / 64 + 1) * 64;
        }
        count
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = next(at, true);
        if start >= count {
            return None;
        }
        at = next(start, false);
        Some((start, at - start))
    })
}

/// The map, from all claims and the bitmaps.
pub(super) fn merge(mut claims: Vec<Claim>, ground: &Ground<'_>) -> BlockMap {
    claims.sort_unstable_by_key(|c| (c.start, c.inode, c.kind));
    let (owned, conflicts) = disjoint(&claims, ground.sharing);
    drop(claims);
    let mut out = Runs {
        list: Vec::with_capacity(owned.len() * 2),
        end: 0,
    };
    if ground.first_data_block > 0 {
        out.push(0, ground.first_data_block, 0, Kind::Boot, Flags::empty());
    }
    let mut used = Stretches::new(ground.used, u64::MAX);
    let mut unknown = Stretches::new(ground.unknown, ground.known_end);
    let mut owners = owned.into_iter().peekable();
    while out.end < ground.blocks {
        let at = out.end;
        while owners.next_if(|o| o.end() <= at).is_some() {}
        let (in_use, until) = used.at(at);
        let (not_known, known_until) = unknown.at(at);
        let until = until.min(known_until);
        let (owner, until) = match owners.peek() {
            Some(o) if o.start <= at => (Some(o), until.min(o.end())),
            Some(o) => (None, until.min(o.start)),
            None => (None, until),
        };
        let until = until.min(ground.blocks);
        match owner {
            Some(o) => {
                let mut flags = o.flags;
                flags.set(Flags::MARKED_FREE, !in_use && !not_known);
                out.push(at, until, o.inode, o.kind, flags);
            }
            None if not_known => out.push(at, until, 0, Kind::Unknown, Flags::empty()),
            None if in_use => out.push(at, until, 0, Kind::Unowned, Flags::empty()),
            None => out.push(at, until, 0, Kind::Free, Flags::empty()),
        }
    }
    let mut runs = out.list;
    if ground.cluster_blocks > 1 {
        runs = give_slack(&runs, ground);
    }
    BlockMap {
        runs,
        conflicts,
        ..BlockMap::default()
    }
}

/// Runs of blocks in order, gone through from the first block to the last.
struct Stretches<'a> {
    rest: &'a [UsedRun],
    /// Every block from here on is in a run too.
    tail: u64,
}

impl<'a> Stretches<'a> {
    fn new(runs: &'a [UsedRun], tail: u64) -> Self {
        Self { rest: runs, tail }
    }

    /// Whether a block is in a run, and where that may change. Blocks must not go back.
    fn at(&mut self, block: u64) -> (bool, u64) {
        if block >= self.tail {
            return (true, u64::MAX);
        }
        while let [(start, len), rest @ ..] = self.rest {
            let end = start + u64::from(*len);
            if end > block {
                let inside = *start <= block;
                return (inside, if inside { end } else { (*start).min(self.tail) });
            }
            self.rest = rest;
        }
        (false, self.tail)
    }
}

/// Cuts sorted claims into runs that do not overlap; where several claim a block, the
/// run is [`Kind::Twice`] and all who claim it are listed.
fn disjoint(claims: &[Claim], sharing: bool) -> (Vec<Claim>, Vec<Claim>) {
    let mut out: Vec<Claim> = Vec::with_capacity(claims.len());
    let mut conflicts: Vec<Claim> = Vec::new();
    let mut i = 0;
    while i < claims.len() {
        // A clump: claims linked by overlaps.
        let (first, mut end, mut n) = (i, claims[i].end(), 1);
        while i + n < claims.len() && claims[i + n].start < end {
            end = end.max(claims[i + n].end());
            n += 1;
        }
        i += n;
        let clump = &claims[first..first + n];
        match clump {
            [one] => out.push(*one),
            many => cut_clump(many, sharing, &mut out, &mut conflicts),
        }
    }
    (out, conflicts)
}

fn cut_clump(clump: &[Claim], sharing: bool, out: &mut Vec<Claim>, conflicts: &mut Vec<Claim>) {
    // +1 where a claim starts, -1 where it ends; between two edges the depth is constant.
    let mut edges: Vec<(u64, i32, usize)> = Vec::with_capacity(clump.len() * 2);
    for (i, c) in clump.iter().enumerate() {
        edges.push((c.start, 1, i));
        edges.push((c.end(), -1, i));
    }
    edges.sort_unstable();
    let mut live = std::collections::BTreeSet::new();
    let mut from = clump[0].start;
    for (at, step, i) in edges {
        if at > from {
            if let Some(&first) = live.first() {
                let c: &Claim = &clump[first];
                let (kind, inode, flags) = match live.len() {
                    1 => (c.kind, c.inode, c.flags),
                    _ if sharing => (c.kind, c.inode, c.flags | Flags::SHARED),
                    _ => (Kind::Twice, c.inode, Flags::empty()),
                };
                out.push(Claim {
                    start: from,
                    len: (at - from) as u32,
                    inode,
                    kind,
                    flags,
                });
            }
            from = at;
        }
        if step > 0 {
            live.insert(i);
        } else {
            live.remove(&i);
        }
    }
    if !sharing {
        conflicts.extend_from_slice(clump);
    }
}

struct Runs {
    list: Vec<MapRun>,
    end: u64,
}

impl Runs {
    fn push(&mut self, start: u64, end: u64, inode: u32, kind: Kind, flags: Flags) {
        debug_assert_eq!(start, self.end, "runs cover every block once");
        let mut at = start;
        if let Some(last) = self.list.last_mut()
            && (last.inode, last.kind, last.flags) == (inode, kind, flags)
        {
            let len = (end - at).min(u64::from(u32::MAX - last.len)) as u32;
            last.len += len;
            at += u64::from(len);
        }
        while at < end {
            let len = (end - at).min(u64::from(u32::MAX)) as u32;
            self.list.push(MapRun {
                start: at,
                len,
                inode,
                kind,
                flags,
            });
            at += u64::from(len);
        }
        self.end = end;
    }
}

/// With bigalloc the bitmap counts clusters: blocks of a cluster that nobody maps, beside
/// some that somebody does, belong with those.
fn give_slack(runs: &[MapRun], ground: &Ground<'_>) -> Vec<MapRun> {
    let size = u64::from(ground.cluster_blocks);
    let origin = ground.first_data_block;
    // A cluster's end at or after a block; its start at or before it.
    let up = |block: u64| origin + (block.saturating_sub(origin)).next_multiple_of(size);
    let down = |block: u64| origin + block.saturating_sub(origin) / size * size;
    let owned = |n: &&MapRun| {
        !matches!(
            n.kind,
            Kind::Free | Kind::Unowned | Kind::Unknown | Kind::Boot
        )
    };
    let mut out = Runs {
        list: Vec::with_capacity(runs.len()),
        end: 0,
    };
    for (i, run) in runs.iter().enumerate() {
        let (start, end) = (run.start, run.end());
        if run.kind != Kind::Unowned {
            out.push(start, end, run.inode, run.kind, run.flags);
            continue;
        }
        let before = i.checked_sub(1).and_then(|j| runs.get(j)).filter(owned);
        let after = runs.get(i + 1).filter(owned);
        let first = before.map_or(start, |_| up(start).min(end));
        let last = after.map_or(end, |_| down(end).max(first));
        for (from, to, owner) in [
            (start, first, before),
            (first, last, None),
            (last, end, after),
        ] {
            match owner {
                _ if from == to => {}
                Some(o) => out.push(from, to, o.inode, o.kind, o.flags | Flags::SLACK),
                None => out.push(from, to, 0, Kind::Unowned, Flags::empty()),
            }
        }
    }
    out.list
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn claim() -> impl Strategy<Value = Claim> {
        (1u64..60, 1u32..8, 1u32..5).prop_map(|(start, len, inode)| Claim {
            start,
            len,
            inode,
            kind: Kind::Data,
            flags: Flags::empty(),
        })
    }

    proptest! {
        #[test]
        fn runs_of_bits_are_the_bits(bits in proptest::collection::vec(any::<u8>(), 0..40), cut in 0u32..400) {
            let count = cut.min(bits.len() as u32 * 8);
            let mut got = vec![false; count as usize];
            for (start, len) in set_runs(&bits, cut) {
                prop_assert!(len > 0);
                for i in start..start + len {
                    prop_assert!(!got[i as usize]);
                    got[i as usize] = true;
                }
            }
            for (i, set) in got.iter().enumerate() {
                prop_assert_eq!(*set, bits[i / 8] & (1 << (i % 8)) != 0);
            }
        }

        /// Against the obvious way: a list of claimants for each block.
        #[test]
        fn agrees_with_a_block_by_block_count(
            claims in proptest::collection::vec(claim(), 0..20),
            bits in proptest::collection::vec(any::<bool>(), 70),
            dark in proptest::collection::vec(proptest::bool::weighted(0.2), 70),
            known_end in 1u64..80,
        ) {
            let used: Vec<UsedRun> = (1..70u64).filter(|&b| bits[b as usize]).map(|b| (b, 1)).collect();
            let unknown: Vec<UsedRun> = (1..70u64).filter(|&b| dark[b as usize]).map(|b| (b, 1)).collect();
            let ground = Ground {
                used: &used,
                unknown: &unknown,
                known_end,
                first_data_block: 1,
                blocks: 70,
                cluster_blocks: 1,
                sharing: false,
            };
            let map = merge(claims.clone(), &ground);
            let mut end = 0;
            for run in &map.runs {
                prop_assert_eq!(run.start, end);
                end = run.end();
            }
            prop_assert_eq!(end, 70);
            for block in 1..70u64 {
                let run = map.at(block).unwrap();
                let mine: Vec<&Claim> = claims.iter().filter(|c| (c.start..c.end()).contains(&block)).collect();
                let is_known = block < known_end && !dark[block as usize];
                let expected = match (mine.len(), bits[block as usize]) {
                    (0, _) if !is_known => Kind::Unknown,
                    (0, false) => Kind::Free,
                    (0, true) => Kind::Unowned,
                    (1, _) => Kind::Data,
                    _ => Kind::Twice,
                };
                prop_assert_eq!(run.kind, expected);
                prop_assert_eq!(run.flags.contains(Flags::MARKED_FREE), !mine.is_empty() && !bits[block as usize] && is_known);
                if mine.len() == 1 {
                    prop_assert_eq!(run.inode, mine[0].inode);
                }
                if mine.len() > 1 {
                    prop_assert_eq!(map.claimants(block).count(), mine.len());
                }
            }
        }
    }
}
