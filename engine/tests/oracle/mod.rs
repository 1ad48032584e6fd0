//! The oracle side of the tests of our ext2/3/4 reader: images made by the real
//! mke2fs and filled by the real kernel, and what the truth about each is.
//!
//! * [`image`] and [`images`]: one or all of the [`RECIPES`], with their [`Truth`].
//! * [`busy_image`]: a copy taken while the kernel has it mounted and is at work.
//! * [`special`]: small damaged or odd images, one for each kind of failure that
//!   others met, with what a reader should make of it.
//! * [`shared`]: e2fsprogs' own test images.
//! * [`icheck`], [`logdump`], [`fsck`]: questions to e2fsprogs about any image.
//!
//! Images are built once, into `target/oracle`, under a lock, by any process that
//! needs one first. Where root, loop devices or e2fsprogs are missing, a function
//! says `skipped: <why>` on stderr and answers `None`.

// Each integration test is a crate of its own and uses a part of this.
#![allow(dead_code, unused_imports)]

mod busy;
mod cache;
mod debugfs;
mod groups;
mod image;
mod journal;
mod kernel;
mod recipe;
mod recipes;
pub mod shared;
pub mod special;
mod stat;
mod tools;
mod truth;
mod walk;

pub use busy::{BUSY, Busy, BusyImage, busy_image};
pub use cache::{available, scratch_copy, skipped};
pub use debugfs::{Debugfs, icheck};
pub use groups::dumpe2fs;
pub use image::{Image, image, image_named, images};
pub use journal::{JournalRecord, Transaction, logdump, logdump_external};
pub use kernel::ask as ask_kernel;
pub use recipe::{Recipe, Source, Step};
pub use recipes::RECIPES;
pub use tools::{Fsck, fsck, fsck_with_journal, limited, output, sha256, while_mounted};
pub use truth::{Bytes, Entry, Extent, Group, Sample, Time, Truth, acl_to_kernel, merged};
pub use walk::truth_by_debugfs;
