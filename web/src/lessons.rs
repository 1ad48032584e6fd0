//! The scenarios that come with the page.

/// A scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lesson {
    /// Its name in the address.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The scenarios, the one for a first visit first.
pub const LESSONS: &[Lesson] = &[Lesson {
    name: "save",
    title: "A file is saved",
    text: include_str!("../scenarios/save.toml"),
}];
