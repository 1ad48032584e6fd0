//! Figures of a machine at an instant: for plots, breakpoints, tables.

use super::Machine;
use serde::{Deserialize, Serialize};

macro_rules! gauges {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Figures at an instant. Those of the device count since the start.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
        pub struct Gauges {
            /// Simulated time, ns.
            pub time_ns: u64,
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Gauges {
            /// Names, in the order of [`Gauges::values`].
            pub const NAMES: &'static [&'static str] = &["time_ns", $(stringify!($name)),*];

            /// The figures.
            pub fn values(&self) -> Vec<u64> {
                vec![self.time_ns, $(self.$name),*]
            }

            /// One of them, by its name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    "time_ns" => Some(self.time_ns),
                    $(stringify!($name) => Some(self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

gauges! {
    /// Events.
    events,
    /// Calls made.
    calls,
    /// Pages with contents that the disk has not.
    dirty_pages,
    /// Clusters promised to pages that have no block yet.
    reserved_clusters,
    /// Clusters free by the bitmaps.
    free_clusters,
    /// Free inodes.
    free_inodes,
    /// Blocks of metadata that are to be written home.
    dirty_buffers,
    /// Blocks in the running transaction.
    transaction_blocks,
    /// Blocks of the log in use.
    journal_used_blocks,
    /// Requests in the device's queue.
    queued_requests,
    /// Bytes in the device's cache that its medium has not.
    cached_bytes,
    /// Writes that a power cut may lose.
    unstable_writes,
    /// Requests to read.
    device_reads,
    /// Bytes read.
    device_read_bytes,
    /// Requests to write.
    device_writes,
    /// Bytes written.
    device_written_bytes,
    /// Flushes.
    device_flushes,
    /// Pages of flash programmed.
    flash_programmed_pages,
    /// Of those, pages that were copied.
    flash_copied_pages,
    /// Blocks of flash erased.
    flash_erases,
    /// Erases of the block of flash that was erased most.
    flash_most_erases,
    /// Erased blocks of flash.
    flash_free_blocks,
}

impl Machine {
    /// Its figures now.
    pub fn gauges(&self) -> Gauges {
        let kernel = self.mount.gauges();
        let device = self.device().counters();
        let drive = self.drive();
        let journal = self.mount.vol.journal.as_ref();
        let flash = drive.map_or_else(Default::default, crate::device::Drive::flash_totals);
        Gauges {
            time_ns: self.now().0,
            events: self.next_event(),
            calls: self.calls,
            dirty_pages: kernel.dirty_pages,
            reserved_clusters: kernel.reserved_clusters,
            free_clusters: kernel.free_clusters,
            free_inodes: kernel.free_inodes,
            dirty_buffers: kernel.dirty_buffers,
            transaction_blocks: journal
                .and_then(|j| j.running())
                .map_or(0, |t| t.len().into()),
            journal_used_blocks: journal.map_or(0, |j| {
                let ring = j.ring();
                u64::from(ring.len().saturating_sub(1).saturating_sub(ring.free))
            }),
            queued_requests: drive.map_or(0, |d| d.queue_len() as u64),
            cached_bytes: drive.map_or(0, crate::device::Drive::cached_bytes),
            unstable_writes: drive.map_or(0, |d| d.unstable().len() as u64),
            device_reads: device.reads,
            device_read_bytes: device.read_bytes,
            device_writes: device.writes,
            device_written_bytes: device.written_bytes,
            device_flushes: device.flushes,
            flash_programmed_pages: flash.programmed,
            flash_copied_pages: flash.copied,
            flash_erases: flash.erases,
            flash_most_erases: flash.most_erases.into(),
            flash_free_blocks: drive.map_or(0, |d| d.mechanism().free_blocks()),
        }
    }
}
