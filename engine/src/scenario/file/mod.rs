//! A scenario's file: TOML, read by serde, every mistake at its line and column.

mod crash;
mod device;
mod mkfs;
mod mount;
mod raw;
mod units;

use super::lang;
use super::{Limits, ProcessSpec, RunSpec, Scenario};
use crate::ext4::mkfs::{FsType, Options};
use crate::kernel::{AllocatorKind, DirPolicy, MountOptions};
use crate::units::SimTime;
use raw::Raw;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// The version of the format that is written and read here.
const VERSION: i64 = 1;
/// Longest text, bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// Most processes.
pub const MAX_PROCESSES: usize = 64;
/// What is wrong with a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// Line of the text, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// A sentence.
    pub words: String,
    /// What to do about it, where something can be said.
    pub help: Option<String>,
}

impl std::fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.words)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

impl Scenario {
    /// Reads a scenario's text. All mistakes are told, each with its place.
    pub fn parse(text: &str) -> Result<Self, Vec<ScenarioError>> {
        if text.len() > MAX_TEXT {
            let words = format!(
                "the text is {} bytes long; {MAX_TEXT} is the most",
                text.len()
            );
            return Err(vec![error(text, 0, words)]);
        }
        let raw: Raw = toml::from_str(text).map_err(|e| vec![from_toml(text, &e)])?;
        let mut reader = Reader {
            text,
            errors: Vec::new(),
        };
        let scenario = reader.scenario(raw);
        match reader.errors.is_empty() {
            true => Ok(scenario),
            false => Err(reader.errors),
        }
    }
}

/// The known word that another is most like, if it is like one at all.
pub(super) fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let scored = known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(word, k), *k));
    let (distance, best) = scored.min_by_key(|(d, _)| *d)?;
    (distance <= 2.max(word.len() / 3)).then_some(best)
}

fn error(text: &str, at: usize, words: String) -> ScenarioError {
    let (line, column) = place(text, at);
    ScenarioError {
        line,
        column,
        words,
        help: None,
    }
}

/// Line and column of a byte, from 1; columns count characters.
fn place(text: &str, at: usize) -> (u32, u32) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    let column = before[start..].chars().count() + 1;
    (line as u32, column as u32)
}

fn from_toml(text: &str, e: &toml::de::Error) -> ScenarioError {
    let at = e.span().map_or(0, |span| span.start);
    let message = e.message();
    let mut told = error(text, at, message.trim().replace('\n', ", "));
    // serde: "unknown field `x`, expected one of `a`, `b`".
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let Some((found, known)) = quoted
        .split_first()
        .filter(|_| message.starts_with("unknown field"))
    {
        told.words = format!("there is no key `{found}` here");
        told.help = Some(match nearest(found, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", known.join(", ")),
        });
    }
    if message.starts_with("missing field `fslab`") {
        told.words = "the first line has to be `fslab = 1`, the version of the format".to_owned();
    }
    told
}

struct Reader<'t> {
    text: &'t str,
    errors: Vec<ScenarioError>,
}

