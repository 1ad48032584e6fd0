//! Which directories are open in the tree of files, and what lines that makes.
//!
//! A directory of a million names makes one stretch of lines, not a million things: a line
//! is worked out when it is drawn.

use std::collections::BTreeMap;
use std::rc::Rc;

use fslab_engine::ext4::layout::FileType;
use fslab_engine::view::DirRow;

use crate::store::Dirs;

/// Deepest directory that opens.
const DEEPEST: usize = 256;

/// A directory that is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    /// Its inode.
    pub inode: u32,
    /// The open directories in it, by their rows.
    pub children: BTreeMap<u64, Open>,
}

impl Open {
    /// A directory with none open in it.
    pub fn new(inode: u32) -> Self {
        Self {
            inode,
            children: BTreeMap::new(),
        }
    }

    /// The open directory at the end of a chain of rows.
    pub fn at_mut(&mut self, chain: &[u64]) -> Option<&mut Self> {
        chain
            .iter()
            .try_fold(self, |open, row| open.children.get_mut(row))
    }

    /// Whether an inode is open anywhere.
    pub fn holds(&self, inode: u32) -> bool {
        self.inode == inode || self.children.values().any(|child| child.holds(inode))
    }
}

/// Lines that follow one another in a directory.
#[derive(Clone, Debug)]
struct Stretch {
    /// Number of its first line.
    line: u64,
    /// The chain of rows that leads to the directory.
    chain: Rc<[u64]>,
    /// Inodes of the directories on the way, with the directory itself.
    inodes: Rc<[u32]>,
    /// First row.
    row: u64,
    /// Rows; 0 for a line that says something of the directory as a whole.
    rows: u64,
}

/// The lines of the tree.
#[derive(Clone, Debug)]
pub struct Outline {
    stretches: Vec<Stretch>,
    lines: u64,
    dirs: Rc<Dirs>,
}

/// A line of the tree.
#[derive(Clone, Debug)]
pub struct Line {
    /// The chain of rows that leads to it; empty for the root.
    pub chain: Vec<u64>,
    /// The directory it is in.
    pub dir: u32,
    /// Names in that directory.
    pub siblings: u64,
    /// What it shows.
    pub what: What,
}

/// What a line shows.
#[derive(Clone, Debug)]
pub enum What {
    /// The root directory.
    Root,
    /// A name.
    Row {
        /// The name and what it leads to.
        row: DirRow,
        /// Whether it is an open directory; `None` for what cannot be opened.
        open: Option<bool>,
        /// It leads back to a directory that it is in.
        cycle: bool,
    },
    /// A name that has not been read yet, in the page that starts at a row.
    Pending(u64),
    /// The directory has no names.
    Empty,
    /// The directory cannot be read, for this reason.
    Failed(Rc<str>),
}

impl Outline {
    /// The lines of an open root directory.
    pub fn new(root: &Open, dirs: &Rc<Dirs>) -> Self {
        let mut outline = Self {
            stretches: Vec::new(),
            lines: 1,
            dirs: Rc::clone(dirs),
        };
        outline.add(root, &[], &[]);
        outline
    }

    fn add(&mut self, open: &Open, chain: &[u64], above: &[u32]) {
        let chain: Rc<[u64]> = chain.into();
        let inodes: Rc<[u32]> = above.iter().copied().chain([open.inode]).collect();
        let total = match self.dirs.page(open.inode, 0) {
            Some(Ok(page)) if page.total > 0 => page.total,
            _ => {
                self.push(&chain, &inodes, 0, 0);
                return;
            }
        };
        let mut from = 0;
        for (&row, child) in &open.children {
            if row >= total {
                break;
            }
            self.push(&chain, &inodes, from, row + 1 - from);
            from = row + 1;
            let inner: Vec<u64> = chain.iter().copied().chain([row]).collect();
            self.add(child, &inner, &inodes);
        }
        if from < total {
            self.push(&chain, &inodes, from, total - from);
        }
    }

    fn push(&mut self, chain: &Rc<[u64]>, inodes: &Rc<[u32]>, row: u64, rows: u64) {
        self.stretches.push(Stretch {
            line: self.lines,
            chain: Rc::clone(chain),
            inodes: Rc::clone(inodes),
            row,
            rows,
        });
        self.lines += rows.max(1);
    }

    /// Lines in all.
    pub fn len(&self) -> u64 {
        self.lines
    }

    /// A line; `None` past the last.
    pub fn line(&self, nr: u64, root: &Open) -> Option<Line> {
        if nr == 0 {
            return Some(Line {
                chain: Vec::new(),
                dir: root.inode,
                siblings: 1,
                what: What::Root,
            });
        }
        let after = self.stretches.partition_point(|s| s.line <= nr);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        let offset = nr - stretch.line;
        if offset >= stretch.rows.max(1) {
            return None;
        }
        let dir = *stretch.inodes.last()?;
        let row = stretch.row + offset;
        let chain = stretch.chain.iter().copied().chain([row]).collect();
        let first = self.dirs.page(dir, 0);
        let siblings = match first {
            Some(Ok(page)) => page.total,
            _ => 0,
        };
        Some(Line {
            chain,
            dir,
            siblings,
            what: self.what(stretch, dir, row, root),
        })
    }

