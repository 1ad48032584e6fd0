//! Counters over time, as plots.

use fslab_engine::machine::Gauges;
use plotters::prelude::*;
use plotters_canvas::CanvasBackend;
use web_sys::{Element, HtmlCanvasElement};
use yew::prelude::{Callback, Html, component, html, use_effect_with, use_node_ref, use_state_eq};

use super::paint::Colours;
use crate::store::use_store;
use crate::views::resize::use_resize;

/// A plot: its title, its unit, and its lines: name, colour, dashes, the value.
struct Plot {
    title: &'static str,
    lines: &'static [Curve],
}

/// A line of a plot.
struct Curve {
    name: &'static str,
    /// The kind whose colour it has.
    colour: &'static str,
    /// Whether it is dashed, so that colour does not stand alone.
    dashed: bool,
    value: fn(&Gauges, &Gauges) -> f64,
}

const PLOTS: [Plot; 4] = [
    Plot {
        title: "Pages in memory only",
        lines: &[
            Curve {
                name: "dirty",
                colour: "data",
                dashed: false,
                value: |g, _| g.dirty_pages as f64,
            },
            Curve {
                name: "without an address",
                colour: "ink",
                dashed: true,
                value: |g, _| g.reserved_clusters as f64,
            },
        ],
    },
    Plot {
        title: "Journal, blocks",
        lines: &[
            Curve {
                name: "in use",
                colour: "journal",
                dashed: false,
                value: |g, _| g.journal_used_blocks as f64,
            },
            Curve {
                name: "in the running transaction",
                colour: "ink",
                dashed: true,
                value: |g, _| g.transaction_blocks as f64,
            },
        ],
    },
    Plot {
        title: "Device, MB/s",
        lines: &[
            Curve {
                name: "written",
                colour: "inode-table",
                dashed: false,
                value: |g, b| rate(g, b, g.device_written_bytes, b.device_written_bytes),
            },
            Curve {
                name: "read",
                colour: "ink",
                dashed: true,
                value: |g, b| rate(g, b, g.device_read_bytes, b.device_read_bytes),
            },
        ],
    },
    Plot {
        title: "Writes that a power cut may take",
        lines: &[Curve {
            name: "not safe",
            colour: "twice",
            dashed: false,
            value: |g, _| g.unstable_writes as f64,
        }],
    },
];

/// What there is to plot of flash besides.
const FLASH: [Plot; 3] = [
    Plot {
        title: "Write amplification",
        lines: &[
            Curve {
                name: "since the start",
                colour: "journal",
                dashed: false,
                value: |g, _| amplification(g.flash_programmed_pages, g.flash_copied_pages),
            },
            Curve {
                name: "just now",
                colour: "ink",
                dashed: true,
                value: |g, b| {
                    amplification(
                        g.flash_programmed_pages
                            .saturating_sub(b.flash_programmed_pages),
                        g.flash_copied_pages.saturating_sub(b.flash_copied_pages),
                    )
                },
            },
        ],
    },
    Plot {
        title: "Erased blocks",
        lines: &[Curve {
            name: "erased",
            colour: "directory",
            dashed: false,
            value: |g, _| g.flash_free_blocks as f64,
        }],
    },
    Plot {
        title: "Wear: erases of the block erased most",
        lines: &[Curve {
            name: "erases",
            colour: "block-bitmap",
            dashed: false,
            value: |g, _| g.flash_most_erases as f64,
        }],
    },
];

/// Pages programmed for each that the host wrote; 1 where it wrote none.
fn amplification(programmed: u64, copied: u64) -> f64 {
    match programmed.saturating_sub(copied) {
        0 => 1.0,
        host => programmed as f64 / host as f64,
    }
}

/// The plots of a run, those of its device first where that is flash.
fn plots(samples: &[Gauges]) -> Vec<&'static Plot> {
    let flash = samples.last().is_some_and(|g| g.flash_programmed_pages > 0);
    let first = FLASH.iter().filter(|_| flash);
    first.chain(&PLOTS).collect()
}

/// Megabytes a second between two samples.
fn rate(now: &Gauges, before: &Gauges, a: u64, b: u64) -> f64 {
    let ns = now.time_ns.saturating_sub(before.time_ns);
    if ns == 0 {
        return 0.0;
    }
    a.saturating_sub(b) as f64 * 1e3 / ns as f64
}

