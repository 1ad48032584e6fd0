//! Everything that a visitor can do, by name and key. Each command has a visible control
//! too; the list of commands shows them all.

use crate::lab_command::LabCommand;
use crate::room::Room;
use crate::store::{Action, Focus, Pane, Selection, State, Store, View};
use crate::views::pick;

/// Something that a visitor can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Opens an image.
    Open,
    /// Shows the samples.
    Samples,
    /// Goes to the search box.
    Search,
    /// Shows a picture.
    Show(View),
    /// Chooses what holds the selection.
    Wider,
    /// Chooses the block before.
    Previous,
    /// Chooses the block after.
    Next,
    /// Saves the chosen file.
    Save,
    /// Looks at the image as after its journal's replay, or as it is.
    Replay,
    /// Shows every kind of block.
    AllKinds,
    /// Stops a scan, an expansion or a save.
    Cancel,
    /// Shows the list of commands.
    Help,
    /// Goes to a room.
    Room(Room),
    /// Something of the Lab.
    Lab(LabCommand),
}

impl Command {
    /// Every command of the room for images, in the order of the list.
    pub const ALL: [Self; 22] = [
        Self::Open,
        Self::Samples,
        Self::Search,
        Self::Show(View::Overview),
        Self::Show(View::Map),
        Self::Show(View::Tree),
        Self::Show(View::Groups),
        Self::Show(View::Journal),
        Self::Show(View::Problems),
        Self::Show(View::Superblock),
        Self::Show(View::Contents),
        Self::Show(View::Compare),
        Self::Wider,
        Self::Previous,
        Self::Next,
        Self::Save,
        Self::Replay,
        Self::AllKinds,
        Self::Cancel,
        Self::Help,
        Self::Room(Room::Explore),
        Self::Room(Room::Lab),
    ];

    /// The commands that there are in a room besides those of the Lab.
    const EVERYWHERE: [Self; 5] = [
        Self::Wider,
        Self::Open,
        Self::Help,
        Self::Room(Room::Explore),
        Self::Room(Room::Lab),
    ];

    /// The commands of a room, in the order of the list.
    pub fn of_room(room: Room) -> Vec<Self> {
        match room {
            Room::Explore => Self::ALL.to_vec(),
            Room::Lab => LabCommand::ALL
                .into_iter()
                .map(Self::Lab)
                .chain(Self::EVERYWHERE)
                .collect(),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "Open…",
            Self::Samples => "Samples",
            Self::Search => "Find",
            Self::Show(view) => view.name(),
            Self::Wider => "Up",
            Self::Previous => "Previous block",
            Self::Next => "Next block",
            Self::Save => "Save…",
            Self::Replay => "Show as after replay",
            Self::AllKinds => "Show all kinds",
            Self::Cancel => "Cancel",
            Self::Help => "Commands",
            Self::Room(room) => room.name(),
            Self::Lab(command) => command.name(),
        }
    }

