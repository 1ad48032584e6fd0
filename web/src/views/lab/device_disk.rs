//! A disk from above: zones, the arm, and where each request lies.

use std::f64::consts::TAU;

use fslab_engine::view::lab::{DiskView, MediumView, PlaceView, ZoneView};
use yew::prelude::*;

use crate::format;
use crate::lab_command::go;
use crate::store::{Store, use_store};

/// Requests that are listed.
const ROWS: usize = 24;
/// The picture's middle, and the outermost and innermost track.
const MIDDLE: f64 = 110.0;
const OUTER: f64 = 96.0;
const INNER: f64 = 36.0;
const STRIP: f64 = 600.0;

/// The platters.
#[component]
pub fn Platters() -> Html {
    let store = use_store();
    let Some(frame) = &store.state.lab.frame else {
        return html! {};
    };
    let MediumView::Disk(d) = &frame.medium else {
        return html! {};
    };
    let words = summary(d);
    html! {
        <section class="picture platters" aria-label="Inside the device">
            <h2>{ "Inside the disk" }<span>{ format!("{} rpm, {}", format::grouped(d.rpm.into()), format::count(d.heads.into(), "surface")) }</span></h2>
            <div class="page-body">
                <p>{ &d.name }</p>
                { zones(d) }
                <div class="platter-row">
                    { platter(d, &words) }
                    <div class="platter-words">
                        <p>{ &words }</p>
                        <p class="soft">{ order(&d.order) }</p>
                        <ul class="page-keys" aria-label="Legend">
                            <li><i class="page-square queued" />{ "waiting" }</li>
                            <li><i class="page-square at-work" />{ "at work" }</li>
                            <li><i class="page-square cached" />{ "in the cache only" }</li>
                        </ul>
                        <ol class="requests">
                            { for d.at_work.iter().map(|p| row(&store, p, "at work")) }
                            { for d.queue.iter().take(ROWS).map(|p| row(&store, p, "")) }
                        </ol>
                    </div>
                </div>
            </div>
        </section>
    }
}

fn summary(d: &DiskView) -> String {
    let zone = d
        .zones
        .iter()
        .position(|z| d.arm >= z.first && d.arm <= z.last);
    let zone = zone.map_or(String::new(), |z| {
        format!(", zone {} of {}", z + 1, d.zones.len())
    });
    format!(
        "The arm is over cylinder {} of {}{zone}; {} waiting, {} in the cache only",
        format::grouped(d.arm),
        format::grouped(d.cylinders),
        format::count(d.queue.len() as u64, "request"),
        format::count(d.cached.len() as u64, "piece"),
    )
}

fn order(word: &str) -> &'static str {
    match word {
        "look" => "Served going up as long as there is any, then back (LOOK)",
        "clook" => "Served going up as long as there is any, then from the lowest (C-LOOK)",
        "sstf" => "The nearest is served next (SSTF)",
        "sptf" => "The one that comes under the head soonest is next (SPTF)",
        _ => "Served as they came (FCFS)",
    }
}

/// The whole disk from its outer edge to its inner one, and what of it is enlarged below.
fn zones(d: &DiskView) -> Html {
    let all = d.cylinders.max(1) as f64;
    let x = |c: u64| c as f64 / all * STRIP;
    let rect = |(i, z): (usize, &ZoneView)| {
        let width = x(z.last + 1) - x(z.first);
        html! {
            <rect class={if i % 2 == 0 { "zone even" } else { "zone odd" }} x={format!("{:.1}", x(z.first))}
                width={format!("{width:.1}")} y="6" height="12">
                <title>{ format!("Zone {}: cylinders {} to {}, {} sectors a track", i + 1, z.first, z.last, z.sectors) }</title>
            </rect>
        }
    };
    let (from, to) = shown(d);
    let arm = x(d.arm);
    html! {
        <figure class="disk-strip">
            <svg viewBox={format!("0 0 {STRIP} 22")} preserveAspectRatio="none" aria-hidden="true">
                { for d.zones.iter().enumerate().map(rect) }
                <rect class="enlarged" x={format!("{:.1}", x(from))} width={format!("{:.1}", (x(to + 1) - x(from)).max(3.0))} y="2" height="18" />
                <path class="arm" d={format!("M{arm:.1} 6l-4 -6h8z")} />
            </svg>
            <figcaption class="soft">
                <span>{ "outer edge" }</span>
                <span>{ format!("below: cylinders {} to {}, where the partition is", format::grouped(from), format::grouped(to)) }</span>
                <span>{ "inner edge" }</span>
            </figcaption>
        </figure>
    }
}

