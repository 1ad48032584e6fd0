//! Writes journals, byte by byte, from jbd2's documentation.

pub const BLOCK: usize = 1024;
pub const RING: u32 = 1023;
const MAGIC: u32 = 0xC03B_3998;
const UUID: [u8; 16] = *b"fslab's journal.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    None,
    V1,
    V2,
    V3,
}

#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub sum: Sum,
    pub wide: bool,
    /// A UUID after each tag, not only the first.
    pub uuids: bool,
    pub asynchronous: bool,
}

/// Blocks (home and a seed of contents) and revokes.
#[derive(Clone, Debug, Default)]
pub struct Made {
    pub blocks: Vec<(u64, u8)>,
    pub revokes: Vec<u64>,
}

/// A journal under construction: a bare file of 1024 blocks.
pub struct Maker {
    kind: Kind,
    pub bytes: Vec<u8>,
    at: u32,
    sequence: u32,
    pub time: u64,
    /// Blocks of each transaction in the order written.
    pub written: Vec<Vec<u32>>,
}

fn crc(table_poly: u32, reflected: bool, mut crc: u32, bytes: &[u8]) -> u32 {
    for b in bytes {
        if reflected {
            crc ^= u32::from(*b);
            for _ in 0..8 {
                crc = crc >> 1 ^ if crc & 1 == 1 { table_poly } else { 0 };
            }
        } else {
            crc ^= u32::from(*b) << 24;
            for _ in 0..8 {
                crc = crc << 1 ^ if crc >> 31 == 1 { table_poly } else { 0 };
            }
        }
    }
    crc
}

/// Castagnoli's polynomial, bits reflected.
fn crc32c(state: u32, bytes: &[u8]) -> u32 {
    crc(0x82F6_3B78, true, state, bytes)
}

/// Ethernet's polynomial, most significant bit first.
fn crc32_be(state: u32, bytes: &[u8]) -> u32 {
    crc(0x04C1_1DB7, false, state, bytes)
}

pub fn contents(seed: u8) -> Vec<u8> {
    let mut block: Vec<u8> = (0..BLOCK)
        .map(|i| seed.wrapping_mul(31).wrapping_add((i * 7) as u8))
        .collect();
    // Every fourth begins with the magic, and so is escaped.
    if seed.is_multiple_of(4) {
        block[..4].copy_from_slice(&MAGIC.to_be_bytes());
    }
    block
}

pub fn put(block: &mut [u8], at: usize, bytes: &[u8]) {
    block[at..at + bytes.len()].copy_from_slice(bytes);
}

impl Maker {
    pub fn new(kind: Kind, start: u32, sequence: u32) -> Self {
        let mut bytes = vec![0; BLOCK * (RING as usize + 1)];
        let be = |at: usize, n: u32, bytes: &mut Vec<u8>| put(bytes, at, &n.to_be_bytes());
        for (at, n) in [(0, MAGIC), (4, 4), (0xC, 1024), (0x10, RING + 1), (0x14, 1)] {
            be(at, n, &mut bytes);
        }
        be(0x18, sequence, &mut bytes);
        be(0x1C, start, &mut bytes);
        be(0x24, u32::from(kind.sum == Sum::V1), &mut bytes);
        let v2 = if kind.sum == Sum::V2 { 8 } else { 0 };
        let v3 = if kind.sum == Sum::V3 { 16 } else { 0 };
        let wide = if kind.wide { 2 } else { 0 };
        be(
            0x28,
            1 | wide | if kind.asynchronous { 4 } else { 0 } | v2 | v3,
            &mut bytes,
        );
        put(&mut bytes, 0x30, &UUID);
        be(0x40, 1, &mut bytes);
        if v2 + v3 > 0 {
            bytes[0x50] = 4;
            let sum = crc32c(!0, &bytes[..1024]);
            be(0xFC, sum, &mut bytes);
        }
        Self {
            kind,
            bytes,
            at: start,
            sequence,
            time: 1_700_000_000,
            written: Vec::new(),
        }
    }

    fn seed(&self) -> u32 {
        crc32c(!0, &UUID)
    }

    fn has_tails(&self) -> bool {
        matches!(self.kind.sum, Sum::V2 | Sum::V3)
    }

    fn write(&mut self, block: &[u8]) {
        put(&mut self.bytes, self.at as usize * BLOCK, block);
        self.written.last_mut().unwrap().push(self.at);
        self.at = if self.at == RING { 1 } else { self.at + 1 };
    }

