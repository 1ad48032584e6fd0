//! `fslab cat`: a file's bytes, with its holes kept where the output is a file. Of a damaged
//! file, what can be read is written and the rest as zeros; it then ends with 1.

use crate::args::CatArgs;
use crate::open::{self, Image};
use crate::out;
use crate::target::{self, Links};
use anyhow::bail;
use fslab_engine::ext4::Error;
use fslab_engine::ext4::layout::{FileType, InodeFlags};
use fslab_engine::ext4::read::FileContent;
use fslab_engine::units::InodeNr;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

/// Bytes that are read at once.
const PIECE: u64 = 1 << 20;

pub fn run(args: &CatArgs) -> anyhow::Result<()> {
    let fs = open::open_image(&args.image, args.superblock, &args.replay)?;
    let inode = match (&args.path, args.inode) {
        (_, Some(nr)) => fs.inode(InodeNr(nr))?,
        (Some(path), None) => target::find(&fs, path, Links::Follow)?,
        (None, None) => bail!("which file? give a path or --inode"),
    };
    if args.inode.is_none() && inode.file_type() != FileType::Regular {
        bail!(
            "inode {} is a {}, not a regular file; --inode {} writes its bytes nevertheless",
            inode.nr,
            inode.file_type().words(),
            inode.nr
        );
    }
    if inode.flags().contains(InodeFlags::ENCRYPT) {
        out::note(format!(
            "inode {} is encrypted: these are its encrypted bytes",
            inode.nr
        ));
    }
    let content = fs.content(&inode);
    out::problems(content.problems());
    let lost = write(&fs, &content)?;
    if let Some(error) = lost.first {
        out::note(error);
        bail!(
            "{} of inode {} could not be read; zeros stand for {}",
            out::count(lost.blocks, "block"),
            inode.nr,
            if lost.blocks == 1 { "it" } else { "them" }
        );
    }
    if !content.problems().is_empty() {
        bail!(
            "the map of inode {} is damaged: what was written need not be its contents",
            inode.nr
        );
    }
    Ok(())
}

/// Blocks of the contents that could not be read.
#[derive(Default)]
struct Lost {
    blocks: u64,
    /// Why the first of them could not.
    first: Option<Error>,
}

fn write(fs: &Image, content: &FileContent) -> anyhow::Result<Lost> {
    let mut lost = Lost::default();
    let mut sink = Sink::new()?;
    let mut buf = vec![0; PIECE as usize];
    let size = u64::from(fs.geometry().block_size);
    let mut at = 0;
    let mut runs = content.runs().iter().peekable();
    while at < content.size {
        let next = if content.is_inline() {
            Some((0, content.size))
        } else {
            // Unwritten blocks read as zeros, as holes do.
            while runs
                .next_if(|r| r.unwritten || r.end() * size <= at)
                .is_some()
            {}
            runs.peek()
                .map(|r| (u64::from(r.lblk.0) * size, r.end() * size))
        };
        let (from, to) = next.unwrap_or((content.size, content.size));
        if from > at {
            let len = from.min(content.size) - at;
            sink.zeros(len)?;
            at += len;
            continue;
        }
        let len = (to.min(content.size) - at).min(PIECE);
        let n = read(fs, content, at, &mut buf[..len as usize], &mut lost);
        if n == 0 {
            bail!("inode contents end at byte {at} of {}", content.size);
        }
        sink.bytes(&buf[..n])?;
        at += n as u64;
    }
    sink.finish()?;
    Ok(lost)
}

/// Reads a piece; where that fails, block by block, those that cannot be read as zeros.
fn read(fs: &Image, content: &FileContent, at: u64, buf: &mut [u8], lost: &mut Lost) -> usize {
    if let Ok(n) = fs.read_content(content, at, buf) {
        return n;
    }
    let block = fs.geometry().block_size as usize;
    // Pieces begin at the start of a block: runs do, and a piece is whole blocks.
    for (i, part) in buf.chunks_mut(block).enumerate() {
        let from = at + (i * block) as u64;
        if let Err(e) = fs.read_content(content, from, part) {
            part.fill(0);
            lost.blocks += 1;
            lost.first.get_or_insert(e);
        }
    }
    buf.len()
}

/// Standard output. Where it is a file that ends where we are, holes stay holes.
struct Sink {
    out: std::io::StdoutLock<'static>,
    /// The same file, to be made longer.
    file: Option<File>,
}

impl Sink {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            out: std::io::stdout().lock(),
            file: growable(),
        })
    }

    fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        // Not through the line buffer of stdout, which looks for line feeds.
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => self.out.write_all(bytes),
        }
    }

    fn zeros(&mut self, mut len: u64) -> std::io::Result<()> {
        if let Some(file) = &mut self.file {
            // At the end of the file, in append mode too, what comes next is past the hole.
            let end = file.stream_position()?.saturating_add(len);
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
            return Ok(());
        }
        static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
        while len > 0 {
            let n = len.min(ZEROS.len() as u64);
            self.out.write_all(&ZEROS[..n as usize])?;
            len -= n;
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        Ok(self.out.flush()?)
    }
}

/// Standard output as a regular file whose end is where the next byte goes.
#[cfg(unix)]
fn growable() -> Option<File> {
    use std::os::fd::AsFd;
    let fd = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
    let mut file = File::from(fd);
    let meta = file.metadata().ok()?;
    if !meta.is_file() {
        return None;
    }
    // Elsewhere than at its end, what a hole would skip may hold other bytes than zeros.
    if file.stream_position().ok()? != meta.len() {
        return None;
    }
    Some(file)
}

#[cfg(not(unix))]
fn growable() -> Option<File> {
    None
}
