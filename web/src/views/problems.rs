//! What is wrong, and where.

use yew::prelude::*;

use super::notes::{row, waiting};
use crate::format;
use crate::owner_map::{Damage, Owned};
use crate::store::{Fetched, Store, use_query, use_store};
use crate::worker::protocol::{Query, Reply};

/// Every problem that was found, each a way to its place.
#[component]
pub fn Problems() -> Html {
    let store = use_store();
    let journal = use_query(Some(Query::Journal));
    let in_journal = match journal.data().map(|data| &data.reply) {
        Some(Reply::Journal(Some(view))) => view.problems.clone(),
        _ => Vec::new(),
    };
    let found: Vec<_> = store.state.problems().cloned().collect();
    let more = store.state.map.more_problems();
    let complete = store.state.map.is_complete() && journal != Fetched::Waiting;
    let damage = store.state.map.damage();
    let total = (found.len() + in_journal.len() + damage.len()) as u64 + more;
    html! {
        <section class="picture page" aria-label="Problems">
            <h2>{ "Problems" }<span>{ match total {
                0 => String::new(),
                n => format::count(n, "problem"),
            } }</span></h2>
            <div class="page-body">
                if total == 0 && complete {
                    <p class="words">{ "Nothing wrong was found: neither in the superblock and the group \
                        descriptors, nor in any inode, directory or map, nor in the journal" }</p>
                    <p class="soft">{ "This is not e2fsck’s check: what is read here is checked as it is read" }</p>
                }
                if !complete {
                    <p class="hint" aria-busy="true">{ "Not all has been looked at yet" }</p>
                }
                <ul class="problems">
                    { for found.iter().chain(&in_journal).map(|problem| row(&store, problem)) }
                    { for damage.iter().map(|(run, damage)| damaged(&store, run, *damage)) }
                </ul>
                if more > 0 {
                    <p class="soft">{ format!("{} more were found and are not listed", format::grouped(more)) }</p>
                }
                if matches!(journal, Fetched::Failed(_)) { { waiting(&journal) } }
            </div>
        </section>
    }
}

/// Damage by who owns some blocks, as a sentence that leads to the first.
fn damaged(store: &Store, run: &Owned, damage: Damage) -> Html {
    let words = damage.sentence(run.start, run.len);
    let (to, block) = (store.clone(), run.start);
    let onclick = Callback::from(move |_| to.select(to.block(block)));
    html! {
        <li>
            <span class="cross" aria-hidden="true">{ "✕" }</span>
            <button type="button" class="link" {onclick}>{ words }</button>
        </li>
    }
}
