//! The map without the page: where every block lies, what is drawn there, and what is
//! where a pointer is. Plain data in, pixels out.
//!
//! All lengths are device pixels. Content has its origin at the picture's top left corner;
//! the camera says which part of it is on the screen.

pub mod axis;
pub mod camera;
pub mod geometry;
pub mod highlight;
pub mod layout;
pub mod palette;
pub mod plan;
pub mod raster;
pub mod shares;
pub mod steps;
pub mod words;

#[cfg(test)]
mod tests;
