//! The model's tree, in the form that real trees are read in.

use super::super::tree::{Contents, Entry, PAGE, Tree, digest};
use super::Model;
use super::file::bytes;
use super::node::{Body, NodeId, ROOT};
use std::collections::BTreeMap;

impl Model {
    /// Everything that has a name.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        let mut names = BTreeMap::new();
        self.add(&mut tree, &mut names, ".".to_owned(), ROOT);
        tree
    }

    fn add(&self, tree: &mut Tree, names: &mut BTreeMap<NodeId, String>, path: String, id: NodeId) {
        let node = self.node(id);
        let first = names.entry(id).or_insert_with(|| path.clone()).clone();
        let contents = match &node.body {
            Body::File { .. } if node.unsure => Contents::Unknown,
            Body::File { size, cells } => {
                let block = self.limits.block_size;
                let mut pages = BTreeMap::new();
                for l in cells.keys() {
                    let page = l * block / PAGE;
                    let len = PAGE.min(size.saturating_sub(page * PAGE));
                    pages
                        .entry(page)
                        .or_insert_with(|| digest(&bytes(cells, block, page * PAGE, len)));
                }
                pages.retain(|_, d| *d != 0);
                Contents::Pages(pages)
            }
            Body::Symlink(target) => Contents::Target(target.clone().into_bytes()),
            Body::Dir { .. } => Contents::Names,
            Body::Special(dev) => Contents::Device(*dev),
        };
        let entry = Entry {
            same_as: first,
            mode: node.mode,
            nlink: node.nlink,
            uid: node.uid,
            gid: node.gid,
            size: if node.is_dir() {
                None
            } else {
                Some(node.size())
            },
            blocks: None,
            atime: node.atime,
            mtime: node.mtime,
            flags: (node.is_dir() || node.is_file()).then_some(node.flags),
            xattrs: node
                .xattrs
                .iter()
                .map(|(n, v)| (n.clone().into_bytes(), v.clone()))
                .collect(),
            contents,
        };
        tree.0.insert(path.clone(), entry);
        if let Body::Dir { entries, .. } = &node.body {
            for (name, child) in entries {
                self.add(tree, names, format!("{path}/{name}"), *child);
            }
        }
    }
}