    fn head(&self, kind: u32) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        put(&mut block, 0, &MAGIC.to_be_bytes());
        put(&mut block, 4, &kind.to_be_bytes());
        put(&mut block, 8, &self.sequence.to_be_bytes());
        block
    }

    fn tail(&self, block: &mut [u8]) {
        if self.has_tails() {
            let sum = crc32c(self.seed(), block);
            put(block, BLOCK - 4, &sum.to_be_bytes());
        }
    }

    /// Bytes of a tag as `journal_tag_bytes` counts them.
    fn tag_bytes(&self) -> usize {
        match (self.kind.sum, self.kind.wide) {
            (Sum::V3, _) => 16,
            (Sum::V2, true) => 14,
            (Sum::V2, false) => 10,
            (_, true) => 12,
            (_, false) => 8,
        }
    }

    pub fn transaction(&mut self, made: &Made, commit: bool) {
        self.written.push(Vec::new());
        let mut v1 = !0;
        // A descriptor for three blocks at a time, so that there are several.
        for some in made.blocks.chunks(3) {
            let copies: Vec<Vec<u8>> = some.iter().map(|(_, seed)| contents(*seed)).collect();
            let descriptor = self.descriptor(some, &copies);
            v1 = crc32_be(v1, &descriptor);
            self.write(&descriptor);
            for mut copy in copies {
                if copy[..4] == MAGIC.to_be_bytes() {
                    copy[..4].fill(0);
                }
                v1 = crc32_be(v1, &copy);
                self.write(&copy);
            }
        }
        if !made.revokes.is_empty() {
            let block = self.revoke(&made.revokes);
            self.write(&block);
        }
        if commit {
            let block = self.commit(v1);
            self.write(&block);
            self.sequence = self.sequence.wrapping_add(1);
            self.time += 5;
        }
    }

    fn descriptor(&self, some: &[(u64, u8)], copies: &[Vec<u8>]) -> Vec<u8> {
        let mut block = self.head(1);
        let mut at = 12;
        for (i, ((home, _), copy)) in some.iter().zip(copies).enumerate() {
            let mut copy = copy.clone();
            let escaped = copy[..4] == MAGIC.to_be_bytes();
            if escaped {
                copy[..4].fill(0);
            }
            let with_uuid = i == 0 || self.kind.uuids;
            let mut flags = u32::from(escaped);
            flags |= if with_uuid { 0 } else { 2 };
            flags |= if i + 1 == some.len() { 8 } else { 0 };
            let sum = crc32c(crc32c(self.seed(), &self.sequence.to_be_bytes()), &copy);
            put(&mut block, at, &(*home as u32).to_be_bytes());
            if self.kind.sum == Sum::V3 {
                put(&mut block, at + 4, &flags.to_be_bytes());
                put(&mut block, at + 12, &sum.to_be_bytes());
            } else {
                let sum = if self.kind.sum == Sum::V2 {
                    sum as u16
                } else {
                    0
                };
                put(&mut block, at + 4, &sum.to_be_bytes());
                put(&mut block, at + 6, &(flags as u16).to_be_bytes());
            }
            if self.kind.wide {
                put(&mut block, at + 8, &((home >> 32) as u32).to_be_bytes());
            }
            at += self.tag_bytes();
            if with_uuid {
                put(&mut block, at, &UUID);
                at += 16;
            }
        }
        self.tail(&mut block);
        block
    }

    fn revoke(&self, revokes: &[u64]) -> Vec<u8> {
        let mut block = self.head(5);
        let mut at = 16;
        for home in revokes {
            if self.kind.wide {
                put(&mut block, at, &home.to_be_bytes());
                at += 8;
            } else {
                put(&mut block, at, &(*home as u32).to_be_bytes());
                at += 4;
            }
        }
        put(&mut block, 12, &(at as u32).to_be_bytes());
        self.tail(&mut block);
        block
    }

    fn commit(&self, v1: u32) -> Vec<u8> {
        let mut block = self.head(2);
        put(&mut block, 0x30, &self.time.to_be_bytes());
        put(&mut block, 0x38, &7u32.to_be_bytes());
        match self.kind.sum {
            Sum::None => {}
            Sum::V1 => {
                block[0xC] = 1;
                block[0xD] = 4;
                put(&mut block, 0x10, &v1.to_be_bytes());
            }
            Sum::V2 | Sum::V3 => {
                let sum = crc32c(self.seed(), &block);
                put(&mut block, 0x10, &sum.to_be_bytes());
            }
        }
        block
    }
}
