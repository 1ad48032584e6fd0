//! Group descriptors.

use super::Volume;
use crate::event::Meta;
use crate::ext4::layout::GroupDesc;
use crate::ext4::{Place, Problem, checksum};
use crate::kernel::Result;
use crate::units::{BlockNr, GroupNr, InodeNr};

impl Volume {
    /// A group's descriptor, at its full size.
    pub fn desc(&mut self, g: GroupNr) -> Result<GroupDesc<[u8; 64]>> {
        let (at, byte) = self.desc_place(g)?;
        let block = self.block(at)?;
        let size = usize::from(self.geo.desc_size).min(64);
        let mut raw = [0; 64];
        raw[..size].copy_from_slice(&block[byte..byte + size]);
        Ok(GroupDesc(raw))
    }

    fn desc_place(&mut self, g: GroupNr) -> Result<(BlockNr, usize)> {
        let place = self.descs.get(g.0 as usize).copied();
        place.ok_or_else(|| self.corrupt(Problem::other(Place::Group(g), "does not exist")))
    }

    /// Puts a group's changed descriptor back, with its checksum.
    pub fn set_desc(&mut self, g: GroupNr, desc: &GroupDesc<[u8; 64]>) -> Result<()> {
        let (at, byte) = self.desc_place(g)?;
        let size = usize::from(self.geo.desc_size).min(64);
        let block = self.change(at, Meta::Descriptors, InodeNr(0))?;
        let whole = &mut block[byte..byte + size];
        whole.copy_from_slice(&desc.0[..size]);
        let whole = whole.to_vec();
        if let Some(sum) = checksum::group(&self.sb, g, &whole) {
            let block = self.change(at, Meta::Descriptors, InodeNr(0))?;
            GroupDesc(&mut block[byte..byte + size]).set_bg_checksum(sum);
        }
        Ok(())
    }
}
