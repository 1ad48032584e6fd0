//! A device that keeps what it was told in order, and the disks that a power cut on the way
//! could have left.

use fslab_engine::device::{Counters, Device, DeviceError, Op, Ram, Request};
use fslab_engine::disk::{CowDisk, Data, ReadAt, ReadError};

/// What the device was told to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// Contents for a place; `fua`: safe when done.
    Write {
        offset: u64,
        pieces: Vec<(Data, u64)>,
        fua: bool,
    },
    /// Everything written before is safe.
    Flush,
}

/// [`Ram`] with a memory.
#[derive(Clone, Debug)]
pub struct Recorder {
    ram: Ram,
    base: CowDisk,
    steps: Vec<Step>,
}

impl Recorder {
    pub fn new(disk: CowDisk) -> Self {
        Self {
            ram: Ram::new(disk.clone()),
            base: disk,
            steps: Vec::new(),
        }
    }

    /// What there was before the first step.
    pub fn base(&self) -> &CowDisk {
        &self.base
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What there is now.
    pub fn disk(&self) -> &CowDisk {
        self.ram.disk()
    }
}

/// The recorder under a device of a mount.
pub fn of(device: &dyn Device) -> &Recorder {
    device.as_any().downcast_ref().unwrap()
}

impl ReadAt for Recorder {
    fn len(&self) -> u64 {
        ReadAt::len(&self.ram)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        self.ram.read_at(offset, buf)
    }

    fn next_data(&self, offset: u64) -> u64 {
        self.ram.next_data(offset)
    }
}

impl Device for Recorder {
    fn submit(&mut self, request: Request) -> Result<(), DeviceError> {
        let offset = request.offset;
        match &request.op {
            Op::Write { data, fua } => self.steps.push(Step::Write {
                offset,
                pieces: data.clone(),
                fua: *fua,
            }),
            Op::Discard => self.steps.push(Step::Write {
                offset,
                pieces: vec![(Data::Zero, request.len)],
                fua: false,
            }),
            Op::Flush => self.steps.push(Step::Flush),
            Op::Read => {}
        }
        self.ram.submit(request)
    }

    fn counters(&self) -> Counters {
        self.ram.counters()
    }

    fn boxed_clone(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// A fixed course of pseudo-random numbers: SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

/// Part of a write that reaches the medium as a whole or not at all.
#[derive(Clone, Debug)]
struct Block {
    offset: u64,
    bytes: Vec<u8>,
    /// The write that it is of.
    of: usize,
}

/// Writes of at most so many blocks are tried in all subsets.
const EXHAUSTIVE: usize = 7;
/// Subsets tried else, beside each write alone missing and each alone there.
const SAMPLES: u32 = 40;

/// Calls `each` with every disk (or a seeded sample, where there are very many) that a power
/// cut could leave, and the number of steps that were begun by then: what the last flush made
/// stable, writes with FUA that are done, and any of the blocks written since.
pub fn crash_disks(
    base: &CowDisk,
    steps: &[Step],
    block: u64,
    mut each: impl FnMut(usize, &CowDisk),
) {
    let mut stable = base.clone();
    let mut cached: Vec<Block> = Vec::new();
    let mut r = Random(steps.len() as u64);
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Write {
                offset,
                pieces,
                fua,
            } => {
                let new = blocks(*offset, pieces, block, i);
                cached.extend(new.iter().cloned());
                if *fua {
                    subsets(&stable, &cached, &mut r, |disk| each(i + 1, disk));
                    cached.retain(|old| new.iter().all(|b| b.offset != old.offset));
                    new.iter().for_each(|b| put(&mut stable, b));
                }
            }
            Step::Flush => {
                subsets(&stable, &cached, &mut r, |disk| each(i, disk));
                cached.drain(..).for_each(|b| put(&mut stable, &b));
            }
        }
    }
    subsets(&stable, &cached, &mut r, |disk| each(steps.len(), disk));
}

/// What a power cut leaves while a run goes on: one seeded choice at a time.
#[derive(Debug)]
pub struct Cut {
    stable: CowDisk,
    cached: Vec<Block>,
    followed: usize,
    block: u64,
}

impl Cut {
    pub fn new(base: CowDisk, block: u64) -> Self {
        Self {
            stable: base,
            cached: Vec::new(),
            followed: 0,
            block,
        }
    }

    /// Goes on to the last of these steps, of which the first ones are known already.
    pub fn follow(&mut self, steps: &[Step]) {
        for (i, step) in steps.iter().enumerate().skip(self.followed) {
            match step {
                Step::Write {
                    offset,
                    pieces,
                    fua,
                } => {
                    let new = blocks(*offset, pieces, self.block, i);
                    if *fua {
                        self.cached
                            .retain(|old| new.iter().all(|b| b.offset != old.offset));
                        new.iter().for_each(|b| put(&mut self.stable, b));
                    } else {
                        self.cached.extend(new);
                    }
                }
                Step::Flush => {
                    let stable = &mut self.stable;
                    self.cached.drain(..).for_each(|b| put(stable, &b));
                }
            }
        }
        self.followed = steps.len();
    }

    /// What is stable, and of the rest few, half or most of the blocks.
    pub fn disk(&self, r: &mut Random) -> CowDisk {
        let mut disk = self.stable.clone();
        let eighths = [0, 1, 4, 7][r.below(4) as usize];
        let arrived = self.cached.iter().filter(|_| r.below(8) < eighths);
        arrived.for_each(|b| put(&mut disk, b));
        disk
    }
}

fn blocks(offset: u64, pieces: &[(Data, u64)], block: u64, of: usize) -> Vec<Block> {
    let mut all = Vec::new();
    for (data, len) in pieces {
        let mut bytes = vec![0; *len as usize];
        data.read(0, &mut bytes);
        all.extend(bytes);
    }
    let places = (offset..).step_by(block as usize);
    all.chunks(block as usize)
        .zip(places)
        .map(|(bytes, offset)| Block {
            offset,
            bytes: bytes.to_vec(),
            of,
        })
        .collect()
}

fn put(disk: &mut CowDisk, block: &Block) {
    let bytes: std::sync::Arc<[u8]> = block.bytes.as_slice().into();
    let len = block.bytes.len() as u64;
    disk.write_data(block.offset, len, &Data::Bytes(bytes))
        .unwrap();
}

fn subsets(stable: &CowDisk, cached: &[Block], r: &mut Random, mut each: impl FnMut(&CowDisk)) {
    let mut with = |chosen: &mut dyn FnMut(usize, &Block) -> bool| {
        let mut disk = stable.clone();
        for (i, block) in cached.iter().enumerate() {
            if chosen(i, block) {
                put(&mut disk, block);
            }
        }
        each(&disk);
    };
    if cached.len() <= EXHAUSTIVE {
        for set in 0..1usize << cached.len() {
            with(&mut |i, _| set >> i & 1 == 1);
        }
        return;
    }
    with(&mut |_, _| false);
    with(&mut |_, _| true);
    let mut writes: Vec<usize> = cached.iter().map(|b| b.of).collect();
    writes.dedup();
    for w in writes {
        with(&mut |_, b| b.of == w);
        with(&mut |_, b| b.of != w);
        with(&mut |_, b| b.of <= w);
    }
    for n in 0..SAMPLES {
        // Few, half, most of them.
        let eighths = [1, 4, 7][n as usize % 3];
        with(&mut |_, _| r.below(8) < eighths);
    }
}
