use super::{ReadAt, ReadError, check_range};

/// A part of a medium, such as a partition, read as a medium of its own.
#[derive(Clone, Debug)]
pub struct Window<R> {
    inner: R,
    start: u64,
    len: u64,
}

impl<R: ReadAt> Window<R> {
    /// `len` bytes of `inner` from byte `start` on; cut short where `inner` ends.
    pub fn new(inner: R, start: u64, len: u64) -> Self {
        let start = start.min(inner.len());
        let len = len.min(inner.len() - start);
        Self { inner, start, len }
    }
}

impl<R: ReadAt> ReadAt for Window<R> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.len)?;
        self.inner.read_at(self.start + offset, buf)
    }

    fn next_data(&self, offset: u64) -> u64 {
        self.inner
            .next_data(self.start.saturating_add(offset))
            .saturating_sub(self.start)
    }
}
