//! A table of numbers in shared chunks: a clone shares all of them, a change copies one.

use std::sync::Arc;

/// Entries in a chunk: 4 KiB.
const CHUNK: usize = 1024;

/// "Nothing here".
pub const NONE: u32 = u32::MAX;

/// A table of page numbers, [`NONE`] where there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    chunks: Vec<Arc<[u32; CHUNK]>>,
}

impl Table {
    /// A table of `len` entries, all empty: one chunk, shared, until they are set.
    pub fn new(len: u32) -> Self {
        let empty = Arc::new([NONE; CHUNK]);
        Self {
            chunks: vec![empty; (len as usize).div_ceil(CHUNK)],
        }
    }

    /// An entry; [`NONE`] past the end.
    #[inline]
    pub fn get(&self, at: u32) -> u32 {
        match self.chunks.get(at as usize / CHUNK) {
            Some(chunk) => chunk[at as usize % CHUNK],
            None => NONE,
        }
    }

    /// Sets an entry and tells what was there. Past the end nothing is set.
    #[inline]
    pub fn replace(&mut self, at: u32, value: u32) -> u32 {
        match self.chunks.get_mut(at as usize / CHUNK) {
            Some(chunk) => {
                let place = &mut Arc::make_mut(chunk)[at as usize % CHUNK];
                std::mem::replace(place, value)
            }
            None => NONE,
        }
    }
}
