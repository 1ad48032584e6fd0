//! A job as a program of the workload language.

use super::emit::{size, string, time};
use super::job::{Access, Job, Reserve, Spread};
use std::fmt::Write as _;

/// Up to so many blocks, their order is a list drawn at the beginning; above, numbers that
/// are made one after another.
const MAX_DRAWN: u64 = 100_000;
/// What is written at once where a file is laid out, bytes.
const LAYOUT: u64 = 1 << 20;

/// The program of a job's `n`th copy, from 0.
pub(super) fn program(job: &Job, n: u64) -> String {
    let mut out = Out::default();
    out.line(&format!(
        "# Job {}: {}.",
        string(job.name.as_bytes()),
        words(job)
    ));
    let names = names(job, n);
    directories(&mut out, &names);
    open(&mut out, job, &names);
    if job.runtime.is_some() || job.rate.is_some() {
        out.line("began = now()");
    }
    if job.rate.is_some() {
        out.line("done = 0");
    }
    repeat(&mut out, job);
    finish(&mut out, job, &names);
    out.text
}

#[derive(Default)]
struct Out {
    text: String,
    depth: usize,
}

impl Out {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.depth));
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }
}

fn words(job: &Job) -> String {
    let Access {
        reads,
        writes,
        random,
    } = job.access;
    let what = match (reads, writes) {
        (true, true) => "reads and writes",
        (true, false) => "reads",
        _ => "writes",
    };
    let how = if random { "random " } else { "" };
    format!("{how}{what} of {}", size(job.block))
}

/// Paths of a copy's files.
fn names(job: &Job, n: u64) -> Vec<String> {
    let inside = |name: &str| {
        let dir = if name.starts_with('/') {
            ""
        } else {
            job.directory.as_str()
        };
        let parts = dir.split('/').chain(name.split('/'));
        let parts = parts.filter(|p| !p.is_empty() && *p != "." && *p != "..");
        format!("/{}", parts.collect::<Vec<_>>().join("/"))
    };
    match &job.filenames {
        Some(names) => names.iter().map(|name| inside(name)).collect(),
        // As fio names them: job, its number, the file's number.
        None => (0..job.files)
            .map(|f| inside(&format!("{}.{n}.{f}", job.name.replace('/', "_"))))
            .collect(),
    }
}

fn directories(out: &mut Out, names: &[String]) {
    let mut made: Vec<&str> = Vec::new();
    for name in names {
        for (at, _) in name.match_indices('/').skip(1) {
            let dir = &name[..at];
            if !made.contains(&dir) {
                made.push(dir);
                out.line(&format!("mkdir({})", string(dir.as_bytes())));
            }
        }
    }
}

/// Opens the files, and makes them ready as fio does before it begins: what is read, or
/// overwritten, is written before; what is only written gets its space.
fn open(out: &mut Out, job: &Job, names: &[String]) {
    let list = names
        .iter()
        .map(|n| string(n.as_bytes()))
        .collect::<Vec<_>>();
    let mode = match job.access {
        Access {
            reads: true,
            writes: true,
            ..
        } => "O_RDWR",
        Access { writes: true, .. } => "O_WRONLY",
        _ => "O_RDONLY",
    };
    let mut flags = mode.to_owned();
    if job.direct {
        flags += " | O_DIRECT";
    }
    if let Some(sync) = job.sync {
        let _ = write!(flags, " | {sync}");
    }
    let one = names.len() == 1;
    let path = if one {
        list.first().map_or("", |n| n)
    } else {
        "path"
    };
    if !one {
        out.line("fds = []");
        out.open(&format!("for path in [{}]", list.join(", ")));
    }
    out.line(&format!("fd = must(open({path}, O_WRONLY | O_CREAT))"));
    let end = job.offset.saturating_add(job.span);
    ready(out, job, end);
    out.line("must(close(fd))");
    out.line(&format!("fd = must(open({path}, {flags}))"));
    if !one {
        out.line("push(fds, fd)");
        out.close();
    }
}

fn ready(out: &mut Out, job: &Job, end: u64) {
    let laid_out = job.access.reads || job.overwrite;
    let end = size(end);
    match job.reserve {
        Reserve::None => {}
        Reserve::Native => out.line(&format!("must(fallocate(fd, 0, 0, {end}))")),
        Reserve::Keep => out.line(&format!(
            "must(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, {end}))"
        )),
        Reserve::Truncate => out.line(&format!("must(ftruncate(fd, {end}))")),
    }
    if laid_out {
        let piece = size(LAYOUT);
        out.open(&format!("for at in range(0, {end}, {piece})"));
        out.line(&format!(
            "must(pwrite(fd, data(min({piece}, {end} - at)), at))"
        ));
        out.close();
        out.line("must(fsync(fd))");
    }
}

/// The loops around one pass over the blocks.
fn repeat(out: &mut Out, job: &Job) {
    if job.time_based && job.runtime.is_some() {
        out.open(&format!("while {}", in_time(job)));
    } else if job.loops > 1 {
        out.open(&format!("for round in range({})", job.loops));
    }
    pass(out, job);
    if job.time_based && job.runtime.is_some() || job.loops > 1 {
        out.close();
    }
}

fn in_time(job: &Job) -> String {
    format!("now() - began < {}", time(job.runtime.unwrap_or(0)))
}

