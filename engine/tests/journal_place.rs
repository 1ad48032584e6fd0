//! Where the journal lies on a disk that turns (experiment J4 of `../shared/experiments`;
//! linux-ext4, "journal in the middle", August 2008).

use fslab_engine::event::What;
use fslab_engine::ext4::journal::Journal;
use fslab_engine::ext4::read::Fs;
use fslab_engine::machine::Machine;
use fslab_engine::scenario::Scenario;
use std::collections::BTreeMap;
use std::sync::Arc;

const SIZE: u64 = 2 << 30;
const BLOCK: u64 = 4096;

/// The disk is filled with reserved files; then one at its end is written, block by block,
/// each with a fsync: an extent becomes written, and so a transaction is committed.
const PROGRAM: &str = r#"
last = ""
for i in range(60) {
    path = "/file-{i}"
    fd = must(open(path, O_WRONLY | O_CREAT))
    must(fallocate(fd, 0, 0, 32M))
    if must(fiemap(fd))[0].physical > 1900M {
        last = path
    }
    must(close(fd))
}
sync()
fd = must(open(last, O_WRONLY))
print("filled")
for i in range(200) {
    must(pwrite(fd, data(4k), i * 8k))
    must(fsync(fd))
}
print("done")
"#;

/// Places and distances are thousandths of the disk's length.
#[derive(Debug)]
struct Outcome {
    /// Where the log begins.
    log: u64,
    /// The lowest of the contents.
    contents: u64,
    /// For all fsyncs, ms.
    took: u64,
    /// How far the arm went, all together.
    moved: u64,
    /// Seeks over more than 600.
    long: u64,
}

fn run(journal: &str) -> Outcome {
    let text = format!(
        "fslab = 1\n[device]\nkind = \"hdd\"\nsize = \"2G\"\n[mkfs]\noptions = \"-t ext4 -b 4096 \
         -E lazy_itable_init=0 {journal}\"\n[run]\nunmount = false\nlinger = \"0s\"\n\
         [[process]]\nprogram = '''{PROGRAM}'''\n"
    );
    let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{e:#?}"));
    let mut machine = Machine::new(Arc::new(scenario)).unwrap();
    let log = Journal::open(&Fs::open(machine.device()).unwrap()).unwrap();
    let mut outcome = Outcome {
        log: log.log().physical(0).unwrap().0 * BLOCK * 1000 / SIZE,
        contents: 1000,
        took: 0,
        moved: 0,
        long: 0,
    };
    let (mut begun, mut arm, mut sectors) = (None, None, BTreeMap::new());
    while machine.step() {
        for event in machine.take_events() {
            match event.what {
                What::Printed { text } if text.starts_with("filled") => begun = Some(event.at.0),
                What::Printed { text } if text.starts_with("done") => {
                    outcome.took = (event.at.0 - begun.unwrap()) / 1_000_000;
                    return outcome;
                }
                What::Queued {
                    request,
                    sector,
                    sectors: n,
                    ..
                } if n > 0 => {
                    sectors.insert(request, (sector, n));
                }
                What::ProcessFailed { line, words, .. } => panic!("line {line}: {words}"),
                What::Started { request } => {
                    let Some((sector, n)) = sectors.remove(&request) else {
                        continue;
                    };
                    if begun.is_some() {
                        let from = arm.unwrap_or(sector);
                        let distance = sector.abs_diff(from) * 512 * 1000 / SIZE;
                        outcome.moved += distance;
                        outcome.long += u64::from(distance > 600);
                    }
                    arm = Some(sector + n);
                }
                What::DataWritten { block, .. } if begun.is_some() => {
                    outcome.contents = outcome.contents.min(block.0 * BLOCK * 1000 / SIZE);
                }
                _ => {}
            }
        }
    }
    panic!("{:?}", machine.end());
}

/// J4: the middle wins, and the seeks from one end to the other are gone.
#[test]
fn j4_the_journal_in_the_middle() {
    let [begin, middle] = ["-J size=32,location=0", "-J size=32"].map(|words| {
        let outcome = run(words);
        eprintln!("{words:<22} {outcome:?}");
        outcome
    });
    assert!(begin.log < 50 && (450..550).contains(&middle.log));
    assert!(begin.contents > 850 && middle.contents > 850);
    // From the contents to the log and back, each time: all of the disk, or half of it. What
    // is left of long seeks is metadata on its way home, now and then.
    assert!(begin.long > 350 && middle.long < 20);
    assert!(middle.moved * 10 < begin.moved * 7);
    assert!(middle.took < begin.took);
}
