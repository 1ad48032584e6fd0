//! The file's keys, as serde reads them.

use super::device::Device;
use super::units::Time;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    /// The version of the format.
    pub(super) fslab: Spanned<i64>,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) about: String,
    #[serde(default)]
    pub(super) seed: u64,
    #[serde(default)]
    pub(super) device: Device,
    #[serde(default)]
    pub(super) mkfs: Mkfs,
    #[serde(default)]
    pub(super) mount: MountSection,
    #[serde(default)]
    pub(super) kernel: Kernel,
    #[serde(default)]
    pub(super) process: Vec<Spanned<Process>>,
    #[serde(default)]
    pub(super) run: Run,
    #[serde(default)]
    pub(super) limits: Limits,
    #[serde(default)]
    pub(super) crash: Crash,
    #[serde(default)]
    pub(super) outcome: Vec<Outcome>,
    #[serde(default)]
    pub(super) expect: Vec<Expect>,
    #[serde(default)]
    pub(super) show: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Mkfs {
    pub(super) options: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct MountSection {
    pub(super) options: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Kernel {
    pub(super) dirty_expire: Option<Time>,
    pub(super) dirty_writeback: Option<Time>,
    pub(super) writeback_blocks: Option<u32>,
    pub(super) max_zeroout_kb: Option<u32>,
    pub(super) mb_stream_req: Option<u32>,
    pub(super) mb_group_prealloc: Option<u32>,
    pub(super) fiemap_misses_delayed: Option<bool>,
    pub(super) stable_pages: Option<bool>,
    pub(super) allocator: Option<Spanned<String>>,
    pub(super) dir_policy: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Process {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) uid: u32,
    #[serde(default)]
    pub(super) gid: u32,
    #[serde(default)]
    pub(super) groups: Vec<u32>,
    pub(super) umask: Option<u16>,
    pub(super) start: Option<Time>,
    pub(super) on_error: Option<Spanned<String>>,
    pub(super) program: Spanned<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) linger: Option<Time>,
    pub(super) unmount: Option<bool>,
    pub(super) call_cost: Option<Time>,
    pub(super) page_cost: Option<Time>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    pub(super) events: Option<Spanned<u64>>,
    pub(super) calls: Option<Spanned<u64>>,
    pub(super) instructions: Option<Spanned<u64>>,
    pub(super) time: Option<Spanned<Time>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) name: String,
    pub(super) condition: Spanned<String>,
}

/// What a power cut may do.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Crash {
    pub(super) program: Option<Spanned<String>>,
    pub(super) tear: Option<Spanned<String>>,
    pub(super) order: Option<Spanned<String>>,
    pub(super) flush: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) when: Spanned<String>,
}
