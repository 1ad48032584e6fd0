//! Write amplification measured: a workload on a translation layer in its steady state.

use super::{Ftl, FtlConfig, FtlError, Policy, Random, theory};
use serde::Serialize;

/// A share of the space gets a share of the writes; both in percent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Skew {
    /// Share of the writes.
    pub writes: u32,
    /// Share of the space.
    pub space: u32,
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The layer.
    pub config: FtlConfig,
    /// Which pages are written; `None`: all alike.
    pub skew: Option<Skew>,
    /// Writes before counting begins, in multiples of the logical pages.
    pub warm: u32,
    /// Writes counted, in multiples of the logical pages.
    pub rounds: u32,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Outcome {
    /// Pages programmed for each that the host wrote.
    pub write_amplification: f64,
    /// What theory says of so large a device, where there is a formula.
    pub theory: Option<f64>,
    /// The same with the blocks taken out that never hold data.
    pub theory_without_reserve: Option<f64>,
    /// Pages that the host wrote while counting went on.
    pub host_pages: u64,
    /// Pages programmed.
    pub programmed_pages: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Of victims, the share that had so many valid pages, without those that none had.
    pub victims: Vec<(u32, f64)>,
    /// Fewest and most erases of a block.
    pub erases_of_blocks: (u32, u32),
}

/// Chooses the pages that the host writes.
#[derive(Clone, Debug)]
struct Host {
    random: Random,
    pages: u32,
    hot: u32,
    skew: Option<Skew>,
    streams: u8,
}

impl Host {
    fn new(e: &Experiment) -> Self {
        let pages = e.config.logical_pages;
        let hot = |s: Skew| (u64::from(pages) * u64::from(s.space) / 100) as u32;
        Self {
            random: Random::new(e.config.seed ^ 0x5eed),
            pages,
            hot: e.skew.map_or(0, hot),
            skew: e.skew,
            streams: e.config.streams,
        }
    }

    /// The next page, and which kind it is: 0 cold, 1 hot.
    #[inline]
    fn next(&mut self) -> (u32, u8) {
        let Some(skew) = self.skew else {
            return (self.random.below(self.pages), 0);
        };
        if self.random.below(100) < skew.writes {
            (self.random.below(self.hot), u8::from(self.streams > 1))
        } else {
            let cold = self.pages - self.hot;
            (self.hot + self.random.below(cold), 0)
        }
    }

    fn kind(&self, page: u32) -> u8 {
        u8::from(self.streams > 1 && page < self.hot)
    }
}

impl Experiment {
    /// Uniform writes, long enough for most purposes.
    pub fn new(config: FtlConfig) -> Self {
        Self {
            config,
            skew: None,
            warm: 6,
            rounds: 4,
        }
    }

    /// Runs it.
    pub fn run(&self) -> Result<Outcome, FtlError> {
        let ftl = self.settled()?;
        Ok(self.outcome(&ftl))
    }

    /// The layer after everything was written.
    pub fn settled(&self) -> Result<Ftl, FtlError> {
        let mut ftl = Ftl::new(self.config.clone())?;
        let mut host = Host::new(self);
        for page in 0..self.config.logical_pages {
            ftl.write(page, host.kind(page), &mut ())?;
        }
        self.go(&mut ftl, &mut host, self.warm)?;
        ftl.restart_stats();
        self.go(&mut ftl, &mut host, self.rounds)?;
        Ok(ftl)
    }

    fn go(&self, ftl: &mut Ftl, host: &mut Host, rounds: u32) -> Result<(), FtlError> {
        for _ in 0..u64::from(rounds) * u64::from(self.config.logical_pages) {
            let (page, kind) = host.next();
            ftl.write(page, kind, &mut ())?;
        }
        Ok(())
    }

    fn theory(&self, set_aside: u32) -> Option<f64> {
        let c = &self.config;
        let b = f64::from(c.pages_per_block);
        let a = f64::from(c.blocks - set_aside) * b / f64::from(c.logical_pages);
        match (c.policy, self.skew) {
            (Policy::Greedy, None) => Some(theory::greedy(a, b)),
            (Policy::Fifo, None) => Some(theory::fifo(a)),
            (Policy::Random, None) => Some(theory::random(a)),
            (Policy::Fifo, Some(s)) => {
                let share = |n: u32| f64::from(n) / 100.0;
                Some(theory::fifo_hot_cold(a, share(s.space), share(s.writes)))
            }
            _ => None,
        }
    }

    fn outcome(&self, ftl: &Ftl) -> Outcome {
        let s = ftl.stats();
        let all: u64 = s.victims.iter().sum();
        let share = |n: u64| n as f64 / all.max(1) as f64;
        let erases = || ftl.blocks().iter().map(|b| b.erases);
        Outcome {
            write_amplification: s.write_amplification(),
            theory: self.theory(0),
            theory_without_reserve: self.theory(self.config.set_aside()),
            host_pages: s.host_pages,
            programmed_pages: s.programmed(),
            erases: s.erases,
            victims: (0..)
                .zip(&s.victims)
                .filter(|(_, n)| **n > 0)
                .map(|(valid, n)| (valid, share(*n)))
                .collect(),
            erases_of_blocks: (erases().min().unwrap_or(0), erases().max().unwrap_or(0)),
        }
    }
}
