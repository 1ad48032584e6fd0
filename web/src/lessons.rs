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

macro_rules! lessons {
    ($($folder:literal, $name:literal, $title:literal;)*) => {
        &[$(Lesson {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../lessons/", $folder, "/scenario.toml")),
        }),*]
    };
}

/// The scenarios, the one for a first visit first.
pub const LESSONS: &[Lesson] = lessons! {
    "01-one-file", "one-file", "Write one file";
    "02-delayed-allocation", "delayed-allocation", "Blocks that are only promised";
    "03-fsync", "fsync", "What fsync waits for";
    "04-transactions", "transactions", "Many changes, few transactions";
    "05-append-log", "append-log", "A log that is flushed at every line";
    "06-directory-grows", "directory-grows", "A directory becomes a tree";
    "07-extents-split", "extents-split", "An extent splits";
    "08-full-disk", "full-disk", "No space left on device";
    "09-unlink-open", "unlink-open", "A file without a name";
    "10-replace-by-rename", "replace-by-rename", "Replace a file by renaming";
    "11-truncate-and-write", "truncate-and-write", "The file that came back empty";
    "12-two-processes", "two-processes", "Two processes, one fsyncs";
    "13-database-on-a-disk", "database-on-a-disk", "A small database on a turning disk";
    "14-database-on-an-ssd", "database-on-an-ssd", "The same database on an SSD";
    "15-garbage-collection", "garbage-collection", "An SSD that collects garbage";
    "16-trim", "trim", "What the SSD does not know is free";
    "17-card", "card", "A card and its open segments";
    "18-misaligned", "misaligned", "A partition that begins in the wrong place";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_read_and_has_its_title() {
        for lesson in LESSONS {
            let scenario = crate::scenario::parse(lesson.text);
            assert_eq!(scenario.map(|s| s.title).as_deref(), Ok(lesson.title));
        }
    }
}
