//! The tree of files.

mod outline;
mod reveal;

use std::rc::Rc;

use fslab_engine::ext4::layout::FileType;
use fslab_engine::view::DirRow;
use yew::prelude::*;

use self::outline::{Line, Open, Outline, What};
use self::reveal::use_reveal;
use super::lines::{self, Lines};
use crate::format;
use crate::store::{Action, Pane, Selection, Source, Store, use_store};

/// Height of a line in CSS pixels.
const HEIGHT: f64 = 22.0;
/// Inode of the root directory.
const ROOT: u32 = 2;

/// The tree of files; its directories open and close.
#[component]
pub fn Files() -> Html {
    let store = use_store();
    let image = store.state.image.nr;
    let family = store.state.image.family;
    let open = use_state(|| Open::new(ROOT));
    let cursor = use_state_eq(|| 0_u64);
    {
        let (open, cursor) = (open.clone(), cursor.clone());
        use_effect_with(family, move |_| {
            open.set(Open::new(ROOT));
            cursor.set(0);
        });
    }
    // The root's names come at once, and again after what was read was forgotten.
    let missing = store.state.dirs.page(ROOT, 0).is_none();
    {
        let engine = store.engine.clone();
        use_effect_with((image, missing), move |&(_, missing)| {
            if missing {
                engine.list(ROOT, 0);
            }
        });
    }
    // The same disk in another state: what is listed is read again.
    {
        let (engine, dirs) = (store.engine.clone(), Rc::clone(&store.state.dirs));
        use_effect_with(image, move |_| {
            for (dir, from) in dirs.pages() {
                engine.list(dir, from);
            }
        });
    }
    let outline = Rc::new(Outline::new(&open, &store.state.dirs));
    use_reveal(&store, &outline, &open, &cursor);

    let tree = Tree {
        store: store.clone(),
        outline: Rc::clone(&outline),
        open: open.clone(),
        cursor: cursor.clone(),
    };
    let line = {
        let tree = tree.clone();
        Callback::from(move |nr| tree.draw(nr))
    };
    let onkeydown = {
        let tree = tree.clone();
        Callback::from(move |event: KeyboardEvent| {
            if tree.key(&event.code()) {
                event.prevent_default();
                event.stop_propagation();
            }
        })
    };
    let onrange = Callback::from(move |(first, last)| tree.fetch(first, last));
    html! {
        <Lines count={outline.len()} height={lines::height(HEIGHT)} {line} {onkeydown} {onrange}
            reveal={*cursor} class="tree" role="tree" label="Files"
            active={format!("file-{}", *cursor)} />
    }
}

/// The tree as it is drawn now, with the means to change it.
#[derive(Clone)]
struct Tree {
    store: Store,
    outline: Rc<Outline>,
    open: UseStateHandle<Open>,
    cursor: UseStateHandle<u64>,
}

impl Tree {
    fn line(&self, nr: u64) -> Option<Line> {
        self.outline.line(nr, &self.open)
    }

    /// Asks for the pages that the lines in sight lack.
    fn fetch(&self, first: u64, last: u64) {
        for nr in first..last {
            if let Some(Line {
                dir,
                what: What::Pending(start),
                ..
            }) = self.line(nr)
            {
                self.store.engine.list(dir, start);
            }
        }
    }

    /// Opens or closes the directory of a line.
    fn toggle(&self, nr: u64, want: bool) {
        let Some(Line {
            chain,
            what:
                What::Row {
                    row,
                    open: Some(is),
                    ..
                },
            ..
        }) = self.line(nr)
        else {
            return;
        };
        if is == want {
            return;
        }
        let mut root = (*self.open).clone();
        let Some((last, dir)) = chain.split_last() else {
            return;
        };
        let Some(parent) = root.at_mut(dir) else {
            return;
        };
        if want {
            parent.children.insert(*last, Open::new(row.inode));
            self.store.engine.list(row.inode, 0);
        } else {
            parent.children.remove(last);
            if !root.holds(row.inode) {
                self.store.act(Action::Unlist { dir: row.inode });
            }
        }
        self.open.set(root);
    }

    fn choose(&self, nr: u64) {
        self.cursor.set(nr);
        let inode = match self.line(nr).map(|line| line.what) {
            Some(What::Root) => ROOT,
            Some(What::Row { row, .. }) => row.inode,
            _ => return,
        };
        self.store.select(Selection::inode(inode));
        self.store.act(Action::Pane(Pane::Selection));
    }

    /// Does what a key says; tells whether it meant something.
    fn key(&self, code: &str) -> bool {
        let (at, last) = (*self.cursor, self.outline.len().saturating_sub(1));
        match code {
            "ArrowDown" => self.cursor.set((at + 1).min(last)),
            "ArrowUp" => self.cursor.set(at.saturating_sub(1)),
            "PageDown" => self.cursor.set((at + 20).min(last)),
            "PageUp" => self.cursor.set(at.saturating_sub(20)),
            "Home" => self.cursor.set(0),
            "End" => self.cursor.set(last),
            "ArrowRight" => self.inward(at, last),
            "ArrowLeft" => self.outward(at),
            "Enter" | "Space" | "NumpadEnter" => self.choose(at),
            _ => return false,
        }
        true
    }

