//! The journal: its transactions, their blocks, and what a replay would do.

use std::collections::BTreeSet;
use std::rc::Rc;

use fslab_engine::ext4::journal::TransactionState;
use fslab_engine::view::journal::{
    FastCommitView, JournalBlockKind, JournalBlockRow, JournalView, TransactionList, TransactionRow,
};
use yew::prelude::*;

use super::header::CommandButton;
use super::notes::{self, block_link, checksum, problems, waiting};
use super::pick::JournalInput;
use super::progress::Progress;
use crate::command::Command;
use crate::format;
use crate::store::{Fetched, Selection, Store, use_query, use_store};
use crate::worker::protocol::{Query, Reply};

/// Blocks of a transaction that are listed at once.
const SHOWN: usize = 200;
/// Revoked blocks that are listed.
const REVOKED: usize = 64;

/// The journal.
#[component]
pub fn Journal() -> Html {
    let store = use_store();
    let fetched = use_query(Some(Query::Journal));
    let body = match fetched.data().map(|data| &data.reply) {
        Some(Reply::Journal(Some(view))) => html! { <Page view={Rc::new((**view).clone())} /> },
        Some(Reply::Journal(None)) if is_elsewhere(&store) => html! {},
        Some(Reply::Journal(None)) => html! {
            <p class="hint">{ "This filesystem has no journal: what was being written when the power \
                failed is for e2fsck to find" }</p>
        },
        _ => match (&fetched, store.state.searching) {
            (Fetched::Waiting, Some((done, of))) => searching(done, of),
            _ => waiting(&fetched),
        },
    };
    let replayed = store.state.image.replayed;
    let has_journal = matches!(
        fetched.data().map(|data| &data.reply),
        Some(Reply::Journal(Some(_)))
    );
    html! {
        <section class="picture page" aria-label="Journal">
            <h2>{ "Journal" }<span>{ fetched.data().and_then(|data| note(&data.reply)) }</span></h2>
            if replayed {
                <div class="row-of-buttons">
                    <p>{ "Everything is shown as after the replay" }</p>
                    <CommandButton command={Command::Replay} words="Show as it is" pressed=true />
                </div>
            }
            { body }
            if is_elsewhere(&store) && !has_journal {
                <div class="row-of-buttons">
                    <p>{ "The journal of this filesystem is on another device" }</p>
                    <JournalInput />
                </div>
            }
        </section>
    }
}

/// What stands where the journal is to come, while it is searched.
fn searching(done: u64, of: u64) -> Html {
    let words = format!(
        "Looking for older transactions: {}",
        format::percent(done, of)
    );
    html! { <div class="hint" aria-busy="true"><Progress label="Searching" {done} {of} {words} /></div> }
}

/// Whether the journal is kept outside the filesystem: it has one, but no inode for it.
fn is_elsewhere(store: &Store) -> bool {
    store.state.opened().is_some_and(|opened| {
        let s = &opened.summary;
        let inode = s.fields.iter().find(|field| field.name == "s_journal_inum");
        s.features.iter().any(|name| name == "has_journal")
            && inode.is_some_and(|field| field.value == "0")
    })
}

fn note(reply: &Reply) -> Option<String> {
    let Reply::Journal(Some(view)) = reply else {
        return None;
    };
    Some(format!(
        "{} of {}, in {}",
        format::count(view.blocks.into(), "block"),
        format::bytes(view.block_size.into()),
        view.place
    ))
}

#[derive(Properties, PartialEq)]
struct Props {
    view: Rc<JournalView>,
}

#[component]
fn Page(props: &Props) -> Html {
    let store = use_store();
    let open = use_state(BTreeSet::<(u32, u32)>::new);
    let view = &props.view;
    let would = view
        .transactions
        .rows
        .iter()
        .any(|row| row.state == TransactionState::Replay);
    html! {
        <div class="page-body">
            <p class="words">{ &view.state }</p>
            { for view.notes.iter().map(|note| html! { <p>{ note }</p> }) }
            if would && !store.state.image.replayed {
                <p><CommandButton command={Command::Replay} /></p>
            }
            <Ring view={Rc::clone(view)} />
            <p class="soft">{ &view.scan_end }</p>
            { problems(&store, &view.problems) }
            if !view.transactions.rows.is_empty() {
                <h3>{ "In the log" }</h3>
                { list(&store, &view.transactions, &open) }
            }
            <h3>{ "Left over from before" }</h3>
            if view.history.rows.is_empty() {
                <p class="soft">{ "No older transaction is left in the journal" }</p>
            } else {
                { list(&store, &view.history, &open) }
            }
            if !view.history_complete {
                <p class="soft">{ "Only a part of the journal was searched for these" }</p>
            }
            if let Some(area) = &view.fast_commits { { fast_commits(area) } }
            <details>
                <summary>{ "Every field of the journal’s superblock" }</summary>
                <p class="features">{ for view.features.iter().map(|name| html! { <code>{ name }</code> }) }</p>
                <div class="scroll-x"><table class="plain fields-table"><tbody>
                    { for view.fields.iter().map(|field| html! {
                        <tr>
                            <td class="figure soft">{ format!("{:#x}", field.offset) }</td>
                            <td class="code">{ &field.name }</td>
                            <td class="value">{ &field.value }</td>
                            <td class="soft">{ &field.help }</td>
                        </tr>
                    }) }
                </tbody></table></div>
            </details>
        </div>
    }
}

