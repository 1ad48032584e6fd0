//! The address: what of the state a reload or a link brings back.
//!
//! `#s=small&v=groups&i=12&b=345`: a sample, a picture, an inode, a block. Keys:
//!
//! | key | value |
//! |---|---|
//! | `s` | a sample |
//! | `f` | name of a file of the visitor's |
//! | `p` | partition |
//! | `r` | `1`: as after the journal's replay |
//! | `v` | picture |
//! | `g` `i` `b` | group, inode, block |
//! | `j` | block of the journal that holds an older version |
//! | `x` | bytes: `first+count` |
//! | `k` | kinds of blocks to show, with commas between |
//!
//! The Lab's begin with `lab`, and have also:
//!
//! | key | value |
//! |---|---|
//! | `l` | a scenario that comes with the page |
//! | `lab` | a scenario, as `scenario::link` packs it |
//! | `at` | an event |

use crate::kinds::KindSet;
use std::rc::Rc;

use fslab_engine::scenario::link::{self, Link};

use crate::lessons::LESSONS;
use crate::room::Room;
use crate::store::{Selection, Source, State, View};

/// A place in the Lab.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LabPlace {
    /// The scenario.
    pub source: LabSource,
    /// The event; the start where `None`.
    pub event: Option<u64>,
    /// The plug is pulled there; the state that is told.
    pub plug: Option<Option<u32>>,
}

/// Where a scenario comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LabSource {
    /// It comes with the page.
    Lesson(Rc<str>),
    /// It is in the address.
    Text(Rc<str>),
    /// It should be in the address, but cannot be read: why.
    Damaged(Rc<str>),
}

impl Default for LabSource {
    fn default() -> Self {
        Self::Lesson(LESSONS[0].name.into())
    }
}

impl LabPlace {
    fn pairs(&self, pairs: &mut Vec<String>) {
        match &self.source {
            LabSource::Lesson(name) => pairs.push(format!("lab&l={}", encode(name))),
            LabSource::Text(text) => {
                let link = Link {
                    text: text.to_string(),
                    ..Link::default()
                };
                // What is too long for an address is not in it; sharing it says so.
                pairs.push(link::encode(&link).unwrap_or_else(|_| "lab".into()));
            }
            LabSource::Damaged(_) => pairs.push("lab".into()),
        }
        if let Some(event) = self.event {
            pairs.push(format!("at={event}"));
        }
        match self.plug {
            Some(Some(state)) => pairs.push(format!("plug={state}")),
            Some(None) => pairs.push("plug=pulled".into()),
            None => {}
        }
    }

    /// Where the state is.
    pub fn of(state: &State) -> Self {
        let lab = &state.lab;
        let (root, event) = lab.root();
        let text = root.map_or(&lab.text, |run| &run.text);
        let known = LESSONS.iter().find(|lesson| *lesson.text == **text);
        let source = match known {
            Some(lesson) => LabSource::Lesson(lesson.name.into()),
            None if text.is_empty() => LabSource::default(),
            None => LabSource::Text(Rc::clone(text)),
        };
        let first = root.map_or(0, |run| run.first);
        let pulled = lab.plug.field.as_ref().filter(|f| f.event == event);
        let plug = pulled.map(|_| lab.plug.chosen);
        let event = Some(event).filter(|e| plug.is_some() || *e > first && !lab.playing);
        Self {
            source,
            event,
            plug,
        }
    }
}

/// A place in an image.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Address {
    /// The place in the Lab, where it is one there.
    pub lab: Option<LabPlace>,
    /// The image.
    pub source: Option<Source>,
    /// Its partition.
    pub partition: Option<u32>,
    /// As after the replay.
    pub replayed: bool,
    /// The picture.
    pub view: View,
    /// What is chosen.
    pub selection: Selection,
    /// Kinds of blocks to show.
    pub filter: KindSet,
}

