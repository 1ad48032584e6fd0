//! What a page write costs the translation layer, timed for `cargo xtask bench ftl`: greedy,
//! uniform random writes, 8192 blocks of 64 pages, 20 % spare, in the steady state. Prints a
//! line for each: a name, a tab, nanoseconds for each page programmed.
#![forbid(unsafe_code)]

use fslab_engine::device::ftl::{Ftl, FtlConfig, Note, Random, Sink};
use std::time::Instant;

/// Keeps what happened for a moment, as a recording does.
#[derive(Default)]
struct Kept(Vec<Note>);

impl Sink for Kept {
    fn note(&mut self, note: Note) {
        if self.0.len() == 4096 {
            self.0.clear();
        }
        self.0.push(note);
    }
}

fn go(ftl: &mut Ftl, random: &mut Random, rounds: u64, sink: &mut impl Sink) -> f64 {
    let pages = ftl.config().logical_pages;
    ftl.restart_stats();
    let begin = Instant::now();
    for _ in 0..rounds * u64::from(pages) {
        let page = random.below(pages);
        if let Err(e) = ftl.write(page, 0, sink) {
            eprintln!("ftl: {e}");
            break;
        }
    }
    begin.elapsed().as_nanos() as f64 / ftl.stats().programmed().max(1) as f64
}

fn main() {
    let mut ftl = match Ftl::new(FtlConfig::new(8192, 64, 200_000)) {
        Ok(ftl) => ftl,
        Err(e) => return eprintln!("ftl: {e}"),
    };
    let mut random = Random::new(1);
    go(&mut ftl, &mut random, 4, &mut ());
    println!("events off\t{}", go(&mut ftl, &mut random, 8, &mut ()));
    println!(
        "events on\t{}",
        go(&mut ftl, &mut random, 8, &mut Kept::default())
    );
}