/// The whole journal from left to right, with the transactions where they lie.
#[component]
fn Ring(props: &Props) -> Html {
    let view = &props.view;
    let (first, last) = (f64::from(view.first), f64::from(view.last));
    let all = (last - first).max(1.0);
    let piece = |row: &TransactionRow| {
        let left = (f64::from(row.start) - first).clamp(0.0, all) / all * 100.0;
        let width = (row.total_blocks as f64 / all * 100.0).max(0.2);
        // What goes on at the ring's start.
        let over = (left + width - 100.0).max(0.0);
        let class = class(row.state);
        let title = format!("Transaction {}, {}", row.sequence, words(row));
        html! {
            <>
                <rect {class} x={format!("{left}%")} width={format!("{}%", width - over)} y="0" height="16">
                    <title>{ title }</title>
                </rect>
                if over > 0.0 { <rect {class} x="0" width={format!("{over}%")} y="0" height="16" /> }
            </>
        }
    };
    html! {
        <figure class="ring">
            <svg width="100%" height="16" role="img" aria-label={format!(
                "The journal’s blocks {} to {}: {} in the log, {} left over",
                view.first, view.last.saturating_sub(1),
                format::count(view.transactions.total, "transaction"),
                format::grouped(view.history.total),
            )}>
                <defs>
                    <pattern id="torn" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                        <rect class="torn-line" width="2" height="4" />
                    </pattern>
                </defs>
                <rect class="ring-ground" width="100%" height="16" />
                { for view.history.rows.iter().map(piece) }
                { for view.transactions.rows.iter().map(piece) }
            </svg>
            <figcaption class="soft">
                <span>{ format!("Journal block {}", view.first) }</span>
                <span class="keys">{ for keys(view) }</span>
                <span>{ format::grouped(view.last.saturating_sub(1).into()) }</span>
            </figcaption>
        </figure>
    }
}

/// How a transaction is drawn, in the ring and before its row.
fn class(state: TransactionState) -> &'static str {
    match state {
        TransactionState::Replay => "ring-live",
        TransactionState::History => "ring-old",
        TransactionState::HistoryTorn => "ring-old torn",
        _ => "ring-torn",
    }
}

/// What the colours mean, of those that there are.
fn keys(view: &JournalView) -> impl Iterator<Item = Html> {
    let rows = || view.transactions.rows.iter().chain(&view.history.rows);
    let has = move |wanted: &str| rows().any(|row| class(row.state).starts_with(wanted));
    [
        ("ring-live", "To replay"),
        ("ring-old", "Left over"),
        ("ring-torn", "Does not count"),
    ]
    .into_iter()
    .filter(move |&(class, _)| has(class))
    .map(|(class, words)| html! { <span><i class={classes!(class, "key")} />{ words }</span> })
}

/// What became of a transaction, in the words of the legend.
fn words(row: &TransactionRow) -> String {
    match row.words.strip_prefix("history") {
        Some(rest) => format!("left over{rest}"),
        None => row.words.clone(),
    }
}

type Opened = UseStateHandle<BTreeSet<(u32, u32)>>;

fn list(store: &Store, list: &TransactionList, open: &Opened) -> Html {
    let left = list.total - list.rows.len() as u64;
    html! {
        <>
            <ul class="transactions">
                { for list.rows.iter().map(|row| transaction(store, row, open)) }
            </ul>
            if left > 0 {
                <p class="soft">{ format!("{} more", format::count(left, "transaction")) }</p>
            }
        </>
    }
}

