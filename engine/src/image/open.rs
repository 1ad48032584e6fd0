//! Opens what people hand over: peels off layer after layer until a disk or a filesystem
//! is left.

use super::android::AndroidSparse;
use super::expand::{Expander, Format, Limits};
use super::identify::{Identity, identify};
use super::partition::{self, Partition, PartitionTable};
use super::qcow2::Qcow2;
use super::{ImageError, Medium};
use crate::disk::{ReadAt, Window};
use serde::Serialize;
use std::fmt;
use std::rc::Rc;

/// Most layers that are peeled off.
pub const LAYERS_MAX: usize = 8;
/// Bytes that [`open`] expands between two looks at its progress.
const STEP: u64 = 4 << 20;

/// What kind of layer was peeled off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// gzip, zstd or xz, expanded into memory.
    Compressed,
    /// An Android sparse image, read in place.
    AndroidSparse,
    /// A qcow2 image, read in place.
    Qcow2,
    /// A fixed VHD: a raw image with a footer.
    FixedVhd,
}

/// A layer that was peeled off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// Which kind.
    pub kind: LayerKind,
    /// What it was, in words: "gzip: 1234 bytes hold 5678".
    pub text: String,
    /// What is odd about it, in sentences.
    pub notes: Vec<String>,
}

/// How far opening has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenProgress {
    /// What is being expanded, when something is.
    pub format: Option<Format>,
    /// Bytes of it used.
    pub consumed: u64,
    /// Its length, bytes.
    pub input_len: u64,
    /// Bytes that came out.
    pub produced: u64,
    /// [`Opener::finish`] will not have to expand any more.
    pub done: bool,
}

/// What was found.
pub struct Opened {
    /// What was peeled off, outermost first.
    pub layers: Vec<Layer>,
    /// What is left: a disk, a filesystem or something foreign.
    pub content: Medium,
    /// The partition table of `content`.
    pub table: Option<PartitionTable>,
    /// What `content` is as a whole. A disk with a table is usually unknown as a whole.
    pub identity: Identity,
    /// Why `content` is not all that was in the file; what is there can be read.
    pub problems: Vec<ImageError>,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("layers", &self.layers)
            .field("content_len", &self.content.len())
            .field("table", &self.table)
            .field("identity", &self.identity)
            .field("problems", &self.problems)
            .finish()
    }
}

impl Opened {
    /// The bytes of partition `number`, cut where the image ends; an error where it starts
    /// only there.
    pub fn partition(&self, number: u32) -> Result<Window<Medium>, ImageError> {
        let p = self.find(number)?;
        let (start, len) = (p.start_byte, self.content.len());
        if start >= len {
            return Err(ImageError::PastEnd { number, start, len });
        }
        Ok(Window::new(self.content.clone(), p.start_byte, p.len_bytes))
    }

    /// What partition `number` holds, by its bytes.
    pub fn identify_partition(&self, number: u32) -> Result<Identity, ImageError> {
        Ok(identify(&self.partition(number)?))
    }

    fn find(&self, number: u32) -> Result<&Partition, ImageError> {
        let Some(table) = &self.table else {
            return Err(ImageError::NoTable { number });
        };
        table.get(number).ok_or_else(|| ImageError::NoPartition {
            number,
            have: list(table),
        })
    }
}

fn list(table: &PartitionTable) -> String {
    let numbers: Vec<String> = table
        .partitions
        .iter()
        .take(32)
        .map(|p| p.number.to_string())
        .collect();
    match table.partitions.len() {
        0 => "it has none".to_owned(),
        n if n > 32 => format!("it has {} and {} more", numbers.join(", "), n - 32),
        _ => format!("it has {}", numbers.join(", ")),
    }
}

/// Opens an image in steps, so that a worker can show progress between them, and cancel
/// by dropping it.
///
/// Memory: that of the expander (see [`super::expand`]), of each layer that is read in
/// place, and of the partition table. When one compressed file holds another, the outer
/// one's content stays in memory until the inner one is expanded.
pub struct Opener {
    content: Medium,
    limits: Limits,
    layers: Vec<Layer>,
    problems: Vec<ImageError>,
    expander: Option<Expander>,
    result: Option<Result<(), ImageError>>,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener")
            .field("layers", &self.layers)
            .field("expander", &self.expander)
            .field("result", &self.result)
            .finish_non_exhaustive()
    }
}

impl Opener {
    /// Prepares to open `medium`. Reads nothing yet.
    #[must_use]
    pub fn new(medium: Medium, limits: Limits) -> Self {
        Self {
            content: medium,
            limits,
            layers: Vec::new(),
            problems: Vec::new(),
            expander: None,
            result: None,
        }
    }

