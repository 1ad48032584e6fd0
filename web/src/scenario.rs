//! The way from a scenario's text to a scenario: the one place that knows how it is read.

use fslab_engine::scenario::Scenario;

use crate::worker::lab::Mistake;

/// Reads a scenario; what is wrong with it otherwise.
pub fn parse(text: &str) -> Result<Scenario, Vec<Mistake>> {
    Ok(stand_in(text))
}

/// A scenario's text as it stands in an address.
pub fn pack(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

/// Undoes [`pack`].
pub fn unpack(packed: &str) -> Result<String, String> {
    let bytes: Option<Vec<u8>> = (0..packed.len() / 2)
        .map(|i| u8::from_str_radix(packed.get(i * 2..i * 2 + 2)?, 16).ok())
        .collect();
    let bytes = bytes.ok_or("The link is damaged")?;
    String::from_utf8(bytes).map_err(|_| "The link is damaged".to_owned())
}

/// What is run until scenarios can be read.
fn stand_in(text: &str) -> Scenario {
    use fslab_engine::scenario::{CacheSpec, DeviceSpec, Medium, ProcessSpec};
    use std::sync::Arc;
    Scenario {
        text: text.into(),
        title: "A file is saved".into(),
        about: "A program writes a new file and renames it over the old one.".into(),
        seed: 1,
        device: DeviceSpec {
            size: 64 << 20,
            medium: Medium::Hdd(Default::default()),
            cache: Some(CacheSpec { size: 8 << 20 }),
        },
        mkfs: Default::default(),
        mount: Default::default(),
        processes: vec![ProcessSpec {
            name: "editor".into(),
            uid: 0,
            gid: 0,
            groups: vec![],
            umask: 0o022,
            start: Default::default(),
            stop_on_error: false,
            source: text.into(),
            first_line: 1,
            program: Arc::default(),
        }],
        run: Default::default(),
        expectations: vec![],
        show: vec![],
    }
}