fn transaction(store: &Store, row: &TransactionRow, open: &Opened) -> Html {
    let key = (row.sequence, row.start);
    // What holds the chosen version is open whatever else is.
    let chosen = store.state.selection.version.is_some_and(|version| {
        row.blocks
            .iter()
            .any(|block| block.journal_block == version)
    });
    let is_open = open.contains(&key);
    let toggle = {
        let open = open.clone();
        Callback::from(move |_| {
            let mut next = (*open).clone();
            if !next.remove(&key) {
                next.insert(key);
            }
            open.set(next);
        })
    };
    let live = row.state == TransactionState::Replay;
    html! {
        <li class={classes!(live.then_some("live"), chosen.then_some("selected"))}>
            <button type="button" class="transaction" aria-expanded={is_open.to_string()} onclick={toggle}>
                <span class="twist" aria-hidden="true">{ if is_open { "▾" } else { "▸" } }</span>
                <span class={classes!(class(row.state), "key")} aria-hidden="true" />
                <span class="strong figure">{ row.sequence }</span>
                <span>{ words(row) }</span>
                <span class="soft">{ format::count(row.total_blocks, "block") }</span>
                if row.total_revoked > 0 {
                    <span class="soft">{ format!("revokes {}", format::grouped(row.total_revoked)) }</span>
                }
                if let Some(time) = &row.commit_time { <span class="soft time">{ notes::time(time) }</span> }
            </button>
            if is_open { { blocks(store, row) } }
        </li>
    }
}

fn blocks(store: &Store, row: &TransactionRow) -> Html {
    let left = row
        .total_blocks
        .saturating_sub(row.blocks.len().min(SHOWN) as u64);
    html! {
        <div class="transaction-body">
            <div class="scroll-x"><table class="plain blocks-table">
                <thead><tr>
                    <th class="figure">{ "Journal block" }</th><th>{ "Kind" }</th>
                    <th class="figure">{ "Block" }</th><th class="figure">{ "Home" }</th>
                    <th>{ "A replay" }</th><th>{ "Checksum" }</th><th></th>
                </tr></thead>
                <tbody>{ for row.blocks.iter().take(SHOWN).map(|block| block_row(store, block)) }</tbody>
            </table></div>
            if left > 0 { <p class="soft">{ format!("{} more", format::count(left, "block")) }</p> }
            if row.total_revoked > 0 { { revoked(store, row) } }
        </div>
    }
}

fn block_row(store: &Store, row: &JournalBlockRow) -> Html {
    let kind = match row.kind {
        JournalBlockKind::Descriptor => "descriptor",
        JournalBlockKind::Copy if row.escaped => "copy, escaped",
        JournalBlockKind::Copy => "copy",
        JournalBlockKind::Revoke => "revoke",
        JournalBlockKind::Commit => "commit",
    };
    let chosen = store.state.selection.version == Some(row.journal_block);
    let open = row.home.map(|home| {
        let to = store.clone();
        let version = row.journal_block;
        let onclick = Callback::from(move |_| to.select_version(home, version));
        html! {
            <button type="button" class="link" aria-pressed={chosen.to_string()} {onclick}
                title="Open this version beside the current block">{ "Compare" }</button>
        }
    });
    html! {
        <tr class={chosen.then_some("selected")}>
            <td class="figure">{ format::grouped(row.journal_block.into()) }</td>
            <td>{ kind }</td>
            <td class="figure">{ row.block.map(|nr| block_link(store, nr)) }</td>
            <td class="figure">{ row.home.map(|nr| block_link(store, nr)) }</td>
            <td class="soft">{ &row.words }</td>
            <td>{ checksum(row.checksum_ok) }</td>
            <td>{ open }</td>
        </tr>
    }
}

fn revoked(store: &Store, row: &TransactionRow) -> Html {
    let shown = row.revoked.iter().take(REVOKED);
    let left = row
        .total_revoked
        .saturating_sub(row.revoked.len().min(REVOKED) as u64);
    html! {
        <p class="revoked">
            <span class="soft">{ "Revokes " }</span>
            { for shown.map(|&nr| html! { <>{ block_link(store, nr) }{ " " }</> }) }
            if left > 0 { <span class="soft">{ format!("and {} more", format::grouped(left)) }</span> }
        </p>
    }
}

fn fast_commits(area: &FastCommitView) -> Html {
    let left = area.total_tags.saturating_sub(area.tags.len() as u64);
    html! {
        <>
            <h3>{ "Fast commits" }</h3>
            <p>{ &area.words }</p>
            if !area.tags.is_empty() {
                <div class="scroll-x"><table class="plain"><tbody>
                    { for area.tags.iter().map(|tag| html! {
                        <tr>
                            <td class="figure soft">{ tag.journal_block }</td>
                            <td>{ &tag.words }</td>
                            <td class="soft">{ if tag.replayed { "would be replayed" } else { "" } }</td>
                        </tr>
                    }) }
                </tbody></table></div>
            }
            if left > 0 { <p class="soft">{ format!("{} more", format::count(left, "tag")) }</p> }
        </>
    }
}

impl Store {
    /// Chooses an older version of a block and shows it beside the current one.
    pub fn select_version(&self, home: u64, version: u32) {
        self.select(Selection {
            version: Some(version),
            ..self.block(home)
        });
        self.show(crate::store::View::Compare);
    }
}