    /// Peels off one layer, or expands some `budget_bytes` of one.
    pub fn step(&mut self, budget_bytes: u64) -> OpenProgress {
        let mut progress = OpenProgress {
            format: None,
            consumed: 0,
            input_len: self.content.len(),
            produced: 0,
            done: false,
        };
        if let Some(expander) = &mut self.expander {
            let now = expander.step(budget_bytes);
            progress.format = Some(expander.format());
            progress.consumed = now.consumed;
            progress.produced = now.produced;
            if now.done {
                self.expanded();
            }
        } else if self.result.is_none() {
            self.peel();
        }
        progress.done = self.result.is_some();
        progress
    }

    /// Does what is left to do, and tells what was found.
    pub fn finish(mut self) -> Result<Opened, ImageError> {
        while !self.step(STEP).done {}
        if let Some(Err(error)) = self.result {
            return Err(match self.problems.into_iter().next() {
                Some(first) => ImageError::After {
                    first: Box::new(first),
                    then: Box::new(error),
                },
                None => error,
            });
        }
        let identity = identify(&self.content);
        let table = partition::read(&self.content, &identity);
        Ok(Opened {
            layers: self.layers,
            content: self.content,
            table,
            identity,
            problems: self.problems,
        })
    }

    /// Looks at what is left and removes one layer, or is finished.
    fn peel(&mut self) {
        let medium = &self.content;
        let format = Format::detect(medium);
        let layered = format.is_some() || AndroidSparse::detect(medium) || Qcow2::detect(medium);
        if layered && self.layers.len() >= LAYERS_MAX {
            self.result = Some(Err(ImageError::TooDeep));
        } else if let Some(format) = format {
            self.expander = Some(Expander::new(medium.clone(), format, self.limits));
        } else if AndroidSparse::detect(medium) {
            self.translate(android);
        } else if Qcow2::detect(medium) {
            self.translate(qcow2);
        } else {
            if let Some(layer) = fixed_vhd(medium) {
                self.push(layer);
            }
            self.result = Some(Ok(()));
        }
    }

    fn translate(&mut self, open: fn(Medium) -> Result<(Layer, Medium), ImageError>) {
        match open(self.content.clone()) {
            Ok(layer) => self.push(layer),
            Err(e) => self.result = Some(Err(e)),
        }
    }

    fn push(&mut self, (layer, content): (Layer, Medium)) {
        self.layers.push(layer);
        self.content = content;
    }

    /// Takes the expander's result: its content, or its error when it has none.
    fn expanded(&mut self) {
        let Some(expander) = self.expander.take() else {
            return;
        };
        let (format, before) = (expander.format(), self.content.len());
        let expanded = expander.finish();
        if let Some(error) = expanded.error {
            if expanded.content.is_empty() {
                self.result = Some(Err(error.into()));
                return;
            }
            self.problems.push(error.into());
        }
        let layer = Layer {
            kind: LayerKind::Compressed,
            text: format!("{format}: {before} bytes hold {}", expanded.content.len()),
            notes: expanded.note.into_iter().collect(),
        };
        self.push((layer, Rc::new(expanded.content)));
    }
}

fn android(medium: Medium) -> Result<(Layer, Medium), ImageError> {
    let file_len = medium.len();
    let sparse = AndroidSparse::open(medium)?;
    let layer = Layer {
        kind: LayerKind::AndroidSparse,
        text: format!(
            "Android sparse image: {file_len} bytes in {} chunks stand for {}",
            sparse.chunks(),
            sparse.len()
        ),
        notes: sparse.note().into_iter().collect(),
    };
    Ok((layer, Rc::new(sparse)))
}

fn qcow2(medium: Medium) -> Result<(Layer, Medium), ImageError> {
    let file_len = medium.len();
    let image = Qcow2::open(medium)?;
    let layer = Layer {
        kind: LayerKind::Qcow2,
        text: format!(
            "qcow2 version {}: {file_len} bytes in clusters of {} stand for {}",
            image.version(),
            image.cluster_bytes(),
            image.len()
        ),
        notes: image.notes(),
    };
    Ok((layer, Rc::new(image)))
}

/// A fixed VHD (Microsoft's Virtual Hard Disk Image Format, 1.0): the image itself, and a
/// footer of 512 bytes with disk type 2.
fn fixed_vhd(medium: &Medium) -> Option<(Layer, Medium)> {
    let at = medium.len().checked_sub(512)?;
    let mut footer = [0; 64];
    medium.read_at(at, &mut footer).ok()?;
    if !footer.starts_with(b"conectix") || footer[60..] != [0, 0, 0, 2] {
        return None;
    }
    let layer = Layer {
        kind: LayerKind::FixedVhd,
        text: format!("fixed VHD: {at} bytes of image and a footer"),
        notes: Vec::new(),
    };
    Some((layer, Rc::new(Window::new(medium.clone(), 0, at))))
}

/// Opens `medium` at one go: [`Opener`] for those who need no progress.
pub fn open(medium: Medium, limits: Limits) -> Result<Opened, ImageError> {
    Opener::new(medium, limits).finish()
}
