//! Sets of kinds of blocks.

use fslab_engine::view::owners::Kind;

/// Kinds of blocks, as in a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KindSet(u32);

impl KindSet {
    /// Whether it holds a kind.
    pub fn contains(self, kind: Kind) -> bool {
        self.0 & bit(kind) != 0
    }

    /// Whether it holds none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set with a kind, or without one.
    #[must_use]
    pub fn with(self, kind: Kind, on: bool) -> Self {
        if on {
            Self(self.0 | bit(kind))
        } else {
            Self(self.0 & !bit(kind))
        }
    }

    /// Its kinds.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL
            .iter()
            .copied()
            .filter(move |&kind| self.contains(kind))
    }

    /// The kinds by their words, with commas between.
    pub fn to_words(self) -> String {
        self.iter().map(Kind::word).collect::<Vec<_>>().join(",")
    }

    /// The kinds that a text of words names; words that are none are passed over.
    pub fn from_words(words: &str) -> Self {
        words
            .split(',')
            .filter_map(|word| Kind::ALL.iter().find(|kind| kind.word() == word))
            .copied()
            .collect()
    }
}

impl FromIterator<Kind> for KindSet {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        kinds
            .into_iter()
            .fold(Self::default(), |set, kind| set.with(kind, true))
    }
}

fn bit(kind: Kind) -> u32 {
    1 << kind.index()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_the_set() {
        let set: KindSet = [Kind::Journal, Kind::Data].into_iter().collect();
        assert_eq!(set.to_words(), "journal,data");
        assert_eq!(KindSet::from_words("journal,nonsense,data"), set);
        assert!(KindSet::from_words("").is_empty());
    }
}
