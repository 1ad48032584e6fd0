//! Mouse, pen and fingers on the map.

/// A place on the canvas, in device pixels.
pub type Point = (f64, f64);

/// What pointers do to the map.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Gesture {
    /// Nothing.
    None,
    /// Points at a place.
    Hover(Point),
    /// Drags by so much.
    Drag(f64, f64),
    /// Moves and grows what is between two fingers.
    Pinch {
        /// Middle between the fingers before.
        from: Point,
        /// Middle between them now.
        to: Point,
        /// How many times larger.
        grow: f64,
    },
    /// A pinch has ended.
    PinchEnd,
    /// Chooses a place.
    Click(Point),
}

/// Pointers that are pressed.
#[derive(Debug, Default)]
pub struct Pointers {
    pressed: Vec<(i32, Point)>,
    start: Point,
    /// The press has become a drag or a pinch.
    moved: bool,
}

/// CSS pixels that a press may tremble without becoming a drag.
const STEADY: f64 = 4.0;

impl Pointers {
    /// Whether any is pressed.
    pub fn is_pressed(&self) -> bool {
        !self.pressed.is_empty()
    }

    /// A pointer goes down.
    pub fn down(&mut self, id: i32, at: Point) {
        self.pressed.retain(|(known, _)| *known != id);
        self.pressed.push((id, at));
        if self.pressed.len() == 1 {
            self.start = at;
            self.moved = false;
        } else {
            self.moved = true;
        }
    }

    /// A pointer moves; `unit` is the device pixels of a CSS pixel.
    pub fn drag(&mut self, id: i32, at: Point, unit: f64) -> Gesture {
        let Some(i) = self.pressed.iter().position(|(known, _)| *known == id) else {
            return if self.is_pressed() {
                Gesture::None
            } else {
                Gesture::Hover(at)
            };
        };
        if !self.moved && distance(self.start, at) <= STEADY * unit {
            return Gesture::None;
        }
        self.moved = true;
        let before = self.pressed[i].1;
        match self.pressed.len() {
            1 => {
                self.pressed[i].1 = at;
                Gesture::Drag(at.0 - before.0, at.1 - before.1)
            }
            2 => {
                let other = self.pressed[1 - i].1;
                self.pressed[i].1 = at;
                Gesture::Pinch {
                    from: middle(before, other),
                    to: middle(at, other),
                    grow: distance(at, other).max(1.0) / distance(before, other).max(1.0),
                }
            }
            _ => Gesture::None,
        }
    }

    /// A pointer goes up.
    pub fn up(&mut self, id: i32, at: Point) -> Gesture {
        let before = self.pressed.len();
        self.pressed.retain(|(known, _)| *known != id);
        match (before, self.pressed.len()) {
            (1, 0) if !self.moved => Gesture::Click(at),
            (2, 1) => Gesture::PinchEnd,
            _ => Gesture::None,
        }
    }

    /// The system takes a pointer away.
    pub fn cancel(&mut self, id: i32) -> Gesture {
        self.moved = true;
        self.up(id, self.start)
    }
}

fn middle(a: Point, b: Point) -> Point {
    ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_press_that_trembles_is_a_click() {
        let mut pointers = Pointers::default();
        pointers.down(1, (10.0, 10.0));
        assert_eq!(pointers.drag(1, (12.0, 11.0), 1.0), Gesture::None);
        assert_eq!(pointers.up(1, (12.0, 11.0)), Gesture::Click((12.0, 11.0)));
    }

    #[test]
    fn a_press_that_moves_is_a_drag_and_no_click() {
        let mut pointers = Pointers::default();
        pointers.down(1, (10.0, 10.0));
        assert_eq!(
            pointers.drag(1, (20.0, 10.0), 1.0),
            Gesture::Drag(10.0, 0.0)
        );
        assert_eq!(pointers.drag(1, (21.0, 12.0), 1.0), Gesture::Drag(1.0, 2.0));
        assert_eq!(pointers.up(1, (21.0, 12.0)), Gesture::None);
    }

    #[test]
    fn two_fingers_pinch() {
        let mut pointers = Pointers::default();
        pointers.down(1, (0.0, 0.0));
        pointers.down(2, (10.0, 0.0));
        let pinch = pointers.drag(2, (20.0, 0.0), 1.0);
        assert_eq!(
            pinch,
            Gesture::Pinch {
                from: (5.0, 0.0),
                to: (10.0, 0.0),
                grow: 2.0
            }
        );
        assert_eq!(pointers.up(1, (0.0, 0.0)), Gesture::PinchEnd);
        assert_eq!(pointers.up(2, (20.0, 0.0)), Gesture::None);
    }

    #[test]
    fn without_a_press_a_move_only_points() {
        let mut pointers = Pointers::default();
        assert_eq!(
            pointers.drag(1, (3.0, 4.0), 1.0),
            Gesture::Hover((3.0, 4.0))
        );
    }
}
