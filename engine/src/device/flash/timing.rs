//! How long flash takes.

use serde::{Deserialize, Serialize};

/// What a chip takes, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlashTiming {
    /// A page from the cells into the chip's register.
    pub read: u64,
    /// A page from the register into the cells.
    pub program: u64,
    /// A block.
    pub erase: u64,
    /// A page between register and controller.
    pub bus: u64,
}

/// One bit a cell: Samsung K9XXG08 with pages of 4 KiB and blocks of 256 KiB, 25 µs, 200 µs,
/// 1.5 ms, 100 µs a page on its serial bus; 100,000 erases (shared/devices).
pub const SLC: FlashTiming = FlashTiming {
    read: 25_000,
    program: 200_000,
    erase: 1_500_000,
    bus: 100_000,
};

/// Two bits a cell: 50 µs, 600 to 900 µs, 3 ms, 3,000 erases (shared/devices). A bus of
/// 133 MB/s, ONFI 2's, is an assumption.
pub const MLC: FlashTiming = FlashTiming {
    read: 50_000,
    program: 750_000,
    erase: 3_000_000,
    bus: 31_000,
};

/// Three bits a cell: 75 µs, 900 to 1350 µs, 4.5 ms, 1,000 erases (shared/devices). A bus
/// of 400 MB/s, ONFI 3's, is an assumption.
pub const TLC: FlashTiming = FlashTiming {
    read: 75_000,
    program: 1_125_000,
    erase: 4_500_000,
    bus: 10_000,
};

impl FlashTiming {
    /// A page is read out.
    pub fn read_out(&self) -> u64 {
        self.read + self.bus
    }

    /// A page is sent and programmed.
    pub fn write_in(&self) -> u64 {
        self.bus + self.program
    }
}