impl Reader<'_> {
    fn wrong(&mut self, span: Range<usize>, words: impl Into<String>) {
        self.errors.push(error(self.text, span.start, words.into()));
    }

    fn scenario(&mut self, raw: Raw) -> Scenario {
        if *raw.fslab.get_ref() != VERSION {
            let words = format!(
                "this is version {} of the format; version {VERSION} is what is known here",
                raw.fslab.get_ref()
            );
            self.wrong(raw.fslab.span(), words);
        }
        let mount = self.mount(&raw);
        let processes = self.processes(&raw.process);
        let crash = self.crash(&raw, &processes);
        Scenario {
            text: self.text.into(),
            title: raw.title.trim().to_owned(),
            about: raw.about.trim().to_owned(),
            seed: raw.seed,
            device: self.device(&raw.device),
            mkfs: self.mkfs(&raw, &mount),
            mount,
            processes,
            run: self.run(&raw),
            rules: crash.rules,
            outcomes: crash.outcomes,
            expectations: crash.expectations,
            show: raw.show,
        }
    }

    fn mkfs(&mut self, raw: &Raw, mount: &MountOptions) -> Options {
        let mut options = Options {
            fs_type: FsType::Ext4,
            uuid: derived(raw.seed, 1),
            hash_seed: derived(raw.seed, 2),
            now: mount.epoch as u32,
            ..Options::default()
        };
        if let Some(words) = &raw.mkfs.options
            && let Err(e) = mkfs::parse(words.get_ref(), &mut options)
        {
            self.wrong(words.span(), e);
        }
        options
    }

    fn mount(&mut self, raw: &Raw) -> MountOptions {
        let mut options = MountOptions::default();
        if let Some(words) = &raw.mount.options
            && let Err(e) = mount::parse(words.get_ref(), &mut options)
        {
            self.wrong(words.span(), e);
        }
        let k = &raw.kernel;
        let time = |to: &mut SimTime, from: Option<units::Time>| {
            if let Some(t) = from {
                to.0 = t.0;
            }
        };
        time(&mut options.dirty_expire, k.dirty_expire);
        time(&mut options.dirty_writeback, k.dirty_writeback);
        let number = |to: &mut u32, from: Option<u32>| *to = from.unwrap_or(*to);
        number(&mut options.writeback_blocks, k.writeback_blocks);
        number(&mut options.max_zeroout_kb, k.max_zeroout_kb);
        number(&mut options.mb_stream_req, k.mb_stream_req);
        number(&mut options.mb_group_prealloc, k.mb_group_prealloc);
        options.fiemap_misses_delayed = k.fiemap_misses_delayed.unwrap_or(false);
        options.stable_pages = k.stable_pages.unwrap_or(true);
        self.policies(k, &mut options);
        options
    }

    fn policies(&mut self, k: &raw::Kernel, options: &mut MountOptions) {
        if let Some(name) = &k.allocator {
            options.allocator = match name.get_ref().as_str() {
                "auto" => AllocatorKind::Auto,
                "ext2" => AllocatorKind::Ext2,
                "multiblock" => AllocatorKind::Multiblock,
                "reuse-first" => AllocatorKind::ReuseFirst,
                _ => {
                    return self.wrong(
                        name.span(),
                        "allocator is \"auto\", \"ext2\", \"multiblock\" or \"reuse-first\"",
                    );
                }
            };
        }
        if let Some(name) = &k.dir_policy {
            options.dir_policy = match name.get_ref().as_str() {
                "packed" => DirPolicy::Packed,
                "old" => DirPolicy::Old,
                _ => self.wrong_policy(name),
            };
        }
    }

    fn wrong_policy(&mut self, name: &Spanned<String>) -> DirPolicy {
        self.wrong(name.span(), "dir_policy is \"packed\" or \"old\"");
        DirPolicy::Packed
    }

    fn processes(&mut self, all: &[Spanned<raw::Process>]) -> Vec<ProcessSpec> {
        if let Some(first) = all.get(MAX_PROCESSES) {
            self.wrong(
                first.span(),
                format!("there may be {MAX_PROCESSES} processes, not {}", all.len()),
            );
        }
        let mut specs: Vec<ProcessSpec> = Vec::new();
        for (raw, nth) in all.iter().zip(1..).take(MAX_PROCESSES) {
            let spec = self.process(raw.get_ref(), nth);
            if specs.iter().any(|s| s.name == spec.name) {
                self.wrong(
                    raw.span(),
                    format!("two processes are named \"{}\"", spec.name),
                );
            }
            specs.push(spec);
        }
        specs
    }

    fn process(&mut self, raw: &raw::Process, nth: u32) -> ProcessSpec {
        let stop_on_error = match &raw.on_error {
            None => false,
            Some(word) => match word.get_ref().as_str() {
                "stop" => true,
                "go on" => false,
                _ => {
                    self.wrong(word.span(), "on_error is \"stop\" or \"go on\"");
                    false
                }
            },
        };
        let (program, first_line) = self.program(&raw.program);
        ProcessSpec {
            name: raw.name.clone().unwrap_or_else(|| format!("process {nth}")),
            uid: raw.uid,
            gid: raw.gid,
            groups: raw.groups.clone(),
            umask: raw.umask.unwrap_or(0o022) & 0o777,
            start: SimTime(raw.start.map_or(0, |t| t.0)),
            stop_on_error,
            source: raw.program.get_ref().as_str().into(),
            first_line,
            program: Arc::new(program),
        }
    }

    /// A program, and the line of the text that its first line is on.
    fn program(&mut self, source: &Spanned<String>) -> (lang::Program, u32) {
        let (line, column) = self.beginning(source);
        match lang::compile(source.get_ref()) {
            Ok(program) => (program, line),
            Err(found) => {
                self.place_all(found, (line, column));
                (lang::Program::default(), line)
            }
        }
    }

    /// Mistakes in a program that begins at a line and column of the text.
    fn place_all(&mut self, found: Vec<lang::Diagnostic>, (line, column): (u32, u32)) {
        for d in found {
            self.errors.push(ScenarioError {
                line: line + d.line - 1,
                column: if d.line == 1 {
                    column + d.column - 1
                } else {
                    d.column
                },
                words: d.words,
                help: d.help,
            });
        }
    }

    /// Where a string's contents begin: behind its quotes, and behind the line break that
    /// TOML leaves out there.
    fn beginning(&self, source: &Spanned<String>) -> (u32, u32) {
        let mut at = source.span().start;
        let rest = &self.text[at.min(self.text.len())..];
        let quotes = ["'''", "\"\"\"", "'", "\""];
        if let Some(quote) = quotes.iter().find(|q| rest.starts_with(**q)) {
            at += quote.len();
            let inside = &rest[quote.len()..];
            if quote.len() == 3 {
                at += ["\r\n", "\n"]
                    .iter()
                    .find(|n| inside.starts_with(**n))
                    .map_or(0, |n| n.len());
            }
        }
        place(self.text, at)
    }

    fn run(&mut self, raw: &Raw) -> RunSpec {
        let usual = RunSpec::default();
        let time = |t: Option<units::Time>, usual: SimTime| t.map_or(usual, |t| SimTime(t.0));
        RunSpec {
            linger: time(raw.run.linger, usual.linger),
            unmount: raw.run.unmount.unwrap_or(usual.unmount),
            limits: self.limits(&raw.limits),
            call_cost: time(raw.run.call_cost, usual.call_cost),
            page_cost: time(raw.run.page_cost, usual.page_cost),
        }
    }

    fn limits(&mut self, raw: &raw::Limits) -> Limits {
        let (usual, most) = (Limits::default(), Limits::MOST);
        let mut of = |asked: &Option<Spanned<u64>>, usual: u64, most: u64| {
            let Some(asked) = asked else { return usual };
            if *asked.get_ref() > most {
                self.wrong(asked.span(), format!("no run may go past {most}"));
            }
            *asked.get_ref()
        };
        let events = of(&raw.events, usual.events, most.events);
        let calls = of(&raw.calls, usual.calls, most.calls);
        let instructions = of(&raw.instructions, usual.instructions, most.instructions);
        let time = raw
            .time
            .as_ref()
            .map_or(usual.time, |t| SimTime(t.get_ref().0));
        if let Some(asked) = raw.time.as_ref().filter(|_| time > most.time) {
            self.wrong(asked.span(), "no run may take more than 30 days");
        }
        Limits {
            events,
            calls,
            instructions,
            time,
        }
    }
}

/// Sixteen bytes that follow from a seed: an identity that is the same each time.
fn derived(seed: u64, what: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    crate::disk::Data::Pattern {
        seed: seed ^ what << 56,
        from: 0,
    }
    .read(0, &mut bytes);
    // Version 4, variant 1 (RFC 9562), as a random UUID has them.
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    bytes
}
