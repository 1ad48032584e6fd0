//! The rooms of the page.

/// A room. More are to come; a room stands here once there is something in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Room {
    /// An image that somebody has.
    Explore,
    /// A run.
    #[default]
    Lab,
}

impl Room {
    /// The rooms that there are.
    pub const ALL: &'static [Self] = &[Self::Explore, Self::Lab];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explore => "Explore",
            Self::Lab => "Lab",
        }
    }
}
