//! Programs with mistakes, and what a person is told: `wrong_programs/NAME.fsl` and
//! `NAME.txt`. `FSLAB_BLESS=1` writes what is said now; it is then read by a person.

use fslab_engine::ext4::layout::Timestamp;
use fslab_engine::kernel::{Errno, Stat};
use fslab_engine::scenario::lang::{Step, Vm, compile, marked};
use fslab_engine::scenario::{Answer, Call, Limits, Reply};
use fslab_engine::units::InodeNr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong_programs")
}

/// What a kernel with an empty filesystem answers to the few calls of these programs.
fn kernel(call: &Call) -> Answer {
    match call {
        Call::Open { flags, .. } if flags.bits() == 0 => Err(Errno::ENOENT),
        Call::Read { .. } => Err(Errno::EBADF),
        Call::Stat { .. } => Ok(Reply::Stat(stat())),
        _ => Ok(Reply::Number(3)),
    }
}

fn stat() -> Stat {
    let at = Timestamp::default();
    Stat {
        ino: InodeNr(2),
        mode: 0o40755,
        nlink: 3,
        uid: 0,
        gid: 0,
        rdev: (0, 0),
        size: 1024,
        blocks: 2,
        blksize: 1024,
        atime: at,
        mtime: at,
        ctime: at,
    }
}

/// Everything that is told of a program, as it is told.
fn told(source: &str) -> String {
    let program = match compile(source) {
        Ok(program) => program,
        Err(mistakes) => {
            let shown = mistakes.iter().map(|m| m.shown(source));
            return shown.collect::<Vec<_>>().join("\n");
        }
    };
    let mut vm = Vm::new(Arc::new(program), 1);
    let mut said = String::new();
    loop {
        let mut fuel = Limits::default().instructions;
        match vm.step(&mut fuel) {
            Step::Print(line) => said += &format!("(prints) {line}\n"),
            Step::Call(call) => vm.answer(&kernel(&call)),
            Step::Done => return said + "(ends without a mistake)\n",
            Step::Failed(e) => return said + &e.shown(source),
            Step::OutOfFuel => {
                let words =
                    "(the machine says that the program ran too many instructions without a call)";
                let (line, column) = vm.call_site();
                return format!("{said}{words}\n{}", marked(source, line, column, 1));
            }
        }
    }
}

#[test]
fn every_mistake_is_told_as_it_was_agreed() {
    let bless = std::env::var_os("FSLAB_BLESS").is_some();
    let mut programs: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "fsl"))
        .collect();
    programs.sort();
    assert!(programs.len() >= 40);
    let mut changed = String::new();
    for path in programs {
        let source = std::fs::read_to_string(&path).unwrap();
        let said = told(&source);
        assert!(
            !said.contains("(ends without a mistake)"),
            "{}",
            path.display()
        );
        let text = path.with_extension("txt");
        if bless {
            std::fs::write(&text, &said).unwrap();
        }
        let agreed = std::fs::read_to_string(&text).unwrap_or_default();
        if said != agreed {
            changed += &format!(
                "{}\n--- says\n{said}--- and not\n{agreed}\n",
                path.display()
            );
        }
    }
    assert!(changed.is_empty(), "{changed}");
}
