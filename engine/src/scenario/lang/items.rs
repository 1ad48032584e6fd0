//! The items of a list: a tree by place, shared between copies until one of them changes.
//!
//! Not `imbl::Vector`: joining, cutting and filtering one has damaged memory, and any
//! program can ask for these.

use super::value::Value;

/// Items by their place, from 0 on without a gap.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Items(imbl::OrdMap<u32, Value>);

impl Items {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Value> {
        self.0.get(&u32::try_from(at).ok()?)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.0.values()
    }

    pub(super) fn push(&mut self, item: Value) {
        // Lists are bounded far below this (`MAX_LIST`).
        self.0.insert(self.0.len() as u32, item);
    }

    /// Puts an item in the place of one that is there.
    pub(super) fn set(&mut self, at: usize, item: Value) {
        if let Some(old) = u32::try_from(at).ok().and_then(|at| self.0.get_mut(&at)) {
            *old = item;
        }
    }

    /// Takes an item out; those behind it move up, which costs as much as they are many.
    pub(super) fn remove(&mut self, at: usize) -> Option<Value> {
        let last = self.0.len().checked_sub(1)? as u32;
        let mut moving = self.0.remove(&last)?;
        for place in (at as u32..last).rev() {
            self.0
                .get_mut(&place)
                .into_iter()
                .for_each(|item| std::mem::swap(item, &mut moving));
        }
        Some(moving)
    }

    pub(super) fn append(&mut self, others: &Self) {
        others.iter().for_each(|item| self.push(item.clone()));
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> Self {
        let places = start as u32..end.max(start) as u32;
        self.0.range(places).map(|(_, item)| item.clone()).collect()
    }
}

impl FromIterator<Value> for Items {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self((0u32..).zip(items).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn int(n: i64) -> Value {
        Value::Int(n)
    }

    proptest! {
        /// As a `Vec` has it.
        #[test]
        fn items_are_those_of_a_vec(steps in prop::collection::vec((0u8..6, any::<u16>(), any::<i64>()), 0..200)) {
            let (mut ours, mut theirs) = (Items::default(), Vec::new());
            let mut copies = Vec::new();
            for (what, at, n) in steps {
                let at = usize::from(at) % theirs.len().max(1);
                match what {
                    0 | 1 => {
                        ours.push(int(n));
                        theirs.push(int(n));
                    }
                    2 if at < theirs.len() => {
                        ours.set(at, int(n));
                        theirs[at] = int(n);
                    }
                    3 if at < theirs.len() => prop_assert_eq!(ours.remove(at), Some(theirs.remove(at))),
                    4 if theirs.len() < 5000 => {
                        let other = ours.slice(at / 2, at);
                        ours.append(&other);
                        let other = theirs[at / 2..at].to_vec();
                        theirs.extend(other);
                    }
                    _ => copies.push((ours.clone(), theirs.clone())),
                }
                prop_assert_eq!(ours.get(at), theirs.get(at));
                prop_assert_eq!(ours.len(), theirs.len());
            }
            copies.push((ours, theirs));
            for (ours, theirs) in copies {
                prop_assert!(ours.iter().eq(theirs.iter()));
            }
        }
    }
}