/// One pass over the blocks.
fn pass(out: &mut Out, job: &Job) {
    let (blocks, places) = (job.blocks(), job.places());
    let mixed = job.access.reads && job.access.writes;
    let block = match (job.access.random, job.spread) {
        (false, _) => {
            if mixed {
                out.line("reads = 0");
                out.line("writes = 0");
            }
            out.open(&format!("for n in range({blocks})"));
            // What is done again after the end begins at the front.
            if blocks > places {
                format!("n % {places}")
            } else {
                "n".into()
            }
        }
        (true, Spread::EachOnce) => each_once(out, blocks, places),
        (true, Spread::Uniform) => {
            out.open(&format!("for n in range({blocks})"));
            out.line(&format!("block = random({places})"));
            "block".into()
        }
        (true, Spread::Zipf(theta)) => {
            out.open(&format!("for n in range({blocks})"));
            out.line("# The blocks that are drawn often lie all over the file.");
            out.line(&format!(
                "block = zipf({places}, {theta}) * 40503 % {places}"
            ));
            "block".into()
        }
    };
    if job.runtime.is_some() {
        out.open(&format!("if not ({})", in_time(job)));
        out.line("break");
        out.close();
    }
    one(out, job, &block);
    out.close();
}

/// Each block once, in an order drawn by lot; gives the block's name.
fn each_once(out: &mut Out, blocks: u64, places: u64) -> String {
    if places <= MAX_DRAWN {
        out.line(&format!("order = shuffle(range({places}))"));
        out.open(&format!("for n in range({blocks})"));
        let at = if blocks > places {
            format!("n % {places}")
        } else {
            "n".into()
        };
        out.line(&format!("block = order[{at}]"));
        return "block".into();
    }
    // All numbers below a power of two, each once: a linear congruential generator has its
    // whole period where its factor is 1 modulo 4 and its summand odd (Hull and Dobell
    // 1962), and x ^ x >> k can be undone.
    let bits = (64 - (places - 1).leading_zeros()).min(31);
    let all = 1u64 << bits;
    out.line("# Each block once, too many for a list.");
    out.line(&format!("x = random({all})"));
    out.open(&format!("for n in range({blocks})"));
    out.line(&format!("block = {places}"));
    out.open(&format!("while block >= {places}"));
    out.line(&format!("x = (x * 1103515245 + 12345) % {all}"));
    out.line(&format!("block = x ^ x >> {}", bits / 2));
    out.close();
    "block".into()
}

/// One block.
fn one(out: &mut Out, job: &Job, block: &str) {
    let Access {
        reads,
        writes,
        random,
    } = job.access;
    let bytes = size(job.block);
    let mixed = reads && writes;
    let place = |block: &str| {
        let fd = match job.files {
            1 => "fd".to_owned(),
            files => format!("fds[{block} % {files}]"),
        };
        let number = match job.files {
            1 => block.to_owned(),
            files => format!("{block} / {files}"),
        };
        let number = if number.contains(' ') {
            format!("({number})")
        } else {
            number
        };
        let offset = match job.offset {
            0 => String::new(),
            offset => format!("{} + ", size(offset)),
        };
        (fd, format!("{offset}{number} * {bytes}"))
    };
    if mixed {
        out.open(&format!("if random(100) < {}", job.mix));
    }
    if reads {
        let block = if mixed && !random { "reads" } else { block };
        let (fd, at) = place(block);
        out.line(&format!("must(pread({fd}, {bytes}, {at}))"));
        if mixed && !random {
            out.line("reads += 1");
        }
    }
    if mixed {
        out.depth = out.depth.saturating_sub(1);
        out.open("} else");
    }
    if writes {
        let block = if mixed && !random { "writes" } else { block };
        let (fd, at) = place(block);
        out.line(&format!("must(pwrite({fd}, data({bytes}), {at}))"));
        if mixed && !random {
            out.line("writes += 1");
        }
        safe(out, job, &fd);
    }
    if mixed {
        out.close();
    }
    pace(out, job);
}

/// `fsync` and its like after every so many blocks.
fn safe(out: &mut Out, job: &Job, fd: &str) {
    for (call, every) in [("fsync", job.fsync), ("fdatasync", job.fdatasync)] {
        match every {
            0 => {}
            1 => out.line(&format!("must({call}({fd}))")),
            every => {
                out.open(&format!("if n % {every} == {}", every - 1));
                out.line(&format!("must({call}({fd}))"));
                out.close();
            }
        }
    }
}

fn pace(out: &mut Out, job: &Job) {
    if job.think > 0 {
        let call = format!("sleep({})", time(job.think));
        match job.think_blocks {
            1 => out.line(&call),
            every => {
                out.open(&format!("if n % {every} == {}", every - 1));
                out.line(&call);
                out.close();
            }
        }
    }
    if let Some(rate) = job.rate {
        out.line(&format!("done += {}", size(job.block)));
        out.line(&format!(
            "due = done / {rate} * 1s + done % {rate} * 1s / {rate}"
        ));
        out.open("if due > now() - began");
        out.line("sleep(due - (now() - began))");
        out.close();
    }
}

fn finish(out: &mut Out, job: &Job, names: &[String]) {
    let one = names.len() == 1;
    if !one {
        out.open("for fd in fds");
    }
    if job.end_fsync && job.access.writes {
        out.line("must(fsync(fd))");
    }
    out.line("must(close(fd))");
    if !one {
        out.close();
    }
    if job.unlink {
        for name in names {
            out.line(&format!("must(unlink({}))", string(name.as_bytes())));
        }
    }
}