impl Address {
    /// Where the state is.
    pub fn of(state: &State) -> Self {
        if state.room == Room::Lab {
            return Self {
                lab: Some(LabPlace::of(state)),
                selection: state.selection,
                filter: state.filter,
                ..Self::default()
            };
        }
        Self {
            lab: None,
            source: state.image.source.clone(),
            partition: state.image.partition,
            replayed: state.image.replayed,
            view: state.view,
            selection: state.selection,
            filter: state.filter,
        }
    }

    /// Reads an address's fragment, with or without `#`; what it does not understand it
    /// passes over.
    pub fn parse(fragment: &str) -> Self {
        let mut address = Self::default();
        let fragment = fragment.trim_start_matches('#');
        // Who asks for nothing comes into the Lab.
        if fragment.is_empty() || fragment == "lab" || fragment.starts_with("lab&") {
            address.lab = Some(LabPlace::default());
        }
        if fragment.starts_with("lab=") {
            let source = match link::decode(fragment) {
                Ok(link) => LabSource::Text(link.text.into()),
                Err(why) => LabSource::Damaged(why.to_string().into()),
            };
            address.lab = Some(LabPlace {
                source,
                ..LabPlace::default()
            });
        }
        for pair in fragment.split('&') {
            if let Some((key, value)) = pair.split_once('=') {
                address.set(key, &decode(value));
            }
        }
        address
    }

    fn set(&mut self, key: &str, value: &str) {
        match (key, &mut self.lab) {
            ("l", Some(lab)) => return lab.source = LabSource::Lesson(value.into()),
            ("at", Some(lab)) => return lab.event = value.parse().ok(),
            ("plug", Some(lab)) => return lab.plug = Some(value.parse().ok()),
            _ => {}
        }
        match key {
            "s" => self.source = Some(Source::Sample(value.into())),
            "f" => {
                self.source = Some(Source::File {
                    name: value.into(),
                    size: None,
                });
            }
            "p" => self.partition = value.parse().ok(),
            "r" => self.replayed = value == "1",
            "v" => self.view = view(value).unwrap_or_default(),
            "g" => self.selection.group = value.parse().ok(),
            "i" => self.selection.inode = value.parse().ok(),
            "b" => self.selection.block = value.parse().ok(),
            "j" => self.selection.version = value.parse().ok(),
            "x" => {
                let parts = value.split_once('+');
                let span = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                // No bytes are nothing that could be chosen.
                self.selection.bytes = span.filter(|&(_, count)| count > 0);
            }
            "k" => self.filter = KindSet::from_words(value),
            _ => {}
        }
    }

    /// The fragment, with its `#`; empty for the start.
    pub fn to_fragment(&self) -> String {
        let mut pairs = Vec::new();
        match (&self.lab, &self.source) {
            (Some(lab), _) => lab.pairs(&mut pairs),
            (None, source) => match source {
                None | Some(Source::Run) => return "#explore".into(),
                Some(Source::Sample(name)) => pairs.push(format!("s={}", encode(name))),
                Some(Source::File { name, .. }) => pairs.push(format!("f={}", encode(name))),
            },
        }
        let mut number = |key: &str, value: Option<u64>| {
            if let Some(value) = value {
                pairs.push(format!("{key}={value}"));
            }
        };
        number("p", self.partition.map(u64::from));
        number("r", self.replayed.then_some(1));
        number("g", self.selection.group.map(u64::from));
        number("i", self.selection.inode.map(u64::from));
        number("b", self.selection.block);
        number("j", self.selection.version.map(u64::from));
        if let Some((first, count)) = self.selection.bytes {
            pairs.push(format!("x={first}+{count}"));
        }
        if self.view != View::default() {
            pairs.push(format!("v={}", word(self.view)));
        }
        if !self.filter.is_empty() {
            pairs.push(format!("k={}", self.filter.to_words()));
        }
        format!("#{}", pairs.join("&"))
    }

