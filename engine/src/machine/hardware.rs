//! The hardware that a scenario asks for.

use crate::device::Mechanism;
use crate::device::flash::{BlockMapped, Card, Flash, FlashError, Ssd};
use crate::device::hdd::{Disk, DiskError, SECTOR, Sweeping};
use crate::scenario::{DeviceSpec, Medium};

/// Why there cannot be such hardware.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HardwareError {
    /// The flash.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The disk.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The medium is too small.
    #[error("a medium of {medium} bytes cannot hold a device of {size} that begins at {start}")]
    TooSmall {
        /// Bytes of the medium.
        medium: u64,
        /// Bytes of the device.
        size: u64,
        /// Where it begins.
        start: u64,
    },
}

/// What moves, or does not.
pub(super) fn mechanism(device: &DeviceSpec) -> Result<Mechanism, HardwareError> {
    let (mechanism, medium) = match &device.medium {
        Medium::Ram => return Ok(Mechanism::Ram),
        Medium::Hdd(spec) => return Ok(Mechanism::hdd(spec.clone(), device.size)),
        Medium::Disk(spec, order) => {
            let disk = Disk::new(spec.clone())?;
            let size = disk.spec().sectors().saturating_mul(SECTOR);
            (Mechanism::disk(disk, Sweeping::new(*order)), size)
        }
        Medium::Ssd { spec, filled } => {
            let mut ssd = Ssd::new((**spec).clone())?;
            if *filled {
                ssd.fill()?;
            }
            flash(Flash::Ssd(ssd))
        }
        Medium::BlockMapped(spec) => flash(Flash::BlockMapped(BlockMapped::new(spec.clone())?)),
        Medium::Card(spec) => flash(Flash::Card(Card::new(spec.clone())?)),
    };
    if device.start.saturating_add(device.size) > medium {
        return Err(HardwareError::TooSmall {
            medium,
            size: device.size,
            start: device.start,
        });
    }
    Ok(mechanism)
}

fn flash(flash: Flash) -> (Mechanism, u64) {
    let size = flash.size();
    (Mechanism::flash(flash), size)
}
