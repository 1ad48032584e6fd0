//! Playing: what is shown goes on by itself.

use std::cell::RefCell;
use std::rc::Rc;

use fslab_engine::view::lab::Axis;
use gloo::render::{AnimationFrame, request_animation_frame};
use yew::prelude::*;

use crate::store::{SPEEDS, Store};
use crate::worker::lab::Seek;

/// Goes on while it plays: at most an instant is asked for at a time, so that a slow
/// machine shows fewer of them rather than falling behind.
#[hook]
pub fn use_player(store: &Store) {
    let current = use_mut_ref(|| store.clone());
    *current.borrow_mut() = store.clone();
    use_effect_with(store.state.lab.playing, move |playing| {
        let player = playing.then(|| {
            let player = Rc::new(RefCell::new(Player {
                store: current,
                before: None,
                owed: 0.0,
                frame: None,
            }));
            Player::next(&player);
            player
        });
        move || {
            if let Some(player) = player {
                player.borrow_mut().frame = None;
            }
        }
    });
}

struct Player {
    store: Rc<RefCell<Store>>,
    /// When the last frame was, ms.
    before: Option<f64>,
    /// Steps (or nanoseconds) that are to be gone.
    owed: f64,
    frame: Option<AnimationFrame>,
}

impl Player {
    fn next(this: &Rc<RefCell<Self>>) {
        let again = Rc::clone(this);
        let frame = request_animation_frame(move |now| {
            again.borrow_mut().tick(now);
            Self::next(&again);
        });
        this.borrow_mut().frame = Some(frame);
    }

    fn tick(&mut self, now: f64) {
        let store = self.store.borrow().clone();
        let lab = &store.state.lab;
        let passed = self.before.replace(now).map_or(0.0, |before| now - before);
        let speed = SPEEDS[lab.speed.min(SPEEDS.len() - 1)];
        self.owed += passed / 1000.0 * speed;
        if store.engine.is_seeking() || !lab.playing {
            return;
        }
        let Some(frame) = &lab.frame else { return };
        match lab.axis {
            Axis::Events if self.owed >= 1.0 => {
                store
                    .engine
                    .seek(Seek::Steps(frame.event, self.owed as i64));
                self.owed = self.owed.fract();
            }
            Axis::Time => self.by_time(&store, frame.event),
            Axis::Events => {}
        }
    }

    /// A unit of speed is a millisecond of simulated time a second. While nothing happens
    /// the next event is gone to at once: nobody wants to watch five seconds of nothing.
    fn by_time(&mut self, store: &Store, event: u64) {
        if self.owed < 0.05 {
            return;
        }
        let Some(frame) = &store.state.lab.frame else {
            return;
        };
        let to_ns = frame.time_ns + (self.owed * 1e6) as u64;
        self.owed = 0.0;
        store.engine.seek(Seek::OnBy { from: event, to_ns });
    }
}
