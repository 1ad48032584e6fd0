//! From what is sought to an event.

use fslab_engine::recording::Condition;
use fslab_engine::units::SimTime;

use super::Run;
use crate::worker::lab::Seek;

impl Run {
    /// The event that is sought; `None` where there is none.
    pub(super) fn seek(&self, to: &Seek) -> Result<Option<u64>, String> {
        let recording = &self.recording;
        Ok(match to {
            Seek::Event(event) => Some(*event),
            Seek::Time(ns) => Some(self.at_time(*ns)),
            Seek::OnBy { from, to_ns } => {
                let next = self.steps(*from, 1);
                next.map(|next| next.max(self.at_time(*to_ns)))
            }
            Seek::Steps(from, by) => self.steps(*from, *by),
            Seek::Where { from, back, words } => {
                let condition: Condition = words.parse().map_err(|e| format!("{e}"))?;
                if *back {
                    recording.find_before(*from, &condition)
                } else {
                    recording.find_after(*from, &condition)
                }
            }
        })
    }

    /// The last event that was at a time, or before.
    fn at_time(&self, ns: u64) -> u64 {
        let index = self.recording.index();
        let next = index.at_time(SimTime(ns.saturating_add(1)));
        next.saturating_sub(1).max(self.recording.first())
    }

    /// The last event of a step some way from that of an event; none past either end.
    fn steps(&self, from: u64, by: i64) -> Option<u64> {
        let index = self.recording.index();
        let (mut start, mut end) = index.step_of(from);
        let (first, len) = (self.recording.first(), self.recording.len());
        for _ in 0..by.unsigned_abs() {
            let next = if by > 0 { end } else { start.wrapping_sub(1) };
            if next < first || next >= len {
                break;
            }
            (start, end) = index.step_of(next);
        }
        let event = end.saturating_sub(1);
        (event != from || by == 0).then_some(event)
    }
}
