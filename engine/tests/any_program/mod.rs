//! Everything that can be done with a text that may be a program: for tests and for the
//! fuzz target `program`.

use fslab_engine::kernel::Errno;
use fslab_engine::scenario::lang::{Program, Step, Vm, compile, complete, highlight};
use fslab_engine::scenario::{Answer, Call, Reply};
use std::sync::Arc;

/// Instructions in one go, and goes.
const FUEL: u64 = 20_000;
const STOPS: usize = 200;

/// Colours, completes, compiles and runs a text.
pub fn everything(text: &str, seed: u64) {
    let mut at = 0;
    for span in highlight(text) {
        let (start, end) = (span.start as usize, span.end as usize);
        assert!(at <= start && start < end && text.get(start..end).is_some());
        at = end;
    }
    let found = complete(text, seed as usize % (text.len() + 2));
    assert!(text.is_char_boundary(found.from as usize));
    match compile(text) {
        Ok(program) => run(Arc::new(program), text, seed),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            for m in mistakes {
                let last = text.split('\n').count() as u32;
                assert!(
                    m.line >= 1 && m.line <= last && m.column >= 1 && m.len >= 1,
                    "{m}"
                );
                assert!(!m.shown(text).is_empty());
            }
        }
    }
}

fn run(program: Arc<Program>, text: &str, seed: u64) {
    let mut vm = Vm::new(program, seed);
    let mut left = FUEL;
    for n in 0..STOPS as u64 {
        let mut fuel = left.min(1 + seed % 1000);
        let given = fuel;
        let step = vm.step(&mut fuel);
        left -= given - fuel;
        assert!(vm.variables().len() < 100_000 && !vm.frames().is_empty());
        match step {
            Step::Call(call) => vm.answer(&answer(&call, seed.wrapping_add(n))),
            Step::Failed(e) => {
                assert!(!e.words.is_empty() && !e.shown(text).is_empty());
                assert!(vm.ended());
                return;
            }
            Step::Done => return,
            Step::Print(_) | Step::OutOfFuel => {}
        }
        if left == 0 {
            return;
        }
    }
}

/// Something that a kernel could have said.
pub fn answer(call: &Call, n: u64) -> Answer {
    match (call, n % 7) {
        (_, 0) => Err(Errno::ENOENT),
        (_, 1) => Err(Errno::EIO),
        (Call::Read { len, .. } | Call::Pread { len, .. }, _) => {
            Ok(Reply::Bytes(vec![b'x'; (*len).min(1000) as usize].into()))
        }
        (Call::Getdents { .. } | Call::Listxattr { .. }, _) => {
            Ok(Reply::Names(vec![b"a".to_vec(), vec![0xFF, n as u8]]))
        }
        (Call::Statfs, _) => Ok(Reply::Statfs {
            block_size: 1024,
            blocks: [n, u64::MAX, 3],
            inodes: [1, 2],
        }),
        (Call::Write { contents, .. } | Call::Pwrite { contents, .. }, _) => {
            Ok(Reply::Number(contents.len()))
        }
        (_, 2) => Ok(Reply::Number(u64::MAX)),
        _ => Ok(Reply::Number(n % 10)),
    }
}
