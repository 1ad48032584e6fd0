//! What calls gave, as values.

use super::super::super::{Answer, Reply};
use super::super::limits::{MAX_LIST, MAX_STRING};
use super::super::value::{List, Record, Value};
use super::{Trap, lists};
use crate::kernel::{FiemapExtent, Stat};
use std::sync::Arc;

pub(super) fn value(answer: &Answer) -> Result<Value, Trap> {
    let reply = match answer {
        Err(errno) => return Ok(Value::Error(*errno)),
        Ok(reply) => reply,
    };
    match reply {
        Reply::Number(n) => Ok(number(*n)),
        Reply::Bytes(bytes) if bytes.len() > MAX_STRING => Err(format!(
            "The call gave {} bytes: too many for a string.",
            bytes.len()
        )),
        Reply::Bytes(bytes) => Ok(Value::Text(Arc::clone(bytes))),
        Reply::Names(names) => list(names.iter().map(|n| Value::text(n.as_slice()))),
        Reply::Stat(stat) => Ok(record(of_stat(stat))),
        Reply::Extents(extents) => list(extents.iter().map(|e| record(of_extent(e)))),
        Reply::Statfs {
            block_size,
            blocks,
            inodes,
        } => Ok(record(vec![
            ("block_size", number(*block_size)),
            ("blocks", number(blocks[0])),
            ("free", number(blocks[1])),
            ("available", number(blocks[2])),
            ("inodes", number(inodes[0])),
            ("free_inodes", number(inodes[1])),
        ])),
    }
}

fn number(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn record(fields: Vec<(&'static str, Value)>) -> Value {
    Value::Record(Arc::new(Record { fields }))
}

fn list(values: impl ExactSizeIterator<Item = Value>) -> Result<Value, Trap> {
    if values.len() > MAX_LIST {
        return Err(lists::too_long());
    }
    List::new(values.collect()).map(|l| Value::List(Arc::new(l)))
}

fn of_stat(stat: &Stat) -> Vec<(&'static str, Value)> {
    vec![
        ("ino", number(stat.ino.0.into())),
        ("mode", number(stat.mode.into())),
        ("nlink", number(stat.nlink.into())),
        ("uid", number(stat.uid.into())),
        ("gid", number(stat.gid.into())),
        ("major", number(stat.rdev.0.into())),
        ("minor", number(stat.rdev.1.into())),
        ("size", number(stat.size)),
        ("blocks", number(stat.blocks)),
        ("blksize", number(stat.blksize.into())),
        ("atime", Value::Int(stat.atime.secs)),
        ("mtime", Value::Int(stat.mtime.secs)),
        ("ctime", Value::Int(stat.ctime.secs)),
    ]
}

fn of_extent(extent: &FiemapExtent) -> Vec<(&'static str, Value)> {
    vec![
        ("logical", number(extent.logical)),
        ("physical", number(extent.physical)),
        ("length", number(extent.length)),
        ("flags", number(extent.flags.bits().into())),
    ]
}