    /// What it does, in a phrase.
    pub fn help(self) -> &'static str {
        match self {
            Self::Open => "Open an image of your own; it stays on this machine",
            Self::Samples => "Close the image and show the samples",
            Self::Search => "Find a path, an inode, a block or a group",
            Self::Show(view) => view.help(),
            Self::Wider => "From bytes to their block, from a block to its file, then to nothing",
            Self::Previous => "Choose the block before the chosen one",
            Self::Next => "Choose the block after the chosen one",
            Self::Save => "Save the chosen file’s contents on your disk",
            Self::Replay => "Show the image as a mount would leave it after replaying the journal",
            Self::AllKinds => "Show every kind of block in the map again",
            Self::Cancel => "Stop the scan, the expansion or the save",
            Self::Help => "Every command and its key",
            Self::Room(Room::Explore) => "Look into an image",
            Self::Room(Room::Lab) => "Watch a filesystem work",
            Self::Lab(command) => command.help(),
        }
    }

    /// Its key, by its place on the keyboard (`KeyboardEvent.code`), and the letter on it.
    pub fn key(self) -> (&'static str, &'static str) {
        match self {
            Self::Open => ("KeyO", "O"),
            Self::Samples => ("KeyS", "S"),
            Self::Search => ("Slash", "/"),
            Self::Show(View::Overview) => ("Digit1", "1"),
            Self::Show(View::Map) => ("Digit2", "2"),
            Self::Show(View::Tree) => ("Digit3", "3"),
            Self::Show(View::Groups) => ("Digit4", "4"),
            Self::Show(View::Journal) => ("Digit5", "5"),
            Self::Show(View::Problems) => ("Digit6", "6"),
            Self::Show(View::Superblock) => ("Digit7", "7"),
            Self::Show(View::Contents) => ("Digit8", "8"),
            Self::Show(View::Compare) => ("Digit9", "9"),
            Self::Wider => ("Escape", "Esc"),
            Self::Previous => ("BracketLeft", "["),
            Self::Next => ("BracketRight", "]"),
            Self::Save => ("KeyD", "D"),
            Self::Replay => ("KeyR", "R"),
            Self::AllKinds => ("KeyA", "A"),
            Self::Cancel => ("KeyX", "X"),
            Self::Help => ("", "?"),
            Self::Room(Room::Explore) => ("Shift+Digit1", "Shift 1"),
            Self::Room(Room::Lab) => ("Shift+Digit2", "Shift 2"),
            Self::Lab(command) => command.key(),
        }
    }

    /// The command of a key that was pressed without Alt: its code, with `Shift+` or
    /// `Ctrl+` before it where these were held, and what it means.
    pub fn of_key(room: Room, code: &str, key: &str) -> Option<Self> {
        // By its meaning, as it lies in a different place on every keyboard.
        match (key, room) {
            ("?", _) => return Some(Self::Help),
            ("/", Room::Explore) => return Some(Self::Search),
            ("/", Room::Lab) => return Some(Self::Lab(LabCommand::Find)),
            ("+", Room::Lab) => return Some(Self::Lab(LabCommand::Faster)),
            ("-", Room::Lab) => return Some(Self::Lab(LabCommand::Slower)),
            _ => {}
        }
        Self::of_room(room)
            .into_iter()
            .find(|command| !code.is_empty() && command.key().0 == code)
    }

    /// Whether it does something as things stand.
    pub fn is_possible(self, state: &State) -> bool {
        let open = state.opened().is_some();
        match self {
            Self::Open | Self::Help | Self::Room(_) => true,
            Self::Lab(command) => state.room == Room::Lab && command.is_possible(state),
            Self::Samples => state.room == Room::Explore && state.image.source.is_some(),
            Self::Search | Self::AllKinds => open,
            Self::Show(View::Contents) => open && state.selection.inode.is_some(),
            Self::Show(View::Compare) => open && state.selection.version.is_some(),
            Self::Show(_) => open,
            Self::Wider => open,
            Self::Previous => state.selection.block.is_some_and(|block| block > 0),
            Self::Next => match (state.selection.block, state.opened()) {
                // The address may name any block.
                (Some(block), Some(opened)) => block < opened.summary.blocks.saturating_sub(1),
                _ => false,
            },
            Self::Save => open && state.selection.inode.is_some() && !is_saving(state),
            Self::Replay => open,
            Self::Cancel => can_cancel(state),
        }
    }

    /// Does it.
    pub fn run(self, store: &Store) {
        let state = &*store.state;
        if !self.is_possible(state) {
            return;
        }
        match self {
            Self::Open => pick::open_dialog(),
            Self::Samples => store.engine.close(),
            Self::Search => {
                store.act(Action::Pane(Pane::Files));
                pick::focus_soon("search");
            }
            Self::Show(view) => store.show(view),
            Self::Wider => store.select(state.selection.wider()),
            Self::Previous => step(store, false),
            Self::Next => step(store, true),
            Self::Save => save(store),
            Self::Replay => store.engine.replay(!state.image.replayed),
            Self::AllKinds => store.act(Action::Filter(Default::default())),
            Self::Cancel => cancel(store),
            Self::Help => store.act(Action::Help(!state.help)),
            Self::Room(room) if room == state.room => {}
            Self::Room(Room::Explore) => store.engine.enter_explore(),
            Self::Room(Room::Lab) => store.engine.enter_lab(&state.lab),
            Self::Lab(command) => command.run(store),
        }
    }
}

