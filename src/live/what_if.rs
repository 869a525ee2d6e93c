//! The outlook of a deed: two futures from one instant, each to its end, side by side on a page.
//!
//! The session keeps their progress and pages; the command runs them.

use std::collections::VecDeque;

use hyper::body::Bytes;
use serde::Serialize;

use crate::units::SimTime;

/// The newest so many are kept; a page has some hundred kilobytes.
const KEPT: usize = 8;

/// The outlooks of a session.
#[derive(Default)]
pub(super) struct WhatIfs {
    all: VecDeque<WhatIf>,
    number: u64,
}

/// A future that is looked into.
struct WhatIf {
    number: u64,
    at: SimTime,
    /// The deed in words.
    words: String,
    come: FutureState,
}

/// How far a future has been played.
enum FutureState {
    /// Both futures are played; how much of that is done.
    Playing(f64),
    /// The page.
    Page(Bytes),
    /// There is none.
    Failed(String),
}

/// An outlook as the page shows it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct WhatIfRow<'o> {
    number: u64,
    at_us: u64,
    words: &'o str,
    /// How much of it is done, from 0 to 1.
    done: f64,
    failed: Option<&'o str>,
    /// Whether there is a page.
    has_page: bool,
}

impl WhatIfs {
    /// Begins one; returns its number, or nothing while another is being played.
    pub(super) fn begin(&mut self, at: SimTime, words: String) -> Option<u64> {
        // Two runs at once slow the session down, and four would be worse.
        if self.all.iter().any(|one| matches!(one.come, FutureState::Playing(_))) {
            return None;
        }
        // The first is no longer being played: only one is at a time.
        if self.all.len() == KEPT {
            self.all.pop_front();
        }
        self.number += 1;
        let number = self.number;
        self.all.push_back(WhatIf { number, at, words, come: FutureState::Playing(0.0) });
        Some(number)
    }

    /// Notes how much of it is done.
    pub(super) fn go_on(&mut self, number: u64, done: f64) {
        self.set(number, FutureState::Playing(done));
    }

    /// Notes its page, or why there is none.
    pub(super) fn end(&mut self, number: u64, page: Result<String, String>) {
        self.set(
            number,
            page.map_or_else(FutureState::Failed, |page| FutureState::Page(page.into())),
        );
    }

    fn set(&mut self, number: u64, come: FutureState) {
        // Progress that comes late, for an outlook that was dropped, changes nothing.
        if let Some(one) = self.all.iter_mut().find(|one| one.number == number) {
            one.come = come;
        }
    }

    /// Returns a page.
    pub(super) fn page(&self, number: u64) -> Option<Bytes> {
        self.all.iter().find_map(|one| match &one.come {
            FutureState::Page(page) if one.number == number => Some(page.clone()),
            _ => None,
        })
    }

    /// Returns all, the newest first.
    pub(super) fn rows(&self) -> Vec<WhatIfRow<'_>> {
        self.all.iter().rev().map(WhatIf::row).collect()
    }
}

impl WhatIf {
    fn row(&self) -> WhatIfRow<'_> {
        let (done, failed) = match &self.come {
            FutureState::Playing(done) => (*done, None),
            FutureState::Page(_) => (1.0, None),
            FutureState::Failed(why) => (1.0, Some(why.as_str())),
        };
        let has_page = matches!(self.come, FutureState::Page(_));
        let Self { number, at, words, .. } = self;
        WhatIfRow { number: *number, at_us: at.as_micros(), words, done, failed, has_page }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SimSpan;

    #[test]
    fn one_is_played_at_a_time_and_the_newest_are_kept() {
        let mut all = WhatIfs::default();
        let at = SimTime::ZERO + SimSpan::from_secs(2);
        let first = all.begin(at, "hfsp takes over".to_owned()).unwrap();
        assert_eq!(all.begin(at, "another".to_owned()), None);
        all.go_on(first, 0.25);
        let words = "hfsp takes over";
        let row = WhatIfRow {
            number: 1,
            at_us: 2_000_000,
            words,
            done: 0.25,
            failed: None,
            has_page: false,
        };
        assert_eq!(all.rows(), [row]);
        assert_eq!(all.page(first), None);
        all.end(first, Ok("page".to_owned()));
        assert_eq!(all.page(first), Some("page".into()));
        for number in 2..=9 {
            assert_eq!(all.begin(at, String::new()), Some(number));
            all.end(number, Err("it stalled".to_owned()));
        }
        assert_eq!((all.rows().len(), all.rows()[0].number), (KEPT, 9));
        assert_eq!(all.rows()[0].failed, Some("it stalled"));
        assert_eq!(all.page(first), None, "forgotten");
    }
}
