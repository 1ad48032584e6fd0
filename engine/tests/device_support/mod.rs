//! The tables of `../shared/devices`.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::Path;

/// A table with a line of names.
pub struct Csv {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Reads a table, where the folder is there.
pub fn csv(name: &str) -> Option<Csv> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here
        .ancestors()
        .map(|dir| dir.join("shared/devices").join(name))
        .find(|path| path.exists());
    let Some(text) = path.and_then(|path| std::fs::read_to_string(path).ok()) else {
        eprintln!("skipped: there is no ../shared/devices/{name}");
        return None;
    };
    let mut lines = text
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let names = lines.next()?;
    Some(Csv {
        names,
        rows: lines.collect(),
    })
}

impl Csv {
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    pub fn text(&self, row: usize, name: &str) -> &str {
        let at = self.names.iter().position(|n| n == name).unwrap();
        &self.rows[row][at]
    }

    /// A number; `None` where the table has none.
    pub fn number(&self, row: usize, name: &str) -> Option<f64> {
        let number: f64 = self.text(row, name).parse().ok()?;
        (!number.is_nan()).then_some(number)
    }
}
