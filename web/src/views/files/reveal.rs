//! Bringing the chosen inode into sight in the tree of files, from wherever it was chosen.

use std::rc::Rc;

use yew::prelude::*;

use super::outline::{Open, Outline};
use crate::store::{Dirs, Fetched, Store, use_query};
use crate::worker::protocol::{Query, Reply};

/// Rows of a directory that are read to find a name; past them the tree stays as it is.
const MOST_ROWS: u64 = 20_000;

/// What has to be done next on the way.
enum Next {
    /// Ask for a page of a directory.
    List(u32, u64),
    /// Open a directory: the chain of rows to it, and its inode.
    Open(Vec<u64>, u32),
    /// Nothing: it is in an open directory, or not to be found.
    Rest,
}

/// Opens the directories on the way to the chosen inode, one at a time, once for each
/// selection: what the visitor closes after that stays closed.
#[hook]
pub fn use_reveal(
    store: &Store,
    outline: &Rc<Outline>,
    open: &UseStateHandle<Open>,
    cursor: &UseStateHandle<u64>,
) {
    let chosen = store.state.selection.inode;
    let done = use_mut_ref(|| None::<u32>);
    let at = chosen.and_then(|inode| outline.find_inode(inode, open));
    let known = at.is_some() || *done.borrow() == chosen;
    // The names come with the scan.
    let ready = store.state.map.is_complete();
    let query = chosen
        .filter(|_| !known && ready)
        .map(|inode| Query::Paths {
            inodes: vec![inode],
        });
    let path = path(&use_query(query));

    let (store, open, cursor) = (store.clone(), open.clone(), cursor.clone());
    let dirs = Rc::clone(&store.state.dirs);
    // The tree's pages change with the state, so this follows every change.
    use_effect(move || {
        if chosen == *done.borrow() {
            return;
        }
        let Some(inode) = chosen else {
            *done.borrow_mut() = None;
            return;
        };
        if let Some(line) = at {
            *done.borrow_mut() = Some(inode);
            cursor.set(line);
            return;
        }
        let Some(path) = path else { return };
        match next(&dirs, &open, &path) {
            Next::List(dir, from) => store.engine.list(dir, from),
            Next::Open(chain, inode) => {
                let mut root = (*open).clone();
                if let Some((row, dir)) = chain.split_last()
                    && let Some(parent) = root.at_mut(dir)
                {
                    parent.children.insert(*row, Open::new(inode));
                    store.engine.list(inode, 0);
                    open.set(root);
                }
            }
            Next::Rest => *done.borrow_mut() = Some(inode),
        }
    });
}

fn path(fetched: &Fetched) -> Option<String> {
    match &fetched.data()?.reply {
        Reply::Paths(paths) => paths.first()?.clone(),
        _ => None,
    }
}

/// Follows a path as far as the open directories go.
fn next(dirs: &Dirs, root: &Open, path: &str) -> Next {
    let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
    let (mut at, mut chain) = (root, Vec::new());
    while let Some(name) = names.next() {
        let (row, inode) = match find(dirs, at.inode, name) {
            Ok(found) => found,
            Err(next) => return next,
        };
        chain.push(row);
        if names.peek().is_none() {
            return Next::Rest;
        }
        match at.children.get(&row) {
            Some(child) => at = child,
            None => return Next::Open(chain, inode),
        }
    }
    Next::Rest
}

/// The row and inode of a name in a directory.
fn find(dirs: &Dirs, dir: u32, name: &str) -> Result<(u64, u32), Next> {
    let mut from = 0;
    loop {
        let page = match dirs.page(dir, from) {
            None => return Err(Next::List(dir, from)),
            Some(Err(_)) => return Err(Next::Rest),
            Some(Ok(page)) => page,
        };
        if let Some((row, entry)) = (from..).zip(&page.rows).find(|(_, e)| e.name == name) {
            return Ok((row, entry.inode));
        }
        from += Dirs::PAGE;
        if from >= page.total.min(MOST_ROWS) {
            return Err(Next::Rest);
        }
    }
}
