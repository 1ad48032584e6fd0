use std::rc::Rc;

use fslab_engine::view::{FieldValue, HtreeView, InodeView, Part, XattrRow};
use yew::prelude::*;

use super::bytes::{Bytes, use_light};
use super::pair;
use super::parts::Fields;
use crate::command::Command;
use crate::format;
use crate::store::{Store, View, use_query, use_store};
use crate::views::header::CommandButton;
use crate::views::notes::{block_link, checksum, problems, time, waiting};
use crate::views::{has_contents, type_words};
use crate::worker::protocol::{Query, Reply};

/// Nodes of an htree that are listed.
const NODES: usize = 100;

#[derive(Properties, PartialEq)]
pub struct Props {
    /// The inode.
    pub nr: u32,
}

/// An inode.
#[component]
pub fn Inode(props: &Props) -> Html {
    let store = use_store();
    let nr = props.nr;
    let fetched = use_query(Some(Query::Inode { nr }));
    use_query(Some(Query::Paths { inodes: vec![nr] }));
    let light = use_light(&store);
    let inode = match fetched.data().map(|data| &data.reply) {
        Some(Reply::Inode(inode)) => Some(&**inode),
        _ => None,
    };
    let table = use_query(inode.map(|inode| Query::Block {
        nr: inode.table_block,
    }));
    let Some(inode) = inode else {
        return html! { <div class="scroll">{ waiting(&fetched) }</div> };
    };
    let bytes = match table.data().map(|data| &data.reply) {
        Some(Reply::Block(block)) => slice(&store, inode, &block.bytes),
        _ => None,
    };
    html! {
        <>
            <div class="scroll">
                <div class="say">
                    if let Some(path) = store.path(nr) { <p class="path code">{ path }</p> }
                    <p>{ &inode.words }</p>
                </div>
                <div class="row-of-buttons">
                    if has_contents(inode.file_type) {
                        <CommandButton command={Command::Show(View::Contents)} words="Open contents" />
                        <CommandButton command={Command::Save} />
                    }
                    <CommandButton command={Command::Show(View::Tree)} words="Show its blocks" />
                </div>
                { facts(&store, inode) }
                { problems(&store, &inode.problems) }
                { xattrs(&store, inode) }
                if let Some(htree) = &inode.htree { { self::htree(&store, htree) } }
                <h3>{ "Every field" }</h3>
                <Fields fields={inode.fields.clone()} lit={light.lit} chosen={light.chosen}
                    onpoint={light.onpoint.clone()} onchoose={light.onchoose.clone()} />
            </div>
            if let Some(bytes) = bytes {
                <Bytes title={format!("Bytes of inode {nr}")} {bytes} parts={Rc::new(vec![whole(inode)])}
                    lit={light.lit} chosen={light.chosen} onpoint={light.onpoint} onchoose={light.onchoose} />
            }
        </>
    }
}

/// The inode's own bytes of its block of the table.
fn slice(store: &Store, inode: &InodeView, block: &[u8]) -> Option<Rc<[u8]>> {
    let size = usize::from(store.state.opened()?.summary.inode_size);
    let first = inode.table_offset as usize;
    block.get(first..first.checked_add(size)?).map(Rc::from)
}

/// The inode as a structure of which the fields are parts.
fn whole(inode: &InodeView) -> Part {
    let end = |field: &FieldValue| field.offset.saturating_add(field.len);
    Part {
        title: format!("inode {}", inode.nr),
        offset: 0,
        len: inode.fields.iter().map(end).max().unwrap_or(0),
        fields: inode.fields.clone(),
        inode: None,
        block: None,
    }
}

fn facts(store: &Store, inode: &InodeView) -> Html {
    let table = html! {
        <>{ block_link(store, inode.table_block) }{ format!(", byte {}", inode.table_offset) }</>
    };
    html! {
        <dl>
            { pair("Inode", format!("{}, {}", inode.nr, type_words(inode.file_type))) }
            if let Some(meaning) = &inode.reserved { { pair("Reserved for", meaning.clone()) } }
            if let Some(target) = &inode.target { { pair("Leads to", html! { <span class="code">{ target }</span> }) } }
            { pair("Size", format!("{} ({} bytes)", format::bytes(inode.size), format::grouped(inode.size))) }
            { pair("On disk", format!("{} sectors, {}", format::grouped(inode.sectors), inode.storage)) }
            { pair("Mode", html! { <span class="code">{ format!("{} {:o}", inode.mode_text, inode.mode & 0o7777) }</span> }) }
            { pair("Owner", format!("user {}, group {}", inode.uid, inode.gid)) }
            if let Some(project) = inode.project { { pair("Project", project.to_string()) } }
            if let Some((major, minor)) = inode.device { { pair("Device", format!("{major}:{minor}")) } }
            { pair("Names", inode.links.to_string()) }
            { pair("Written", time(&inode.mtime)) }
            { pair("Inode changed", time(&inode.ctime)) }
            { pair("Read", time(&inode.atime)) }
            if let Some(made) = &inode.crtime { { pair("Made", time(made)) } }
            if let Some(gone) = &inode.dtime { { pair("Deleted", time(gone)) } }
            if !inode.flags.is_empty() { { pair("Flags", inode.flags.join(", ")) } }
            if !inode.in_use { { pair("Bitmap", "free: the bitmap does not have it in use") } }
            { pair("In the table at", table) }
            if inode.checksum_ok.is_some() { { pair("Checksum", checksum(inode.checksum_ok)) } }
        </dl>
    }
}

fn xattrs(store: &Store, inode: &InodeView) -> Html {
    if inode.xattrs.is_empty() {
        return html! {};
    }
    let row = |row: &XattrRow| {
        html! {
            <>
                <dt class="code">{ &row.name }</dt>
                <dd>
                    <span class="code value">{ &row.text }</span>
                    <span class="soft">{ format!(" {}, {}", format::count(row.len, "byte"), row.home) }</span>
                </dd>
            </>
        }
    };
    html! {
        <>
            <h3>{ "Extended attributes" }</h3>
            <dl class="stacked">{ for inode.xattrs.iter().map(row) }</dl>
            if let Some(nr) = inode.xattr_block { <p class="pad">{ "Attribute block " }{ block_link(store, nr) }</p> }
        </>
    }
}

fn htree(store: &Store, htree: &HtreeView) -> Html {
    let leaves: usize = htree
        .nodes
        .iter()
        .filter(|node| node.level == 0)
        .map(|node| node.entries.len())
        .sum();
    let left = htree.nodes.len().saturating_sub(NODES);
    html! {
        <>
            <h3>{ "Index of names" }</h3>
            <p class="pad">{ format!("Hash {}, {} of names reached through {}", htree.hash,
                format::count(leaves as u64, "block"), format::count(htree.nodes.len() as u64, "node")) }</p>
            <ul class="links">
                { for htree.nodes.iter().take(NODES).map(|node| html! {
                    <li>
                        { "Block " }{ block_link(store, node.at.0) }
                        <span class="soft">{ format!(" level {}, {} of {} entries", node.level, node.entries.len(), node.limit) }</span>
                        if node.checksum_ok == Some(false) { <span class="bad">{ " ✕ checksum does not hold" }</span> }
                    </li>
                }) }
                if left > 0 { <li class="soft">{ format!("{left} more") }</li> }
            </ul>
        </>
    }
}
