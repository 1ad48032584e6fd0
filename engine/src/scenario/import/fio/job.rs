//! A job: what its settings ask for.

use super::super::ImportError;
use super::ini::{Section, Setting};
use super::{Notes, units};

/// Most files of one job.
const MAX_FILES: u64 = 1000;
/// Largest block that is read at once, bytes: what the language reads in one call.
const MAX_READ: u64 = 4 << 20;
/// Largest block that is written at once, bytes.
const MAX_WRITE: u64 = 1 << 30;

/// What is done to files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) random: bool,
}

/// Where blocks lie that are chosen at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spread {
    /// Each block once, in an order drawn by lot.
    EachOnce,
    Uniform,
    /// By Zipf's distribution; hundredths.
    Zipf(u64),
}

/// How a file is made ready before it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reserve {
    None,
    /// `fallocate`
    Native,
    /// `fallocate` with `KEEP_SIZE`
    Keep,
    /// `ftruncate`
    Truncate,
}

#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) line: u64,
    pub(super) access: Access,
    pub(super) spread: Spread,
    /// Names that are given; `None`: made from the job's.
    pub(super) filenames: Option<Vec<String>>,
    pub(super) directory: String,
    pub(super) files: u64,
    /// Bytes of each file that are read or written, from `offset` on.
    pub(super) span: u64,
    pub(super) offset: u64,
    pub(super) block: u64,
    pub(super) write_block: u64,
    /// Bytes read and written in one loop.
    pub(super) total: u64,
    pub(super) copies: u64,
    pub(super) fsync: u64,
    pub(super) fdatasync: u64,
    /// Flags of `open` beside the mode.
    pub(super) direct: bool,
    pub(super) sync: Option<&'static str>,
    pub(super) end_fsync: bool,
    pub(super) unlink: bool,
    pub(super) reserve: Reserve,
    pub(super) overwrite: bool,
    pub(super) runtime: Option<u64>,
    pub(super) time_based: bool,
    pub(super) loops: u64,
    pub(super) seed: Option<u64>,
    /// Percent of reads.
    pub(super) mix: u64,
    /// Ns, and after how many blocks.
    pub(super) think: u64,
    pub(super) think_blocks: u64,
    /// Bytes a second.
    pub(super) rate: Option<u64>,
    pub(super) waits: bool,
    pub(super) start: u64,
}

/// What is put together when all settings are known.
#[derive(Debug, Default)]
struct Sizes {
    size: Option<u64>,
    filesize: Option<u64>,
    io_size: Option<u64>,
}

impl Job {
    pub(super) fn read(
        section: &Section<'_>,
        settings: Vec<Setting<'_>>,
        notes: &mut Notes,
    ) -> Result<Self, ImportError> {
        let mut job = Self::usual(section);
        let mut sizes = Sizes::default();
        for setting in &settings {
            if !job.shape(setting, &mut sizes, notes)? && !job.manner(setting, notes)? {
                job.other(setting, notes);
            }
        }
        // `stonewall` in the global section is about each job.
        job.measure(&sizes, section)?;
        job.check(section, notes)?;
        Ok(job)
    }

    /// What fio does where nothing is said.
    fn usual(section: &Section<'_>) -> Self {
        Self {
            name: section.name.to_owned(),
            line: section.line,
            access: Access {
                reads: true,
                writes: false,
                random: false,
            },
            spread: Spread::EachOnce,
            filenames: None,
            directory: String::new(),
            files: 1,
            span: 0,
            offset: 0,
            block: 4096,
            write_block: 4096,
            total: 0,
            copies: 1,
            fsync: 0,
            fdatasync: 0,
            direct: false,
            sync: None,
            end_fsync: false,
            unlink: false,
            reserve: Reserve::Native,
            overwrite: false,
            runtime: None,
            time_based: false,
            loops: 1,
            seed: None,
            mix: 50,
            think: 0,
            think_blocks: 1,
            rate: None,
            waits: false,
            start: 0,
        }
    }