/// Whether a file is on its way to the disk; the next waits until it is there.
fn is_saving(state: &State) -> bool {
    let saving = state.saving.as_ref();
    saving.is_some_and(|saving| saving.failed.is_none())
}

fn can_cancel(state: &State) -> bool {
    use crate::store::{MapState, Stage};
    let scanning = matches!(
        state.map,
        MapState::Scanning {
            cancelled: false,
            ..
        }
    );
    scanning || state.saving.is_some() || matches!(state.image.stage, Stage::Expanding { .. })
}

fn cancel(store: &Store) {
    if store.state.saving.is_some() {
        store.engine.stop_saving();
    } else {
        store.engine.cancel();
    }
}

fn step(store: &Store, on: bool) {
    if let Focus::Block(block) = store.state.selection.focus() {
        let next = if on { block + 1 } else { block - 1 };
        let selection: Selection = store.block(next);
        store.select(selection);
    }
}

/// Saves the chosen file, if the state knows its size by now.
fn save(store: &Store) {
    use crate::worker::protocol::{Query, Reply};
    let Some(nr) = store.state.selection.inode else {
        return;
    };
    let known = store.state.replies.get(&Query::Inode { nr });
    if let Some(Ok(data)) = known
        && let Reply::Inode(inode) = &data.reply
        && crate::views::has_contents(inode.file_type)
    {
        let name = store.file_name(nr).unwrap_or_else(|| format!("inode-{nr}"));
        store.engine.save(nr, name, inode.size);
    }
}

impl View {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Map => "Map",
            Self::Tree => "File’s blocks",
            Self::Groups => "Groups",
            Self::Journal => "Journal",
            Self::Problems => "Problems",
            Self::Superblock => "Superblock",
            Self::Contents => "Contents",
            Self::Compare => "Versions",
        }
    }

    /// What it shows.
    pub fn help(self) -> &'static str {
        match self {
            Self::Overview => "The map, the tree of the chosen file’s blocks, and the groups",
            Self::Map => "The block map at full size",
            Self::Tree => "The tree that leads from the chosen file to its blocks",
            Self::Groups => "A row for each block group",
            Self::Journal => "Transactions and their blocks",
            Self::Problems => "What is wrong, and where",
            Self::Superblock => "Every field of the superblock",
            Self::Contents => "The chosen file’s contents, as text or bytes",
            Self::Compare => "An older version of the chosen block beside the current one",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_of_a_room_have_the_same_key() {
        for room in [Room::Explore, Room::Lab] {
            let all = Command::of_room(room);
            for (i, a) in all.iter().enumerate() {
                for b in &all[i + 1..] {
                    assert_ne!(a.key(), b.key(), "{a:?} and {b:?}");
                }
                assert!(!a.name().is_empty() && !a.help().is_empty());
            }
        }
    }

    #[test]
    fn keys_lead_to_their_commands() {
        assert_eq!(
            Command::of_key(Room::Explore, "Slash", "?"),
            Some(Command::Help)
        );
        assert_eq!(
            Command::of_key(Room::Explore, "Slash", "/"),
            Some(Command::Search)
        );
        assert_eq!(
            Command::of_key(Room::Explore, "Digit2", "2"),
            Some(Command::Show(View::Map))
        );
        assert_eq!(Command::of_key(Room::Explore, "KeyZ", "z"), None);
    }
}
