//! The pictures and what is around them: one component each.

pub mod block_map;
mod compare;
mod contents;
pub mod explore;
mod files;
mod groups;
pub mod header;
pub mod help;
mod hex;
mod journal;
pub mod lab;
mod lines;
mod map_picture;
mod notes;
pub mod pick;
mod problems;
mod progress;
mod resize;
mod search;
mod selection;
mod stage;
pub mod start;
mod superblock;
mod tree;

pub use files::type_words;

use fslab_engine::ext4::layout::FileType;

/// Whether a file of this kind has contents that can be opened and saved.
pub fn has_contents(file_type: FileType) -> bool {
    matches!(file_type, FileType::Regular | FileType::Symlink)
}