    /// Settings about what is read and written; `false`: it is none of them.
    fn shape(
        &mut self,
        s: &Setting<'_>,
        sizes: &mut Sizes,
        notes: &mut Notes,
    ) -> Result<bool, ImportError> {
        match s.key {
            "rw" | "readwrite" => self.access = access(s)?,
            "bs" | "blocksize" => {
                let mut parts = s.value.split(',').filter(|p| !p.is_empty());
                let first = units::bytes(s, parts.next().unwrap_or(""))?;
                self.block = first;
                self.write_block = parts.next().map_or(Ok(first), |p| units::bytes(s, p))?;
            }
            "size" | "filesize" | "file_size" | "io_size" | "io_limit" if s.value.contains('%') => {
                return Err(ImportError::Line {
                    line: s.line,
                    words: format!(
                        "{} in percent needs files that are there: give bytes",
                        s.key
                    ),
                });
            }
            "size" => sizes.size = Some(units::bytes(s, s.value)?),
            "io_size" | "io_limit" => sizes.io_size = Some(units::bytes(s, s.value)?),
            "filesize" | "file_size" => sizes.filesize = Some(units::bytes(s, s.value)?),
            "offset" | "file_offset" => self.offset = units::bytes(s, s.value)?,
            "nrfiles" | "nr_files" => self.files = units::number(s, 1, MAX_FILES)?,
            "filename" => {
                let names = s.value.split(':').filter(|n| !n.is_empty());
                self.filenames = Some(names.map(str::to_owned).collect());
            }
            "directory" => self.directory = s.value.to_owned(),
            "numjobs" => self.copies = units::number(s, 1, super::MAX_JOBS)?,
            "norandommap" => {
                if units::switch(s)? && self.spread == Spread::EachOnce {
                    self.spread = Spread::Uniform;
                }
            }
            "random_distribution" => self.distribution(s, notes)?,
            "rwmixread" => self.mix = units::number(s, 0, 100)?,
            "rwmixwrite" => self.mix = 100 - units::number(s, 0, 100)?,
            "loops" => self.loops = units::number(s, 1, 1_000_000)?,
            "randseed" | "allrandseed" => self.seed = Some(units::number(s, 0, i64::MAX as u64)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn distribution(&mut self, s: &Setting<'_>, notes: &mut Notes) -> Result<(), ImportError> {
        match s.value.split_once(':') {
            None if s.value == "random" => {}
            None if s.value == "zipf" => self.spread = Spread::Zipf(110),
            Some(("zipf", theta)) => {
                // A centre that is moved may stand behind another colon.
                let theta = theta.split(':').next().unwrap_or(theta);
                self.spread = Spread::Zipf(units::hundredths(s, theta)?);
            }
            _ => notes.skip(s, "only random and zipf are known: blocks are drawn evenly"),
        }
        Ok(())
    }

    /// Settings about how it is done.
    fn manner(&mut self, s: &Setting<'_>, notes: &mut Notes) -> Result<bool, ImportError> {
        const SECOND: u64 = 1_000_000_000;
        match s.key {
            "fsync" => self.fsync = units::number(s, 0, u64::from(u32::MAX))?,
            "fdatasync" => self.fdatasync = units::number(s, 0, u64::from(u32::MAX))?,
            "end_fsync" | "fsync_on_close" => self.end_fsync = units::switch(s)?,
            "direct" => self.direct = units::switch(s)?,
            "buffered" => self.direct = !units::switch(s)?,
            "sync" => {
                self.sync = match s.value {
                    "0" | "none" => None,
                    "dsync" => Some("O_DSYNC"),
                    _ => Some("O_SYNC"),
                }
            }
            "fallocate" => {
                self.reserve = match s.value {
                    "none" | "0" => Reserve::None,
                    "native" | "posix" | "1" | "" => Reserve::Native,
                    "keep" => Reserve::Keep,
                    "truncate" => Reserve::Truncate,
                    _ => {
                        notes.skip(
                            s,
                            "fallocate is none, native, posix, keep or truncate: native is taken",
                        );
                        Reserve::Native
                    }
                }
            }
            "overwrite" => self.overwrite = units::switch(s)?,
            "unlink" => self.unlink = units::switch(s)?,
            "runtime" | "timeout" => {
                self.runtime = Some(units::time(s, SECOND)?).filter(|t| *t > 0)
            }
            "time_based" => self.time_based = units::switch(s)?,
            "startdelay" => self.start = units::time(s, SECOND)?,
            "thinktime" => self.think = units::time(s, 1_000)?,
            "thinktime_blocks" => self.think_blocks = units::number(s, 1, u64::from(u32::MAX))?,
            "rate" => {
                let first = s.value.split(',').find(|p| !p.is_empty()).unwrap_or("");
                self.rate = Some(units::bytes(s, first)?).filter(|r| *r > 0);
            }
            "stonewall" | "wait_for_previous" => self.waits = units::switch(s)?,
            "ioengine" => engine(s, notes),
            "iodepth" if s.value != "1" => {
                notes.skip(s, "calls wait for one another here: the depth is 1");
            }
            "iodepth" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What has no place in a scenario.
    fn other(&self, s: &Setting<'_>, notes: &mut Notes) {
        // About fio's report and its own doings: nothing of what happens to files.
        const REPORT: [&str; 22] = [
            "group_reporting",
            "description",
            "name",
            "new_group",
            "stats",
            "randrepeat",
            "thread",
            "allow_mounted_write",
            "disable_lat",
            "disable_clat",
            "disable_slat",
            "gtod_reduce",
            "clocksource",
            "percentile_list",
            "lat_percentiles",
            "clat_percentiles",
            "unified_rw_reporting",
            "per_job_logs",
            "create_serialize",
            "eta",
            "minimal",
            "refill_buffers",
        ];
        let log =
            s.key.starts_with("write_") && s.key.ends_with("_log") || s.key.starts_with("log_");
        if log || REPORT.contains(&s.key) {
            *notes.ignored.entry(s.key.to_owned()).or_default() += 1;
            return;
        }
        let why = match s.key {
            "bsrange" | "bssplit" | "bs_unaligned" => "blocks are of one size here: that of bs",
            "invalidate" => "what is cached cannot be dropped here",
            "verify" | "do_verify" | "verify_pattern" | "verify_fatal" => {
                "contents are not compared"
            }
            "ramp_time" => "nothing is measured apart: the run begins with the job",
            "rate_iops" | "rate_min" => "only rate= in bytes a second is carried over",
            "filename_format" => "files are named as fio does without it",
            "sync_file_range" => "it has no such call behind every block here",
            "exec_prerun" | "exec_postrun" => "other programs are not run",
            "zonemode" | "zonesize" | "zonerange" | "zoneskip" => "zones are not carried over",
            "iodepth_batch" | "iodepth_low" | "iodepth_batch_submit" | "iodepth_batch_complete" => {
                "calls wait for one another here"
            }
            _ => "this option is not known here",
        };
        notes.skip(s, why);
    }

    fn measure(&mut self, sizes: &Sizes, section: &Section<'_>) -> Result<(), ImportError> {
        if let Some(names) = &self.filenames {
            self.files = names.len() as u64;
        }
        let files = self.files.max(1);
        // `size` is of all files together, `filesize` of each.
        let whole = match (sizes.size, sizes.filesize) {
            (Some(size), None) => size / files,
            (_, Some(each)) => each,
            (None, None) => {
                return Err(ImportError::Line {
                    line: section.line,
                    words: format!(
                        "job [{}] needs size=: nothing is there to take it from",
                        section.name
                    ),
                });
            }
        };
        self.span = whole;
        let all = sizes
            .size
            .unwrap_or(whole.saturating_mul(files))
            .min(whole.saturating_mul(files));
        self.total = sizes.io_size.unwrap_or(all);
        Ok(())
    }

    fn check(&mut self, section: &Section<'_>, notes: &mut Notes) -> Result<(), ImportError> {
        let wrong = |words: String| ImportError::Line {
            line: section.line,
            words: format!("job [{}]: {words}", section.name),
        };
        let most = if self.access.reads {
            MAX_READ
        } else {
            MAX_WRITE
        };
        let (small, large) = (
            self.block.min(self.write_block),
            self.block.max(self.write_block),
        );
        if small == 0 || large > most {
            return Err(wrong(format!("a block has 1 to {most} bytes here")));
        }
        if self.access.reads && self.access.writes && small != large {
            return Err(wrong(
                "reads and writes need blocks of the same size here".into(),
            ));
        }
        if !self.access.reads {
            self.block = self.write_block;
        }
        if self.span < self.block || self.total < self.block {
            return Err(wrong("a file is smaller than a block".into()));
        }
        if let Some(names) = &self.filenames
            && names.iter().any(|n| n.starts_with("/dev/"))
        {
            return Err(wrong(
                "devices cannot be read or written: only files".into(),
            ));
        }
        if self.access.reads && !self.direct {
            notes.skip_line(
                section.line,
                format!("invalidate=1 of [{}], which is fio's usual", section.name),
                "what is cached cannot be dropped here: files that were just laid out are read from memory",
            );
        }
        Ok(())
    }

    /// Blocks that a loop reads or writes.
    pub(super) fn blocks(&self) -> u64 {
        self.total / self.block.max(1)
    }

    /// Blocks of all files.
    pub(super) fn places(&self) -> u64 {
        (self.span / self.block.max(1)).saturating_mul(self.files.max(1))
    }

    pub(super) fn bytes_on_disk(&self) -> u64 {
        let file = self.span.saturating_add(self.offset);
        let shared = if self.filenames.is_some() {
            1
        } else {
            self.copies
        };
        file.saturating_mul(self.files).saturating_mul(shared)
    }

    /// About how many calls it makes.
    pub(super) fn calls(&self) -> u64 {
        let every = |n: u64| self.blocks().checked_div(n).unwrap_or(0);
        let of_a_loop = self.blocks()
            + every(self.fsync)
            + every(self.fdatasync)
            + every(self.think_blocks) * u64::from(self.think > 0);
        of_a_loop
            .saturating_mul(self.loops)
            .saturating_add(4 * self.files)
            .saturating_mul(self.copies)
    }
}

fn access(s: &Setting<'_>) -> Result<Access, ImportError> {
    // `rw=randread:8` does several in one place before it goes on.
    let (kind, rest) = s.value.split_once(':').unwrap_or((s.value, ""));
    let (reads, writes, random) = match kind {
        "read" => (true, false, false),
        "write" => (false, true, false),
        "randread" => (true, false, true),
        "randwrite" => (false, true, true),
        "rw" | "readwrite" => (true, true, false),
        "randrw" => (true, true, true),
        "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
            return Err(ImportError::Line {
                line: s.line,
                words: "trim is for devices; fallocate with FALLOC_FL_PUNCH_HOLE is for files"
                    .into(),
            });
        }
        other => {
            return Err(ImportError::Line {
                line: s.line,
                words: format!(
                    "rw is read, write, randread, randwrite, rw or randrw, not {other:?}"
                ),
            });
        }
    };
    if !rest.is_empty() {
        return Err(ImportError::Line {
            line: s.line,
            words: format!("the {rest:?} behind the colon of rw is not known here"),
        });
    }
    Ok(Access {
        reads,
        writes,
        random,
    })
}

fn engine(s: &Setting<'_>, notes: &mut Notes) {
    match s.value {
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => {}
        "libaio" | "io_uring" | "posixaio" => {
            notes.skip(s, "calls are pread and pwrite, one after another");
        }
        "mmap" => notes.skip(s, "there are no mappings: calls are pread and pwrite"),
        _ => notes.skip(s, "this engine is not known: calls are pread and pwrite"),
    }
}
