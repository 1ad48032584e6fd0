//! A device such as the run's, measured: probes and sweeps as plots.

use fslab_engine::device::measure::{Measure, Plot, PlotLine};
use yew::prelude::*;

use crate::format;
use crate::store::{Store, use_store};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 34.0;
/// Colours of lines, and their dashes, so that colour does not stand alone.
const STYLES: [(&str, &str); 6] = [
    ("inode-table", ""),
    ("twice", "6 3"),
    ("directory", "2 2"),
    ("block-bitmap", "8 2 2 2"),
    ("journal", "4 4"),
    ("superblock", "1 3"),
];

#[derive(Properties, PartialEq)]
pub struct Props {
    /// What can be measured here.
    pub measures: Vec<Measure>,
}

/// Buttons, and the plot of what was measured last.
#[component]
pub fn Measured(props: &Props) -> Html {
    let store = use_store();
    if props.measures.is_empty() {
        return html! {};
    }
    let plot = store.state.lab.measured.clone();
    let button = |what: &Measure| {
        ask(
            &store,
            *what,
            plot.as_ref().is_some_and(|p| p.what == *what),
        )
    };
    html! {
        <details class="measures">
            <summary>{ "Measure such a device" }</summary>
            <div class="measure-choice" role="group" aria-label="What to measure">{ for props.measures.iter().map(button) }</div>
            if let Some(plot) = &plot {
                <p class="soft">{ plot.what.sentence() }</p>
                { picture(plot) }
                <ul class="page-keys" aria-label="Lines">{ for plot.lines.iter().enumerate().map(key) }</ul>
            }
        </details>
    }
}

fn ask(store: &Store, what: Measure, pressed: bool) -> Html {
    let store = store.clone();
    let onclick = Callback::from(move |_| store.engine.ask_measure(what));
    html! { <button type="button" aria-pressed={pressed.to_string()} {onclick}>{ what.name() }</button> }
}

fn key((nr, line): (usize, &PlotLine)) -> Html {
    let (colour, dashes) = style(nr, line);
    html! {
        <li><svg class="line-key" viewBox="0 0 24 8" aria-hidden="true">
            <path d="M0 4H24" style={format!("stroke:{colour}")} stroke-dasharray={dashes} />
        </svg>{ &line.name }</li>
    }
}

fn style(nr: usize, line: &PlotLine) -> (String, &'static str) {
    if line.theory {
        return ("var(--soft)".into(), "5 4");
    }
    let (kind, dashes) = STYLES[nr % STYLES.len()];
    (format!("var(--kind-{kind})"), dashes)
}

/// From a range of values to a place.
struct Scale {
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>, log: bool) -> Self {
        let least = if log { 1e-9 } else { f64::NEG_INFINITY };
        let (from, to) = values
            .filter(|v| *v > least)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
                (a.min(v), b.max(v))
            });
        let from = if log { from } else { from.min(0.0) };
        Self {
            from,
            to: if to > from { to } else { from + 1.0 },
            log,
        }
    }

    fn part(&self, v: f64) -> f64 {
        match self.log {
            true => (v.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            false => (v - self.from) / (self.to - self.from),
        }
    }

    /// Values that are written at the axis.
    fn marks(&self) -> Vec<f64> {
        (0..=4)
            .map(|i| f64::from(i) / 4.0)
            .map(|p| match self.log {
                true => self.from * (self.to / self.from).powf(p),
                false => self.from + (self.to - self.from) * p,
            })
            .collect()
    }
}

/// A value in few letters.
fn short(v: f64, bytes: bool) -> String {
    if bytes {
        return format::bytes(v.round() as u64);
    }
    match v {
        v if v >= 1000.0 => format::grouped(v.round() as u64),
        v if v >= 10.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

fn picture(plot: &Plot) -> Html {
    let points = || plot.lines.iter().flat_map(|l| &l.points);
    let xs = Scale::of(points().map(|p| p.0), plot.log.0);
    let ys = Scale::of(points().map(|p| p.1), plot.log.1);
    let x = |v: f64| LEFT + xs.part(v) * (WIDTH - LEFT - RIGHT);
    let y = |v: f64| HEIGHT - BOTTOM - ys.part(v) * (HEIGHT - TOP - BOTTOM);
    let bytes = plot.x.ends_with("bytes");
    let across = xs.marks().into_iter().map(|v| {
        html! { <text x={format!("{:.1}", x(v))} y={(HEIGHT - BOTTOM + 14.0).to_string()} text-anchor="middle">{ short(v, bytes) }</text> }
    });
    let up = ys.marks().into_iter().map(|v| {
        html! { <>
            <path class="grid" d={format!("M{LEFT} {:.1}H{}", y(v), WIDTH - RIGHT)} />
            <text x={(LEFT - 5.0).to_string()} y={format!("{:.1}", y(v) + 4.0)} text-anchor="end">{ short(v, false) }</text>
        </> }
    });
    let line = |(nr, l): (usize, &PlotLine)| {
        let (colour, dashes) = style(nr, l);
        let path: Vec<String> = l
            .points
            .iter()
            .map(|p| format!("{:.1} {:.1}", x(p.0), y(p.1)))
            .collect();
        let dots = l.points.iter().filter(|_| !l.theory && l.points.len() < 40);
        html! { <g class="series">
            <path d={format!("M{}", path.join("L"))} style={format!("stroke:{colour}")} stroke-dasharray={dashes} />
            { for dots.map(|p| html! { <circle cx={format!("{:.1}", x(p.0))} cy={format!("{:.1}", y(p.1))} r="2" style={format!("fill:{colour}")} /> }) }
        </g> }
    };
    html! {
        <svg class="measured" viewBox={format!("0 0 {WIDTH} {HEIGHT}")} role="img" aria-label={describe(plot)}>
            { for up }
            { for across }
            <text x={f64::midpoint(LEFT, WIDTH).to_string()} y={(HEIGHT - 4.0).to_string()} text-anchor="middle">{ format!("{}; upwards {}", plot.x, plot.y) }</text>
            { for plot.lines.iter().enumerate().map(line) }
        </svg>
    }
}

/// The plot in words: each line's ends.
fn describe(plot: &Plot) -> String {
    let ends = plot.lines.iter().filter_map(|l| {
        let (a, b) = (l.points.first()?, l.points.last()?);
        Some(format!(
            "{}: {} at {} to {} at {}",
            l.name,
            short(a.1, false),
            short(a.0, false),
            short(b.1, false),
            short(b.0, false)
        ))
    });
    let ends: Vec<String> = ends.collect();
    format!(
        "{}, {} by {}. {}",
        plot.what.name(),
        plot.y,
        plot.x,
        ends.join("; ")
    )
}
