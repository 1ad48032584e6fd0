//! What the worker has answered, kept so that a picture comes back at once.

use std::collections::BTreeMap;
use std::rc::Rc;

use fslab_engine::view::DirView;

use crate::worker::protocol::{Query, Reply};

/// Most replies that are kept; the oldest goes first.
const MOST: usize = 256;

/// A reply, with the bytes that came along.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    /// The reply.
    pub reply: Reply,
    /// Bytes of a file; empty for every other question.
    pub bytes: Vec<u8>,
}

/// The latest replies by their questions.
#[derive(Clone, Debug, Default)]
pub struct Replies {
    list: Vec<Kept>,
}

#[derive(Clone, Debug)]
struct Kept {
    query: Query,
    reply: Result<Rc<Data>, Rc<str>>,
    /// The worker would say more by now.
    stale: bool,
}

impl Replies {
    /// The reply to a question, if there is one yet.
    pub fn get(&self, query: &Query) -> Option<&Result<Rc<Data>, Rc<str>>> {
        self.find(query).map(|kept| &kept.reply)
    }

    /// Whether a question is to be put (again).
    pub fn lacks(&self, query: &Query) -> bool {
        self.find(query).is_none_or(|kept| kept.stale)
    }

    fn find(&self, query: &Query) -> Option<&Kept> {
        self.list.iter().find(|kept| kept.query == *query)
    }

    /// Keeps a reply.
    pub fn put(&mut self, query: Query, reply: Result<Rc<Data>, Rc<str>>) {
        self.list.retain(|kept| kept.query != query);
        if self.list.len() >= MOST {
            self.list.remove(0);
        }
        self.list.push(Kept {
            query,
            reply,
            stale: false,
        });
    }

    /// The disk is in another state: everything is to be asked again.
    pub fn all_stale(&mut self) {
        for kept in &mut self.list {
            kept.stale = true;
        }
    }

    /// The scan is complete, so that owners are known: what was said of blocks, and what
    /// could not be said, is to be asked again. Until the answer comes it stays.
    pub fn owners_known(&mut self) {
        for kept in &mut self.list {
            kept.stale |= kept.reply.is_err()
                || matches!(
                    kept.query,
                    Query::Block { .. } | Query::Version { .. } | Query::Paths { .. }
                );
        }
    }
}

/// The pages of directories that the tree of files shows.
#[derive(Clone, Debug, Default)]
pub struct Dirs {
    pages: BTreeMap<(u32, u64), Result<Rc<DirView>, Rc<str>>>,
}

impl Dirs {
    /// Names in a page.
    pub const PAGE: u64 = 500;

    /// The page that starts at a row.
    pub fn page(&self, dir: u32, from: u64) -> Option<&Result<Rc<DirView>, Rc<str>>> {
        self.pages.get(&(dir, from))
    }

    /// Keeps a page.
    pub fn put(&mut self, dir: u32, from: u64, page: Result<Rc<DirView>, Rc<str>>) {
        self.pages.insert((dir, from), page);
    }

    /// The pages there are: directory, first row.
    pub fn pages(&self) -> impl Iterator<Item = (u32, u64)> {
        self.pages.keys().copied()
    }

    /// Forgets a directory, which was closed.
    pub fn forget(&mut self, dir: u32) {
        self.pages.retain(|&(d, _), _| d != dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_reply_goes_first() {
        let mut replies = Replies::default();
        for nr in 0..=MOST as u32 {
            replies.put(Query::Inode { nr }, Err("none".into()));
        }
        assert!(replies.get(&Query::Inode { nr: 0 }).is_none());
        assert!(replies.get(&Query::Inode { nr: 1 }).is_some());
        assert_eq!(replies.list.len(), MOST);
    }
}
