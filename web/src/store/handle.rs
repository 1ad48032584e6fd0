//! How views come by the state and the engine.

use std::rc::Rc;

use yew::prelude::*;

use super::{Action, Data, Engine, LabAction, PlugAction, Selection, State, View};
use crate::worker::protocol::{Query, Reply};

/// The state and the engine, as a context.
#[derive(Clone, Debug)]
pub struct Store {
    /// What is shown.
    pub state: UseReducerHandle<State>,
    /// The way to the worker.
    pub engine: Engine,
    /// The state's version when this was made: the handle itself always leads to the
    /// latest state, so that by it two are never told apart.
    version: u64,
}

impl PartialEq for Store {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Store {
    /// Changes the state.
    pub fn act(&self, action: Action) {
        self.state.dispatch(action);
    }

    /// Changes what the Lab shows.
    pub fn lab(&self, action: LabAction) {
        self.act(Action::Lab(action));
    }

    /// Something happens to the pulled plug.
    pub fn plug(&self, action: PlugAction) {
        self.lab(LabAction::Plug(action));
    }

    /// Chooses something.
    pub fn select(&self, selection: Selection) {
        self.act(Action::Select(selection));
    }

    /// The selection of a block: with the inode that owns it, as far as the map knows.
    pub fn block(&self, nr: u64) -> Selection {
        let owner = self.state.map.map().and_then(|map| map.at(nr));
        Selection::block(nr, owner.and_then(|run| run.inode))
    }

    /// A path that leads to an inode, once it has been asked for.
    pub fn path(&self, nr: u32) -> Option<String> {
        let query = Query::Paths { inodes: vec![nr] };
        match self.state.replies.get(&query) {
            Some(Ok(data)) => match &data.reply {
                Reply::Paths(paths) => paths.first()?.clone(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The last name of that path.
    pub fn file_name(&self, nr: u32) -> Option<String> {
        let path = self.path(nr)?;
        let name = path.rsplit('/').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// What an inode is called: by its path, or by its number.
    pub fn title(&self, nr: u32) -> String {
        self.path(nr).unwrap_or_else(|| format!("inode {nr}"))
    }

    /// Shows a picture.
    pub fn show(&self, view: View) {
        self.act(Action::Show(view));
    }
}

/// Holds the state for all that is inside.
#[component]
pub fn StoreProvider(props: &yew::html::ChildrenProps) -> Html {
    let state = use_reducer(State::default);
    let engine = use_memo((), |()| Engine::new(state.dispatcher()));
    let store = Store {
        version: state.version(),
        state,
        engine: (*engine).clone(),
    };
    html! {
        <ContextProvider<Store> context={store}>{ props.children.clone() }</ContextProvider<Store>>
    }
}

/// The store of the page.
#[hook]
pub fn use_store() -> Store {
    use_context::<Store>().expect("views stand inside the StoreProvider")
}

/// What has come of a question.
#[derive(Clone, PartialEq, Debug)]
pub enum Fetched {
    /// Nothing yet.
    Waiting,
    /// The answer.
    Got(Rc<Data>),
    /// Why there is none, in a sentence.
    Failed(Rc<str>),
}

impl Fetched {
    /// The answer, if it has come.
    pub fn data(&self) -> Option<&Data> {
        match self {
            Self::Got(data) => Some(data),
            _ => None,
        }
    }
}

/// Asks the engine, once a filesystem is open; `None` for a view that has nothing to ask.
#[hook]
pub fn use_query(query: Option<Query>) -> Fetched {
    let store = use_store();
    let state = &store.state;
    let known = query.as_ref().and_then(|query| state.replies.get(query));
    let open = state.opened().is_some();
    let missing = query
        .clone()
        .filter(|query| open && state.replies.lacks(query));
    // The image's number and state are part of it: the same question may have to be put
    // again, to another image.
    let image = (state.image.nr, state.image.replayed);
    let engine = store.engine.clone();
    use_effect_with((missing, image), move |(missing, _)| {
        if let Some(query) = missing {
            engine.ask(query.clone());
        }
    });
    match known {
        None => Fetched::Waiting,
        Some(Ok(data)) => Fetched::Got(Rc::clone(data)),
        Some(Err(why)) => Fetched::Failed(Rc::clone(why)),
    }
}
