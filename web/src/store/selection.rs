//! What is chosen. All pictures show the same selection.

/// What is chosen, from the large to the small. What is set below is explained first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// A block group.
    pub group: Option<u32>,
    /// An inode; with a block, the one that owns it.
    pub inode: Option<u32>,
    /// A block.
    pub block: Option<u64>,
    /// A block of the journal that holds an older version of the block.
    pub version: Option<u32>,
    /// Bytes of the block or inode: first and how many.
    pub bytes: Option<(u32, u32)>,
}

/// What of the selection is explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Focus {
    /// Nothing is chosen: the filesystem as a whole.
    Filesystem,
    /// A group.
    Group(u32),
    /// An inode.
    Inode(u32),
    /// A block.
    Block(u64),
}

impl Selection {
    /// A group and nothing in it.
    pub fn group(nr: u32) -> Self {
        Self {
            group: Some(nr),
            ..Self::default()
        }
    }

    /// An inode and nothing of it.
    pub fn inode(nr: u32) -> Self {
        Self {
            inode: Some(nr),
            ..Self::default()
        }
    }

    /// A block, and the inode that owns it where one does.
    pub fn block(nr: u64, inode: Option<u32>) -> Self {
        Self {
            inode,
            block: Some(nr),
            ..Self::default()
        }
    }

    /// Also these bytes.
    #[must_use]
    pub fn with_bytes(self, first: u32, count: u32) -> Self {
        Self {
            bytes: Some((first, count)),
            ..self
        }
    }

    /// What is explained: the smallest of what is chosen.
    pub fn focus(&self) -> Focus {
        match *self {
            Self { block: Some(b), .. } => Focus::Block(b),
            Self { inode: Some(i), .. } => Focus::Inode(i),
            Self { group: Some(g), .. } => Focus::Group(g),
            _ => Focus::Filesystem,
        }
    }

    /// The selection without its smallest part.
    #[must_use]
    pub fn wider(self) -> Self {
        match self {
            Self { bytes: Some(_), .. } => Self {
                bytes: None,
                ..self
            },
            Self {
                version: Some(_), ..
            } => Self {
                version: None,
                ..self
            },
            Self { block: Some(_), .. } => Self {
                block: None,
                ..self
            },
            Self { inode: Some(_), .. } => Self {
                inode: None,
                ..self
            },
            _ => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_part_is_explained_and_goes_first() {
        let all = Selection {
            version: Some(4),
            ..Selection::block(3, Some(2)).with_bytes(0, 4)
        };
        assert_eq!(all.focus(), Focus::Block(3));
        let wider = all.wider().wider();
        assert_eq!(wider, Selection::block(3, Some(2)));
        assert_eq!(wider.wider(), Selection::inode(2));
        assert_eq!(wider.wider().wider(), Selection::default());
    }
}
