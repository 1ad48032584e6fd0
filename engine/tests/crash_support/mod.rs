//! Scenarios for tests of power cuts.

use fslab_engine::crash::{Field, Moment, Watch};
use fslab_engine::machine::Machine;
use fslab_engine::scenario::Scenario;
use std::sync::Arc;

/// What a save can be told apart as.
pub const OUTCOMES: &str = r#"
[crash]
program = '''
OLD = pattern(5000, 1)
NEW = pattern(5000, 2)
c = content("/file")
'''
[[outcome]]
name = "old"
when = 'c == OLD'
[[outcome]]
name = "new"
when = 'c == NEW'
[[outcome]]
name = "absent"
when = 'c == ENOENT'
[[outcome]]
name = "unreadable"
when = 'failed(c)'
[[outcome]]
name = "empty"
when = 'len(c) == 0'
[[outcome]]
name = "zeros"
when = 'c == zeros(len(c))'
[[outcome]]
name = "other"
when = 'true'
"#;

/// `/file` is made with old contents, and then these lines are run.
pub fn scenario(mkfs: &str, mount: &str, lines: &str) -> String {
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
{OUTCOMES}
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
    let mut machine = Machine::new(scenario).unwrap();
    machine.keep_events(false);
    let mut watch = Watch::new(&machine);
    let mut all: Vec<Moment> = watch.step(&machine).into_iter().collect();
    while machine.step() {
        all.extend(watch.step(&machine));
    }
    all.extend(watch.end(&machine));
    all
}

pub fn explored(moment: Moment, limit: usize) -> Field {
    let mut field = Field::new(Arc::new(moment.pending), Arc::new(moment.judge), limit);
    while field.explore(1000) {}
    field
}