    fn inward(&self, at: u64, last: u64) {
        match self.line(at).map(|line| line.what) {
            Some(
                What::Root
                | What::Row {
                    open: Some(true), ..
                },
            ) => {
                self.cursor.set((at + 1).min(last));
            }
            _ => self.toggle(at, true),
        }
    }

    fn outward(&self, at: u64) {
        let Some(line) = self.line(at) else { return };
        if matches!(
            line.what,
            What::Row {
                open: Some(true),
                ..
            }
        ) {
            return self.toggle(at, false);
        }
        if let Some((_, dir)) = line.chain.split_last()
            && let Some(parent) = self.outline.find(dir)
        {
            self.cursor.set(parent);
        }
    }

    fn draw(&self, nr: u64) -> Html {
        let Some(line) = self.line(nr) else {
            return html! {};
        };
        let depth = line.chain.len();
        let position = line.chain.last().map_or(1, |row| row + 1);
        let (body, inode, open) = match &line.what {
            What::Root => (root(), Some(ROOT), Some(true)),
            What::Row { row, open, cycle } => (
                entry(row, *cycle, self.in_memory(row.inode)),
                Some(row.inode),
                *open,
            ),
            What::Pending(_) => (said("Reading…"), None, None),
            What::Empty => (said("Empty"), None, None),
            What::Failed(why) => (
                html! { <span class="name bad" title={why.to_string()}>{ format::sentence(why) }</span> },
                None,
                None,
            ),
        };
        let selected = inode.is_some() && inode == self.store.state.selection.inode;
        let choose = {
            let tree = self.clone();
            Callback::from(move |_| tree.choose(nr))
        };
        html! {
            <div key={nr} id={format!("file-{nr}")} role="treeitem" onclick={choose}
                class={classes!("line", selected.then_some("selected"), (nr == *self.cursor).then_some("cursor"))}
                aria-level={(depth + 1).to_string()} aria-selected={selected.to_string()}
                aria-expanded={open.map(|open| open.to_string())}
                aria-setsize={line.siblings.to_string()} aria-posinset={position.to_string()}
                style={format!("--depth:{}", depth.min(24))}>
                { self.twist(nr, open.filter(|_| nr > 0)) }
                { body }
            </div>
        }
    }

    /// What of a file is in memory only, in a run.
    fn in_memory(&self, inode: u32) -> Option<String> {
        let frame = self.store.state.lab.frame.as_ref();
        let in_run = self.store.state.image.source == Some(Source::Run);
        let files = frame.filter(|_| in_run).map(|frame| &frame.files)?;
        let file = files.iter().find(|f| f.inode == inode)?;
        match (file.dirty, file.delayed) {
            (0, _) => None,
            (n, 0) => Some(format!("{n} dirty")),
            (n, d) => Some(format!("{n} dirty, {d} promised")),
        }
    }

    /// The mark that opens and closes a directory.
    fn twist(&self, nr: u64, open: Option<bool>) -> Html {
        let Some(open) = open else {
            return html! { <span class="twist" /> };
        };
        let tree = self.clone();
        let toggle = Callback::from(move |event: MouseEvent| {
            event.stop_propagation();
            tree.cursor.set(nr);
            tree.toggle(nr, !open);
        });
        html! {
            <span class="twist" aria-hidden="true" onclick={toggle}>{ if open { "▾" } else { "▸" } }</span>
        }
    }
}

fn root() -> Html {
    html! {
        <>
            <span class="letter letter-d" aria-hidden="true">{ "d" }</span>
            <span class="name">{ "/" }</span>
        </>
    }
}

fn said(words: &'static str) -> Html {
    html! { <span class="name soft">{ words }</span> }
}

fn entry(row: &DirRow, cycle: bool, in_memory: Option<String>) -> Html {
    let letter = letter(row.file_type);
    let what = match (&row.target, row.file_type) {
        (Some(target), _) => format!("→ {target}"),
        (None, FileType::Regular) => format::bytes(row.size),
        _ => String::new(),
    };
    let marks = [
        (row.links == 0, "deleted"),
        (row.encrypted, "encrypted"),
        (cycle, "leads back up"),
    ];
    html! {
        <>
            <span class={format!("letter letter-{letter}")} title={type_words(row.file_type)}>{ letter }</span>
            <span class={classes!("name", row.encrypted.then_some("soft"))} title={row.name.clone()}>{ &row.name }</span>
            { for marks.into_iter().filter(|(on, _)| *on).map(|(_, words)| html! {
                <span class="mark">{ words }</span>
            }) }
            if let Some(words) = in_memory { <span class="mark">{ words }</span> }
            <span class="size figure">{ what }</span>
        </>
    }
}

/// The letter of a kind of file, as `ls -l` writes it; `f` for a regular file.
pub fn letter(file_type: FileType) -> char {
    match file_type {
        FileType::Regular => 'f',
        FileType::Directory => 'd',
        FileType::CharDevice => 'c',
        FileType::BlockDevice => 'b',
        FileType::Fifo => 'p',
        FileType::Socket => 's',
        FileType::Symlink => 'l',
        FileType::Unknown => '?',
    }
}

/// A kind of file in words.
pub fn type_words(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Regular => "regular file",
        FileType::Directory => "directory",
        FileType::CharDevice => "character device",
        FileType::BlockDevice => "block device",
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::Symlink => "symbolic link",
        FileType::Unknown => "unknown type",
    }
}