/// The cylinders that are drawn: the partition's, and the arm's.
fn shown(d: &DiskView) -> (u64, u64) {
    (d.partition.0.min(d.arm), d.partition.1.max(d.arm))
}

struct Rings {
    from: u64,
    count: u64,
    turned: f64,
}

impl Rings {
    fn radius(&self, cylinder: u64) -> f64 {
        let part = cylinder.saturating_sub(self.from) as f64 / self.count.max(1) as f64;
        OUTER - part * (OUTER - INNER)
    }

    /// Where a place is now: the platters turn counterclockwise under the head, which is at
    /// the right.
    fn point(&self, cylinder: u64, angle: u64) -> (f64, f64) {
        let turn = angle as f64 / 1e6 - self.turned;
        let (sin, cos) = (turn * TAU).sin_cos();
        let r = self.radius(cylinder);
        (MIDDLE + r * cos, MIDDLE + r * sin)
    }
}

fn platter(d: &DiskView, words: &str) -> Html {
    let (from, to) = shown(d);
    let rings = Rings {
        from,
        count: to - from + 1,
        turned: d.turned as f64 / 1e6,
    };
    let ring = |(i, z): (usize, &ZoneView)| {
        let (first, last) = (z.first.max(from), z.last.min(to));
        if first > last {
            return html! {};
        }
        let (outer, inner) = (rings.radius(first), rings.radius(last + 1));
        html! {
            <circle class={if i % 2 == 0 { "zone even" } else { "zone odd" }} cx={MIDDLE.to_string()} cy={MIDDLE.to_string()}
                r={format!("{:.1}", f64::midpoint(outer, inner))} stroke-width={format!("{:.1}", (outer - inner).max(1.0))} />
        }
    };
    let dot = |p: &PlaceView, class: &'static str, r: &'static str| {
        let (x, y) = rings.point(p.cylinder, p.angle);
        html! { <circle {class} cx={format!("{x:.1}")} cy={format!("{y:.1}")} {r} /> }
    };
    let head = MIDDLE + rings.radius(d.arm);
    html! {
        <svg class="platter" viewBox="0 0 240 220" role="img" aria-label={words.to_owned()}>
            { for d.zones.iter().enumerate().map(ring) }
            <circle class="hub" cx={MIDDLE.to_string()} cy={MIDDLE.to_string()} r="14" />
            { for d.cached.iter().map(|p| dot(p, "cached", "2")) }
            { for d.queue.iter().map(|p| dot(p, "queued", "3")) }
            { for d.at_work.iter().map(|p| dot(p, "at-work", "4.5")) }
            <path class="arm-line" d={format!("M236 {}L{head:.1} {MIDDLE}", MIDDLE + 70.0)} />
            <circle class="arm" cx={format!("{head:.1}")} cy={MIDDLE.to_string()} r="3.5" />
        </svg>
    }
}

fn row(store: &Store, p: &PlaceView, note: &'static str) -> Html {
    let name = match p.request {
        Some(nr) => format!("request {nr}"),
        None => "from the cache".into(),
    };
    let name = match p.cause {
        Some(event) => {
            let to = store.clone();
            let onclick = Callback::from(move |_| go(&to, event));
            html! { <button type="button" class="link" {onclick} title={format!("Because of event {event}")}>{ name }</button> }
        }
        None => html! { { name } },
    };
    html! {
        <li>
            { name }
            { format!(": cylinder {}, surface {}, {}", format::grouped(p.cylinder), p.head, format::bytes(p.len)) }
            if !note.is_empty() { <span class="soft">{ format!(" {note}") }</span> }
        </li>
    }
}
