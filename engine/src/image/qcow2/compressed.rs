//! Compressed clusters, the last few kept expanded.

use super::{Compression, Qcow2};
use crate::disk::ReadAt;
use flate2::{Decompress, FlushDecompress};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Expanded clusters kept, bytes in all (at least one cluster, whose size is at most 2 MiB).
const KEPT_BYTES: usize = 4 << 20;
/// Expanded clusters kept, in number: the search is linear.
const KEPT_MAX: usize = 64;

/// The clusters that were used last, the latest at the end.
pub(super) struct Recent {
    capacity: usize,
    clusters: Vec<(u64, Vec<u8>)>,
}

impl Recent {
    pub fn new(cluster_bytes: usize) -> Self {
        Self {
            capacity: (KEPT_BYTES / cluster_bytes).clamp(1, KEPT_MAX),
            clusters: Vec::new(),
        }
    }
}

impl Qcow2 {
    /// Calls `use_it` with the expanded cluster whose data lies in the `len` bytes at `at`
    /// of the file.
    pub(super) fn with_expanded(
        &self,
        at: u64,
        len: u64,
        use_it: impl FnOnce(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut recent = self.expanded.borrow_mut();
        match recent.clusters.iter().position(|(key, _)| *key == at) {
            Some(i) => {
                let hit = recent.clusters.remove(i);
                recent.clusters.push(hit);
            }
            None => {
                let bytes = self.expand(at, len)?;
                if recent.clusters.len() >= recent.capacity {
                    recent.clusters.remove(0);
                }
                recent.clusters.push((at, bytes));
            }
        }
        match recent.clusters.last() {
            Some((_, bytes)) => use_it(bytes),
            None => Err("nothing is kept".to_owned()),
        }
    }

    fn expand(&self, at: u64, len: u64) -> Result<Vec<u8>, String> {
        let end = self.file.len();
        if at >= end {
            return Err(format!("the file ends at byte {end}"));
        }
        // The last sector that is counted may lie past the end; the descriptor's length
        // is below 2^13 sectors, so this is at most 4 MiB.
        let mut packed = vec![0; len.min(end - at) as usize];
        self.file
            .read_at(at, &mut packed)
            .map_err(|e| e.to_string())?;
        let mut out = vec![0; self.header.cluster() as usize];
        match self.header.compression {
            Compression::Deflate => inflate(&packed, &mut out)?,
            Compression::Zstd => unzstd(&packed, &mut out)?,
        }
        Ok(out)
    }
}

/// Raw deflate, which must fill `out`; what follows it is padding.
fn inflate(packed: &[u8], out: &mut [u8]) -> Result<(), String> {
    let mut inflate = Decompress::new(false);
    inflate
        .decompress(packed, out, FlushDecompress::Finish)
        .map_err(|e| e.to_string())?;
    if inflate.total_out() != out.len() as u64 {
        return Err(format!(
            "{} bytes came out of it, {} expected",
            inflate.total_out(),
            out.len()
        ));
    }
    Ok(())
}

/// One zstd frame, which must fill `out`; what follows it is padding.
fn unzstd(mut packed: &[u8], out: &mut [u8]) -> Result<(), String> {
    // A window larger than the largest cluster is of no use: the bound on memory.
    StreamingDecoder::new_with_max_window_size(&mut packed, 8 << 20)
        .map_err(|e| e.to_string())?
        .read_exact(out)
        .map_err(|e| e.to_string())
}