    /// Whether going from `self` to `other` is a step that "back" should undo. Choosing
    /// bytes is none: there are too many of these steps. That the owner of the chosen block
    /// has become known is none either.
    pub fn is_step_to(&self, other: &Self) -> bool {
        // Going through a run makes too many of these steps.
        if let (Some(a), Some(b)) = (&self.lab, &other.lab)
            && a.source == b.source
        {
            return false;
        }
        let bare = |address: &Self| Self {
            selection: Selection {
                bytes: None,
                inode: address
                    .selection
                    .inode
                    .filter(|_| address.selection.block.is_none()),
                ..address.selection
            },
            ..address.clone()
        };
        bare(self).to_fragment() != bare(other).to_fragment()
    }
}

const VIEWS: [(View, &str); 9] = [
    (View::Overview, "overview"),
    (View::Map, "map"),
    (View::Tree, "tree"),
    (View::Groups, "groups"),
    (View::Journal, "journal"),
    (View::Problems, "problems"),
    (View::Superblock, "superblock"),
    (View::Contents, "contents"),
    (View::Compare, "compare"),
];

/// A picture's word in the address.
pub fn word(view: View) -> &'static str {
    VIEWS
        .iter()
        .find(|(v, _)| *v == view)
        .map_or("overview", |(_, word)| word)
}

fn view(word: &str) -> Option<View> {
    VIEWS
        .iter()
        .find(|(_, w)| *w == word)
        .map(|(view, _)| *view)
}

/// Percent-encodes all but what stays readable and means nothing in a fragment.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' | b'+' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Undoes `encode`; a `%` that starts no code stands for itself.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let code = bytes
            .get(at + 1..at + 3)
            .filter(|_| byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_engine::view::owners::Kind;

    #[test]
    fn an_address_leads_back_to_its_place() {
        let address = Address {
            lab: None,
            source: Some(Source::File {
                name: "my disk & more=ü.img".into(),
                size: None,
            }),
            partition: Some(2),
            replayed: true,
            view: View::Journal,
            selection: Selection {
                version: Some(7),
                ..Selection::block(345, Some(12)).with_bytes(128, 4)
            },
            filter: KindSet::default().with(Kind::Journal, true),
        };
        let fragment = address.to_fragment();
        assert_eq!(
            fragment,
            "#f=my%20disk%20%26%20more%3D%C3%BC.img&p=2&r=1&i=12&b=345&j=7&x=128+4&v=journal&k=journal"
        );
        assert_eq!(Address::parse(&fragment), address);
    }

    #[test]
    fn nonsense_is_passed_over() {
        assert_eq!(
            Address::parse("#i=x&b=-1&x=7+0&v=who&%&=&zz=1"),
            Address::default()
        );
        assert_eq!(Address::default().to_fragment(), "#explore");
        assert_eq!(Address::parse("#explore"), Address::default());
    }

    #[test]
    fn who_asks_for_nothing_comes_into_the_lab() {
        let address = Address::parse("");
        assert_eq!(address.lab, Some(LabPlace::default()));
        assert_eq!(address.to_fragment(), format!("#lab&l={}", LESSONS[0].name));
    }

    #[test]
    fn a_place_in_the_lab_leads_back_to_itself() {
        let text = "title = \"ü & co\"\n";
        let address = Address {
            lab: Some(LabPlace {
                source: LabSource::Text(text.into()),
                event: Some(214),
                plug: Some(Some(3)),
            }),
            selection: Selection::inode(12),
            ..Address::default()
        };
        assert_eq!(Address::parse(&address.to_fragment()), address);
    }

    #[test]
    fn bytes_are_no_step() {
        let at = Address::parse("#s=a&b=1");
        assert!(!at.is_step_to(&Address::parse("#s=a&b=1&x=0+4")));
        assert!(at.is_step_to(&Address::parse("#s=a&b=2")));
    }
}
