//! Scenarios for tests of power cuts.

use fslab_engine::crash::{Field, Moment};
use fslab_engine::machine::Machine;
use fslab_engine::scenario::Scenario;
use std::sync::Arc;

/// What a file can be told apart as, given what it held and what it is to hold. `before`: a
/// condition that is true of disks from before the beginning.
pub fn outcomes(file: &str, old: &str, new: &str, before: &str) -> String {
    let classes = [
        ("before", before),
        ("absent", "c == ENOENT"),
        ("unreadable", "failed(c)"),
        ("old", "c == OLD"),
        ("new", "c == NEW"),
        ("empty", "len(c) == 0"),
        ("zeros", "c == zeros(len(c))"),
        ("other", "true"),
    ];
    let program = format!("OLD = {old}\nNEW = {new}\nc = content(\"{file}\")\n");
    let mut text = format!("[crash]\nprogram = '''\n{program}'''\n");
    for (name, when) in classes {
        text += &format!("[[outcome]]\nname = \"{name}\"\nwhen = '{when}'\n");
    }
    text
}

/// Fills the free blocks with another file's bytes, in the workload language.
pub const SECRET: &str = r#"
fd = open("/secret", O_CREAT | O_WRONLY)
while not failed(write(fd, repeat("S", 64k))) {
    pass
}
close(fd)
sync()
unlink("/secret")
sync()
"#;

/// `/file` is made with old contents, and then these lines are run.
pub fn scenario(mkfs: &str, mount: &str, lines: &str) -> String {
    let outcomes = outcomes("/file", "pattern(5000, 1)", "pattern(5000, 2)", "false");
    format!(
        r#"fslab = 1
[device]
size = "16M"
[mkfs]
options = "{mkfs}"
[mount]
options = "{mount}"
[kernel]
dirty_expire = "3s"
dirty_writeback = "1s"
[run]
linger = "9s"
{outcomes}
[[process]]
name = "editor"
program = '''
fd = open("/file", O_CREAT | O_WRONLY)
write(fd, pattern(5000, 1))
fsync(fd)
close(fd)
sync()
begun = true
{lines}
'''
"#
    )
}

/// Write a new file and put it in the place of the old.
pub const RENAME: &str = r#"
fd = open("/tmp", O_CREAT | O_WRONLY | O_TRUNC)
write(fd, pattern(5000, 2))
close(fd)
rename("/tmp", "/file")
"#;

/// The same, and wait for the contents.
pub const RENAME_SYNCED: &str = r#"
fd = open("/tmp", O_CREAT | O_WRONLY | O_TRUNC)
write(fd, pattern(5000, 2))
fsync(fd)
close(fd)
rename("/tmp", "/file")
"#;

/// Cut the file to nothing and write it again.
pub const TRUNCATE: &str = r#"
fd = open("/file", O_WRONLY | O_TRUNC)
write(fd, pattern(5000, 2))
close(fd)
"#;

pub fn parse(text: &str) -> Arc<Scenario> {
    Arc::new(Scenario::parse(text).unwrap_or_else(|e| panic!("{e:#?}\n{text}")))
}

/// Every instant of a run that makes a difference.
pub fn moments(scenario: Arc<Scenario>) -> Vec<Moment> {
    fslab_engine::crash::moments(Machine::new(scenario).unwrap())
}

pub fn explored(moment: Moment, limit: usize) -> Field {
    let mut field = Field::new(Arc::new(moment.pending), Arc::new(moment.judge), limit);
    while field.explore(1000) {}
    field
}
