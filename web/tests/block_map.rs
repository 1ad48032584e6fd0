//! The block map as a component, in a real browser.
#![cfg(target_arch = "wasm32")]

use std::cell::RefCell;
use std::rc::Rc;

use fslab_engine::view::owners::{Flags, Kind};
use fslab_web::kinds::KindSet;
use fslab_web::owner_map::OwnerMap;
use fslab_web::views::block_map::{
    BlockMap, BlockMapProps, Geometry, Highlight, Legend, LegendProps, Totals,
};
use gloo::timers::callback::Timeout;
use js_sys::Promise;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlElement};
use web_sys::{KeyboardEvent, KeyboardEventInit, PointerEvent, PointerEventInit};
use yew::{Callback, Renderer};

wasm_bindgen_test_configure!(run_in_browser);

async fn sleep(milliseconds: u32) {
    let promise = Promise::new(&mut |resolve, _| {
        let wake = move || {
            // Waking cannot fail.
            let _ = resolve.call0(&JsValue::NULL);
        };
        Timeout::new(milliseconds, wake).forget();
    });
    JsFuture::from(promise).await.unwrap();
}

/// 1,000 blocks in a group: 100 of the inode table, 400 of inode 12, the rest free.
fn map() -> Rc<OwnerMap> {
    Rc::new(OwnerMap {
        starts: vec![0.0, 100.0, 500.0],
        lengths: vec![100, 400, 500],
        inodes: vec![0, 12, 0],
        kinds: vec![Kind::InodeTable as u8, Kind::Data as u8, Kind::Free as u8],
        flags: vec![Flags::empty().bits(); 3],
    })
}

/// What was chosen on a map.
type Chosen = Rc<RefCell<Vec<u64>>>;

struct Page {
    root: Element,
    chosen: Chosen,
}

impl Page {
    /// A map of 500 × 300 pixels in colours of the test's own.
    async fn show() -> Self {
        let document = gloo::utils::document();
        let root = document.create_element("div").unwrap();
        let style = "width:500px;height:300px;display:grid;--kind-inode-table:#010203;\
            --kind-data:#040506;--kind-free:#070809;--bg:#0a0b0c";
        root.set_attribute("style", style).unwrap();
        document.body().unwrap().append_child(&root).unwrap();
        let chosen = Chosen::default();
        let on_select = {
            let chosen = Rc::clone(&chosen);
            Callback::from(move |block| chosen.borrow_mut().push(block))
        };
        let props = BlockMapProps {
            geometry: Geometry::new(1000, 0, 8192, 1),
            map: map(),
            partial: false,
            filter: KindSet::default(),
            highlight: Highlight::default(),
            owner: None,
            on_point: Callback::noop(),
            on_select,
            on_group: Callback::noop(),
        };
        Renderer::<BlockMap>::with_root_and_props(root.clone(), props).render();
        sleep(50).await;
        let page = Self { root, chosen };
        // The page's style sheet is not here.
        let canvas: HtmlElement = page.canvas().unchecked_into();
        canvas.style().set_property("width", "500px").unwrap();
        canvas.style().set_property("height", "250px").unwrap();
        sleep(150).await;
        page
    }

    fn canvas(&self) -> HtmlCanvasElement {
        let canvas = self.root.query_selector("canvas").unwrap().unwrap();
        canvas.dyn_into().unwrap()
    }

    /// How many pixels of the canvas have a colour.
    fn count(&self, colour: [u8; 3]) -> usize {
        let canvas = self.canvas();
        let context = canvas.get_context("2d").unwrap().unwrap();
        let context: CanvasRenderingContext2d = context.dyn_into().unwrap();
        let image = context
            .get_image_data(0.0, 0.0, canvas.width().into(), canvas.height().into())
            .unwrap();
        let data = image.data();
        data.0
            .chunks_exact(4)
            .filter(|pixel| pixel[..3] == colour)
            .count()
    }

    fn press(&self, key: &str) {
        let init = KeyboardEventInit::new();
        init.set_key(key);
        init.set_bubbles(true);
        init.set_cancelable(true);
        let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap();
        self.canvas().dispatch_event(&event).unwrap();
    }

    fn point(&self, name: &str, x: i32, y: i32) {
        let place = self.canvas().get_bounding_client_rect();
        let init = PointerEventInit::new();
        init.set_client_x(place.left() as i32 + x);
        init.set_client_y(place.top() as i32 + y);
        init.set_pointer_id(1);
        init.set_bubbles(true);
        let event = PointerEvent::new_with_event_init_dict(name, &init).unwrap();
        self.canvas().dispatch_event(&event).unwrap();
    }