    fn what(&self, stretch: &Stretch, dir: u32, row: u64, root: &Open) -> What {
        let start = row / Dirs::PAGE * Dirs::PAGE;
        let page = match self.dirs.page(dir, start) {
            None => return What::Pending(start),
            Some(Err(why)) => return What::Failed(Rc::clone(why)),
            Some(Ok(page)) => page,
        };
        if stretch.rows == 0 {
            return What::Empty;
        }
        let Some(entry) = page.rows.get((row - start) as usize) else {
            return What::Failed("the directory changed while it was read".into());
        };
        let is_dir = entry.file_type == FileType::Directory;
        let cycle = is_dir && stretch.inodes.contains(&entry.inode);
        let can_open = is_dir && !cycle && stretch.inodes.len() < DEEPEST;
        let chain: Vec<u64> = stretch.chain.iter().copied().chain([row]).collect();
        What::Row {
            row: entry.clone(),
            open: can_open.then(|| is_open(root, &chain)),
            cycle,
        }
    }

    /// The line that a chain of rows leads to.
    pub fn find(&self, chain: &[u64]) -> Option<u64> {
        let Some((&row, dir)) = chain.split_last() else {
            return Some(0);
        };
        self.stretches
            .iter()
            .find(|s| *s.chain == *dir && s.row <= row && row < s.row + s.rows)
            .map(|s| s.line + (row - s.row))
    }

    /// The first line that shows a name of an inode, among what has been read.
    pub fn find_inode(&self, inode: u32, root: &Open) -> Option<u64> {
        if inode == root.inode {
            return Some(0);
        }
        self.stretches.iter().find_map(|stretch| {
            let dir = *stretch.inodes.last()?;
            let last = stretch.row + stretch.rows;
            let mut start = stretch.row / Dirs::PAGE * Dirs::PAGE;
            while start < last {
                if let Some(Ok(page)) = self.dirs.page(dir, start) {
                    let rows = page.rows.iter().zip(start..);
                    let hit = rows
                        .filter(|(_, row)| (stretch.row..last).contains(row))
                        .find(|(entry, _)| entry.inode == inode);
                    if let Some((_, row)) = hit {
                        return Some(stretch.line + (row - stretch.row));
                    }
                }
                start += Dirs::PAGE;
            }
            None
        })
    }
}

fn is_open(root: &Open, chain: &[u64]) -> bool {
    chain
        .iter()
        .try_fold(root, |open, row| open.children.get(row))
        .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_engine::view::DirView;

    fn row(inode: u32, name: &str, file_type: FileType) -> DirRow {
        DirRow {
            inode,
            name: name.into(),
            file_type,
            mode: 0,
            uid: 0,
            gid: 0,
            links: 1,
            size: 0,
            mtime: String::new(),
            target: None,
            encrypted: false,
            lblk: 0,
        }
    }

    fn dirs(list: Vec<(u32, Vec<DirRow>)>) -> Rc<Dirs> {
        let mut dirs = Dirs::default();
        for (inode, rows) in list {
            let page = DirView {
                inode,
                total: rows.len() as u64,
                rows,
                from: 0,
                parent: None,
                problems: Vec::new(),
            };
            dirs.put(inode, 0, Ok(Rc::new(page)));
        }
        Rc::new(dirs)
    }

    fn names(outline: &Outline, root: &Open) -> Vec<String> {
        (0..outline.len())
            .map(|nr| match outline.line(nr, root).map(|line| line.what) {
                Some(What::Root) => "/".into(),
                Some(What::Row { row, .. }) => row.name,
                Some(What::Empty) => "(empty)".into(),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn an_open_directory_stands_between_its_neighbours() {
        let dirs = dirs(vec![
            (
                2,
                vec![
                    row(11, "a", FileType::Directory),
                    row(12, "b", FileType::Regular),
                ],
            ),
            (11, vec![row(13, "c", FileType::Directory)]),
            (13, vec![]),
        ]);
        let mut root = Open::new(2);
        let mut a = Open::new(11);
        a.children.insert(0, Open::new(13));
        root.children.insert(0, a);
        let outline = Outline::new(&root, &dirs);
        assert_eq!(
            names(&outline, &root),
            ["/", "a", "c", "(empty)", "b"].map(String::from)
        );
        assert_eq!(outline.find(&[1]), Some(4));
        assert_eq!(outline.find(&[0, 0]), Some(2));
        assert_eq!(outline.find_inode(12, &root), Some(4));
        assert_eq!(outline.find_inode(99, &root), None);
        assert!(outline.line(5, &root).is_none());
    }

    #[test]
    fn a_directory_in_itself_does_not_open() {
        let dirs = dirs(vec![(2, vec![row(2, "again", FileType::Directory)])]);
        let root = Open::new(2);
        let outline = Outline::new(&root, &dirs);
        let line = outline.line(1, &root).map(|line| line.what);
        assert!(matches!(
            line,
            Some(What::Row {
                open: None,
                cycle: true,
                ..
            })
        ));
    }
}
