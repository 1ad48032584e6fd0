//! gzip (RFC 1952): members one after the other, each deflated (RFC 1951).

use super::source::Source;
use super::store::Store;
use super::{Decoder, Stop};
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Longest file name or comment in a member's header that is passed over, bytes.
const TEXT_MAX: u64 = 64 * 1024;
const OUT: usize = 64 * 1024;

enum State {
    /// Before a member; the first is demanded, later ones may be missing.
    Header {
        first: bool,
    },
    Body,
    Trailer,
}

pub(super) struct Gzip {
    state: State,
    inflate: Decompress,
    crc: Crc,
    out: Vec<u8>,
    note: Option<String>,
}

impl Gzip {
    pub fn new() -> Self {
        Self {
            state: State::Header { first: true },
            inflate: Decompress::new(false),
            crc: Crc::new(),
            out: vec![0; OUT],
            note: None,
        }
    }

    /// Reads a member's header; `true` when there is no further member.
    fn header(&mut self, source: &mut Source, first: bool) -> Result<bool, Stop> {
        if source.peek()?.is_empty() && !first {
            return Ok(true);
        }
        let start = source.position();
        let begin: [u8; 2] = match source.array()? {
            Some(b) => b,
            None if first => return Err(Stop::Truncated),
            None => [0, 0],
        };
        if begin != [0x1f, 0x8b] {
            if first {
                return Err(Stop::Corrupt("no gzip magic 1f 8b".into()));
            }
            return self.after_the_end(source, begin, start).map(|()| true);
        }
        let [method, flags, ..]: [u8; 8] = source.array()?.ok_or(Stop::Truncated)?;
        if method != 8 {
            return Err(Stop::Corrupt(format!(
                "compression method {method}; 8, deflate, is the only one that exists"
            )));
        }
        skip_optional_fields(source, flags)?;
        self.inflate.reset(false);
        self.crc.reset();
        self.state = State::Body;
        Ok(false)
    }

    /// Bytes behind the last member: zeros are padding, others are told and left.
    fn after_the_end(
        &mut self,
        source: &mut Source,
        begin: [u8; 2],
        start: u64,
    ) -> Result<(), Stop> {
        if begin != [0, 0] || !source.rest_is_zero()? {
            self.note = Some(format!(
                "The bytes from {start} on lie behind the end of the gzip data and were ignored"
            ));
        }
        Ok(())
    }

    fn body(&mut self, source: &mut Source, store: &mut Store) -> Result<(), Stop> {
        let input = source.peek()?;
        let at_end = input.is_empty();
        let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self
            .inflate
            .decompress(input, &mut self.out, FlushDecompress::None);
        let used = (self.inflate.total_in() - in_before) as usize;
        let made = (self.inflate.total_out() - out_before) as usize;
        source.consume(used);
        let made = &self.out[..made.min(OUT)];
        self.crc.update(made);
        store.write(made)?;
        match status {
            Ok(Status::StreamEnd) => self.state = State::Trailer,
            Ok(_) if used == 0 && made.is_empty() => {
                return Err(if at_end {
                    Stop::Truncated
                } else {
                    Stop::Corrupt("the deflated data does not go on".into())
                });
            }
            Ok(_) => {}
            Err(e) => return Err(Stop::Corrupt(format!("deflated data: {e}"))),
        }
        Ok(())
    }

    fn trailer(&mut self, source: &mut Source) -> Result<(), Stop> {
        let crc = u32::from_le_bytes(source.array()?.ok_or(Stop::Truncated)?);
        let len = u32::from_le_bytes(source.array()?.ok_or(Stop::Truncated)?);
        if crc != self.crc.sum() {
            return Err(Stop::Corrupt(format!(
                "the CRC of the content is {:08x}, the file says {crc:08x}",
                self.crc.sum()
            )));
        }
        if len != self.inflate.total_out() as u32 {
            return Err(Stop::Corrupt(format!(
                "the length of the content is {} (modulo 2^32), the file says {len}",
                self.inflate.total_out() as u32
            )));
        }
        self.state = State::Header { first: false };
        Ok(())
    }
}

/// Passes over FEXTRA, FNAME, FCOMMENT and FHCRC (RFC 1952, 2.3.1).
fn skip_optional_fields(source: &mut Source, flags: u8) -> Result<(), Stop> {
    if flags & 0xe0 != 0 {
        return Err(Stop::Corrupt(format!(
            "reserved header flags are set ({flags:#04x})"
        )));
    }
    if flags & 4 != 0 {
        let n = u16::from_le_bytes(source.array()?.ok_or(Stop::Truncated)?);
        source.skip(n.into());
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            skip_text(source)?;
        }
    }
    if flags & 2 != 0 {
        source.array::<2>()?.ok_or(Stop::Truncated)?;
    }
    Ok(())
}

fn skip_text(source: &mut Source) -> Result<(), Stop> {
    let start = source.position();
    loop {
        match source.byte()? {
            None => return Err(Stop::Truncated),
            Some(0) => return Ok(()),
            Some(_) if source.position() - start > TEXT_MAX => {
                return Err(Stop::Corrupt(format!(
                    "a name in the header is longer than {TEXT_MAX} bytes"
                )));
            }
            Some(_) => {}
        }
    }
}

impl Decoder for Gzip {
    fn step(&mut self, source: &mut Source, store: &mut Store) -> Result<bool, Stop> {
        match self.state {
            State::Header { first } => return self.header(source, first),
            State::Body => self.body(source, store)?,
            State::Trailer => self.trailer(source)?,
        }
        Ok(false)
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }
}