    fn text(&self, css: &str) -> String {
        let element = self.root.query_selector(css).unwrap().unwrap();
        element.text_content().unwrap_or_default()
    }

    async fn settle(&self) {
        sleep(300).await;
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.root.remove();
    }
}

#[wasm_bindgen_test]
async fn kinds_are_painted_in_proportion() {
    let page = Page::show().await;
    let table = page.count([1, 2, 3]) as f64;
    let data = page.count([4, 5, 6]) as f64;
    let free = page.count([7, 8, 9]) as f64;
    assert!(table > 1000.0, "{table}");
    assert!((data / table - 4.0).abs() < 0.3, "{data} of {table}");
    assert!((free / table - 5.0).abs() < 0.4, "{free} of {table}");
}

#[wasm_bindgen_test]
async fn the_canvas_says_in_words_what_it_shows() {
    let page = Page::show().await;
    let label = page.canvas().get_attribute("aria-label").unwrap();
    assert_eq!(
        label,
        "Block map: 1,000 blocks in 1 group, 50 % free, file data 40 %, inode table 10 %"
    );
}

#[wasm_bindgen_test]
async fn keys_move_the_focus_and_choose() {
    let page = Page::show().await;
    page.canvas().focus().unwrap();
    page.press("Home");
    page.press("ArrowRight");
    page.settle().await;
    assert_eq!(page.text(".unseen"), "Block 1 · group 0 · inode table");
    page.press("End");
    page.settle().await;
    assert_eq!(page.text(".unseen"), "Block 999 · group 0 · free");
    page.press("Home");
    page.press("Enter");
    page.settle().await;
    assert_eq!(*page.chosen.borrow(), [0]);
}

#[wasm_bindgen_test]
async fn a_pointer_is_answered_in_words_and_chooses() {
    let page = Page::show().await;
    page.point("pointermove", 100, 8);
    page.settle().await;
    let words = page.text(".pointed");
    assert!(words.ends_with("group 0 · inode table"), "{words}");
    page.point("pointerdown", 100, 8);
    page.point("pointerup", 100, 8);
    page.settle().await;
    let chosen = page.chosen.borrow().clone();
    assert_eq!(chosen.len(), 1);
    assert!(
        words.starts_with(&format!("Block {} ", chosen[0])),
        "{words} {chosen:?}"
    );
}

#[wasm_bindgen_test]
async fn zooming_makes_squares_larger_and_fit_brings_all_back() {
    let page = Page::show().await;
    let before = page.count([1, 2, 3]);
    page.canvas().focus().unwrap();
    page.press("Home");
    page.press("+");
    page.settle().await;
    let larger = page.count([1, 2, 3]);
    assert!(larger > before, "{larger} after {before}");
    page.press("0");
    page.settle().await;
    let after = page.count([1, 2, 3]);
    // The ring of the focus covers a square or two.
    assert!(
        after.abs_diff(before) < before / 20,
        "{after} after {before}"
    );
}

#[wasm_bindgen_test]
async fn the_legend_filters() {
    let document = gloo::utils::document();
    let root = document.create_element("div").unwrap();
    document.body().unwrap().append_child(&root).unwrap();
    let wanted = Rc::new(RefCell::new(None));
    let on_filter = {
        let wanted = Rc::clone(&wanted);
        Callback::from(move |filter| *wanted.borrow_mut() = Some(filter))
    };
    let props = LegendProps {
        totals: Totals::of(&map()),
        filter: KindSet::default(),
        on_filter,
        partial: false,
    };
    Renderer::<Legend>::with_root_and_props(root.clone(), props).render();
    sleep(50).await;
    let buttons = root.query_selector_all("button").unwrap();
    assert_eq!(buttons.length(), 3);
    let first: HtmlElement = buttons.item(0).unwrap().dyn_into().unwrap();
    assert_eq!(
        first.get_attribute("aria-pressed").as_deref(),
        Some("false")
    );
    assert_eq!(first.text_content().as_deref(), Some("IInode tables100"));
    first.click();
    sleep(50).await;
    let only: KindSet = [Kind::InodeTable].into_iter().collect();
    assert_eq!(*wanted.borrow(), Some(only));
    root.remove();
}
