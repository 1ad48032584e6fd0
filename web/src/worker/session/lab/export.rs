//! A run as files.

use fslab_engine::disk::ReadAt;
use fslab_engine::event::Event;
use fslab_engine::recording::counters_csv;
use fslab_engine::view::lab::event_text;

use super::Run;
use crate::worker::lab::Export;

/// Most events of a file: a page of the browser has only so much memory.
const EVENTS: usize = 500_000;
/// Events made again at once.
const PART: u64 = 5_000;
/// Largest disk that is handed over as a whole, bytes.
const DISK: u64 = 1 << 30;

impl Run {
    pub(super) fn export(&self, what: Export) -> Result<Vec<u8>, String> {
        match what {
            Export::EventsText => Ok(self.lines(event_text)),
            Export::EventsJson => {
                Ok(self.lines(|event| serde_json::to_string(event).unwrap_or_default()))
            }
            Export::Counters => Ok(counters_csv(&self.recording).into_bytes()),
            Export::Disk => self.disk(),
            Export::State(_) => Err("A state is of a pulled plug, not of a run".into()),
        }
    }

    fn lines(&self, line: impl Fn(&Event) -> String) -> Vec<u8> {
        let (mut out, mut from, mut told) = (Vec::new(), self.recording.first(), 0);
        while from < self.recording.len() && told < EVENTS {
            let events = self.recording.events(from, from + PART, PART as usize);
            for event in &events {
                out.extend_from_slice(line(event).as_bytes());
                out.push(b'\n');
            }
            told += events.len();
            from += PART;
        }
        out
    }

    /// The disk as a power cut would leave it with everything written that was accepted:
    /// what the device holds, without what is in memory only.
    fn disk(&self) -> Result<Vec<u8>, String> {
        let machine = match &self.last {
            Some(instant) => &instant.machine,
            None => self.recording.head(),
        };
        whole(machine.device())
    }
}

/// All bytes of a disk.
pub(super) fn whole<R: ReadAt + ?Sized>(disk: &R) -> Result<Vec<u8>, String> {
    let len = disk.len();
    if len > DISK {
        return Err(format!(
            "A disk of {len} bytes is more than a page can hand over; the command line writes it"
        ));
    }
    let mut bytes = vec![0; len as usize];
    disk.read_at(0, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}
