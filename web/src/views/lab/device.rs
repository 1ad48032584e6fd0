//! The device: what it is at, what waits, where its arm is, and what is not safe.

use fslab_engine::event::Io;
use fslab_engine::view::lab::{DeviceView, RequestView, UnstableView};
use yew::prelude::*;

use crate::format;
use crate::lab_command::go;
use crate::store::{Store, use_store};

/// Rows of each list.
const ROWS: usize = 24;
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 34.0;

/// The device.
#[component]
pub fn DevicePicture() -> Html {
    let store = use_store();
    let Some(frame) = &store.state.lab.frame else {
        return html! {};
    };
    let d = &frame.device;
    let note = match d.arm {
        Some((at, of)) => format!(
            "arm over cylinder {} of {}",
            format::grouped(at),
            format::grouped(of)
        ),
        None => "no moving parts".into(),
    };
    let waiting = d.queue.len() as u64 + d.more_queue;
    let unsafe_count = d.unstable.len() as u64 + d.more_unstable;
    html! {
        <section class="picture device" aria-label="Device">
            <h2>{ "Device" }<span>{ note }</span></h2>
            <div class="page-body">
                <p>{ at_work(d, frame.time_ns) }</p>
                { strip(d) }
                { cache(d) }
                <h3>{ "Waiting" }<span class="soft">{ format::count(waiting, "request") }</span></h3>
                if waiting > 0 {
                    <ol class="requests">{ for d.queue.iter().take(ROWS).map(|r| request(&store, r)) }</ol>
                }
                <h3>{ "Not safe yet" }<span class={classes!(if unsafe_count > 0 { "bad" } else { "soft" })}>
                    { if unsafe_count > 0 { format!("✕ {}", format::count(unsafe_count, "write")) } else { "nothing".into() } }
                </span></h3>
                { epochs(&store, d) }
            </div>
        </section>
    }
}

/// A request in a few words.
fn words(kind: Io) -> &'static str {
    match kind {
        Io::Read => "read",
        Io::Write => "write",
        Io::WriteFua => "write through",
        Io::Discard => "discard",
        Io::Flush => "flush",
    }
}

fn at_work(d: &DeviceView, now: u64) -> String {
    let left = d
        .done_ns
        .filter(|at| *at > now)
        .map(|at| format!(", done in {}", format::time(at - now)));
    let left = left.unwrap_or_default();
    match (&d.at_work, d.destaging) {
        (Some(r), _) if r.kind == Io::Flush => {
            format!("At work: flush, request {}{left}", r.request)
        }
        (Some(r), _) => format!(
            "At work: {} of {}, request {}{left}",
            words(r.kind),
            format::bytes(r.len),
            r.request
        ),
        (None, Some((_, len))) => format!(
            "The cache writes {} to the medium{left}",
            format::bytes(len)
        ),
        (None, None) => "At rest".into(),
    }
}

/// The disk from its first byte to its last: the arm, what waits, what is not safe.
fn strip(d: &DeviceView) -> Html {
    let size = (d.size as f64).max(1.0);
    let x = |offset: u64| offset as f64 / size * WIDTH;
    let width = |len: u64| (len as f64 / size * WIDTH).max(2.0);
    let rect = |offset: u64, len: u64, y: f64, h: f64, class: &'static str| {
        html! {
            <rect {class} x={format!("{:.1}", x(offset))} width={format!("{:.1}", width(len))} y={y.to_string()} height={h.to_string()} />
        }
    };
    let arm = d.arm.map(|(at, of)| {
        let x = at as f64 / (of as f64).max(1.0) * WIDTH;
        html! { <path class="arm" d={format!("M{x:.1} 12l-5 -9h10z")} /> }
    });
    html! {
        <figure class="disk-strip">
            <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none" role="img"
                aria-label={format!("{} on the disk waiting, {} not safe", d.queue.len(), d.unstable.len())}>
                <rect class="ring-ground" x="0" y="14" width={WIDTH.to_string()} height="18" />
                { for d.unstable.iter().map(|w| rect(w.offset, w.len, 14.0, 18.0, "unsafe")) }
                { for d.queue.iter().map(|r| rect(r.offset, r.len, 14.0, 8.0, "queued")) }
                { for d.at_work.iter().map(|r| rect(r.offset, r.len, 12.0, 22.0, "working")) }
                { arm }
            </svg>
            <figcaption class="soft"><span>{ "0" }</span><span class="keys">
                <span><i class="key queued" />{ "waiting" }</span><span><i class="key unsafe" />{ "not safe" }</span></span>
                <span>{ format::bytes(d.size) }</span></figcaption>
        </figure>
    }
}

fn cache(d: &DeviceView) -> Html {
    let Some(size) = d.cache else {
        return html! { <p class="soft">{ "No write cache: a write is done when it is on the medium" }</p> };
    };
    let part = (d.cached as f64 / size as f64).min(1.0);
    html! {
        <p class="cache-line">
            <span>{ "Cache" }</span>
            <span class="fill" aria-hidden="true"><i style={format!("width:{:.2}%", part * 100.0)} /></span>
            <span class="figure soft">{ format!("{} of {}", format::bytes(d.cached), format::bytes(size)) }</span>
        </p>
    }
}

fn request(store: &Store, r: &RequestView) -> Html {
    let what = match r.kind {
        Io::Flush => "flush".to_owned(),
        kind => format!("{} {}", words(kind), format::bytes(r.len)),
    };
    html! { <li class={classes!((r.kind == Io::Flush).then_some("wall"))}>{ cause(store, r.request, r.cause) }{ format!(" {what}") }</li> }
}

/// A request's number, which leads to its cause.
fn cause(store: &Store, request: u64, cause: Option<u64>) -> Html {
    let Some(event) = cause else {
        return html! { <span class="figure">{ request }</span> };
    };
    let to = store.clone();
    let onclick = Callback::from(move |_| go(&to, event));
    html! {
        <button type="button" class="link figure" {onclick} title={format!("Because of event {event}")}>{ request }</button>
    }
}

/// Writes between two flushes may reach the medium in any order.
fn epochs(store: &Store, d: &DeviceView) -> Html {
    let mut out: Vec<Html> = Vec::new();
    let mut last = None;
    for w in d.unstable.iter().take(ROWS) {
        if last.is_some_and(|epoch| epoch != w.epoch) {
            out.push(html! { <li class="wall soft">{ "a flush" }</li> });
        }
        last = Some(w.epoch);
        out.push(unstable(store, w));
    }
    let more = (d.unstable.len().saturating_sub(ROWS)) as u64 + d.more_unstable;
    html! {
        <ol class="requests">
            { for out }
            if more > 0 { <li class="soft">{ format!("and {more} more") }</li> }
        </ol>
    }
}

fn unstable(store: &Store, w: &UnstableView) -> Html {
    let size = store
        .state
        .opened()
        .map_or(4096, |o| u64::from(o.summary.block_size.max(512)));
    let first = w.offset / size;
    let (to, at) = (store.clone(), first);
    let onclick = Callback::from(move |_| to.select(to.block(at)));
    let run = store.state.map.map().and_then(|map| map.at(first));
    let kind = run.map_or("", |run| run.kind.words());
    html! {
        <li>
            { cause(store, w.request, w.cause) }
            { format!(" {} at ", format::bytes(w.len)) }
            <button type="button" class="link figure" {onclick}>{ format!("block {}", format::grouped(first)) }</button>
            <span class="soft">{ format!(" {kind}") }</span>
        </li>
    }
}
