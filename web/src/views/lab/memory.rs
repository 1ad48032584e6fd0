//! What is in memory only: dirty pages, and those that have no address yet.

use fslab_engine::view::lab::{FileView, PageRun, PageState};
use yew::prelude::*;

use crate::format;
use crate::store::{Selection, Store, use_store};

/// Pages that are drawn as squares, one each; more are drawn as bars.
const SQUARES: u32 = 64;
/// Delayed pages in the strip below the map.
const STRIP: u32 = 40;

/// Files in memory, page by page.
#[component]
pub fn Memory() -> Html {
    let store = use_store();
    let Some(frame) = &store.state.lab.frame else {
        return html! {};
    };
    let g = &frame.gauges;
    let note = format!(
        "{}, {} without an address",
        format::count(g.dirty_pages, "dirty page"),
        format::grouped(g.reserved_clusters)
    );
    html! {
        <section class="picture memory" aria-label="In memory">
            <h2>{ "In memory" }<span>{ note }</span></h2>
            <div class="page-body">
                <ul class="page-keys" aria-label="Legend">
                    { for [PageState::Delayed, PageState::Dirty, PageState::Writing, PageState::Clean].map(key) }
                </ul>
                if frame.files.is_empty() {
                    <p class="soft">{ "No file has anything in memory that matters" }</p>
                }
                <ul class="in-memory">{ for frame.files.iter().map(|f| file(&store, f)) }</ul>
                if frame.more_files > 0 {
                    <p class="soft">{ format!("and {} more", format::count(frame.more_files, "file")) }</p>
                }
            </div>
        </section>
    }
}

fn key(state: PageState) -> Html {
    html! {
        <li><i class={classes!("page-square", class(state))} aria-hidden="true" />{ words(state) }</li>
    }
}

fn class(state: PageState) -> &'static str {
    match state {
        PageState::Clean => "clean",
        PageState::Writing => "writing",
        PageState::Dirty => "dirty",
        PageState::Delayed => "delayed",
    }
}

fn words(state: PageState) -> &'static str {
    match state {
        PageState::Clean => "As on disk",
        PageState::Writing => "On its way",
        PageState::Dirty => "Dirty",
        PageState::Delayed => "Dirty, no address",
    }
}

fn file(store: &Store, f: &FileView) -> Html {
    let chosen = store.state.selection.inode == Some(f.inode);
    let (to, inode) = (store.clone(), f.inode);
    let onclick = Callback::from(move |_| to.select(Selection::inode(inode)));
    let mut about = Vec::new();
    if f.dirty > 0 {
        about.push(format!("{} dirty", format::grouped(f.dirty.into())));
    }
    if f.delayed > 0 {
        about.push(format!("{} promised", format::grouped(f.delayed.into())));
    }
    if f.disk_size != f.size {
        about.push(format!(
            "{}, {} on disk",
            format::bytes(f.size),
            format::bytes(f.disk_size)
        ));
    } else {
        about.push(format::bytes(f.size));
    }
    if f.links == 0 {
        about.push("no name".into());
    }
    html! {
        <li class={classes!(chosen.then_some("selected"))}>
            <p>
                <Title inode={f.inode} {onclick} />
                <span class="soft">{ format!(" {}", about.join(", ")) }</span>
            </p>
            { pages(&f.pages, SQUARES) }
            if f.more { <span class="soft">{ "…" }</span> }
        </li>
    }
}

#[derive(Properties, PartialEq)]
struct TitleProps {
    inode: u32,
    onclick: Callback<MouseEvent>,
}

/// A file by its path, which is asked for.
#[component]
fn Title(props: &TitleProps) -> Html {
    let store = use_store();
    let _ = crate::store::use_query(Some(crate::worker::protocol::Query::Paths {
        inodes: vec![props.inode],
    }));
    html! {
        <button type="button" class="link" onclick={props.onclick.clone()}>{ store.title(props.inode) }</button>
    }
}

/// Pages as squares, or as bars where there are many.
fn pages(runs: &[PageRun], squares: u32) -> Html {
    let total: u32 = runs.iter().map(|run| run.len).sum();
    if total <= squares {
        let each = runs
            .iter()
            .flat_map(|run| (0..run.len).map(move |i| (run.first + i, run.state)));
        return html! {
            <div class="pages" role="img" aria-label={describe(runs)}>
                { for each.map(|(nr, state)| html! {
                    <i class={classes!("page-square", class(state))} title={format!("Page {nr}: {}", words(state))} />
                }) }
            </div>
        };
    }
    html! {
        <div class="pages bars" role="img" aria-label={describe(runs)}>
            { for runs.iter().map(|run| html! {
                <i class={classes!("page-bar", class(run.state))} style={format!("flex-grow:{}", run.len)}
                    title={format!("{}: {}", span(run), words(run.state))} />
            }) }
        </div>
    }
}

fn span(run: &PageRun) -> String {
    match run.len {
        1 => format!("page {}", run.first),
        n => format!("pages {}–{}", run.first, run.first + n - 1),
    }
}

fn describe(runs: &[PageRun]) -> String {
    let some = runs.iter().take(12);
    let words: Vec<String> = some
        .map(|run| format!("{}: {}", span(run), words(run.state)))
        .collect();
    words.join("; ")
}

/// The strip below the map: what will move into it, and has no address yet.
#[component]
pub fn Waiting() -> Html {
    let store = use_store();
    let Some(frame) = &store.state.lab.frame else {
        return html! {};
    };
    let waiting = |f: &FileView| {
        let runs: Vec<PageRun> = f
            .pages
            .iter()
            .filter(|run| run.state == PageState::Delayed)
            .copied()
            .collect();
        if runs.is_empty() {
            return html! {};
        }
        let (to, inode) = (store.clone(), f.inode);
        let onclick = Callback::from(move |_| to.select(Selection::inode(inode)));
        html! { <li>{ pages(&runs, STRIP) }<Title {inode} {onclick} /></li> }
    };
    let any = frame.files.iter().any(|f| f.delayed > 0);
    html! {
        <div class="waiting">
            <span class="soft">{ "In memory, no address yet" }</span>
            if any {
                <ul>{ for frame.files.iter().take(6).map(waiting) }</ul>
            } else {
                <span class="soft">{ "nothing" }</span>
            }
        </div>
    }
}
