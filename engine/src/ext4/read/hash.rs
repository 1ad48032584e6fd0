//! The hashes that order an htree. Source: the kernel's
//! `Documentation/filesystems/ext4/directory.rst` and the constants of MD4 (RFC 1320)
//! and TEA (Wheeler and Needham, 1994).

use serde::{Deserialize, Serialize};

/// Which hash an htree uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum HashVersion {
    /// The first, with names as signed or unsigned characters.
    Legacy {
        /// Characters above 127 count as they are, not as negative.
        unsigned: bool,
    },
    /// MD4 cut to half its rounds.
    HalfMd4 {
        /// Characters above 127 count as they are, not as negative.
        unsigned: bool,
    },
    /// The Tiny Encryption Algorithm.
    Tea {
        /// Characters above 127 count as they are, not as negative.
        unsigned: bool,
    },
    /// SipHash, keyed by an encryption key that the image does not hold.
    SipHash,
}

impl HashVersion {
    /// From the byte in an htree's root; `unsigned_flag` is the superblock's.
    pub fn from_disk(byte: u8, unsigned_flag: bool) -> Option<Self> {
        Some(match byte {
            0 => Self::Legacy {
                unsigned: unsigned_flag,
            },
            1 => Self::HalfMd4 {
                unsigned: unsigned_flag,
            },
            2 => Self::Tea {
                unsigned: unsigned_flag,
            },
            3 => Self::Legacy { unsigned: true },
            4 => Self::HalfMd4 { unsigned: true },
            5 => Self::Tea { unsigned: true },
            6 => Self::SipHash,
            _ => return None,
        })
    }

    /// As e2fsprogs names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Legacy { .. } => "legacy",
            Self::HalfMd4 { .. } => "half_md4",
            Self::Tea { .. } => "tea",
            Self::SipHash => "siphash",
        }
    }
}

/// The hash of a name and its tie-breaker, as an htree orders them; `None` for a hash
/// that needs a key.
pub fn name_hash(version: HashVersion, seed: [u32; 4], name: &[u8]) -> Option<(u32, u32)> {
    let mut state = if seed == [0; 4] {
        [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    } else {
        seed
    };
    let (hash, minor) = match version {
        HashVersion::Legacy { unsigned } => (legacy(name, unsigned), 0),
        HashVersion::HalfMd4 { unsigned } => {
            for rest in chunks(name, 32) {
                half_md4(&mut state, &words::<8>(rest, unsigned));
            }
            (state[1], state[2])
        }
        HashVersion::Tea { unsigned } => {
            for rest in chunks(name, 16) {
                tea(&mut state, &words::<4>(rest, unsigned));
            }
            (state[0], state[1])
        }
        HashVersion::SipHash => return None,
    };
    // The low bit marks a collision in the tree, and the largest value its end.
    let hash = hash & !1;
    Some((
        if hash == 0xFFFF_FFFE {
            0xFFFF_FFFC
        } else {
            hash
        },
        minor,
    ))
}

/// The rest of the name at each step of `size` bytes; its whole length counts in the
/// padding.
fn chunks(name: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    (0..name.len()).step_by(size).map(move |at| &name[at..])
}

fn character(byte: u8, unsigned: bool) -> u32 {
    if unsigned {
        byte.into()
    } else {
        i32::from(byte.cast_signed()).cast_unsigned()
    }
}

fn legacy(name: &[u8], unsigned: bool) -> u32 {
    let (mut now, mut before) = (0x12A3_FE2Du32, 0x37AB_E8F9u32);
    for &byte in name {
        let product = character(byte, unsigned).wrapping_mul(7_152_373);
        let mut next = before.wrapping_add(now ^ product);
        if next & 0x8000_0000 != 0 {
            next = next.wrapping_sub(0x7FFF_FFFF);
        }
        (before, now) = (now, next);
    }
    now << 1
}

/// Up to `N` words of a name, padded with its length.
fn words<const N: usize>(name: &[u8], unsigned: bool) -> [u32; N] {
    let len = name.len() as u32;
    let pad = (len | len << 8) | (len | len << 8) << 16;
    let mut out = [pad; N];
    for (word, bytes) in out.iter_mut().zip(name.chunks(4)) {
        *word = bytes
            .iter()
            .fold(pad, |w, &b| character(b, unsigned).wrapping_add(w << 8));
    }
    out
}

fn half_md4(state: &mut [u32; 4], input: &[u32; 8]) {
    const SECOND: u32 = 0x5A82_7999;
    const THIRD: u32 = 0x6ED9_EBA1;
    type Mix = fn(u32, u32, u32) -> u32;
    let rounds: [(Mix, u32, [usize; 8], [u32; 4]); 3] = [
        (
            |x, y, z| z ^ (x & (y ^ z)),
            0,
            [0, 1, 2, 3, 4, 5, 6, 7],
            [3, 7, 11, 19],
        ),
        (
            |x, y, z| (x & y).wrapping_add((x ^ y) & z),
            SECOND,
            [1, 3, 5, 7, 0, 2, 4, 6],
            [3, 5, 9, 13],
        ),
        (
            |x, y, z| x ^ y ^ z,
            THIRD,
            [3, 7, 2, 6, 1, 5, 0, 4],
            [3, 9, 11, 15],
        ),
    ];
    let [mut a, mut b, mut c, mut d] = *state;
    for (mix, constant, order, shifts) in rounds {
        for (i, &word) in order.iter().enumerate() {
            let sum = a
                .wrapping_add(mix(b, c, d))
                .wrapping_add(input[word])
                .wrapping_add(constant);
            (a, b, c, d) = (d, sum.rotate_left(shifts[i % 4]), b, c);
        }
    }
    for (s, new) in state.iter_mut().zip([a, b, c, d]) {
        *s = s.wrapping_add(new);
    }
}

fn tea(state: &mut [u32; 4], key: &[u32; 4]) {
    const DELTA: u32 = 0x9E37_79B9;
    let (mut b0, mut b1, mut sum) = (state[0], state[1], 0u32);
    for _ in 0..16 {
        sum = sum.wrapping_add(DELTA);
        let mix = |b: u32, low: u32, high: u32| {
            (b << 4).wrapping_add(low) ^ b.wrapping_add(sum) ^ (b >> 5).wrapping_add(high)
        };
        b0 = b0.wrapping_add(mix(b1, key[0], key[1]));
        b1 = b1.wrapping_add(mix(b0, key[2], key[3]));
    }
    state[0] = state[0].wrapping_add(b0);
    state[1] = state[1].wrapping_add(b1);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values printed by e2fsprogs 1.47.0: `debugfs -R "dx_hash -h ALG -s UUID NAME` (3 to 5 for the unsigned ones)"`.
    #[test]
    fn matches_debugfs_dx_hash() {
        let seed = [0x0403_0201, 0x0807_0605, 0x0C0B_0A09, 0x100F_0E0D];
        for (version, name, expected) in include!("hash_vectors.in") {
            assert_eq!(
                name_hash(version, seed, name),
                Some(expected),
                "{version:?} {:?}",
                String::from_utf8_lossy(name)
            );
        }
    }
}
