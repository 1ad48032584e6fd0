//! Telling hot pages from cold ones by when they were written last.

use super::table::{NONE, Table};

/// When each page was written last. A page that is written again before as many pages have
/// been written as the device has is hot: were all alike, a page would come round after so
/// many on average. (After "real-time hot data identification", Hsieh, Kuo and Chang, 2006,
/// with exact times in place of hashed counters.)
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recent {
    last: Table,
    pages: u32,
    now: u32,
}

impl Recent {
    /// Of so many pages, none written yet.
    pub fn new(pages: u32) -> Self {
        Self {
            last: Table::new(pages),
            pages,
            now: 0,
        }
    }

    /// A page is written; the stream that it belongs to: 1 for hot, 0 for cold.
    pub fn written(&mut self, page: u32) -> u8 {
        self.now = self.now.wrapping_add(1);
        if self.now == NONE {
            self.now = 0;
        }
        let before = self.last.replace(page, self.now);
        let hot = before != NONE && self.now.wrapping_sub(before) < self.pages;
        u8::from(hot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Random;
    use super::*;

    /// 80 % of the writes to 20 % of the pages: a hot page comes round after a quarter as
    /// many writes as there are pages on average, a cold one after four times as many. By
    /// the exponential law, 1 − e⁻⁴ = 98 % and 1 − e^−¼ = 22 % of them are called hot.
    #[test]
    fn eighty_twenty() {
        let (pages, hot) = (10_000, 2_000);
        let mut recent = Recent::new(pages);
        let mut random = Random::new(7);
        let mut called = [[0u32; 2]; 2];
        for i in 0..200_000 {
            let is_hot = random.below(10) < 8;
            let page = match is_hot {
                true => random.below(hot),
                false => hot + random.below(pages - hot),
            };
            let stream = recent.written(page);
            if i > 100_000 {
                called[usize::from(is_hot)][usize::from(stream)] += 1;
            }
        }
        let share = |c: [u32; 2]| f64::from(c[1]) / f64::from(c[0] + c[1]);
        assert!((share(called[1]) - 0.98).abs() < 0.02, "{called:?}");
        assert!((share(called[0]) - 0.22).abs() < 0.03, "{called:?}");
    }
}
