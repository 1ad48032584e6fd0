//! The editor: a text area over its own text in colours.

use std::rc::Rc;

use fslab_engine::machine::Doing;
use fslab_engine::view::lab::ProcessView;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use super::highlight::{Line, lines};
use crate::store::{LabAction, use_store};
use crate::worker::lab::Mistake;

/// The workload, to be written.
#[component]
pub fn Editor() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let text = Rc::clone(&lab.text);
    let coloured = use_memo(Rc::clone(&text), |text| lines(text));
    let node = use_node_ref();
    // The area is told what it holds only when it holds something else: the caret stays.
    {
        let node = node.clone();
        use_effect_with(Rc::clone(&text), move |text| {
            if let Some(area) = node.cast::<HtmlTextAreaElement>()
                && area.value() != **text
            {
                area.set_value(text);
            }
        });
    }
    let oninput = {
        let store = store.clone();
        Callback::from(move |event: InputEvent| {
            let area: HtmlTextAreaElement = event.target_unchecked_into();
            store.lab(LabAction::Text(area.value().into()));
        })
    };
    // Lines are lit for the text that runs, not for another.
    let edited = lab.is_edited();
    let processes: Vec<&ProcessView> = lab
        .frame
        .iter()
        .flat_map(|frame| &frame.processes)
        .filter(|p| {
            !edited && p.line > 0 && p.doing != Doing::Ended && p.doing != Doing::NotStarted
        })
        .collect();
    let lit = lit_line(&processes);
    use_reveal(lit);
    let line = |(i, line): (usize, &Line)| {
        let nr = i as u32 + 1;
        let here: Vec<&str> = processes
            .iter()
            .filter(|p| p.line == nr)
            .map(|p| p.name.as_str())
            .collect();
        let mistake = lab.mistakes.iter().find(|m| m.line == nr);
        draw(nr, line, &here, processes.len() > 1, mistake)
    };
    html! {
        <div class="editor" id="editor">
            <div class="editor-inner">
            <div class="code-lines" aria-hidden="true">{ for coloured.iter().enumerate().map(line) }</div>
            <textarea ref={node} id="workload" spellcheck="false" autocapitalize="off" autocomplete="off"
                wrap="off" aria-label="Workload and settings" aria-describedby="mistakes" {oninput}
                aria-invalid={(!lab.mistakes.is_empty()).then_some("true")} />
            </div>
        </div>
    }
}

fn draw(nr: u32, line: &Line, here: &[&str], several: bool, mistake: Option<&Mistake>) -> Html {
    let class = classes!(
        "code-line",
        (!here.is_empty()).then_some("lit"),
        mistake.map(|_| "wrong")
    );
    html! {
        <div {class} key={nr} id={format!("line-{nr}")}>
            <span class="nr">{ nr }</span>
            <span class="src">
                { for line.iter().map(|(token, text)| match token.class() {
                    Some(class) => html! { <span {class}>{ text.clone() }</span> },
                    None => html! { text.clone() },
                }) }
            </span>
            if several && !here.is_empty() {
                <span class="who">{ here.join(", ") }</span>
            }
            if let Some(mistake) = mistake {
                <span class="wrong-words">{ format!("✕ {}", mistake.words) }</span>
            }
        </div>
    }
}

fn lit_line(processes: &[&ProcessView]) -> Option<u32> {
    processes.iter().map(|p| p.line).min()
}

/// Brings the line being executed in sight, within the editor only.
#[hook]
fn use_reveal(line: Option<u32>) {
    use_effect_with(line, |line| {
        let Some(nr) = *line else { return };
        let document = gloo::utils::document();
        let (Some(editor), Some(line)) = (
            document.get_element_by_id("editor"),
            document.get_element_by_id(&format!("line-{nr}")),
        ) else {
            return;
        };
        let (frame, place) = (
            editor.get_bounding_client_rect(),
            line.get_bounding_client_rect(),
        );
        let off = place.top() - frame.top();
        if off < 0.0 || off + place.height() > frame.height() {
            let to = f64::from(editor.scroll_top()) + off - frame.height() / 2.0;
            editor.set_scroll_top(to.max(0.0) as i32);
        }
    });
}
