//! The form of a job file: sections of settings.

use super::super::ImportError;

/// `key=value`, or a key alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Setting<'s> {
    /// Line, from 1.
    pub(super) line: u64,
    /// The line as it is written.
    pub(super) written: &'s str,
    pub(super) key: &'s str,
    /// Empty for a key alone, which switches something on.
    pub(super) value: &'s str,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Section<'s> {
    pub(super) line: u64,
    pub(super) name: &'s str,
    pub(super) settings: Vec<Setting<'s>>,
}

pub(super) fn sections(text: &str) -> Result<Vec<Section<'_>>, ImportError> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (written, line) in text.lines().map(str::trim).zip(1u64..) {
        let wrong = |words: &str| ImportError::Line {
            line,
            words: words.to_owned(),
        };
        if written.is_empty() || written.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = written.strip_prefix('[') {
            let name = rest.split_once(']').map(|(name, _)| name.trim());
            let name = name.ok_or_else(|| wrong("a section's name stands between [ and ]"))?;
            sections.push(Section {
                line,
                name,
                settings: Vec::new(),
            });
            continue;
        }
        if written.split([' ', '=', '\t']).next() == Some("include") {
            return Err(wrong(
                "include names another file, which is not read: put its lines here",
            ));
        }
        let Some(section) = sections.last_mut() else {
            return Err(wrong(
                "this stands in no section; the first line is [global] or a job's [name]",
            ));
        };
        let (key, value) = written.split_once('=').unwrap_or((written, ""));
        section.settings.push(Setting {
            line,
            written,
            key: key.trim(),
            value: value.trim(),
        });
    }
    Ok(sections)
}