/// The plots.
#[component]
pub fn Figures() -> Html {
    let store = use_store();
    let node = use_node_ref();
    let size = use_state_eq(|| (0, 0));
    let scheme = super::paint::use_scheme();
    {
        let size = size.clone();
        use_resize(
            &node,
            Callback::from(move |e: Element| size.set((e.client_width(), e.client_height()))),
        );
    }
    let lab = &store.state.lab;
    let samples = std::rc::Rc::clone(&lab.samples);
    let now = lab.frame.as_ref().map_or(0, |f| f.time_ns);
    {
        let node = node.clone();
        use_effect_with(
            (samples, now, *size, scheme),
            move |(samples, now, size, _)| {
                if let Some(canvas) = canvas_of(&node, *size) {
                    // A canvas too small for its labels stays empty.
                    let _ = draw(canvas, samples, *now);
                }
            },
        );
    }
    let label = lab.frame.as_ref().map_or_else(String::new, |f| {
        let g = &f.gauges;
        format!(
            "At this instant: {} dirty pages, {} blocks of the journal in use, {} writes not safe",
            g.dirty_pages, g.journal_used_blocks, g.unstable_writes
        )
    });
    html! {
        <section class="picture figures" aria-label="Figures">
            <h2>{ "Figures" }</h2>
            <div class="plot" ref={node}><canvas role="img" aria-label={label} /></div>
        </section>
    }
}

/// The canvas, as large as its place.
fn canvas_of(node: &yew::NodeRef, (width, height): (i32, i32)) -> Option<HtmlCanvasElement> {
    use wasm_bindgen::JsCast as _;
    let element = node.cast::<Element>()?;
    let canvas: HtmlCanvasElement = element.query_selector("canvas").ok()??.dyn_into().ok()?;
    if width < 40 || height < 40 {
        return None;
    }
    canvas.set_width(width as u32);
    canvas.set_height(height as u32);
    Some(canvas)
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(canvas: HtmlCanvasElement, samples: &[Gauges], now: u64) -> Drawn {
    let colours = Colours::read(&canvas).ok_or("no colours")?;
    let (width, height) = (canvas.width(), canvas.height());
    let backend = CanvasBackend::with_canvas_object(canvas).ok_or("no canvas")?;
    let area = backend.into_drawing_area();
    area.fill(&rgb(&colours.bg))?;
    let columns = if width > 560 { 2 } else { 1 };
    let rows = (height / 110).clamp(1, 4) as usize;
    let plots = plots(samples);
    let shown = plots.len().min(columns * rows);
    let parts = area.split_evenly((shown.div_ceil(columns), columns));
    for (plot, part) in plots.into_iter().zip(parts) {
        chart(plot, &part, samples, now, &colours)?;
    }
    Ok(())
}

fn rgb(css: &str) -> RGBColor {
    let number = css
        .strip_prefix('#')
        .and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let [_, r, g, b] = number.unwrap_or(0x88_88_88).to_be_bytes();
    RGBColor(r, g, b)
}

type Area = DrawingArea<CanvasBackend, plotters::coord::Shift>;

fn chart(plot: &Plot, area: &Area, samples: &[Gauges], now: u64, colours: &Colours) -> Drawn {
    let end = samples
        .last()
        .map_or(1.0, |g| g.time_ns as f64 / 1e9)
        .max(1e-6);
    let points = |line: &Curve| -> Vec<(f64, f64)> {
        let before = samples.first().into_iter().chain(samples);
        let all = samples.iter().zip(before);
        all.map(|(g, b)| (g.time_ns as f64 / 1e9, (line.value)(g, b)))
            .collect()
    };
    let curves: Vec<Vec<(f64, f64)>> = plot.lines.iter().map(points).collect();
    let top = curves.iter().flatten().map(|p| p.1).fold(1.0, f64::max);
    let (ink, soft, line) = (rgb(&colours.ink), rgb(&colours.soft), rgb(&colours.line));
    let font = |colour: RGBColor| ("sans-serif", 11).into_font().color(&colour);
    let mut chart = ChartBuilder::on(area)
        .caption(plot.title, ("sans-serif", 12).into_font().color(&soft))
        .margin_left(8)
        .margin_right(16)
        .margin_top(4)
        .x_label_area_size(18)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..end, 0.0..top * 1.1)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(rgb(&colours.bg))
        .bold_line_style(line)
        .axis_style(line)
        .x_labels(5)
        .y_labels(4)
        .label_style(font(soft))
        .x_label_formatter(&|x| format!("{x:.3} s").replace(".000", ""))
        .y_label_formatter(&|y| match top {
            t if t < 4.0 => format!("{y:.1}"),
            _ => format!("{y:.0}"),
        })
        .draw()?;
    for (curve, points) in plot.lines.iter().zip(curves) {
        let colour = rgb(&colours.named(curve.colour));
        let style = colour.stroke_width(2);
        if curve.dashed {
            let series = DashedLineSeries::new(points, 4, 3, style);
            chart
                .draw_series(series)?
                .label(curve.name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 5, y), (x + 9, y), (x + 14, y)], colour)
                });
        } else {
            let series = LineSeries::new(points, style);
            chart
                .draw_series(series)?
                .label(curve.name)
                .legend(move |(x, y)| {
                    Rectangle::new([(x, y - 2), (x + 14, y + 1)], colour.filled())
                });
        }
    }
    let at = now as f64 / 1e9;
    let cursor = PathElement::new(
        [(at, 0.0), (at, top * 1.1)],
        rgb(&colours.sel).stroke_width(1),
    );
    chart.draw_series([cursor])?;
    if plot.lines.len() > 1 {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .label_font(font(ink))
            .draw()?;
    }
    Ok(())
}
