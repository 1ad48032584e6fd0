//! The block map: who owns each block, from the whole filesystem to a single block.
//!
//! `core` knows where everything lies and paints it into pixels; `board` is a canvas that
//! shows them; [`BlockMap`] is the component around it, with keys and pointers, and
//! [`Legend`] what its colours mean.

// A component holds closures, and its properties are the page's own.
#![allow(missing_debug_implementations)]

mod board;
mod component;
mod core;
mod glyphs;
mod legend;
mod overlay;
mod pointers;
mod theme;

pub use component::{BlockMap, Props as BlockMapProps};
pub use core::geometry::Geometry;
pub use core::highlight::{Highlight, blocks_of};
pub use core::shares::Totals;
pub use legend::{Legend, Props as LegendProps};
